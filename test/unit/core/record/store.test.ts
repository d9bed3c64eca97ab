import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFileStore, decodeState } from "../../../../src/core/record/index.ts";
import { saying } from "../../../support/remedies.ts";
import { countingUuids, diagnosticOf, resource } from "./builders.ts";
import { FakeDisk, freeLock } from "./fake-disk.ts";

const request = { command: "apply", timeoutMs: 0 };

describe("a state file on this machine", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "hostform-record-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const write = async (path: string, ...addresses: string[]) => {
    const state = await createFileStore({ path }).open({ ...request, write: true });
    for (const address of addresses) await state.put(resource(address, address));
    await state.close();
  };

  test.each(["/dev/full", "a folder"])(
    "a state path that is no regular file is rejected with a message: %s",
    async (path) => {
      mkdirSync(join(folder, "a folder"));
      const opened = createFileStore({ path: join(path.startsWith("/") ? "/" : folder, path) }).open({
        ...request,
        write: true,
      });
      await expect(opened).rejects.toMatchObject({
        diagnostics: [{ code: "state.unreadable", detail: expect.stringContaining("it is not a regular file") }],
      });
    },
  );

  test("state, backup, journal and lock are accessible only to the owner, whatever the umask or an earlier mode", async () => {
    const path = join(folder, "hosting.tfstate");
    await write(path, "hosting_service.a");
    await write(path, "hosting_service.a2");
    const state = await createFileStore({ path }).open({ ...request, write: true });
    await state.put(resource("hosting_service.b", "2"));
    const names = readdirSync(folder).sort();
    expect(names).toEqual([
      ".hosting.tfstate.lock",
      ".hosting.tfstate.lock.info",
      "hosting.tfstate",
      "hosting.tfstate.backup",
      "hosting.tfstate.journal",
    ]);
    expect(names.map((name) => (statSync(join(folder, name)).mode & 0o777).toString(8))).toEqual(
      names.map(() => "600"),
    );
    await state.close();
    expect(readdirSync(folder).sort()).toEqual(["hosting.tfstate", "hosting.tfstate.backup"]);
  });

  // Terraform reads the state of a stack, but no journal of hostform. The state itself must contain an order before it
  // is sent.
  test("a state for another program contains each change at once", async () => {
    const path = join(folder, "terraform.tfstate");
    const shared = await createFileStore({ path, whole: true }).open({ ...request, write: true });
    await shared.put(resource("hosting_service.a", "1"));
    expect(readdirSync(folder)).not.toContain("terraform.tfstate.journal");
    const stored = () => [...decodeState(readFileSync(path, "utf8"), path).state.resources.keys()];
    expect(stored()).toEqual(["hosting_service.a"]);
    await shared.put(resource("hosting_service.b", "2"));
    expect(stored()).toEqual(["hosting_service.a", "hosting_service.b"]);
    await shared.close();
  });

  test("a state for another program folds the journal of an earlier run", async () => {
    const path = join(folder, "terraform.tfstate");
    const killed = await createFileStore({ path, lock: freeLock }).open({ ...request, write: true });
    await killed.put(resource("hosting_service.a", "1"));
    expect(readdirSync(folder)).toContain("terraform.tfstate.journal");
    const next = await createFileStore({ path, whole: true, lock: freeLock }).open({ ...request, write: true });
    expect([...next.state.resources.keys()]).toEqual(["hosting_service.a"]);
    await next.put(resource("hosting_service.b", "2"));
    await next.close();
    expect(readdirSync(folder).filter((name) => !name.endsWith(".backup"))).toEqual(["terraform.tfstate"]);
    expect(decodeState(readFileSync(path, "utf8"), path).state.resources.size).toBe(2);
  });

  test("a link stays a link, and its target is replaced or created", async () => {
    mkdirSync(join(folder, "shared"));
    const target = join(folder, "shared", "real.tfstate");
    const link = join(folder, "hosting.tfstate");
    symlinkSync(join("shared", "real.tfstate"), link);
    await write(link, "hosting_service.a");
    await write(link, "hosting_service.b");
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(decodeState(readFileSync(target, "utf8"), target).state.resources.size).toBe(2);
    expect(readdirSync(folder).sort()).toEqual(["hosting.tfstate", "shared"]);
  });

  test.each([true, false])("a folder that does not exist is reported as missing (write: %s)", async (write) => {
    const store = createFileStore({ path: join(folder, "no", "hosting.tfstate") });
    expect(await diagnosticOf(() => store.open({ ...request, write }))).toMatchObject({
      code: "state.unreadable",
      summary: expect.stringContaining("folder"),
      remedies: saying(expect.stringContaining("--state")),
    });
  });

  test("a corrupted file is rejected and kept, and the lock is free again", async () => {
    const path = join(folder, "hosting.tfstate");
    writeFileSync(path, "");
    for (const _ of [1, 2]) {
      const opening = createFileStore({ path }).open({ ...request, write: true });
      expect(await diagnosticOf(() => opening)).toMatchObject({ code: "state.unreadable" });
    }
    expect(readdirSync(folder)).toEqual(["hosting.tfstate"]);
  });

  test("temporary files of a killed writer are removed", async () => {
    writeFileSync(join(folder, ".hosting.tfstate.0000.tmp"), "half");
    await write(join(folder, "hosting.tfstate"));
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("pull and push", () => {
  const path = "/project/hosting.tfstate";
  const text = (serial: number, lineage = "l-1", more = {}) =>
    `${JSON.stringify({ version: 4, terraform_version: "1.5.0", serial, lineage, outputs: {}, resources: [], check_results: null, ...more }, null, 2)}\n`;
  const push = (disk: FakeDisk, given: string, force = false) =>
    createFileStore({ path, disk, uuid: countingUuids(), lock: freeLock }).push(given, { ...request, force });

  test("pull returns the stored text, even a corrupted one, or undefined without a state", async () => {
    const store = (disk: FakeDisk) => createFileStore({ path, disk, lock: freeLock });
    expect(await store(new FakeDisk()).pull()).toBeUndefined();
    expect(await store(new FakeDisk({ [path]: "damaged" })).pull()).toBe("damaged");
  });

  test.each([
    ["a first state", undefined, text(3), false],
    ["a successor", text(3), text(4), false],
    ["the same content, which writes nothing", text(3), text(3), false],
    ["an older one by force", text(3), text(2), true],
    ["an unrelated one by force", text(3), text(1, "l-2"), true],
    ["one over a damaged state by force", "", text(1), true],
  ])("accepts %s", async (_reason, stored, given, force) => {
    const disk = new FakeDisk(stored === undefined ? {} : { [path]: stored });
    await push(disk, given, force);
    expect(disk.text(path)).toBe(given);
    expect(disk.text(`${path}.backup`)).toBe(stored === given ? undefined : stored);
  });

  test.each([
    ["an older one", text(3), text(2), "state.conflict", /serial is 2.* is 3/],
    ["another of the same serial", text(3), text(3, "l-1", { outputs: { a: 1 } }), "state.conflict", /serial/],
    ["an unrelated one", text(3), text(9, "l-2"), "state.conflict", /lineage is l-2.* is l-1/],
    ["any over a damaged one", "", text(9), "state.unreadable", /leaves an empty file/],
    ["what is not a state", text(3), "{}", "state.foreign", /version/],
  ])("refuses %s and leaves everything as it is", async (_reason, stored, given, code, detail) => {
    const disk = new FakeDisk({ [path]: stored });
    expect(await diagnosticOf(() => push(disk, given))).toMatchObject({ code, detail: expect.stringMatching(detail) });
    expect(Object.fromEntries([...disk.names].map(([name, { text }]) => [name, text]))).toEqual({ [path]: stored });
  });

  test.each([
    ["the stored text, with a backup as remedy", "junk", text(9), /the file beside it that ends in `.backup`/i],
    ["the given text, without a backup as remedy", text(3), "junk", /^Provide a complete state file/],
  ])("a corrupted text is detected: %s", async (_reason, stored, given, fix) => {
    const disk = new FakeDisk({ [path]: stored });
    expect(await diagnosticOf(() => push(disk, given))).toMatchObject({
      code: "state.unreadable",
      remedies: saying(expect.stringMatching(fix)),
    });
  });
});
