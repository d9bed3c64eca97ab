import { type Command, InvalidArgumentError, Option } from "commander";
import {
  addGuardOptions,
  addSecretOptions,
  collect,
  duration,
  examples,
  given,
  listenAddress,
  type Registration,
  wholeNumber,
} from "../options.ts";

const GROUP = "Main commands:";

/** validate, plan, apply, watch, destroy, import, resolve: from a declaration to an account that matches it. */
export function registerMain(registration: Registration): void {
  const { command, action } = registration;
  examples(
    command("validate", "check the declaration, without any request", GROUP).action(
      action(() => import("../plan.ts"), "runValidate", "each"),
    ),
    [
      ["hostform validate", "every mistake at its line"],
      ["hostform validate --json -C clients/acme", "the same for a program"],
      ["hostform validate --stack cdktf.out", "the stacks that cdktf or cdktn has synthesized"],
    ],
  );
  examples(
    withTargets(command("plan", "show what would change", GROUP))
      .option("--destroy", "plan the removal of everything")
      .option("--detailed-exitcode", "exit with 2 when there are changes, or a status does not show whether there are")
      .addOption(
        new Option("--format <format>", "markdown for a comment, html for a page (default: text)").choices([
          "text",
          "json",
          "markdown",
          "html",
        ]),
      )
      .option("--out <file>", "save the plan, to be applied as it is: `hostform apply FILE`", given)
      .action(action(() => import("../plan.ts"), "runPlan", "each")),
    [
      ["hostform plan", "what differs from the declaration"],
      ["hostform plan --target hosting_service.acme-www", "one resource and what it depends on"],
      ["hostform plan --json", "Terraform's plan representation"],
      ["hostform plan --out acme.plan --format markdown", "save it, and print a comment for the pull request"],
    ],
  );
  examples(
    applying(command("apply", "make the account match the declaration", GROUP))
      .argument("[plan]", "a file that `plan --out` has saved: does what it says, or nothing, without asking")
      .action(action(async () => ({ run: (await import("../apply.ts")).runApply("apply") }), "run", "each")),
    [
      ["hostform apply", "plan, ask, do"],
      ["hostform apply acme.plan", "what was planned, or nothing"],
      ["hostform apply --auto-approve --json", "for CI: events, one JSON document per line"],
      ['hostform apply --app "node main.js"', "synthesize with cdktf or cdktn, and apply every stack"],
    ],
  );
  registerWatch(registration, GROUP);
  examples(
    applying(command("destroy", "remove what is managed, as far as deletion_policy allows", GROUP)).action(
      action(async () => ({ run: (await import("../apply.ts")).runApply("destroy") }), "run", "each"),
    ),
    [["hostform destroy --target hosting_webhook.billing", "remove one webhook"]],
  );
  examples(
    command("import", "adopt an existing object into the state", GROUP)
      .argument("<address>", "the resource that declares it")
      .argument("<id>", "its id; for a grant its id or e-mail, or SERVICE_ID/GRANT_ID")
      .action(action(() => import("../import.ts"), "runImport")),
    [
      ["hostform import hosting_service.acme-www 1001", "an existing service"],
      [`hostform import 'hosting_grant.acme-www["dev@acme.example"]' dev@acme.example`, "a grant, by its e-mail"],
    ],
  );
  examples(
    command("resolve", "settle creates whose outcome is not known", GROUP)
      .argument("[address]", "the one to look at or to settle; default: all are shown")
      .option("--adopt <id>", "it was made, and this is its id")
      .option("--absent", "it was not made: the next apply makes it")
      .option("--wait", "look again until the account shows it")
      .option("--wait-timeout <time>", "how long to look (default: 10m)", duration)
      .action(action(() => import("../resolve.ts"), "runResolve")),
    [
      ["hostform resolve", "what is known of each"],
      ["hostform resolve hosting_domain.acme --adopt 4711", "the invoice shows that it was ordered"],
      ["hostform resolve hosting_domain.acme --absent", "it was not: order it again"],
    ],
  );
}

function withTargets(command: Command): Command {
  const targeted = command
    .option("--target <address>", "only this resource and what it depends on (repeatable)", collect)
    .option("--reorder <address>", "order again, on purpose, a service that is gone (repeatable)", collect)
    .option(
      "--order-anyway <address>",
      "order a server although one like it exists that is not in the state (repeatable)",
      collect,
    );
  return addGuardOptions(targeted);
}

function applying(command: Command): Command {
  return withTargets(command)
    .option("--auto-approve", "do not ask")
    .option("--no-wait", "do not wait for queued jobs, nor count one that is still queued as undone")
    .option("--wait-timeout <time>", "how long to wait for queued jobs (default: 5m)", duration)
    .option("--parallelism <n>", "changes under way at once (default: 10)", wholeNumber(1, 100));
}

const EVENTS = "Events as hints of where to look:";
const LEAST_MS = 10_000;
const MOST_MS = 86_400_000;

/** watch: the command that goes on. */
function registerWatch({ command, action }: Registration, group: string): void {
  const watch = command("watch", "keep looking at the account: report what differs, or make it as declared", group)
    .option("--interval <time>", "from one look to the next (default: 5m)", interval)
    .option("--auto-approve", "do not only report what differs: apply it, within the guards")
    .option("--max-runs <n>", "end after so many looks (default: with Ctrl-C)", wholeNumber(1, 1_000_000))
    .addOption(
      new Option("--listen <[host:]port>", "receive webhooks; without a host from this machine only")
        .argParser(listenAddress)
        .helpGroup(EVENTS),
    );
  addSecretOptions(watch, EVENTS);
  examples(addGuardOptions(watch).action(action(() => import("../watch.ts"), "runWatch")), [
    ["hostform watch", "report what differs from the declaration, as it comes up"],
    ["hostform watch --auto-approve --max-orders 0", "put right what was changed elsewhere; order nothing"],
    ["hostform watch --listen 8787 --webhook hosting_webhook.watch", "look at once at what an event names"],
  ]);
}

function interval(text: string): number {
  const ms = duration(text);
  if (ms < LEAST_MS || ms > MOST_MS) {
    throw new InvalidArgumentError("expected a time from 10s to 24h: each look costs requests of the 60 a minute");
  }
  return ms;
}
