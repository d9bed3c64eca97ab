import { InvalidArgumentError, Option } from "commander";
import { port } from "../listen-address.ts";
import { addSecretOptions, collect, duration, given, type Registration, variableName } from "../options.ts";

/** Parses a duration above 0. With 0, every event would be too old. */
function age(text: string): number {
  const time = duration(text);
  if (time === 0) throw new InvalidArgumentError("Expected a time above 0.");
  return time;
}

/** Registers `webhooks` and its subcommands. @param group Heading of `webhooks` in the list of commands. */
export function registerWebhooks({ command, action }: Registration, group: string): void {
  const webhooks = command("webhooks", "list webhook subscriptions; receive and verify deliveries", group)
    .helpCommand(false)
    .allowExcessArguments()
    .option("--provider <alias>", "the account to read (default: default)")
    .action(action(async () => ({ run: (await import("../list.ts")).runCollection("webhooks") }), "run"));
  // Without this check, a mistyped subcommand would run `webhooks` itself.
  webhooks.hook("preAction", (_, actual) => {
    if (actual === webhooks && actual.args.length > 0) webhooks.unknownCommand();
  });
  webhooks.examples(
    ["hostform webhooks", "their URLs and events"],
    ["hostform webhooks listen --help", "receive deliveries on this machine"],
  );
  const part = (name: string, summary: string) => command(name, summary, "Commands:", webhooks);
  addSecretOptions(part("listen", "receive, verify, show and forward deliveries"))
    .option("--port <n>", "port to listen on (default: any free one)", port)
    .option("--host <ip>", "address to listen on (default: 127.0.0.1)", given)
    .option("--forward-to <url>", "forward each event to this URL, signed again", given)
    .option(
      "--forward-secret-env <name>",
      "environment variable with the secret that this application verifies with (default: the first signing secret)",
      variableName("--forward-secret-env"),
    )
    .option("--events <names>", "only these events, separated by commas (repeatable)", collect)
    .option("--duplicates", "also forward repeated deliveries, as `sandbox redeliver` sends them")
    .option("--remember <file>", "keep the list of handled deliveries in this file, for the next run", given)
    .option("--max-age <time>", "refuse events that are older than this, such as 10m", age)
    .option("--register [url]", "subscribe this receiver, or the URL given, and unsubscribe at the end")
    .option("--provider <alias>", "the account for --register (default: default)")
    .action(action(() => import("../webhooks/listen.ts"), "runListen"))
    .examples(
      ["hostform webhooks listen --register", "show the events of a sandbox"],
      [
        "hostform webhooks listen --secret-file hook.secret --forward-to http://localhost:3000",
        "forward events to an application",
      ],
    );
  addSecretOptions(part("verify", "verify the signature of a saved delivery"))
    .argument("<file>", "the raw body; `-` for standard input")
    .addOption(
      new Option("--signature <hex>", "the value of its X-Service-Signature header")
        .argParser(given)
        .makeOptionMandatory(),
    )
    .action(action(() => import("../webhooks/verify.ts"), "runVerify"))
    .examples([
      'hostform webhooks verify body.json --signature "$SIGNATURE" --secret-file hook.secret',
      "exit code 0: it is valid",
    ]);
}
