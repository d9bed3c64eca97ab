import { InvalidArgumentError, Option } from "commander";
import { didYouMean, UNPAID } from "../../core/model/index.ts";
import { SECTIONS, type SectionName } from "../../report/status/names.ts";
import type { CliCommand } from "../command.ts";
import { listenAddress } from "../listen-address.ts";
import {
  addGuardOptions,
  addSecretOptions,
  collect,
  duration,
  FAIL_ON_OPTION,
  FAIL_ON_STATUS_OPTION,
  given,
  POLICY_OPTION,
  type Registration,
  webUrl,
  wholeNumber,
} from "../options.ts";

const GROUP = "Main commands:";

const FORMATS = ["text", "json", "markdown", "html"] as const;

/** Registers the commands that use the declaration: `validate`, `plan`, `apply` and others. */
export function registerMain(registration: Registration): void {
  const { command, action } = registration;
  command("validate", "check the declaration; sends no request", GROUP)
    .choice("--format <format>", "format of the errors (default: text)", ["text", "json", "sarif", "gitlab"])
    .option("--expanded", "print the declaration without templates, defaults and includes")
    .action(action(() => import("../plan.ts"), "runValidate", "each"))
    .examples(
      ["hostform validate", "report every error with its line"],
      ["hostform validate --format sarif > hostform.sarif", "for GitHub's code scanning, and editors"],
    );
  command("fmt", "format the files of the declaration", GROUP)
    .argument("[files...]", "the files, `-` for standard input (default: those of the declaration)")
    .option("--check", "write nothing; exit with 3 if a file would change")
    .option("--diff", "show the changes")
    .action(action(() => import("../fmt.ts"), "runFmt", "none"))
    .examples(
      ["hostform fmt", "write the files that change, and print their names"],
      ["hostform fmt --check --diff", "for CI: exit with 3 and show what would change"],
    );
  withRefresh(withTargets(command("plan", "show what would change", GROUP)))
    .option(...REPORT)
    .option("--destroy", "plan to remove everything")
    .option("--lock", "lock the state, so that no other run changes it meanwhile; `--lock-timeout` waits for the lock")
    .option("--detailed-exitcode", "exit with 2 if there are changes, or if hostform could not check an object")
    .option(...FAIL_ON_OPTION)
    .option(...HEARTBEAT)
    .choice("--format <format>", "format of the plan (default: text)", [...FORMATS])
    .option("--out <file>", "save the plan; `hostform apply FILE` applies exactly this plan", given)
    .action(action(() => import("../plan.ts"), "runPlan", "each"))
    .examples(
      ["hostform plan", "what differs from the declaration"],
      ["hostform plan --target hosting_service.acme-www", "one resource and its dependencies"],
      ["hostform plan --base origin/main", "what a branch changes"],
      ["hostform plan --out acme.plan --report plan.md", "save it, and write a comment for a pull request"],
    );
  command("rehearse", "apply a plan in a sandbox with a copy of the account, and let time run; changes nothing", GROUP)
    .argument("[plan]", "a plan saved by `plan --out` (default: a new plan)")
    .option("--months <n>", "how long time runs (default: 12)", wholeNumber(1, 36))
    .option("--faults", "apply again with a lost response or a crash at each request")
    .choice("--unpaid <invoices>", "invoices that nobody pays: those open today, or all (default: none)", [...UNPAID])
    .option(...REPORT)
    .option(...POLICY_OPTION)
    .choice("--format <format>", "output format (default: text)", [...FORMATS])
    .action(action(() => import("../rehearse.ts"), "runRehearse", "each"))
    .examples(
      ["hostform rehearse", "what the plan orders, costs and breaks within a year"],
      [
        "hostform rehearse acme.plan --unpaid open --report rehearsal.md",
        "a saved plan, while open invoices stay unpaid",
      ],
      ["hostform rehearse --faults", "for a pipeline: prove that a crash orders nothing twice"],
    );
  command("show", "show a saved plan, or the state; sends no request, takes no lock", GROUP)
    .argument("[plan]", "a plan saved by `plan --out` (default: the state)")
    .choice("--format <format>", "output format (default: text)", [...FORMATS])
    .action(action(() => import("../show.ts"), "runShow"))
    .examples(
      ["hostform show acme.plan", "the plan, as it was saved"],
      ["hostform show --json", "the state, in the form of `terraform show -json`"],
    );
  withRefresh(applying(command("apply", "make the account match the declaration", GROUP)))
    .argument("[plan]", "a plan saved by `plan --out`: applied exactly as it is, without asking, or refused")
    .option(...FAIL_ON_OPTION)
    .option(...HEARTBEAT)
    .action(action(async () => ({ run: (await import("../apply.ts")).runApply("apply") }), "run", "each"))
    .examples(
      ["hostform apply", "show the plan, ask, apply it"],
      ["hostform apply acme.plan", "apply a saved plan"],
      ["hostform apply --auto-approve --json", "for CI: one JSON event per line"],
    );
  registerStatus(registration);
  registerWatch(registration, GROUP);
  applying(command("destroy", "remove all managed resources, as far as deletion_policy allows", GROUP))
    .action(action(async () => ({ run: (await import("../apply.ts")).runApply("destroy") }), "run", "each"))
    .examples(["hostform destroy --target hosting_webhook.billing", "remove one webhook"]);
  command("import", "start managing an object that already exists", GROUP)
    .argument("<address>", "its address in the declaration, such as hosting_service.acme-www")
    .argument("<id>", "its id; for a grant also its e-mail address, or SERVICE_ID/GRANT_ID")
    .action(action(() => import("../import.ts"), "runImport"))
    .examples(
      ["hostform import hosting_service.acme-www 1001", "a service"],
      [
        `hostform import 'hosting_grant.acme-www["dev@acme.example"]' dev@acme.example`,
        "a grant, by its e-mail address",
      ],
    );
  registerAdopt(registration, GROUP);
  command("resolve", "finish creates whose result is unknown", GROUP)
    .argument("[address]", "the resource (default: list all pending creates)")
    .option("--adopt <id>", "adopt the object with this id: confirm that the request created the object")
    .option("--force", "adopt an object that differs from the request")
    .option("--absent", "confirm that the request created nothing; the next apply creates the object")
    .option("--wait", "check again until the account shows the object")
    .option("--wait-timeout <time>", "how long to keep checking (default: 10m)", duration)
    .action(action(() => import("../resolve.ts"), "runResolve"))
    .examples(
      ["hostform resolve", "show the evidence for each pending create"],
      ["hostform resolve hosting_domain.acme --adopt 4711", "it was ordered: the invoice shows its id"],
      ["hostform resolve hosting_domain.acme --absent", "it was not ordered; the next apply orders it"],
    );
}

