import { describe, expect, test } from "vitest";
import { decodeState } from "../../../../src/core/record/index.ts";
import { openState, parseSealed, sealState } from "../../../../src/core/record/sealed-text.ts";
import { character, fc } from "../../../support/fc.ts";
import { diagnosticOf, file } from "./builders.ts";
import { passphraseKey, quick, rawKey } from "./keys.ts";

const CANARY = "canary-of-a-signing-secret";
const plain = file([], { outputs: { secret: { value: CANARY } } });

/** Reads a text as a state with the key, as the reader of a file does. */
async function read(text: string, encryption = quick(rawKey)): Promise<string> {
  const sealed = parseSealed(text, "the file");
  return sealed === undefined ? text : openState(sealed, await encryption.from(sealed.key), "the file");
}

describe("an encrypted state file", () => {
  test("shows lineage, serial and what it is encrypted with, nothing else", async () => {
    const seal = await quick(passphraseKey).fresh();
    const text = sealState(plain, seal);
    const { data, ...shown } = JSON.parse(text) as Record<string, unknown>;
    expect(shown).toEqual({ hostform_encryption: 1, lineage: "l-1", serial: 3, key: seal.header });
    expect(String(data)).toMatch(/^[A-Za-z0-9+/]+=*$/);
    expect(text).not.toContain(CANARY);
    expect(text.endsWith("}\n")).toBe(true);
  });

  test("gives back what was put in, byte for byte", async () => {
    const seal = await quick(rawKey).fresh();
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: character }), fc.nat(), fc.json(), async (lineage, serial, outputs) => {
        const text = `${JSON.stringify({ version: 4, lineage: lineage.toWellFormed(), serial, outputs }, null, 2)}\n`;
        expect(await read(sealState(text, seal))).toBe(text);
      }),
    );
  });

  test("is refused when any one bit of it is another", async () => {
    const bytes = Buffer.from(sealState(plain, await quick(rawKey).fresh()));
    const accepted: number[] = [];
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Buffer.from(bytes);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const problem = await diagnosticOf(async () => decodeState(await read(flipped.toString("utf8")), "x")).catch(
        () => undefined,
      );
      if (problem === undefined) accepted.push(bit);
    }
    expect(accepted).toEqual([]);
    expect(decodeState(await read(bytes.toString("utf8")), "x").state.serial).toBe(3);
  });

  test.each([
    ["another serial", { serial: 4 }],
    ["another lineage", { lineage: "l-2" }],
    ["the content of another serial", { data: undefined }],
  ])("is refused with %s", async (_, change) => {
    const seal = await quick(rawKey).fresh();
    const other = JSON.parse(sealState(file([], { serial: 4 }), seal)) as { data: string };
    const changed = { ...JSON.parse(sealState(plain, seal)), ...change };
    const problem = await diagnosticOf(() => read(JSON.stringify({ ...changed, data: changed.data ?? other.data })));
    expect(problem).toMatchObject({
      code: "state.unreadable",
      summary: "The encrypted state in the file is corrupted",
    });
    expect(problem?.detail).toContain("The key is correct");
  });
});

describe("what is no encrypted state", () => {
  test.each([
    ["a state", plain],
    [
      "a state that only mentions it",
      file([], { outputs: { hostform_encryption: { value: '"hostform_encryption"' } } }),
    ],
    ["text", 'see "hostform_encryption"'],
    ["nothing", ""],
  ])("%s is taken as it is", (_, text) => {
    expect(parseSealed(text, "x")).toBeUndefined();
  });

  test.each<[string, string, string]>([
    ["a newer form", '{"hostform_encryption": 2}', "state.newer"],
    [
      "a field too many",
      '{"hostform_encryption": 1, "lineage": "", "serial": 1, "key": {}, "data": "", "x": 1}',
      "state.unreadable",
    ],
    ["a missing field", '{"hostform_encryption": 1}', "state.unreadable"],
    ["the first half", '{\n  "hostform_encryption": 1, "lineage', "state.unreadable"],
  ])("%s is refused", async (_, text, code) => {
    expect((await diagnosticOf(() => parseSealed(text, "x")))?.code).toBe(code);
  });

  test("decoding a sealed state without opening it says that it is encrypted", async () => {
    const text = sealState(plain, await quick(rawKey).fresh());
    expect(await diagnosticOf(() => decodeState(text, "x"))).toMatchObject({ code: "state.key" });
  });
});
