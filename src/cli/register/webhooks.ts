import { Argument, InvalidArgumentError, Option } from "commander";
import { didYouMean, EVENTS } from "../../core/model/index.ts";
import {
  addSecretOptions,
  collect,
  duration,
  examples,
  given,
  port,
  type Registration,
  variableName,
} from "../options.ts";

const CONTROL = ["--control-url <url>", "the sandbox's control port (default: HOSTING_SANDBOX_CONTROL_URL)"] as const;

/** A time above none: no event would be young enough. */
function age(text: string): number {
  const time = duration(text);
  if (time === 0) throw new InvalidArgumentError("expected a time above 0");
  return time;
}

/** webhooks, and what there is to do with deliveries. */
export function registerWebhooks({ command, action }: Registration): void {
  const webhooks = command("webhooks", "list the webhook subscriptions, or receive and check deliveries", "Looking:")
    .helpCommand(false)
    .allowExcessArguments()
    .option("--provider <alias>", "the account to look at (default: default)")
    .action(action(async () => ({ run: (await import("../list.ts")).runCollection("webhooks") }), "run"));
  // A command of its own and a group at once: a part that is misspelt must not list.
  webhooks.hook("preAction", (_, actual) => {
    const [word] = actual.args;
    if (actual !== webhooks || word === undefined) return;
    const names = webhooks.commands.map((sub) => sub.name());
    const fix = didYouMean(word, names).trim();
    webhooks.error(`error: unknown command 'webhooks ${word}'\n(${fix || `there are ${names.join(", ")}`})`);
  });
  examples(webhooks, [
    ["hostform webhooks", "urls and events"],
    ["hostform webhooks listen --help", "receive deliveries on this machine"],
  ]);
  const part = (name: string, summary: string) => command(name, summary, "Commands:", webhooks);
  examples(
    addSecretOptions(part("listen", "receive deliveries, verify and show them, and hand them on"))
      .option("--port <n>", "port to listen on (default: any free one)", port)
      .option("--host <ip>", "address to listen on (default: 127.0.0.1)", given)
      .option("--forward-to <url>", "post each event there, signed again", given)
      .option(
        "--forward-secret-env <name>",
        "variable with the secret that the application verifies with (default: the first one)",
        variableName("--forward-secret-env"),
      )
      .option("--events <names>", "only these, with commas between (repeatable)", collect)
      .option("--duplicates", "hand on what comes again, too: what `replay` sends")
      .option("--remember <file>", "remember there what was handled, for the next run", given)
      .option("--max-age <time>", "refuse events that are older: 10m", age)
      .option("--register [url]", "subscribe this address, or the one given, until the end")
      .option("--provider <alias>", "the account for --register (default: default)")
      .action(action(() => import("../webhooks/listen.ts"), "runListen")),
    [
      ["hostform webhooks listen --register", "a sandbox's events, as they come"],
      ["hostform webhooks listen --secret-file hook.secret --forward-to http://localhost:3000", "to an application"],
    ],
  );
  examples(
    addSecretOptions(part("verify", "check the signature of a body that was kept"))
      .argument("<file>", "the raw body; - is standard input")
      .addOption(
        new Option("--signature <hex>", "what stood in X-Service-Signature").argParser(given).makeOptionMandatory(),
      )
      .action(action(() => import("../webhooks/verify.ts"), "runVerify")),
    [['hostform webhooks verify body.json --signature "$SIGNATURE" --secret-file hook.secret', "exit code 0: it fits"]],
  );
  examples(
    part("trigger", "have a sandbox send an event now")
      .addArgument(new Argument("<event>", "its name").choices(EVENTS))
      .option("--service <address>", "what it is about: an id, or an address in the state")
      .option("--invoice <id>", "what it is about")
      .option("--webhook <id>", "to this subscription alone")
      .option(...CONTROL)
      .action(action(() => import("../webhooks/sandbox.ts"), "runTrigger")),
    [["hostform webhooks trigger invoice.paid --invoice 5001", "whether or not it was paid"]],
  );
  examples(
    part("deliveries", "list what a sandbox has sent, or show one delivery")
      .argument("[id]", "show this one in full")
      .option(...CONTROL)
      .action(action(() => import("../webhooks/sandbox.ts"), "runDeliveries", "none")),
    [["hostform webhooks deliveries", "with what came back"]],
  );
  examples(
    part("replay", "have a sandbox send a delivery again")
      .argument("<id>", "of the delivery")
      .option(...CONTROL)
      .action(action(() => import("../webhooks/sandbox.ts"), "runReplay", "none")),
    [["hostform webhooks replay 3", "the same bytes"]],
  );
}
