import { requireAllowedOrigin } from "../core/api/address.ts";
import { readToken } from "../core/api/token.ts";
import { fail, isJudged, looksLikeToken } from "../core/model/index.ts";
import { checkServer, leftoverDiagnostic, mostRequests, REQUESTS_PER_MINUTE } from "../project/contract.ts";
import { learnToken } from "../project/redaction.ts";
import type { ProjectParts } from "../project/source.ts";
import { renderContract } from "../report/index.ts";
import { refuseSecretAsName, webUrl } from "./options.ts";
import { type Action, printResult, say } from "./terminal.ts";

interface ContractFlags {
  readonly baseUrl?: string;
  readonly tokenEnv?: string;
  readonly write?: boolean;
  readonly webhookUrl?: string;
}

/**
 * `hostform contract`: holds what hostform assumes against a real server, with GETs alone unless `--write` is given.
 * Works without a declaration.
 * @returns 0 when hostform can work with the server, 1 when it cannot, nothing could be read, or a webhook was left behind.
 */
export const runContract: Action<ContractFlags> = async (terminal, project, flags) => {
  const baseUrl = flags.baseUrl ?? (project.source.env.HOSTING_BASE_URL || undefined);
  if (baseUrl === undefined) {
    fail("provider.base_url", "No base URL is given", {
      remedies: ["Pass `--base-url URL`, or set HOSTING_BASE_URL. To try without an account: `hostform sandbox`."],
    });
  }
  if (flags.webhookUrl !== undefined && !flags.write) {
    fail("usage", "--webhook-url needs --write", { remedies: ["Add --write, or remove --webhook-url."] });
  }
  if (flags.webhookUrl !== undefined && webUrl(flags.webhookUrl) === undefined) {
    fail("usage", "--webhook-url is not a web address", {
      remedies: ["Give an http or https URL such as https://hooks.example.com/check."],
    });
  }
  requireAllowedOrigin(baseUrl, project.source.env, { of: "The base URL" });
  const token = await tokenOf(project, flags.tokenEnv);
  const write = flags.write === true;
  const what = write ? "It reads, registers a webhook and removes it again, and orders nothing." : "It only reads.";
  const most = `${mostRequests(write)} of the ${REQUESTS_PER_MINUTE} requests that the token has each minute`;
  say(terminal, `This takes up to ${most}. ${what}`);
  const { report, leftover } = await checkServer(project, {
    baseUrl,
    token,
    ...(write && {
      write: {
        webhookUrl: flags.webhookUrl,
        onRegistered: (id, url) => say(terminal, `Registered webhook ${id} (${url}); it will be removed again.`),
      },
    }),
  });
  const json = { ...report, ...(leftover !== undefined && { leftover }) };
  printResult(terminal, json, renderContract(report, terminal.outLook));
  if (leftover !== undefined) project.log.alert(leftoverDiagnostic(leftover));
  const stops = report.checks.some(({ verdict }) => verdict === "stops");
  return leftover !== undefined || !isJudged(report) || stops ? 1 : 0;
};

/** `--token-env` names a variable; a token on the command line could be seen by others. */
async function tokenOf({ source: { env }, redaction }: ProjectParts, variable = "HOSTING_TOKEN"): Promise<string> {
  if (looksLikeToken(variable, true)) {
    learnToken(redaction, variable, "--token-env");
    fail("provider.token", "--token-env takes the name of an environment variable, not a token", {
      remedies: [
        "Set a variable to the token and give its name. Revoke the token: other users of the machine may have seen it.",
      ],
    });
  }
  if (!env[variable]) refuseSecretAsName("--token-env", variable);
  const asked = { env, of: "the check", otherwise: "or name another with --token-env", relativeTo: "", place: {} };
  const { token } = await readToken({ env: variable }, asked);
  learnToken(redaction, token, `env.${variable}`);
  return token;
}
