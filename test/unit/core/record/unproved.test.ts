// With a key, hostform reads only states and journals that the key authenticates.
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStateStore, type Encryption } from "../../../../src/core/record/index.ts";
import { CHAIN_START, chainLine, readChain } from "../../../../src/core/record/journal-lines.ts";
import { saying } from "../../../support/remedies.ts";
import { countingUuids, diagnosticOf, resource } from "./builders.ts";
import { FakeDisk } from "./fake-disk.ts";
import { backupPath, idsOf, journalPath, placeOn, statePath } from "./journal-harness.ts";
import { keyOf, passphraseKey, quick, rawKey } from "./keys.ts";

const [A, B, C] = ["hosting_service.a", "hosting_service.b", "hosting_service.c"];
/** A file that is encrypted with the same key as `rawKey`. */
const former = path.resolve(import.meta.dirname, "../../../fixtures/0808e87/encrypted/hosting.tfstate");
const FORMER_STATE = readFileSync(former, "utf8");
const FORMER_JOURNAL = readFileSync(`${former}.journal`, "utf8");
const request = { command: "apply", timeoutMs: 0 };
const storeWith = (disk: FakeDisk, encryption: Encryption) =>
  createStateStore(async () => placeOn(disk), countingUuids(), encryption);
const idsWith = async (disk: FakeDisk, encryption: Encryption) =>
  idsOf(await storeWith(disk, encryption).open({ ...request, write: false }));

/**
 * Returns the state of one run, and the journal of a second run that was killed. Lineage and serial are the same in
 * each call.
 */
async function filesOf(encryption: Encryption, recorded = [B, C]): Promise<{ state: string; journal: string }> {
  const disk = new FakeDisk();
  const first = await storeWith(disk, encryption).open({ ...request, write: true });
  await first.put(resource(A, "1"));
  await first.close();
  const second = await storeWith(disk, encryption).open({ ...request, write: true });
  for (const address of recorded) await second.put(resource(address, `id of ${address}`));
  return { state: disk.text(statePath) ?? "", journal: disk.text(journalPath) ?? "" };
}

/** Returns the journal of a first run that was killed. */
async function firstJournal(encryption: Encryption): Promise<string> {
  const disk = new FakeDisk();
  await (await storeWith(disk, encryption).open({ ...request, write: true })).put(resource(A, "1"));
  return disk.text(journalPath) ?? "";
}

const on = (state: string | undefined, journal?: string) =>
  new FakeDisk({ ...(state && { [statePath]: state }), ...(journal && { [journalPath]: journal }) });
const accepting = () => quick(rawKey, { acceptsClear: true });
const all = { [A]: "1", [B]: `id of ${B}`, [C]: `id of ${C}` };
const headOf = (journal: string) => journal.slice(0, journal.indexOf("\n") + 1);

