/**
 * A process that shares a ledger. `FILE WHO NOW LIMIT COUNT` waits for input, then reserves up to COUNT requests at
 * NOW, and prints the number of reserved requests. `FILE hold` starts a change, prints `holding`, and never ends the
 * change. `FILE WHO NOW LIMIT for-ever` reserves requests at increasing times without end, and prints every hundredth
 * number.
 */
import { openDatabase, SqliteStore } from "../../src/core/local/index.ts";
import { systemClock } from "../../src/core/model/index.ts";

const [file = "", who = "", now = "", limit = "", count = ""] = process.argv.slice(2);
const say = (word: string | number) => process.stdout.write(`${word}\n`);
const ledger = new SqliteStore(() => file, { account: "a", clock: systemClock }).requests;

if (who === "hold") {
  const database = openDatabase(file);
  // The small cache writes the change to the file before its end, so that SQLite must roll it back.
  database.exec("PRAGMA cache_size = 1; BEGIN IMMEDIATE");
  database.exec("UPDATE events SET event = 'half of it'; CREATE TABLE filler (text)");
  for (let i = 0; i < 200; i++) database.exec(`INSERT INTO filler VALUES ('${"x".repeat(3_000)}')`);
  say("holding");
  // Keeps the process and its change until it is killed.
  setInterval(() => database.isOpen, 60_000);
} else if (count === "for-ever") {
  for (let i = 0; ; i++) {
    await ledger.reserve(Number(now) + i * 2_000, Number(limit));
    // Waits until the output is sent.
    if (i % 100 === 99) await new Promise((resolve) => process.stdout.write(`${i}\n`, resolve));
  }
} else {
  say("ready");
  process.stdin.once("data", async () => {
    let booked = 0;
    let left = Number(count);
    while (left > 0) {
      const { waitMs } = await ledger.reserve(Number(now), Number(limit));
      // A wait of less than the window means that another process used the file.
      if (waitMs > 0 && waitMs < 1_000) continue;
      if (waitMs === 0) booked += 1;
      left -= 1;
    }
    say(booked);
    process.exit();
  });
}