function registerStatus({ command, action }: Registration): void {
  const reporting = (name: string, summary: string) =>
    command(name, summary, GROUP)
      .option("--section <name>", `only this section (repeatable): ${SECTIONS.join(", ")}`, sections)
      .option(
        "--target <address>",
        "only this resource and its dependencies; also 'hosting_service.acme-*' or client:acme (repeatable)",
        collect,
      )
      .option("--provider <alias>", "only this account of the declaration (default: all)", given)
      .option("--full", "also read the grants of each service: one request for each")
      .option(...POLICY_OPTION)
      .option(...FAIL_ON_STATUS_OPTION)
      .choice("--format <format>", "output format; CSV needs one section (default: text)", [...FORMATS, "csv"]);
  reporting("status", "show what is down, who owes, what renews and who gets in")
    .action(action(() => import("../status.ts"), "runStatus", "each"))
    .examples(
      ["hostform status", "the account and its declaration"],
      ["hostform status --format html > status.html", "a page without a script"],
      ["hostform status --section money --format csv > clients.csv", "the monthly cost by client"],
    );
  reporting("audit", "show what is not declared, overdue or pending, and who gets in")
    .action(action(() => import("../status.ts"), "runAudit", "each"))
    .examples(["hostform audit --full --fail-on undeclared,overdue,pending", "for a scheduled job"]);
}

function sections(text: string, earlier: readonly SectionName[] = []): readonly SectionName[] {
  const name = SECTIONS.find((one) => one === text);
  if (name === undefined)
    throw new InvalidArgumentError(`The sections are ${SECTIONS.join(", ")}.${didYouMean(text, SECTIONS)}`);
  return [...earlier, name];
}

/** Registers `policy test`. */
export function registerPolicy({ command, action }: Registration): void {
  const policy = command("policy", "test a policy", GROUP).helpCommand(false);
  command(
    "test",
    "evaluate saved plans with a policy, and compare the verdicts with the expected verdicts; sends no request",
    "Commands:",
    policy,
  )
    .argument("<files...>", "files with cases")
    .action(action(() => import("../policy-test.ts"), "runPolicyTest", "none"))
    .examples(["hostform policy test policies/cases.yaml", "exit with 1 if a verdict differs"]);
}

/** Registers `notify test`. */
export function registerNotify({ command, action }: Registration): void {
  const notify = command("notify", "test the notifications", GROUP).helpCommand(false);
  command("test", "send a test notification to each channel", "Commands:", notify)
    .action(action(() => import("../notify.ts"), "runNotifyTest"))
    .examples(["hostform notify test", "exit with 1 if a channel fails"]);
}

function registerAdopt({ command, action }: Registration, group: string): void {
  command("adopt", "bring an account under management: write its declaration and its state", group)
    .option("--names <file>", "CSV `id,name`: names instead of names from domains", given)
    .option("--clients <file>", "CSV `service id or domain,client`: the client of each service", given)
    .option("--select <domains>", "only services with such a domain, such as '*.acme.example' (repeatable)", collect)
    .option("--client <name>", "only objects of this client", given)
    .option("--declared", "only declared objects: writes no file (after the state was lost)")
    .option("--provider <name>", "the account, by its name under `providers` (default: default)", given)
    .option(
      "--project <name>",
      "name of the project, if there is no declaration yet (default: the folder's name)",
      given,
    )
    .choice("--format <format>", "YAML, HCL for Terraform, or TypeScript for a library of constructs (default: yaml)", [
      "yaml",
      "hcl",
      "cdktf",
      "cdktn",
    ])
    .option("--dry-run", "read the account, and print what would be written")
    .option("--auto-approve", "write without asking")
    .action(action(() => import("../adopt.ts"), "runAdopt", "none"))
    .examples(
      ["hostform adopt", "count the requests, ask, read the account, write"],
      ["hostform adopt --clients services.csv --auto-approve", "a file for each client"],
    );
}

