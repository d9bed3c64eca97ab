import { Argument, Option } from "commander";
import { VERSION } from "../../core/api/version.ts";
import { collect, examples, given, port, type Registration, variableName, wholeNumber } from "../options.ts";
import { printJson, type Terminal } from "../terminal.ts";

const GROUP = "Sandbox and setup:";
const ANY_SIZE = 1_000_000;

/** init, sandbox, completion, version. */
export function registerSetup({ program, command, action }: Registration): void {
  examples(
    command("init", "start a project: hosting.yaml and .gitignore", GROUP)
      .option("--project <name>", "name of the project (default: that of the folder)")
      .option("--base-url <url>", "address of the API (default: HOSTING_BASE_URL when it runs)")
      .option(
        "--token-env <name>",
        "environment variable with the API token (default: HOSTING_TOKEN)",
        variableName("--token-env"),
      )
      .option("--money-scale <digits>", "digits of amounts behind the point; 2 where the API counts cents")
      .option("--force", "also when there is a hosting.yaml: it is kept under another name")
      .action(action(() => import("../init.ts"), "runInit", "none")),
    [
      ["hostform init", "asks"],
      ["hostform init --project acme --base-url https://api.acme.example", "does not ask"],
    ],
  );
  examples(
    command("sandbox", "run an implementation of the API on this machine, to try things", GROUP)
      .argument("[command...]", "after --: run this with the sandbox's address and token, then stop")
      .option("--port <n>", "port of the API (default: any free one)", port)
      .option("--control-port <n>", "port of the control API (default: any free one)", port)
      .option("--seed <text>", "makes the data, tokens and secrets", given)
      .option("--data <file>", "keep everything in this SQLite file (default: in memory)", given)
      .option(
        "--profile <text>",
        "how the specification's gaps are filled: laravel, minimal, contrary, strict, flaky, and switches such as status=words,ids=string",
        given,
      )
      .option("--rate-limit <n>", "requests a minute per token, 0 for no limit (default: 60)", wholeNumber(0, ANY_SIZE))
      .option("--auto-pay", "invoices are paid as they are raised")
      .option("--clock <instant>", "time stands still here, e.g. 2026-11-21T10:00:00Z, until it is moved", given)
      .option(
        "--deliver-to <host>",
        "deliver events to this host too, or `anywhere`; by itself to this machine only (repeatable)",
        collect,
      )
      .addOption(
        new Option("--token <who>", "whose token to export")
          .choices(["agency", "customer", "viewer"])
          .default("agency"),
      )
      .option("--open", "open its dashboard in the browser")
      .option("--snapshot <file>", "start from this snapshot of a sandbox", given)
      .option(
        "--record <file>",
        "write down what happens, to repeat it: as JSON, or as a test for *.js, *.mjs, *.ts",
        given,
      )
      .action(action(() => import("../sandbox.ts"), "runSandbox", "none")),
    [
      ["hostform sandbox --port 8080", "runs until Ctrl-C; prints what to export"],
      ["hostform sandbox --auto-pay -- hostform apply", "one command against a fresh sandbox"],
    ],
  );
  examples(
    command("completion", "print a completion script for a shell", GROUP)
      .addArgument(new Argument("<shell>").choices(["bash", "zsh", "fish"]))
      .action(action(async () => ({ run: (await import("../completion.ts")).runCompletion(program) }), "run", "none")),
    [
      [`eval "$(hostform completion bash)"`, "in ~/.bashrc"],
      ["hostform completion fish > ~/.config/fish/completions/hostform.fish", "for fish"],
    ],
  );
  command("version", "print the version", GROUP).action(action(async () => ({ runVersion }), "runVersion", "none"));
}

/** `hostform version`. */
async function runVersion(terminal: Terminal): Promise<number> {
  const platform = `${process.platform}-${process.arch}`;
  if (terminal.json) {
    printJson(terminal, { version: VERSION, node: process.versions.node, platform });
  } else terminal.out(`hostform ${VERSION} (Node ${process.versions.node}, ${platform})\n`);
  return 0;
}
