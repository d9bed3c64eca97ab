import { describe, expect, test } from "vitest";
import { HostformError } from "../../../../src/core/model/index.ts";
import { KEY_VARIABLES, NEW_KEY_VARIABLES, readOldKeys, readStateKey } from "../../../../src/core/record/state-key.ts";
import { fc } from "../../../support/fc.ts";
import { diagnosticOf } from "./builders.ts";

const passphrase = "correct horse battery staple";
const bytes = Buffer.from(Array.from({ length: 32 }, (_, index) => index * 8 + 7));

describe("the key in the environment", () => {
  test("is a passphrase exactly as it is, space included", () => {
    expect(readStateKey({ HOSTFORM_STATE_PASSPHRASE: ` ${passphrase}\n` }, KEY_VARIABLES)).toEqual({
      from: "passphrase",
      variable: "HOSTFORM_STATE_PASSPHRASE",
      passphrase: ` ${passphrase}\n`,
    });
  });

  test.each([
    ["base64", bytes.toString("base64")],
    ["base64 without padding", bytes.toString("base64").replace("=", "")],
    ["the other base64", bytes.toString("base64url")],
    ["hexadecimal", bytes.toString("hex")],
    ["hexadecimal in capitals", bytes.toString("hex").toUpperCase()],
    ["base64 with the line break of a file", `${bytes.toString("base64")}\n`],
  ])("is 32 bytes in %s", (_, text) => {
    const key = readStateKey({ HOSTFORM_STATE_KEY: text }, KEY_VARIABLES);
    expect(key).toEqual({ from: "key", variable: "HOSTFORM_STATE_KEY", bytes });
  });

  test("is looked for under other names when it is the new one", () => {
    const env = { HOSTFORM_STATE_PASSPHRASE: passphrase, HOSTFORM_STATE_NEW_KEY: bytes.toString("hex") };
    expect(readStateKey(env, NEW_KEY_VARIABLES)).toMatchObject({ from: "key", variable: "HOSTFORM_STATE_NEW_KEY" });
  });
});

describe("a key that a command prints", () => {
  const printing = (text: string) => {
    const asked: string[] = [];
    const run = async (command: string, variable: string) => {
      asked.push(`${variable}: ${command}`);
      return text;
    };
    return { asked, run };
  };

  test("is asked for when it is needed, and once", async () => {
    const { asked, run } = printing(`${bytes.toString("base64")}\n`);
    const key = readStateKey({ HOSTFORM_STATE_KEY_COMMAND: "kms" }, KEY_VARIABLES, run);
    if (key?.from !== "key" || typeof key.bytes !== "function") throw new Error("no command");
    expect(asked).toEqual([]);
    expect([await key.bytes(), await key.bytes()]).toEqual([bytes, bytes]);
    expect(asked).toEqual(["HOSTFORM_STATE_KEY_COMMAND: kms"]);
  });

  test.each(["HOSTFORM_STATE_KEY", "HOSTFORM_STATE_PASSPHRASE"])("does not go with %s", async (other) => {
    const env = { HOSTFORM_STATE_KEY_COMMAND: "kms", [other]: passphrase };
    const problem = await diagnosticOf(() => readStateKey(env, KEY_VARIABLES, printing("").run));
    expect(problem).toMatchObject({ code: "state.key", summary: expect.stringMatching(/^Both .* are set$/) });
  });
});

