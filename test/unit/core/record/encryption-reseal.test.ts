import { describe, expect, test } from "vitest";
import type { Encryption } from "../../../../src/core/record/encryption.ts";
import type { Resealing } from "../../../../src/core/record/sealed-text.ts";
import { reseal, SealedText, sealState } from "../../../../src/core/record/sealed-text.ts";
import { StateFile, type StateText } from "../../../../src/core/record/state-file.ts";
import { saying } from "../../../support/remedies.ts";
import { countingUuids, diagnosticOf, file } from "./builders.ts";
import { everyLuck, FakeDisk } from "./fake-disk.ts";
import { passphraseKey, quick, rawKey } from "./keys.ts";

const path = "/project/hosting.tfstate";
const backup = `${path}.backup`;
const CANARY = "canary-of-a-signing-secret";
const plain = file([], { serial: 2, outputs: { secret: { value: CANARY } } });
const older = file([], { serial: 1, outputs: { secret: { value: CANARY } } });
const allowed = () => undefined;

const encryption = quick(passphraseKey);
const another = quick(rawKey);
const sealed = async (text: string, by: Encryption) => sealState(text, await by.fresh());
const place = (disk: FakeDisk) => new StateFile(path, disk, countingUuids());
const clear = async () => new FakeDisk({ [path]: plain, [backup]: older });
const encrypted = async () =>
  new FakeDisk({ [path]: await sealed(plain, encryption), [backup]: await sealed(older, encryption) });

/** Returns the content of a file, unencrypted or encrypted with either key. */
async function contentOf(disk: FakeDisk, name: string): Promise<string | undefined> {
  for (const by of [encryption, another]) {
    const text = new SealedText(new StateFile(name, disk, countingUuids()), by, { clear: true });
    const content = await text.read().catch(() => undefined);
    if (content !== undefined) return content;
  }
  return undefined;
}

describe.each<{ name: string; wanted: Resealing; from: () => Promise<FakeDisk>; by: Encryption | undefined }>([
  { name: "encrypting", wanted: { to: "sealed" }, from: clear, by: encryption },
  { name: "decrypting", wanted: { to: "clear" }, from: encrypted, by: undefined },
  { name: "taking another key", wanted: { to: "key", encryption: another }, from: encrypted, by: another },
])("$name", ({ wanted, from, by }) => {
  test("changes the form of the state and its backup, not the content", async () => {
    const disk = await from();
    expect(await reseal(place(disk), encryption, wanted, allowed)).toEqual({ changed: true, backup: true });
    expect([...disk.names.keys()].sort()).toEqual([path, backup]);
    for (const [name, content] of [
      [path, plain],
      [backup, older],
    ] as const) {
      const text = disk.text(name) ?? "";
      expect(text.includes(CANARY)).toBe(by === undefined);
      const reader = new SealedText(new StateFile(name, disk, countingUuids()), by ?? quick(undefined));
      expect(await reader.read()).toBe(content);
    }
  });

  test("a crash at any step leaves both whole, and a second call ends what was begun", async () => {
    for (const luck of [undefined, ...everyLuck]) {
      for (let crashAt = 0; ; crashAt++) {
        const broken = await from();
        broken.crashAt = crashAt;
        await reseal(place(broken), encryption, wanted, allowed).catch((error: unknown) => {
          if (!broken.crashed) throw error;
        });
        const disk = luck === undefined ? survivor(broken) : broken.afterPowerFailure(luck);
        expect([await contentOf(disk, path), await contentOf(disk, backup)], `step ${crashAt}`).toEqual([plain, older]);
        await place(disk).prepare();
        // Once the state has the new key, all other files have it too.
        const opens = await new SealedText(place(disk), encryption, { clear: true }).read().catch(() => undefined);
        if (opens !== undefined) await reseal(place(disk), encryption, wanted, allowed);
        const texts = [...disk.names.values()].map(({ text }) => text);
        if (wanted.to !== "clear") expect(texts.filter((text) => text.includes(CANARY))).toEqual([]);
        if (wanted.to === "key") expect(texts.filter((text) => text.includes("pbkdf2"))).toEqual([]);
        if (!broken.crashed) break;
      }
    }
  });

  test("asks before each write whether the lock is still held", async () => {
    const disk = await from();
    const before = [disk.text(path), disk.text(backup)];
    const lost = () => Promise.reject(new Error("lost"));
    await expect(reseal(place(disk), encryption, wanted, lost)).rejects.toThrow("lost");
    expect([disk.text(path), disk.text(backup)]).toEqual(before);
    expect(disk.names.size).toBe(2);
  });

  test("is not reported when what is read back is something else", async () => {
    const disk = await from();
    disk.before = (operation) => {
      // Another program replaces the state by a complete state with other content.
      const replaced = disk.operations.at(-1)?.endsWith(` ${path}`);
      if (replaced && operation === "syncFolder /project") disk.put(path, plain.replace(CANARY, "else"));
    };
    expect(await diagnosticOf(() => reseal(place(disk), encryption, wanted, allowed))).toMatchObject({
      code: "state.unwritable",
      summary: "A write of the state was accepted, but not stored",
    });
  });

  test("works at a place without a backup", async () => {
    const disk = await from();
    const file = place(disk);
    const text: StateText = {
      name: path,
      prepare: () => file.prepare(),
      read: () => file.read(),
      write: (given, verify) => file.write(given, verify),
    };
    expect(await reseal(text, encryption, wanted, allowed)).toEqual({ changed: true, backup: false });
    expect(disk.text(path)?.includes(CANARY)).toBe(by === undefined);
    expect(await contentOf(disk, path)).toBe(plain);
  });
});

