import { InvalidArgumentError } from "commander";
import type { CliCommand } from "../command.ts";
import type { CollectionName } from "../list.ts";
import { given, POLICY_OPTION, type Registration, TOKEN_ENV, variableName } from "../options.ts";
import { registerWebhooks } from "./webhooks.ts";

const GROUP = "Account (read-only):";

function month(text: string): string {
  if (/^\d{4}-(?:0[1-9]|1[0-2])$/.test(text)) return text;
  throw new InvalidArgumentError("Expected a month such as 2026-12.");
}

/** Registers the commands that only read the account. */
export function registerAccount(registration: Registration): void {
  const { command, action } = registration;
  const reading = (name: string, summary: string, parent?: CliCommand) =>
    command(name, summary, parent === undefined ? GROUP : "Commands:", parent).option(
      "--provider <alias>",
      "the account to read (default: default)",
    );
  const collection = (name: CollectionName, summary: string) =>
    reading(name, summary).action(
      action(async () => ({ run: (await import("../list.ts")).runCollection(name) }), "run"),
    );

  collection("plans", "list the host's plans, with prices").examples([
    "hostform plans",
    "find the plan_id for a declaration",
  ]);
  collection("services", "list services, or show one")
    .argument("[id]", "show this one, with every field")
    .examples(["hostform services 1001", "one service, with every field"]);
  reading("invoices", "list invoices with their sum, or show one")
    .argument("[id]", "show this one, with every field")
    .option("--unpaid", "only invoices that must be paid")
    .option("--overdue", "only unpaid invoices whose due date has passed")
    .option("--client <name>", "only invoices of this client, as the state has it", given)
    .option("--month <yyyy-mm>", "only invoices that are due in this month", month)
    .action(action(() => import("../invoices.ts"), "runInvoices"))
    .examples(
      ["hostform invoices --overdue", "what is late, and for which domain"],
      ["hostform invoices --client acme --month 2026-12", "to bill a client"],
      ["hostform invoices --json", "an array of records"],
    );
  reading("grants", "list who has access to a service")
    .argument("<service>", "its id, its domain, or its address, such as hosting_service.acme-www")
    .action(action(() => import("../list.ts"), "runGrants"))
    .examples(["hostform grants hosting_service.acme-www", "the state knows its id"]);
  registerWebhooks(registration, GROUP);
  collection("accounts", "list client accounts (Manage track)").examples([
    "hostform accounts --provider beta",
    "those of the provider `beta`",
  ]);
  collection("migrations", "list migration requests, or show one")
    .argument("[id]", "show this one, with every field")
    .examples(["hostform migrations", "with their status"]);
  const domains = command("domains", "check domain names", GROUP).helpCommand(false);
  reading("check", "check whether domains can be registered", domains)
    .argument("<names...>")
    .action(action(() => import("../list.ts"), "runDomainsCheck"))
    .examples(["hostform domains check acme.example acme.test", "two at once"]);
}

const ONCE = "One-time actions:";
const SERVICE = "the service: its address or domain in the state, or its id";
const PROVIDER = ["--provider <alias>", "the account, if you give an id (default: default)"] as const;

/** Registers `password` and `sso`, which a declaration cannot express. */
export function registerOnce({ command, action }: Registration): void {
  command("password", "set the control-panel password of a service, or have the API generate one", ONCE)
    .argument("<address>", SERVICE)
    .option(...POLICY_OPTION)
    .option("--password-env <name>", "read the password from this environment variable", variableName("--password-env"))
    .option("--password-file <file>", "read it from this file")
    .option("--password-stdin", "read it from standard input")
    .option("--generate", "have the API generate one (Root VPS, Virtual Desktop) and print it, once")
    .option(...PROVIDER)
    .action(action(() => import("../service.ts"), "runPassword"))
    .examples(
      [
        "hostform password hosting_service.acme-www --password-env ACME_PASSWORD",
        "shared and WordPress hosting: you choose it",
      ],
      ["hostform password hosting_service.vps > vps.token", "Root VPS: the API generates it"],
    );
  command("sso", "print a one-time sign-on URL for the control panel of a service", ONCE)
    .argument("<address>", SERVICE)
    .option("--open", "open the URL in the browser instead of printing it")
    .option(...PROVIDER)
    .action(action(() => import("../service.ts"), "runSso"))
    .examples(["hostform sso hosting_service.acme-www --open", "open the control panel"]);
}

/** Registers `doctor`. */
export function registerDoctor({ command, action }: Registration): void {
  command("doctor", "check the account, its token, the host's answers and the state; only reads", GROUP)
    .option("--provider <alias>", "check this account of the declaration (default: all)")
    .option("--base-url <url>", "check the account at this address, apart from any declaration", given)
    .option(...TOKEN_ENV)
    .action(action(() => import("../doctor.ts"), "runDoctor"))
    .examples(
      ["hostform doctor", "exit code 0: healthy, 1: a problem"],
      ["hostform doctor --base-url https://api.acme.example", "without a declaration"],
      ["hostform doctor --json > doctor.json", "with every endpoint, for programs"],
    );
}