describe("keys of before", () => {
  const hex = bytes.toString("hex");
  const current = readStateKey({ HOSTFORM_STATE_KEY: hex }, KEY_VARIABLES);
  const run = async () => `${"0".repeat(64)}\r\n\n${hex}\n`;

  test("are one on each line, of every sort at once", async () => {
    const env = {
      HOSTFORM_STATE_OLD_KEY: hex,
      HOSTFORM_STATE_OLD_KEY_COMMAND: "kms",
      HOSTFORM_STATE_OLD_PASSPHRASE: `${passphrase}\n${passphrase} 2\n`,
    };
    expect(await readOldKeys(env, current, run)).toEqual([
      { from: "key", variable: "HOSTFORM_STATE_OLD_KEY", bytes },
      { from: "key", variable: "HOSTFORM_STATE_OLD_KEY_COMMAND", bytes: Buffer.alloc(32) },
      { from: "key", variable: "HOSTFORM_STATE_OLD_KEY_COMMAND", bytes },
      { from: "passphrase", variable: "HOSTFORM_STATE_OLD_PASSPHRASE", passphrase },
      { from: "passphrase", variable: "HOSTFORM_STATE_OLD_PASSPHRASE", passphrase: `${passphrase} 2` },
    ]);
    expect(await readOldKeys({ HOSTFORM_STATE_KEY: hex }, current, run)).toEqual([]);
  });

  test.each<[string, Record<string, string>, typeof current, RegExp]>([
    ["empty", { HOSTFORM_STATE_OLD_KEY: " \n" }, current, /is set, but empty/],
    ["too short", { HOSTFORM_STATE_OLD_PASSPHRASE: `${passphrase}\nshort` }, current, /is too short/],
    ["from a command that is empty", { HOSTFORM_STATE_OLD_KEY_COMMAND: "" }, current, /is set, but empty/],
    ["all that there is", { HOSTFORM_STATE_OLD_KEY: hex }, undefined, /is set without a current key/],
  ])("are refused when one is %s", async (_, env, key, summary) => {
    const problem = await diagnosticOf(() => readOldKeys(env, key, run));
    expect(problem).toMatchObject({ code: "state.key", summary: expect.stringMatching(summary) });
  });
});

describe("a key that cannot be one", () => {
  test.each<[string, Record<string, string>, RegExp]>([
    [
      "31 bytes",
      { HOSTFORM_STATE_KEY: bytes.subarray(1).toString("base64") },
      /^It has 31 bytes\. A key has 44 characters in base64, or 64 hexadecimal digits\.$/,
    ],
    ["33 bytes", { HOSTFORM_STATE_KEY: Buffer.concat([bytes, bytes]).subarray(0, 33).toString("base64") }, /33 bytes/],
    ["62 digits", { HOSTFORM_STATE_KEY: bytes.toString("hex").slice(2) }, /^It has 62 hexadecimal digits\. A key has/],
    [
      "a passphrase",
      { HOSTFORM_STATE_KEY: passphrase },
      /^It has 28 characters, and is neither base64 nor hexadecimal/,
    ],
    ["nothing", { HOSTFORM_STATE_KEY: " " }, /A CI job without access to a secret/],
    ["a short passphrase", { HOSTFORM_STATE_PASSPHRASE: "correct horse b" }, /^It has 15 characters\. At least 16/],
    ["an empty passphrase", { HOSTFORM_STATE_PASSPHRASE: "" }, /A CI job without access to a secret/],
    ["both", { HOSTFORM_STATE_PASSPHRASE: passphrase, HOSTFORM_STATE_KEY: bytes.toString("hex") }, /one of them/],
    ["both, one empty", { HOSTFORM_STATE_PASSPHRASE: passphrase, HOSTFORM_STATE_KEY: "" }, /one of them/],
  ])("%s: refused with lengths and names, never the value", async (_, env, detail) => {
    const problem = await diagnosticOf(() => readStateKey(env, KEY_VARIABLES));
    expect(problem?.code).toBe("state.key");
    expect(problem?.detail).toMatch(detail);
    for (const [name, value] of Object.entries(env)) {
      expect(JSON.stringify(problem)).toContain(name);
      if (value.trim() !== "") expect(JSON.stringify(problem)).not.toContain(value);
    }
  });

  test("anything but 32 bytes is refused, whatever it is", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 100 }), (text) => {
        const letters = text.trim().replace(/=*$/, "");
        fc.pre(!/^[0-9a-f]{64}$/i.test(letters) && !/^[\w+/-]{43}$/.test(letters));
        expect(() => readStateKey({ HOSTFORM_STATE_KEY: text }, KEY_VARIABLES)).toThrow(HostformError);
      }),
    );
  });
});
