/** What `contract` does: holds what hostform assumes against a real server, without a declaration. */
import { checkContract, type Vocabulary } from "../contract/index.ts";
import { budgetShareIn } from "../core/api/limiter.ts";
import { openStore } from "../core/api/open-store.ts";
import { Prober } from "../core/api/probe.ts";
import { phaseOfWord } from "../core/kinds/life.ts";
import { monthsOf, passwordForm } from "../core/kinds/service/words.ts";
import { HostformError } from "../core/model/index.ts";
import { interruptible } from "./interrupt.ts";
import type { ProjectParts } from "./source.ts";

export { leftoverDiagnostic, mostRequests } from "../contract/index.ts";

/** §8. */
export const REQUESTS_PER_MINUTE = 60;

/** What hostform makes of a server's words, before the user has mapped any. */
const VOCABULARY: Vocabulary = {
  phase: (word) => phaseOfWord(word, { statusWords: {} }),
  months: monthsOf,
  password: passwordForm,
};

/** How a server is checked. */
interface ServerCheck {
  readonly baseUrl: string;
  readonly token: string;
  /** Registers a webhook, too, and removes it again. */
  readonly write?: {
    readonly webhookUrl: string | undefined;
    onRegistered(id: string, url: string): void;
  };
}

/**
 * Checks a server, with GETs alone unless `write` is given. Ctrl-C ends it; a webhook that may be left is reported.
 * @throws ApiError when there is nothing to report on; HostformError `contract.leftover`, `interrupted`.
 */
export function checkServer(
  { source, host, redaction, log }: ProjectParts,
  { baseUrl, token, write }: ServerCheck,
): ReturnType<typeof checkContract> {
  return interruptible(host, async (signal) => {
    const { env, insecureHttp, budgetShare = budgetShareIn(env) } = source;
    const store = openStore({ baseUrl, token, env, onWarning: (warning) => log.warn([warning]) });
    const prober = new Prober({
      baseUrl,
      token,
      ledger: store.requests,
      clock: host.clock,
      env,
      insecureHttp,
      budgetShare,
      onRequest: (event) => log.request(event, REQUESTS_PER_MINUTE),
      onWait: (_, wait) => wait && log.wait(wait),
      onWarning: (warning) => log.warn([warning]),
    });
    try {
      return await checkContract({
        prober,
        baseUrl: new URL(baseUrl).origin,
        vocabulary: VOCABULARY,
        signal,
        write: write && {
          ...write,
          random: Math.random,
          onSecret: (secret) => redaction.learn("the secret of the test", secret),
        },
      });
    } catch (error) {
      // An interruption is reported only as such; report what it left behind as well.
      if (signal.aborted && error instanceof HostformError && error.diagnostics[0]?.code === "contract.leftover") {
        for (const diagnostic of error.diagnostics) log.alert(diagnostic);
      }
      throw error;
    } finally {
      await prober.close();
      await store.close();
    }
  });
}
