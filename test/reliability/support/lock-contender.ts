/**
 * A process that contends for the lock of a state file. Arguments: state file, log file. It says `ready` and, on the
 * first line of input, tries: refused, it says `refused` and ends. Else it appends `enter PID` to the log, says `held`,
 * and on the next line of input appends `leave PID`, lets go and ends.
 */
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { HostformError, systemClock } from "../../../src/core/model/index.ts";
import { createStateFileLock } from "../../../src/core/record/lock.ts";

const [state = "", log = ""] = process.argv.slice(2);
const lock = createStateFileLock(state, {
  clock: systemClock,
  uuid: () => crypto.randomUUID(),
  contender: { pid: process.pid, user: "contender", host: "here" },
});
const say = (word: string) => void process.stdout.write(`${word}\n`);

const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
say("ready");
await input.next();
try {
  const held = await lock.acquire({ command: "apply", timeoutMs: 0 });
  appendFileSync(log, `enter ${process.pid}\n`);
  say("held");
  await input.next();
  await held.verify();
  appendFileSync(log, `leave ${process.pid}\n`);
  await held.release();
} catch (error) {
  if (!(error instanceof HostformError)) throw error;
  say("refused");
}
process.exit(0);
