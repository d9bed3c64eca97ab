import { given } from "../options.ts";
import { examples, type Registration } from "../registration.ts";
import { variableName } from "../variable-name.ts";

/** contract: what hostform assumes, held against a real server. */
export function registerContract({ command, action }: Registration): void {
  examples(
    command("contract", "see how a real server differs from the sandbox, and whether hostform fits it", "Looking:")
      .option("--base-url <url>", "address of the API (default: HOSTING_BASE_URL)", given)
      .option(
        "--token-env <name>",
        "environment variable with the API token (default: HOSTING_TOKEN)",
        variableName("--token-env"),
      )
      .option("--write", "also register a webhook and remove it again; orders nothing")
      .option("--webhook-url <url>", "where that webhook leads (default: an address that does not exist)", given)
      .action(
        action(
          async (invocation, flags: object) => (await import("../commands/contract.ts")).runContract(invocation, flags),
          "none",
        ),
      ),
    [
      ["hostform contract --base-url https://api.acme.example", "reads only"],
      ["hostform contract --write --json > contract.json", "for programs, or to send to the host"],
    ],
  );
}
