import { examples, type Registration } from "../registration.ts";
import { variableName } from "../variable-name.ts";

const GROUP = "Doing once:";
const SERVICE = "an address in the state, or the id of a service";
const PROVIDER = ["--provider <alias>", "the account, when an id is given (default: default)"] as const;

/** password and sso: what is done once and cannot be declared. */
export function registerOnce({ command, action }: Registration): void {
  examples(
    command("password", "set a service's control-panel password now, or have it generated", GROUP)
      .argument("<address>", SERVICE)
      .option(
        "--password-env <name>",
        "take the password from this environment variable",
        variableName("--password-env"),
      )
      .option("--password-file <file>", "take it from this file")
      .option("--password-stdin", "take it from standard input")
      .option("--generate", "the API makes one (Root VPS, Virtual Desktop); it is printed once")
      .option(...PROVIDER)
      .action(
        action(async (invocation, flags: object, address: string) =>
          (await import("../commands/password.ts")).runPassword(invocation, flags, address),
        ),
      ),
    [
      ["hostform password hosting_service.acme-www --password-env ACME_PASSWORD", "shared and WordPress hosting"],
      ["hostform password hosting_service.vps > vps.token", "Root VPS: the new one goes to the file"],
    ],
  );
  examples(
    command("sso", "print a one-time URL that signs on to a service's control panel", GROUP)
      .argument("<address>", SERVICE)
      .option("--open", "open it in the browser instead of printing it")
      .option(...PROVIDER)
      .action(
        action(async (invocation, flags: object, address: string) =>
          (await import("../commands/sso.ts")).runSso(invocation, flags, address),
        ),
      ),
    [["hostform sso hosting_service.acme-www --open", "straight into the panel"]],
  );
}
