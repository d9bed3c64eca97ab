import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type FileMemoryOptions, fileMemoryOf, nodeHandler } from "../../../src/webhooks/index.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { bodyOf, delivery, recorder, serve } from "./deliveries.ts";

const [A, B, C] = ["a", "b", "c"].map((digit) => digit.repeat(64)) as [string, string, string];
const place = async () => path.join(temporaryFolder(), "deliveries");

/** Simulates a process that handles these identities in sequence. Returns the claim of each identity. */
async function run(options: FileMemoryOptions, ...identities: readonly string[]): Promise<unknown[]> {
  const memory = await fileMemoryOf(options);
  const claims: unknown[] = [];
  for (const identity of identities) {
    claims.push(await memory.claim(identity));
    if (claims.at(-1) === "new") await memory.settle(identity, true);
  }
  return claims;
}

describe("a file of handled deliveries", () => {
  it("contains handled deliveries after a restart, and no failed or unfinished ones", async () => {
    const file = await place();
    const memory = await fileMemoryOf({ file });
    for (const identity of [A, B, C]) expect(await memory.claim(identity)).toBe("new");
    expect(await memory.claim(A)).toBe("busy");
    await Promise.all([memory.settle(A, true), memory.settle(B, false)]);
    expect(await run({ file }, A, B, C)).toEqual(["handled", "new", "new"]);
    expect(await run({ file }, A, B, C)).toEqual(["handled", "handled", "handled"]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it("drops a delivery after its retention, across restarts", async () => {
    const file = await place();
    let now = 1_000;
    const options = { file, seconds: 60, clock: { now: () => now } };
    await run(options, A);
    now += 59_999;
    expect(await run(options, A)).toEqual(["handled"]);
    now += 1;
    expect(await run(options, A)).toEqual(["new"]);
  });

  it("keeps the latest deliveries and stays small", async () => {
    const file = await place();
    const many = Array.from({ length: 50 }, (_, i) => i.toString(16).padStart(64, "0"));
    await run({ file, capacity: 3 }, ...many);
    expect((await readFile(file, "utf8")).split("\n").length).toBeLessThanOrEqual(2 + 2 * 3);
    expect(await run({ file, capacity: 3 }, ...many.slice(-3))).toEqual(["handled", "handled", "handled"]);
    expect(await readdir(path.dirname(file))).toEqual(["deliveries"]);
  });

  it("is used after a crash cut a line, and after the file was deleted", async () => {
    const file = await place();
    await run({ file }, A, B);
    const text = await readFile(file, "utf8");
    await writeFile(file, text.slice(0, -10));
    expect(await run({ file }, A, B)).toEqual(["handled", "new"]);
    const memory = await fileMemoryOf({ file });
    await rm(file);
    await memory.claim(C);
    await memory.settle(C, true);
    expect(await run({ file }, A, B, C)).toEqual(["handled", "handled", "handled"]);
  });

  it.each<[why: string, make: (file: string) => Promise<unknown>, message: RegExp]>([
    ["another file", (file) => writeFile(file, "export PATH=/bin\n"), /has other contents/],
    [
      "one with a line of another form",
      (file) => writeFile(file, "hostform webhook deliveries 1\nx\n"),
      /not a delivery/,
    ],
    ["a folder", (file) => mkdir(file), /not a regular file/],
    ["a link", (file) => symlink("/etc/hostname", file), /not a regular file/],
    [
      "a folder that is not there",
      (file) => rm(path.dirname(file), { recursive: true }),
      /there is no such file or folder/,
    ],
  ])("is rejected if there is %s, which stays unchanged", async (why, make, message) => {
    const file = await place();
    await make(file);
    const before = await readFile(file).catch(() => undefined);
    await expect(fileMemoryOf({ file })).rejects.toThrow(message);
    await expect(fileMemoryOf({ file })).rejects.toMatchObject({ diagnostics: [{ code: "webhooks.memory" }] });
    expect(await readFile(file).catch(() => undefined)).toEqual(before);
    if (why.endsWith("not there")) await mkdir(path.dirname(file));
  });

  it("makes a receiver handle each delivery once, across restarts", async () => {
    const file = await place();
    const { options, events } = recorder();
    const body = bodyOf();
    for (const start of [1, 2, 3]) {
      const url = await serve(nodeHandler({ ...options, duplicates: await fileMemoryOf({ file }) }));
      expect((await fetch(url, delivery(body))).status, `start ${start}`).toBe(204);
    }
    expect(events).toHaveLength(1);
  });
});
