/**
 * A process that contends for the lock of a state file. Arguments: state file, log file, rounds.
 * With 0 rounds, it takes the lock, prints `held` or the reason of its failure, and keeps the lock until it is killed.
 * For each line of input, it prints whether it still holds the lock.
 * With more rounds, each round takes the lock, appends `enter PID` and `leave PID` to the log, and releases the lock.
 * The first round prints `held`.
 */
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { systemClock } from "../../../../src/core/model/index.ts";
import { createStateFileLock, type HeldLock } from "../../../../src/core/record/index.ts";

const [state = "", log = "", rounds = "0"] = process.argv.slice(2);
const lock = createStateFileLock(state, {
  clock: systemClock,
  uuid: () => crypto.randomUUID(),
  contender: { pid: process.pid, user: "child", host: "here" },
});

const say = async (words: string, action: () => unknown) => {
  try {
    await action();
    process.stdout.write(`${words}\n`);
  } catch (error) {
    process.stdout.write(`${error instanceof Error ? error.message : error}\n`);
  }
};

if (rounds === "0") {
  let held: HeldLock | undefined;
  await say("held", async () => {
    held = await lock.acquire({ command: "apply", timeoutMs: 0 });
  });
  for await (const _ of createInterface({ input: process.stdin })) await say("mine", () => held?.verify());
}

for (let round = 0; round < Number(rounds); round++) {
  const held = await lock.acquire({ command: "apply", timeoutMs: 20_000 });
  appendFileSync(log, `enter ${process.pid}\n`);
  if (round === 0) process.stdout.write("held\n");
  held.verify();
  appendFileSync(log, `leave ${process.pid}\n`);
  await held.release();
}
