import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { decodeState } from "../../../../src/core/record/index.ts";
import { saying } from "../../../support/remedies.ts";
import { base64, diagnosticOf, entry, file, instance } from "./builders.ts";

const terraformText = readFileSync(new URL("fixtures/written-by-terraform.txt", import.meta.url), "utf8");
const decoded = (text: string) => decodeState(text, "hosting.tfstate");

describe("a file that cannot be used", () => {
  test.each([
    ["a torn write", "", "state.unreadable", /is empty/, /backup/],
    ["white space only", " \n", "state.unreadable", /is empty/, /backup/],
    ["half a file", terraformText.slice(0, 500), "state.unreadable", /not JSON/, /backup/],
    ["a merge conflict", "{\n<<<<<<< HEAD\n", "state.unreadable", /not JSON/, /one of the two versions/],
    ["a later format", file([], { version: 5 }), "state.newer", /format 5/, /version/],
    ["an older format", file([], { version: 3 }), "state.foreign", /not a supported state/, /Upgrade/],
    ["no format", "{}", "state.foreign", /not a supported state/, /--state/],
    ["a list", "[]", "state.foreign", /not a supported state/, /--state/],
    ["null", "null", "state.foreign", /not a supported state/, /--state/],
    [
      "an encrypted state of OpenTofu",
      '{"encrypted_data":"…","serial":1}',
      "state.key",
      /is encrypted/,
      /HOSTFORM_STATE_PASSPHRASE/,
    ],
    ["no lineage", file([], { lineage: undefined }), "state.unreadable", /malformed/, /backup/],
    ["an empty lineage", file([], { lineage: "" }), "state.unreadable", /malformed/, /backup/],
    ["a serial below zero", file([], { serial: -1 }), "state.unreadable", /malformed/, /backup/],
    [
      "a serial beyond what can be counted",
      file([]).replace('"serial":3', '"serial":99999999999999999999'),
      "state.unreadable",
      /malformed/,
      /backup/,
    ],
    [
      "the same address twice",
      file([entry([instance()]), entry([instance()])]),
      "state.unreadable",
      /two entries/,
      /delete the wrong entry/,
    ],
    [
      "a mark that is not JSON",
      file([entry([instance({ private: "AAAA" })])]),
      "state.unreadable",
      /mark of hosting_service.acme/,
      /backup/,
    ],
    [
      "a mark with an impossible generation",
      file([entry([instance({ private: base64({ generation: "2" }) })])]),
      "state.unreadable",
      /mark/,
      /backup/,
    ],
    [
      "a mark with half an intent",
      file([entry([instance({ private: base64({ pending: {} }) })])]),
      "state.unreadable",
      /mark/,
      /backup/,
    ],
  ])("%s", async (_reason, text, code, summary, fix) => {
    const diagnostic = await diagnosticOf(() => decoded(text));
    expect(diagnostic).toMatchObject({
      code,
      summary: expect.stringMatching(summary),
      remedies: saying(expect.stringMatching(fix)),
    });
    expect(diagnostic?.summary).toContain("hosting.tfstate");
  });

  test("names the place of the error in the JSON, and does not quote it: a state holds secrets", async () => {
    for (const cut of [
      '{"secret": "whsec_1234',
      '{"a": whsec_1234}',
      '{"secret":"whsec_1234"} x',
      '{"whsec_1234" 1}',
    ]) {
      const diagnostic = await diagnosticOf(() => decoded(cut));
      expect(diagnostic).toMatchObject({
        code: "state.unreadable",
        detail: expect.stringMatching(/^Parsing failed/),
      });
      expect(JSON.stringify(diagnostic)).not.toContain("whsec");
    }
    expect((await diagnosticOf(() => decoded('{\n  "a": "b')))?.detail).toContain("line 2, column 10");
  });

  test("names the place of a malformed value", async () => {
    const diagnostic = await diagnosticOf(() =>
      decoded(file([entry([instance(), instance({ schema_version: "x" })])])),
    );
    expect(diagnostic?.detail).toMatch(/^resources\[0\]\.instances\[1\]\.schema_version: /);
  });

  test("any prefix of a state file is refused as a whole: no cut passes for a smaller state", () => {
    for (let end = 0; end < terraformText.trimEnd().length; end += 7) {
      expect(() => decoded(terraformText.slice(0, end))).toThrow(/empty|not JSON/);
    }
  });
});
