// Entries in the store of a machine: durable, readable only by their owner, and erased from the disk on removal.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { openStore } from "../../../../src/core/api/open-store.ts";
import type { Diagnostic } from "../../../../src/core/model/index.ts";
import { Entries } from "../../../../src/fronts/terraform/entries.ts";
import { testClock } from "../../../support/clock.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { recorded } from "../../../support/subjects.ts";

const TYPE = "hosting_service";
const TOKEN = "7|canary-token-Zq81xYp4";
const SECRET = "whsec_canary_5Kd0";
const PROCESS = path.resolve(import.meta.dirname, "../../../support/entries-process.ts");

const entry = (id: string, secret = SECRET) => recorded(`${TYPE}.acme`, { id, secret });

function open(folder: string | undefined, { clock = testClock(), env = {}, token = TOKEN } = {}) {
  const warnings: Diagnostic[] = [];
  const onWarning = (warning: Diagnostic) => void warnings.push(warning);
  const home = folder === undefined ? { HOME: undefined } : { HOSTFORM_STATE_HOME: folder };
  const baseUrl = "https://api.hosting.example";
  const store = openStore({ baseUrl, token, env: { ...home, ...env }, clock, onWarning });
  onTestFinished(() => store.close());
  const entries = new Entries({ store, project: "acme", onWarning });
  return Object.assign(entries, {
    warnings,
    close: () => store.close(),
    names: async () => [...(await entries.all(TYPE)).keys()],
  });
}

const bytesIn = (folder: string) =>
  readdirSync(folder)
    .map((name) => name + readFileSync(path.join(folder, name), "latin1"))
    .join();

describe("entries on disk", () => {
  it("are found by the next process, also if this one counts its requests alone", async () => {
    const folder = temporaryFolder();
    await open(folder, { env: { HOSTFORM_LEDGER: "memory" } }).put(TYPE, "acme", entry("1001"));
    expect(await open(folder).get(TYPE, "acme")).toEqual(entry("1001"));
    expect(await open(folder, { token: "8|other" }).names()).toEqual([]);
  });

  it("survive two processes that write at the same time and are killed the moment after", async () => {
    const folder = temporaryFolder();
    const write = async (prefix: string) => {
      const child = spawn(process.execPath, [PROCESS, folder, prefix, "40"], { stdio: ["ignore", "pipe", "inherit"] });
      const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
      const lines = createInterface({ input: child.stdout as Readable })[Symbol.asyncIterator]();
      const word = String((await lines.next()).value);
      child.kill("SIGKILL");
      await ended;
      return word;
    };
    expect(await Promise.all(["a", "b"].map(write))).toEqual(["written", "written"]);
    const expected = ["a", "b"].flatMap((prefix) => Array.from({ length: 40 }, (_, i) => `${prefix}${i}`));
    expect(new Set(await open(folder).names())).toEqual(new Set(expected));
    expect((await open(folder).get(TYPE, "b39"))?.attributes.id).toBe("b-39");
  });

  it("leave no secret on the disk when they are written again without it", async () => {
    const folder = temporaryFolder();
    const entries = open(folder);
    await entries.put(TYPE, "acme", entry("1001"));
    await entries.put(TYPE, "acme", entry("1001", "in a file of the user"));
    expect(bytesIn(folder)).not.toContain(SECRET);
  });
});

it.each([
  ["there is no home folder", () => undefined],
  [
    "the state folder is a file",
    () => {
      const file = path.join(temporaryFolder(), "file");
      writeFileSync(file, "");
      return path.join(file, "hostform");
    },
  ],
])("if %s, this process keeps its entries in memory and warns once", async (_, folder) => {
  const entries = open(folder());
  await entries.put(TYPE, "acme", entry("1"));
  await entries.put(TYPE, "other", entry("2"));
  expect((await entries.get(TYPE, "acme"))?.attributes.secret).toBe(SECRET);
  await entries.remove(TYPE, "acme");
  expect(await entries.names()).toEqual(["other"]);
  expect(entries.warnings.map(({ code, severity }) => `${severity} ${code}`)).toEqual(["warning provider.journal"]);
  expect(JSON.stringify(entries.warnings)).not.toContain(SECRET);
});
