/** Abilities that the token lacks (§5): the first 403 that names one ends all requests that need it. */
import type { Clock } from "../model/index.ts";
import { endpoints } from "./endpoints.ts";
import type { ApiAnswer, ApiRequest, ChainHandler } from "./exchange.ts";
import { FailedAttempt } from "./failed-attempt.ts";

type Ability = (typeof endpoints)[ApiRequest["endpoint"]]["ability"];

/** Time after which a request asks once more, in milliseconds: somebody may have given the token the ability. */
const KNOWN_MS = 60_000;

/** Words of a 403 about a missing ability, and words about one service, which say nothing of the others. */
const ABOUT_ABILITY = /abilit|permission|scope/i;
const ABOUT_SERVICE = /restrict|outside/i;

/**
 * Refuses requests that need an ability which the token lacks, without sending them. The first request that reads and needs more
 * than `view` goes alone: the others wait for its answer.
 */
export function knowAbilities({ clock }: { clock: Clock }, next: ChainHandler<ApiAnswer>): ChainHandler<ApiAnswer> {
  const lacking = new Map<Ability, { readonly failure: FailedAttempt; readonly at: number }>();
  const first = new Map<Ability, Promise<unknown>>();
  return async function knowing(request) {
    const { ability, repeat } = endpoints[request.endpoint];
    const isTried = repeat === "safe" && ability !== "view";
    const before = isTried ? first.get(ability) : undefined;
    if (before !== undefined) await before;
    const known = lacking.get(ability);
    if (known !== undefined && clock.monotonic() - known.at < KNOWN_MS) throw known.failure.unsent(request.endpoint);
    const answer = next(request);
    if (isTried && !first.has(ability))
      first.set(
        ability,
        answer.catch(() => undefined),
      );
    return answer.catch((error: unknown) => {
      if (names(error, ability)) lacking.set(ability, { failure: error, at: clock.monotonic() });
      throw error;
    });
  };
}

function names(error: unknown, ability: Ability): error is FailedAttempt {
  if (!(error instanceof FailedAttempt) || error.status !== 403) return false;
  const { serverMessage: said = "" } = error;
  return ABOUT_ABILITY.test(said) && said.toLowerCase().includes(ability) && !ABOUT_SERVICE.test(said);
}
