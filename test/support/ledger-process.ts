/**
 * A process that shares a ledger: `FILE WHO NOW LIMIT COUNT` books up to COUNT requests at NOW as soon as it reads
 * something, and says how many it got. `FILE hold` says `holding` once it is in the middle of a change, and stays there.
 * `FILE WHO NOW LIMIT for-ever` books without end, at ever later times, and says each hundredth.
 */
import { openDatabase, SqliteStore } from "../../src/core/local/index.ts";
import { systemClock } from "../../src/core/model/index.ts";

const [file = "", who = "", now = "", limit = "", count = ""] = process.argv.slice(2);
const say = (word: string | number) => process.stdout.write(`${word}\n`);
const ledger = new SqliteStore(() => file, { account: "a", clock: systemClock }).requests;

if (who === "hold") {
  const database = openDatabase(file);
  // Written to the file before its end, so that it has to be taken back.
  database.exec("PRAGMA cache_size = 1; BEGIN IMMEDIATE");
  database.exec("UPDATE events SET event = 'half of it'; CREATE TABLE filler (text)");
  for (let i = 0; i < 200; i++) database.exec(`INSERT INTO filler VALUES ('${"x".repeat(3_000)}')`);
  say("holding");
  // Keeps the process, and with it the change, until it is killed.
  setInterval(() => database.isOpen, 60_000);
} else if (count === "for-ever") {
  for (let i = 0; ; i++) {
    await ledger.reserve(Number(now) + i * 2_000, Number(limit));
    // Let what was said be sent.
    if (i % 100 === 99) await new Promise((resolve) => process.stdout.write(`${i}\n`, resolve));
  }
} else {
  say("ready");
  process.stdin.once("data", async () => {
    let booked = 0;
    let left = Number(count);
    while (left > 0) {
      const { waitMs } = await ledger.reserve(Number(now), Number(limit));
      // Less than a window is left to wait for: another process was at the file.
      if (waitMs > 0 && waitMs < 1_000) continue;
      if (waitMs === 0) booked += 1;
      left -= 1;
    }
    say(booked);
    process.exit();
  });
}
