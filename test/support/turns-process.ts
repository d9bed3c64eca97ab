/**
 * A process that creates objects while it holds the create lock of `FILE`. It executes each line of its input, and
 * prints one line for each: `enter` takes the lock, `newest JSON` queries, `leave ID THING AT`, `answer`, `unsent` and
 * `end` continue the create. `count` prints the number of creates. `see MARK RUN ID...`, `release MARK ID`, `endRun
 * MARK RUN SINCE` and `holdings` concern the objects that states hold. `begin` opens a transaction and never ends it.
 * The process prints `waiting` when it has to wait for the lock, and the diagnostic of a failure.
 */
import { createInterface } from "node:readline";
import { type LeavingCreate, openDatabase, SqliteStore, type Turn } from "../../src/core/local/index.ts";
import { HostformError, systemClock } from "../../src/core/model/index.ts";

const [file = "", place = ""] = process.argv.slice(2);
const print = (words: unknown) => process.stdout.write(`${JSON.stringify(words)}\n`);

const store = new SqliteStore(() => file, {
  account: "a",
  clock: {
    ...systemClock,
    sleep: (ms, signal) => {
      // A longer sleep is a pause between heartbeats.
      if (ms < 1_000) print("waiting");
      return systemClock.sleep(ms, signal);
    },
  },
  onCreatingAlone: (reason) => print(String(reason)),
});

/** Prints the first diagnostic. */
const failed = (error: unknown) => print(error instanceof HostformError ? error.diagnostics[0] : String(error));

let turn: Turn | undefined;
let intent: LeavingCreate = { id: "", thing: "", place, at: 0 };
let end = () => {};

for await (const line of createInterface({ input: process.stdin })) {
  const [word = "", id = "", thing = "", at = ""] = line.split(" ");
  if (word === "count") print(await store.count());
  if (word === "begin") {
    const database = openDatabase(file);
    database.exec("BEGIN IMMEDIATE");
    print("begun");
  }
  if (word === "enter") {
    const entered = async (mine: Turn) => {
      turn = mine;
      print("entered");
      await new Promise<void>((resolve) => {
        end = resolve;
      });
    };
    void store.withTurn({ project: "acme", place }, entered).then(() => print("ended"), failed);
  }
  if (word === "newest") print((await store.newest(JSON.parse(id))) ?? null);
  if (word === "leave" && turn !== undefined) {
    intent = { id, thing, place, at: Number(at) };
    await store.leave(turn, intent).then(() => print("left"), failed);
  }
  if (word === "answer" || word === "unsent") {
    await store[word](intent);
    print(word);
  }
  if (word === "end") end();
  const held = (ids: readonly string[]) => ids.map((one) => ({ type: "t", parent: "", id: one, instances: 1 }));
  const [, , , ...rest] = line.split(" ");
  if (word === "see") {
    await store.see({ mark: id, label: `state ${id}` }, thing, held(rest));
    print("seen");
  }
  if (word === "release") {
    await store.release(id, held([thing]));
    print("released");
  }
  if (word === "endRun") {
    await store.endRun(id, thing, Number(at));
    print("ended run");
  }
  if (word === "holdings") print(await store.holdings({}));
}
