import { describe, expect, test } from "vitest";
import type { Encryption } from "../../../../src/core/record/encryption.ts";
import { SealedText, sealState } from "../../../../src/core/record/sealed-text.ts";
import { StateFile } from "../../../../src/core/record/state-file.ts";
import { saying } from "../../../support/remedies.ts";
import { countingUuids, diagnosticOf, file } from "./builders.ts";
import { FakeDisk } from "./fake-disk.ts";
import { passphraseKey, quick, rawKey } from "./keys.ts";

const path = "/project/hosting.tfstate";
const plain = file([], { serial: 1 });
const next = file([], { serial: 2 });
const allowed = () => undefined;
const over = (disk: FakeDisk, encryption: Encryption) =>
  new SealedText(new StateFile(path, disk, countingUuids()), encryption);
const sealed = async (text: string, encryption: Encryption) => sealState(text, await encryption.fresh());

describe("a state that is kept with a key", () => {
  test.each([passphraseKey, rawKey])("is encrypted from its first write on ($from)", async (key) => {
    const disk = new FakeDisk();
    const text = over(disk, quick(key));
    expect(await text.read()).toBeUndefined();
    await text.write(plain, allowed);
    await text.write(next, allowed);
    expect(disk.text(path)).toContain('"hostform_encryption": 1');
    expect(disk.text(path)).not.toContain("terraform_version");
    expect(await over(disk, quick(key)).read()).toBe(next);
    expect(text.warnings).toEqual([]);
  });

  test("keeps its salt, so that each run derives one key", async () => {
    const disk = new FakeDisk({ [path]: await sealed(plain, quick(passphraseKey)) });
    const before = JSON.parse(disk.text(path) ?? "");
    const text = over(disk, quick(passphraseKey));
    await text.write(next, allowed);
    const after = JSON.parse(disk.text(path) ?? "");
    expect(after.key).toEqual(before.key);
    expect(after.serial).toBe(2);
    expect((await text.current())?.header).toEqual(before.key);
  });

  test("is not written without the key, nor with another", async () => {
    const before = await sealed(plain, quick(passphraseKey));
    for (const encryption of [quick(undefined), quick(rawKey)]) {
      const disk = new FakeDisk({ [path]: before });
      const text = over(disk, encryption);
      for (const action of [() => text.read(), () => text.current(), () => text.write(next, allowed)]) {
        expect((await diagnosticOf(action))?.code).toBe("state.key");
      }
      expect([...disk.names.keys()]).toEqual([path]);
      expect(disk.text(path)).toBe(before);
    }
  });

  test.each(["cut off", "changed"])("is encrypted again when it takes the place of one that is %s", async (damage) => {
    const good = await sealed(plain, quick(rawKey));
    const bad = damage === "changed" ? good.replace('"serial": 1', '"serial": 7') : good.slice(0, -9);
    const disk = new FakeDisk({ [path]: bad });
    const text = over(disk, quick(rawKey));
    expect((await diagnosticOf(() => text.read()))?.code).toBe("state.unreadable");
    await text.write(next, allowed);
    expect(await over(disk, quick(rawKey)).read()).toBe(next);
    expect(disk.text(path)).toContain('"hostform_encryption"');
  });

  test("without the key, nothing in the clear takes the place of a damaged one", async () => {
    const disk = new FakeDisk({ [path]: (await sealed(plain, quick(rawKey))).slice(0, -9) });
    const text = over(disk, quick(undefined));
    expect((await diagnosticOf(() => text.read()))?.code).toBe("state.unreadable");
    expect((await diagnosticOf(() => text.write(next, allowed)))?.code).toBe("state.key");
  });
});

describe("a state in the clear", () => {
  test("stays in the clear without a key, without a word", async () => {
    const disk = new FakeDisk({ [path]: plain });
    const text = over(disk, quick(undefined));
    expect(await text.read()).toBe(plain);
    await text.write(next, allowed);
    expect([disk.text(path), await text.current(), text.warnings]).toEqual([next, undefined, []]);
  });

  test("is refused with a key, and what takes its place is encrypted", async () => {
    const disk = new FakeDisk({ [path]: plain });
    const text = over(disk, quick(passphraseKey));
    expect(await diagnosticOf(() => text.read())).toMatchObject({
      code: "state.unencrypted",
      summary: "HOSTFORM_STATE_PASSPHRASE is set, but the state is not encrypted",
      remedies: saying(
        expect.stringMatching(/restore it from a backup.*`hostform state encrypt`.*HOSTFORM_STATE_ALLOW_UNENCRYPTED=1/),
      ),
    });
    expect(text.warnings).toEqual([]);
    await text.write(next, allowed);
    expect(disk.text(path)).toContain('"hostform_encryption"');
  });

  test("that is accepted stays in the clear with a key, and the reader is warned", async () => {
    const disk = new FakeDisk({ [path]: plain });
    const text = over(disk, quick(passphraseKey, { acceptsClear: true }));
    expect(await text.read()).toBe(plain);
    await text.write(next, allowed);
    expect([disk.text(path), await text.current()]).toEqual([next, undefined]);
    expect(text.warnings).toMatchObject([
      {
        severity: "warning",
        code: "state.key",
        summary: "HOSTFORM_STATE_PASSPHRASE is set, but the state is not encrypted",
        remedies: saying("Encrypt the state: `hostform state encrypt`. Then unset HOSTFORM_STATE_ALLOW_UNENCRYPTED."),
      },
    ]);
  });
});
