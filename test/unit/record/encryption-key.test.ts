import { describe, expect, test } from "vitest";
import { HostformError } from "../../../src/model/index.ts";
import { KEY_VARIABLES, NEW_KEY_VARIABLES, readStateKey } from "../../../src/record/state-key.ts";
import { fc } from "../../support/fc.ts";
import { diagnosticOf } from "./builders.ts";

const passphrase = "correct horse battery staple";
const bytes = Buffer.from(Array.from({ length: 32 }, (_, index) => index * 8 + 7));

describe("the key in the environment", () => {
  test("is none when neither variable is set", () => {
    expect(readStateKey({ PATH: "/bin" }, KEY_VARIABLES)).toBeUndefined();
  });

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

  test("is any 32 bytes", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.constantFrom("base64" as const, "base64url" as const, "hex" as const),
        (given, form) => {
          const key = readStateKey({ HOSTFORM_STATE_KEY: Buffer.from(given).toString(form) }, KEY_VARIABLES);
          expect(key).toMatchObject({ bytes: Buffer.from(given) });
        },
      ),
    );
  });

  test("is looked for under other names when it is the new one", () => {
    const env = { HOSTFORM_STATE_PASSPHRASE: passphrase, HOSTFORM_STATE_NEW_KEY: bytes.toString("hex") };
    expect(readStateKey(env, NEW_KEY_VARIABLES)).toMatchObject({ from: "key", variable: "HOSTFORM_STATE_NEW_KEY" });
  });
});

describe("a key that cannot be one", () => {
  test.each<[string, Record<string, string>, RegExp]>([
    ["31 bytes", { HOSTFORM_STATE_KEY: bytes.subarray(1).toString("base64") }, /^It has 31 bytes, 32 are needed\.$/],
    ["33 bytes", { HOSTFORM_STATE_KEY: Buffer.concat([bytes, bytes]).subarray(0, 33).toString("base64") }, /33 bytes/],
    ["62 digits", { HOSTFORM_STATE_KEY: bytes.toString("hex").slice(2) }, /^It has 62 hexadecimal digits, 64 are/],
    ["a passphrase", { HOSTFORM_STATE_KEY: passphrase }, /^It has 28 characters; a key of 32 bytes has 44 in base64/],
    ["nothing", { HOSTFORM_STATE_KEY: " " }, /A CI job that is not given a secret has an empty variable/],
    ["a short passphrase", { HOSTFORM_STATE_PASSPHRASE: "correct horse b" }, /^It has 15 characters, at least 16/],
    ["an empty passphrase", { HOSTFORM_STATE_PASSPHRASE: "" }, /A CI job that is not given a secret/],
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
