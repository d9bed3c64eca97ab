import { describe, expect, test } from "vitest";
import { StateFile } from "../../../../src/core/record/index.ts";
import { countingUuids, diagnosticOf } from "./builders.ts";
import { FakeDisk } from "./fake-disk.ts";

const path = "/project/hosting.tfstate";
const backup = `${path}.backup`;
const OLD = "the old content";
const NEW = "the new content, which is longer";
const NEWER = "the newer content";
const allowed = () => undefined;

describe("replacing the state file", () => {
  test("writes beside, syncs, renames, syncs the folder; the backup first", async () => {
    const disk = new FakeDisk({ [path]: OLD });
    const file = new StateFile(path, disk, countingUuids());
    await file.write(NEW, allowed);
    const [one, two] = ["/project/.hosting.tfstate.uuid-1.tmp", "/project/.hosting.tfstate.uuid-2.tmp"];
    expect(disk.operations).toEqual([
      `read ${path}`,
      ...[`create ${one}`, `write ${one}`, `sync ${one}`, `rename ${one} ${backup}`],
      ...[`create ${two}`, `write ${two}`, `sync ${two}`, `rename ${two} ${path}`],
      "syncFolder /project",
    ]);
  });

  test("the backup holds what was there before the run, not before the last write", async () => {
    const disk = new FakeDisk({ [path]: OLD, [backup]: "an older backup" });
    const file = new StateFile(path, disk, countingUuids());
    await file.write(NEW, allowed);
    await file.write(NEWER, allowed);
    expect([disk.text(path), disk.text(backup)]).toEqual([NEWER, OLD]);
  });

  test("a first state has no backup", async () => {
    const disk = new FakeDisk();
    await new StateFile(path, disk, countingUuids()).write(NEW, allowed);
    expect([...disk.names.keys()]).toEqual([path]);
  });
});

describe("a file that may not be replaceable", () => {
  const prepared = async (code?: string) => {
    const disk = new FakeDisk({ [path]: OLD });
    if (code !== undefined) disk.failures.push({ operation: "link", code });
    const result = await new StateFile(path, disk, countingUuids()).prepare().then(
      () => "ready",
      () => "refused",
    );
    return [result, ...disk.names.keys()];
  };

  test("is refused when it is a mount of its own, which a link across it shows", async () => {
    expect(await prepared("EXDEV")).toEqual(["refused", path]);
  });

  test.each([undefined, "EPERM", "ENOTSUP", "ENOSYS", "EMLINK", "EEXIST", "EIO"])(
    "is left to the first write when a link shows nothing (%s), and no link stays",
    async (code) => {
      expect(await prepared(code)).toEqual(["ready", path]);
    },
  );

  test("is replaced by its own text before a run depends on it, once for each run", async () => {
    const disk = new FakeDisk({ [path]: OLD });
    const file = new StateFile(path, disk, countingUuids());
    await file.read();
    await file.rehearse(allowed);
    expect([disk.text(path), disk.text(backup)]).toEqual([OLD, OLD]);
    const { length } = disk.operations;
    await file.rehearse(allowed);
    expect(disk.operations.length).toBe(length);
    await file.write(NEW, allowed);
    expect([disk.text(path), disk.text(backup)]).toEqual([NEW, OLD]);
    file.nextRun();
    await file.rehearse(allowed);
    expect(disk.text(backup)).toBe(NEW);
  });
});

describe("a write that must not happen", () => {
  test.each(["create", "write", "sync", "rename"])(
    "a failing %s leaves the old state and no temporary file",
    async (operation) => {
      const disk = new FakeDisk({ [path]: OLD, [backup]: OLD });
      const file = new StateFile(path, disk, countingUuids());
      await file.write(OLD, allowed);
      disk.failures.push({ operation, code: "ENOSPC" });
      await expect(file.write(NEW, allowed)).rejects.toThrow("ENOSPC");
      expect(disk.text(path)).toBe(OLD);
      expect([...disk.names.keys()].sort()).toEqual([path, backup]);
      await file.write(NEW, allowed);
      expect(disk.text(path)).toBe(NEW);
    },
  );

  test("a folder that cannot be synced is a failed write, and the next may succeed", async () => {
    const disk = new FakeDisk();
    const file = new StateFile(path, disk, countingUuids());
    disk.failures.push({ operation: "syncFolder", code: "EIO" });
    await expect(file.write(NEW, allowed)).rejects.toThrow("EIO");
    await file.write(NEWER, allowed);
    expect(disk.afterPowerFailure({ content: "lost", names: "lost" }).text(path)).toBe(NEWER);
  });

  test("the lock is asked at the last moment, when everything is written", async () => {
    const disk = new FakeDisk({ [path]: OLD });
    const file = new StateFile(path, disk, countingUuids());
    await file.read();
    await file.write(OLD, allowed);
    const before = disk.operations.length;
    const refusal = file.write(NEW, () => {
      expect(disk.operations.slice(before).map((each) => each.split(" ")[0])).toEqual(["create", "write", "sync"]);
      throw new Error("lost");
    });
    await expect(refusal).rejects.toThrow("lost");
    expect(disk.text(path)).toBe(OLD);
  });

  test.each([
    ["rewrote the file", (disk: FakeDisk) => disk.put(path, OLD)],
    ["removed it", (disk: FakeDisk) => disk.names.delete(path)],
  ])("another program %s since it was read", async (_reason, interfere) => {
    const disk = new FakeDisk({ [path]: OLD });
    const file = new StateFile(path, disk, countingUuids());
    await file.read();
    interfere(disk);
    const left = disk.text(path);
    expect(await diagnosticOf(() => file.write(NEW, allowed))).toMatchObject({ code: "state.lost_lock" });
    expect(disk.text(path)).toBe(left);
  });
});
