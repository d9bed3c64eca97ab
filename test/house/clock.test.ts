/** The clock of the tests advances no time while a file is used. Otherwise a request would be too late for its record. */
import { pbkdf2 } from "node:crypto";
import { open } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { testClock } from "../support/clock.ts";
import { temporaryFolder } from "../support/folder.ts";

/** Number of threads for files, by default. */
const THREADS = 4;

it.each(["sync", "close"] as const)("a long sleep ends after the %s of a file on a busy machine", async (use) => {
  const file = await open(path.join(temporaryFolder(), "record"), "w");
  for (let at = 0; at < THREADS; at++) pbkdf2("", "", 20_000, 64, "sha512", () => undefined);
  const ended: string[] = [];
  const used = file[use]().then(() => ended.push(use));
  await testClock().sleep(1_000);
  expect(ended).toEqual([use]);
  await used;
  if (use === "sync") await file.close();
});
