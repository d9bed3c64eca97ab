import type { Command } from "commander";
import type { CollectionName } from "../list.ts";
import { examples, given, type Registration, variableName } from "../options.ts";
import { registerWebhooks } from "./webhooks.ts";

const GROUP = "Looking:";

/** Commands that only read the account: tables for people, arrays of records with `--json`. */
export function registerLooking(registration: Registration): void {
  const { command, action } = registration;
  const looking = (name: string, summary: string, parent?: Command) =>
    command(name, summary, parent === undefined ? GROUP : "Commands:", parent).option(
      "--provider <alias>",
      "the account to look at (default: default)",
    );
  const collection = (name: CollectionName, summary: string) =>
    looking(name, summary).action(
      action(async () => ({ run: (await import("../list.ts")).runCollection(name) }), "run"),
    );

  examples(collection("plans", "list the plans that can be ordered, with prices"), [
    ["hostform plans", "find the plan_id for a declaration"],
  ]);
  examples(collection("services", "list the services, or show one").argument("[id]", "show this one in full"), [
    ["hostform services", "all of the account"],
    ["hostform services 1001", "one, with every field"],
  ]);
  examples(collection("invoices", "list the invoices, or show one").argument("[id]", "show this one in full"), [
    ["hostform invoices --json", "an array of records"],
  ]);
  examples(
    looking("grants", "list with whom a service is shared")
      .argument("<service>", "an id, or an address such as hosting_service.acme-www")
      .action(action(() => import("../list.ts"), "runGrants")),
    [["hostform grants hosting_service.acme-www", "the id is taken from the state"]],
  );
  registerWebhooks(registration);
  examples(collection("accounts", "list the client accounts (Manage track)"), [
    ["hostform accounts --provider beta", "those of another account"],
  ]);
  examples(
    collection("migrations", "list the migration requests, or show one").argument("[id]", "show this one in full"),
    [["hostform migrations", "with their status"]],
  );
  const domains = command("domains", "ask about domains", GROUP).helpCommand(false);
  examples(
    looking("check", "ask whether domains can be registered", domains)
      .argument("<names...>")
      .action(action(() => import("../list.ts"), "runDomainsCheck")),
    [["hostform domains check acme.example acme.test", "several at once"]],
  );
}

const ONCE = "Doing once:";
const SERVICE = "an address in the state, or the id of a service";
const PROVIDER = ["--provider <alias>", "the account, when an id is given (default: default)"] as const;

/** password and sso: what is done once and cannot be declared. */
export function registerOnce({ command, action }: Registration): void {
  examples(
    command("password", "set a service's control-panel password now, or have it generated", ONCE)
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
      .action(action(() => import("../service.ts"), "runPassword")),
    [
      ["hostform password hosting_service.acme-www --password-env ACME_PASSWORD", "shared and WordPress hosting"],
      ["hostform password hosting_service.vps > vps.token", "Root VPS: the new one goes to the file"],
    ],
  );
  examples(
    command("sso", "print a one-time URL that signs on to a service's control panel", ONCE)
      .argument("<address>", SERVICE)
      .option("--open", "open it in the browser instead of printing it")
      .option(...PROVIDER)
      .action(action(() => import("../service.ts"), "runSso")),
    [["hostform sso hosting_service.acme-www --open", "straight into the panel"]],
  );
}

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
      .action(action(() => import("../contract.ts"), "runContract", "none")),
    [
      ["hostform contract --base-url https://api.acme.example", "reads only"],
      ["hostform contract --write --json > contract.json", "for programs, or to send to the host"],
    ],
  );
}