export const HEARTBEAT = [
  "--heartbeat <url>",
  "send a POST request to this URL after each success, and to URL/fail after each failure",
  monitorUrl,
] as const;

const REPORT = [
  "--report <file>",
  "also write the report to this file: .html, .md, .json or .txt (repeatable)",
  collect,
] as const;

function withTargets(command: CliCommand): CliCommand {
  const targeted = command
    .option(
      "--target <address>",
      "only this resource and its dependencies; also 'hosting_service.acme-*' or client:acme (repeatable)",
      collect,
    )
    .option(
      "--replace <address>",
      "replace this webhook or grant, for example to change a secret (repeatable)",
      collect,
    )
    .option(
      "--reorder <address>",
      "order this service again, because the recorded service is gone (repeatable)",
      collect,
    )
    .option(
      "--order-anyway <address>",
      "order this server although the account has a similar one that is not in the state (repeatable)",
      collect,
    )
    .option("--account-moved", "accept an account with another address, or without the recorded objects")
    .option(...POLICY_OPTION);
  return addGuardOptions(targeted);
}

function withRefresh(command: CliCommand): CliCommand {
  return command
    .option("--base <commit>", "only resources that changed since this commit, and resources that refer to them", given)
    .choice(
      "--refresh <what>",
      "objects to read: all, objects that the plan changes, or only objects of a request (default: all)",
      ["all", "changed", "false"],
    )
    .option(
      "--refresh-budget <n>",
      "at most this many requests for grants, one for each service; least recently read first",
      wholeNumber(0, 1_000_000),
    );
}

function applying(command: CliCommand): CliCommand {
  return withTargets(command)
    .option(...REPORT)
    .option("--auto-approve", "apply without asking for approval")
    .option("--mandate <file>", "apply within this mandate, and count its use", given)
    .option("--receipt <file>", "write the receipt of the mandate to this file", given)
    .option("--partial", "apply all changes that are not skipped, without a question")
    .option("--no-wait", "do not wait for queued jobs; a queued job is no failure")
    .option("--wait-timeout <time>", "how long to wait for queued jobs (default: 5m)", duration)
    .option("--parallelism <n>", "number of simultaneous changes (default: 10)", wholeNumber(1, 100));
}

const EVENTS = "Webhooks (check what an event names at once):";
const LEAST_MS = 10_000;
const MOST_MS = 86_400_000;

function registerWatch({ command, action }: Registration, group: string): void {
  const watch = command("watch", "plan repeatedly, and report or apply each difference", group)
    .option("--interval <time>", "time from one check to the next, 10s to 24h (default: 5m)", interval)
    .option("--auto-approve", "apply each difference, within the guards, instead of only reporting it")
    .option("--max-runs <n>", "stop after this many checks (default: run until Ctrl-C)", wholeNumber(1, 1_000_000))
    .option(...POLICY_OPTION)
    .option(...FAIL_ON_OPTION)
    .option(...HEARTBEAT)
    .option("--metrics <[host:]port>", "serve /metrics (Prometheus) and /healthz here", listenAddress)
    .option(
      "--unreachable-after <time>",
      "report once if the host does not respond for this time (default: 15m)",
      timeWithUnit,
    )
    .addOption(
      new Option("--listen <[host:]port>", "receive webhooks here; without a host, from this machine only")
        .argParser(listenAddress)
        .helpGroup(EVENTS),
    );
  addSecretOptions(watch, EVENTS);
  addGuardOptions(watch)
    .action(action(() => import("../watch.ts"), "runWatch"))
    .examples(
      ["hostform watch", "report each difference when it appears"],
      ["hostform watch --auto-approve --max-orders 0", "correct changes made elsewhere; order nothing"],
      ["hostform watch --listen 8787 --webhook hosting_webhook.watch", "also check what an event names at once"],
    );
}

/** Parses a duration. Rejects a number without unit: it looks like minutes but would mean seconds. */
function timeWithUnit(text: string): number {
  if (/^\d+$/.test(text.trim()))
    throw new InvalidArgumentError("Expected a time with its unit, such as 30s, 5m or 1h.");
  return duration(text);
}

/** Parses the URL of a monitor. */
function monitorUrl(text: string): URL {
  const url = webUrl(text);
  if (url === undefined) throw new InvalidArgumentError("Expected a URL such as https://hc-ping.com/UUID.");
  return url;
}

function interval(text: string): number {
  const ms = duration(text);
  const expected = "Expected a time from 10s to 24h: each check takes some of the 60 requests a minute.";
  if (ms < LEAST_MS || ms > MOST_MS) throw new InvalidArgumentError(expected);
  return ms;
}