describe("with a key", () => {
  const BESIDE_SEALED = "The state is encrypted, but the journal of the state is not encrypted";
  const CLEAR_STATE = "HOSTFORM_STATE_KEY is set, but the state is not encrypted";
  const CLEAR_JOURNAL = "HOSTFORM_STATE_KEY is set, but the journal of the state is not encrypted";

  it("a clear-text state or journal is rejected without the migration variable, and always beside an encrypted state", async () => {
    const [clear, sealed] = [await filesOf(quick(undefined)), await filesOf(quick(rawKey))];
    const [clearFirst, sealedFirst] = [await firstJournal(quick(undefined)), await firstJournal(quick(rawKey))];
    const table: [what: string, disk: () => FakeDisk, otherwise: object | string, accepted: object | string][] = [
      ["a state in the clear", () => on(clear.state), CLEAR_STATE, { [A]: "1" }],
      ["both in the clear", () => on(clear.state, clear.journal), CLEAR_STATE, all],
      ["a first journal in the clear", () => on(undefined, clearFirst), CLEAR_JOURNAL, { [A]: "1" }],
      ["a clear journal beside a sealed state", () => on(sealed.state, clear.journal), BESIDE_SEALED, BESIDE_SEALED],
      ["nothing but its first line", () => on(sealed.state, headOf(clear.journal)), BESIDE_SEALED, BESIDE_SEALED],
      ["both sealed", () => on(sealed.state, sealed.journal), all, all],
      ["a sealed state", () => on(sealed.state), { [A]: "1" }, { [A]: "1" }],
      ["a first sealed journal", () => on(undefined, sealedFirst), { [A]: "1" }, { [A]: "1" }],
      ["a sealed journal beside a clear state", () => on(clear.state, sealed.journal), CLEAR_STATE, all],
    ];
    const outcome = (disk: FakeDisk, encryption: Encryption) =>
      idsWith(disk, encryption).catch((error) => {
        expect(error.diagnostics[0]).toMatchObject({ code: "state.unencrypted", remedies: saying(expect.any(String)) });
        return error.diagnostics[0].summary;
      });
    for (const [what, disk, otherwise, accepted] of table) {
      expect(await outcome(disk(), quick(rawKey)), what).toEqual(otherwise);
      expect(await outcome(disk(), accepting()), `${what}, accepted`).toEqual(accepted);
    }
  });

  it("a migration accepts a clear-text state and journal once; afterwards clear text is rejected", async () => {
    const clear = await filesOf(quick(undefined));
    const disk = on(clear.state, clear.journal);
    await storeWith(disk, quick(rawKey)).reseal({ to: "sealed" }, request);
    expect(await idsWith(disk, quick(rawKey))).toEqual(all);
    expect(disk.text(statePath)).toContain('"hostform_encryption"');
    for (const wanted of [
      { to: "sealed" },
      { to: "clear" },
      { to: "key", encryption: quick(passphraseKey) },
    ] as const) {
      const forged = on(disk.text(statePath), (await filesOf(quick(undefined))).journal);
      const problem = await diagnosticOf(() => storeWith(forged, quick(rawKey)).reseal(wanted, request));
      expect(problem?.code, wanted.to).toBe("state.unencrypted");
    }
  });

  it("a clear-text state is replaced only by force, with an encrypted state", async () => {
    const { state } = await filesOf(quick(undefined));
    const disk = on(state);
    const push = (force: boolean) => storeWith(disk, quick(rawKey)).push(state, { ...request, force });
    expect(await diagnosticOf(() => push(false))).toMatchObject({ code: "state.unencrypted" });
    expect(disk.text(statePath)).toBe(state);
    await push(true);
    expect(await idsWith(disk, quick(rawKey))).toEqual({ [A]: "1" });
    expect(disk.text(statePath)).toContain('"hostform_encryption"');
  });

  it("an accepted clear-text state is encrypted by a push", async () => {
    const { state } = await filesOf(quick(undefined));
    const disk = on(state);
    await storeWith(disk, accepting()).push(state, { ...request, force: false });
    expect(disk.text(statePath)).toContain('"hostform_encryption"');
    expect(await idsWith(disk, quick(rawKey))).toEqual({ [A]: "1" });
  });

  it("encrypted files of commit 0808e87 are read, and written in the current format", async () => {
    const disk = on(FORMER_STATE, FORMER_JOURNAL);
    const recorded = await idsWith(disk, quick(rawKey));
    expect(recorded).toMatchObject({ "hosting_service.www": "1003", "hosting_service.shop": null });
    const run = await storeWith(disk, quick(rawKey)).open({ ...request, write: true });
    await run.put(resource(C, "3"));
    expect(disk.text(journalPath)).toContain('{"journal":2,');
    await run.close();
    expect(await idsWith(disk, quick(rawKey))).toEqual({ ...recorded, [C]: "3" });
    expect(disk.text(backupPath)).toContain('"hostform_encryption"');
  });
});