describe("what has the wanted form already", () => {
  test("is left as it is", async () => {
    for (const [disk, wanted] of [
      [await encrypted(), { to: "sealed" }],
      [await clear(), { to: "clear" }],
    ] as const) {
      const before = [disk.text(path), disk.text(backup)];
      expect(await reseal(place(disk), encryption, wanted, allowed)).toEqual({ changed: false, backup: true });
      expect([disk.text(path), disk.text(backup)]).toEqual(before);
    }
  });

  test("a backup in the clear beside an encrypted state is encrypted", async () => {
    const disk = new FakeDisk({ [path]: await sealed(plain, encryption), [backup]: older });
    expect(await reseal(place(disk), encryption, { to: "sealed" }, allowed)).toEqual({ changed: true, backup: true });
    expect(disk.text(backup)).not.toContain(CANARY);
  });
});

describe("a backup", () => {
  test.each<Resealing>([{ to: "clear" }, { to: "key", encryption: another }])(
    "that has a key of long ago stays as it is ($to)",
    async (wanted) => {
      const ancient = await sealed(
        older,
        quick({ from: "passphrase", variable: "V", passphrase: "a passphrase of long ago" }),
      );
      const disk = new FakeDisk({ [path]: await sealed(plain, encryption), [backup]: ancient });
      expect(await reseal(place(disk), encryption, wanted, allowed)).toEqual({ changed: true, backup: false });
      expect(disk.text(backup)).toBe(ancient);
      expect(await contentOf(disk, path)).toBe(plain);
    },
  );

  test("that is no state stops everything, and the message names it", async () => {
    const disk = new FakeDisk({ [path]: plain, [backup]: "garbage" });
    const problem = await diagnosticOf(() => reseal(place(disk), encryption, { to: "sealed" }, allowed));
    expect(problem).toMatchObject({ code: "state.unreadable", remedies: saying(expect.stringContaining(backup)) });
    expect([disk.text(path), disk.text(backup)]).toEqual([plain, "garbage"]);
  });
});

/** Returns the disk as the next process finds it. */
function survivor(disk: FakeDisk): FakeDisk {
  return new FakeDisk(Object.fromEntries([...disk.names].map(([name, { text }]) => [name, text])));
}
