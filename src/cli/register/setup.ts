import { Argument, Option } from "commander";
import { VERSION } from "../../core/api/version.ts";
import { EVENTS } from "../../core/model/index.ts";
import { port } from "../listen-address.ts";
import { collect, given, POLICY_OPTION, type Registration, TOKEN_ENV, wholeNumber } from "../options.ts";
import type { Terminal } from "../terminal.ts";
import { longVersion, platform } from "../version.ts";

const GROUP = "Sandbox and setup:";
const ANY_SIZE = 1_000_000;

/** Registers `init`, `schema`, `sandbox`, `mcp`, `completion` and `version`. */
export function registerSetup({ command, action }: Registration): void {
  command("init", "start a project: hosting.yaml, its schema and .gitignore", GROUP)
    .option("--project <name>", "name of the project (default: the name of the folder)")
    .option("--base-url <url>", "address of the API (default: read HOSTING_BASE_URL at each run)")
    .option(...TOKEN_ENV)
    .option("--money-scale <digits>", "decimal places of the API's amounts: 2 if it counts in cents")
    .action(action(() => import("../init.ts"), "runInit", "none"))
    .examples(
      ["hostform init", "asks for each value"],
      ["hostform init --project acme --base-url https://api.acme.example", "asks nothing"],
    );
  command("schema", "write the schema by which an editor completes and checks declarations", GROUP)
    .argument("[file]", "where to write it, `-` for standard output (default: hosting.schema.json)")
    .action(action(() => import("../init.ts"), "runSchema", "none"))
    .examples(["hostform schema", "writes hosting.schema.json beside the declaration"]);
  const sandbox = command("sandbox", "run a simulated host on this machine, to try things", GROUP)
    .helpCommand(false)
    .argument("[command...]", "after `--`: run this command against the sandbox, then stop it")
    .option("--port <n>", "port of the API (default: any free one)", port)
    .option("--control-port <n>", "port of the control API (default: any free one)", port)
    .option("--seed <text>", "derive data, tokens and secrets from this text: the same text, the same values", given)
    .option("--data <file>", "keep the data in this SQLite file (default: in memory)", given)
    .option(
      "--profile <text>",
      "how it behaves where the specification is silent: laravel, minimal, contrary, strict, flaky; or switches such as status=words,ids=string",
      given,
    )
    .option(
      "--rate-limit <n>",
      "requests a minute for each token, 0 for no limit (default: 60)",
      wholeNumber(0, ANY_SIZE),
    )
    .option("--auto-pay", "pay each invoice at once")
    .option("--clock <instant>", "stop the sandbox's clock at this time, such as 2026-11-21T10:00:00Z", given)
    .option(
      "--deliver-to <host>",
      "also deliver events to this host, or `anywhere` (default: this machine only; repeatable)",
      collect,
    )
    .addOption(
      new Option("--token <who>", "whose token to export to the command")
        .choices(["agency", "customer", "viewer"])
        .default("agency"),
    )
    .option("--open", "open the dashboard in the browser")
    .option("--snapshot <file>", "start from this snapshot", given)
    .action(action(() => import("../sandbox.ts"), "runSandbox", "none"))
    .examples(
      ["hostform sandbox --port 8080", "run until Ctrl-C; print the variables to export"],
      ["hostform sandbox --auto-pay -- hostform apply", "run one command against a new sandbox"],
    );
  const events = (name: string, summary: string) =>
    command(name, summary, "Events of a running sandbox:", sandbox).option(
      "--control-url <url>",
      "control address of the sandbox (default: HOSTING_SANDBOX_CONTROL_URL)",
    );
  events("trigger", "send an event now")
    .addArgument(new Argument("<event>", "name of the event").choices(EVENTS))
    .option("--service <address>", "the service that it names: an id, or an address in the state")
    .option("--invoice <id>", "the invoice that it names")
    .option("--webhook <id>", "send it to this subscription only")
    .action(action(() => import("../sandbox-events.ts"), "runTrigger"))
    .examples(["hostform sandbox trigger invoice.paid --invoice 5001", "the invoice stays as it is"]);
  events("deliveries", "list the deliveries of events, or show one")
    .argument("[id]", "show this one, with every attempt")
    .action(action(() => import("../sandbox-events.ts"), "runDeliveries", "none"))
    .examples(["hostform sandbox deliveries", "with the answer to each"]);
  events("redeliver", "send a delivery again")
    .argument("<id>", "id of the delivery")
    .action(action(() => import("../sandbox-events.ts"), "runRedeliver", "none"))
    .examples(["hostform sandbox redeliver 3", "send the same bytes again"]);
  command("mcp", "serve an agent by the Model Context Protocol: it proposes changes, and applies with a mandate", GROUP)
    .option(
      "--http [port]",
      "serve HTTP on this machine instead of the standard streams (default: any free port)",
      port,
    )
    .option("--plans <dir>", "keep the plans of the agent here (default: in the user's state folder)", given)
    .option(...POLICY_OPTION)
    .action(action(() => import("../mcp.ts"), "runMcp", "none"))
    .examples(
      ["hostform mcp", "an MCP client starts it, with the project's folder as the working folder"],
      ["hostform mcp --http 8765", "clients on this machine connect with the token in HOSTFORM_MCP_TOKEN"],
    );
  command("completion", "print a completion script for your shell", GROUP)
    .addArgument(new Argument("<shell>").choices(["bash", "zsh", "fish", "powershell"]))
    .action(action(() => import("../completion.ts"), "runCompletion", "none"))
    .examples(
      [`eval "$(hostform completion bash)"`, "put this line into ~/.bashrc"],
      ["hostform completion fish > ~/.config/fish/completions/hostform.fish", "fish"],
      ["hostform completion powershell >> $PROFILE", "PowerShell"],
    );
  command("version", "show the version", GROUP).action(action(async () => ({ runVersion }), "runVersion", "none"));
}

async function runVersion(terminal: Terminal): Promise<number> {
  const { printResult } = await import("../terminal.ts");
  printResult(terminal, "version", { version: VERSION, node: process.versions.node, platform }, `${longVersion}\n`);
  return 0;
}
