import { fail, looksLikeToken } from "../core/model/index.ts";
import { type DoctorOptions, examine } from "../project/doctor/index.ts";
import { learnToken } from "../project/redaction.ts";
import { doctorJson, renderDoctor } from "../report/index.ts";
import { refuseSecretAsName } from "./options.ts";
import { type Action, printResult } from "./terminal.ts";

/**
 * Runs `hostform doctor`: examines accounts, state and machine. Sends only GET requests.
 * @returns 0 if there is no problem, else 1.
 */
export const runDoctor: Action<DoctorOptions> = async (terminal, project, flags) => {
  const { provider, baseUrl, tokenEnv } = flags;
  if (provider !== undefined && (baseUrl ?? tokenEnv) !== undefined) {
    fail("usage", "--provider cannot be combined with --base-url or --token-env", {
      remedies: ["Name an account of the declaration, or an address and a token."],
    });
  }
  if (tokenEnv !== undefined && looksLikeToken(tokenEnv, true)) {
    learnToken(project.redaction, tokenEnv, "--token-env");
    fail("provider.token", "--token-env takes the name of an environment variable, not a token", {
      remedies: [
        "Set a variable to the token and give its name. Revoke the token: other users of the machine may have seen it.",
      ],
    });
  }
  if (tokenEnv !== undefined && !project.source.env[tokenEnv]) refuseSecretAsName("--token-env", tokenEnv);
  const report = await examine(project, flags);
  const seen = report.accounts.filter(({ abilities }) => Object.values(abilities).includes("yes"));
  const sandboxes = [...new Set(seen.map(({ profile }) => profile))].map(
    (profile) => `A sandbox like this host: hostform sandbox${profile === "" ? "" : ` --profile ${profile}`}`,
  );
  printResult(
    terminal,
    "doctor",
    doctorJson(report, terminal.outLook.remedies),
    renderDoctor(report, terminal.outLook, sandboxes),
  );
  return report.healthy ? 0 : 1;
};
