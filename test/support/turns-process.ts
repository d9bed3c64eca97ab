/**
 * A process that makes creates in turns with others, over `FILE`. It does what each line of its input says, and answers with
 * a line: `enter` takes the turn, `others COUNT` and `earlier THING COUNT` ask, `begin THING AT`, `end OUTCOME` and `leave` go on.
 * `count` prints the count. It says `waiting` when it has to wait for the turn.
 */
import { createInterface } from "node:readline";
import { type CreateTurn, SharedCreateTurns } from "../../src/core/api/create-turns.ts";
import { systemClock } from "../../src/core/model/index.ts";

const [file = "", owner = ""] = process.argv.slice(2);
const say = (words: unknown) => process.stdout.write(`${JSON.stringify(words)}\n`);

const turns = new SharedCreateTurns(file, {
  clock: {
    now: systemClock.now,
    sleep: (ms, signal) => {
      say("waiting");
      return systemClock.sleep(ms, signal);
    },
  },
  onAlone: (reason) => say(String(reason)),
});

let turn: CreateTurn | undefined;
let leave = () => {};

for await (const line of createInterface({ input: process.stdin })) {
  const [word = "", one = "", two = ""] = line.split(" ");
  if (word === "count") say(turns.count());
  if (word === "enter") {
    void turns.run(async (mine) => {
      turn = mine;
      say("entered");
      await new Promise<void>((resolve) => {
        leave = resolve;
      });
    });
  }
  if (word === "others") say(turn?.others(Number(one), owner));
  if (word === "earlier") say(turn?.earlier({ thing: one, owner }, Number(two)) ?? null);
  if (word === "begin") {
    turn?.begin({ thing: one, owner }, Number(two));
    say("begun");
  }
  if (word === "end") {
    turn?.end(one as "made" | "nothing");
    say("ended");
  }
  if (word === "leave") {
    leave();
    say("left");
  }
}