describe("an attacker with the format but without the key", () => {
  /** Returns a journal of these payloads with correct checksums, which anyone can compute. */
  const chained = (payloads: readonly string[]) => {
    let [text, sum] = ["", CHAIN_START];
    for (const payload of payloads) {
      const next = chainLine(sum, payload);
      [text, sum] = [text + next.line, next.sum];
    }
    return text;
  };
  const changedAt = (text: string, index: number) =>
    `${text.slice(0, index)}${text[index] === "A" ? "B" : "A"}${text.slice(index + 1)}`;
  /** Returns the code of the error, or the recorded ids without an error. */
  const outcome = (disk: FakeDisk, encryption = quick(rawKey)) =>
    idsWith(disk, encryption).catch((error) => error.diagnostics?.[0]?.code ?? Promise.reject(error));

  it("cannot change a byte of a journal without an error", async () => {
    const { state, journal } = await filesOf(quick(rawKey));
    const { payloads } = readChain(journal);
    expect(payloads).toHaveLength(3);
    expect(await outcome(on(state, chained(payloads)))).toEqual(all);
    for (const [line, payload] of payloads.entries())
      for (let index = 0; index < payload.length; index++) {
        const forged = chained(payloads.with(line, changedAt(payload, index)));
        expect(await outcome(on(state, forged)), `line ${line + 1}, byte ${index}`).toMatch(/^state\./);
      }
  });

  it("cannot change a byte of a journal and keep its checksums; only a changed last newline counts as a crash", async () => {
    const { state, journal } = await filesOf(quick(rawKey));
    for (let index = 0; index < journal.length - 1; index++)
      expect(await outcome(on(state, changedAt(journal, index))), `byte ${index}`).toMatch(/^state\./);
    expect(await outcome(on(state, journal.replace(/\n$/, "x")))).toEqual({ [A]: "1", [B]: `id of ${B}` });
  });

  it("cannot assemble a journal from lines of other journals or of the earlier format", async () => {
    let nonces = 255;
    const another = quick(rawKey, { random: (count) => Buffer.alloc(count, nonces--) });
    const { state, journal } = await filesOf(quick(rawKey));
    const [head = "", b = "", c = ""] = readChain(journal).payloads;
    const [otherHead = "", otherB = "", otherC = ""] = readChain((await filesOf(another, [C, B])).journal).payloads;
    const [formerHead = ""] = readChain(FORMER_JOURNAL).payloads;
    const { lineage, serial } = JSON.parse(head);
    const former = JSON.stringify({ ...JSON.parse(formerHead), lineage, serial });
    const table: [what: string, payloads: string[]][] = [
      ["a line is missing", [head, c]],
      ["two lines changed places", [head, c, b]],
      ["a line occurs twice", [head, b, b]],
      ["another head", [otherHead, b, c]],
      ["another line", [head, otherB]],
      ["the end of another", [head, b, otherC]],
      ["the head of the earlier form", [former, b, c]],
      ["spaces in the head", [head.replaceAll(",", ", "), b, c]],
      ["a head alone, of another serial", [head.replace(/"serial":\d+/, '"serial":7')]],
      ["a head alone, with a member twice", [head.replace("{", '{"lineage":"x",')]],
    ];
    for (const [what, payloads] of table)
      expect(await outcome(on(state, chained(payloads))), what).toBe("state.journal");
  });
});

describe("earlier keys", () => {
  const other = keyOf(2);

  it("open state and journal; new writes use the current key", async () => {
    for (const old of [rawKey, passphraseKey]) {
      const { state, journal } = await filesOf(quick(old));
      const both = () => quick(other, { old: async () => [passphraseKey, rawKey] });
      const disk = on(state, journal);
      expect(await idsWith(disk, both())).toEqual(all);
      const run = await storeWith(disk, both()).open({ ...request, write: true });
      await run.put(resource("hosting_service.d", "4"));
      await run.close();
      expect(await idsWith(disk, quick(other))).toEqual({ ...all, "hosting_service.d": "4" });
    }
  });
});
