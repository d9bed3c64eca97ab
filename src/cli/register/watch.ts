import { InvalidArgumentError, Option } from "commander";
import { listenAddress } from "../commands/watch/address.ts";
import { addGuardOptions } from "../guards.ts";
import { duration } from "../options.ts";
import { examples, type Registration, wholeNumber } from "../registration.ts";
import { addSecretOptions } from "./secret-options.ts";

const EVENTS = "Events as hints of where to look:";
const LEAST_MS = 10_000;
const MOST_MS = 86_400_000;

/** watch: the command that goes on. */
export function registerWatch({ command, action }: Registration, group: string): void {
  const watch = command("watch", "keep looking at the account: report what differs, or make it as declared", group)
    .addOption(new Option("--interval <time>", "from one look to the next (default: 5m)").argParser(interval))
    .option("--auto-approve", "do not only report what differs: apply it, within the guards")
    .addOption(
      new Option("--max-runs <n>", "end after so many looks (default: with Ctrl-C)").argParser(
        wholeNumber(1, 1_000_000),
      ),
    )
    .addOption(
      new Option("--listen <[host:]port>", "receive webhooks; without a host from this machine only")
        .argParser(listenAddress)
        .helpGroup(EVENTS),
    );
  addSecretOptions(watch, EVENTS);
  examples(
    addGuardOptions(watch).action(
      action(async (invocation, flags: object) =>
        (await import("../commands/watch/index.ts")).runWatch(invocation, flags),
      ),
    ),
    [
      ["hostform watch", "report what differs from the declaration, as it comes up"],
      ["hostform watch --auto-approve --max-orders 0", "put right what was changed elsewhere; order nothing"],
      ["hostform watch --listen 8787 --webhook hosting_webhook.watch", "look at once at what an event names"],
    ],
  );
}

function interval(text: string): number {
  const ms = duration(text);
  if (ms < LEAST_MS || ms > MOST_MS) {
    throw new InvalidArgumentError("expected a time from 10s to 24h: each look costs requests of the 60 a minute");
  }
  return ms;
}
