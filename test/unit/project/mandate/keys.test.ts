/** Private keys of approvers and runners: their sources, their forms, and their secrecy. */
import { generateKeyPairSync } from "node:crypto";
import { chmodSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { childEnvironment } from "../../../../src/core/model/index.ts";
import { APPROVER, privateKeyOf, publicText, RUNNER } from "../../../../src/project/mandate/keys.ts";
import { hostOf } from "../../../../src/project/programs.ts";
import { Redaction } from "../../../../src/project/redaction.ts";
import type { ProjectSource } from "../../../../src/project/source.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { newKey } from "../../../support/mandates.ts";

const { pem, trusted } = newKey();
const body = pem.split("\n")[1] ?? "";
const redaction = new Redaction();

function keyIn(env: Record<string, string>, cwd = temporaryFolder(), signer = APPROVER) {
  const source = { env: { PATH: process.env.PATH, ...env }, cwd, dir: cwd } as unknown as ProjectSource;
  const declaration = { providers: async () => new Map() };
  return privateKeyOf({ source, host: hostOf({ now: () => 0 } as never), redaction, declaration }, signer);
}
function fileWith(text: string, mode = 0o600): string {
  const file = path.join(temporaryFolder(), "key.pem");
  writeFileSync(file, text, { mode });
  return file;
}
const inFile = (text: string, mode?: number) => keyIn({ HOSTFORM_MANDATE_KEY_FILE: fileWith(text, mode) });
const otherKey = (type: "x25519" | "ed448") =>
  generateKeyPairSync(type as "ed448")
    .privateKey.export({ type: "pkcs8", format: "pem" })
    .toString();

describe("the private key", () => {
  it("comes from a file of mode 0600, or from a command", async () => {
    const file = fileWith(pem);
    const command = JSON.stringify(["cat", file]);
    for (const env of [{ HOSTFORM_MANDATE_KEY_FILE: file }, { HOSTFORM_MANDATE_KEY_COMMAND: command }])
      expect(publicText((await keyIn(env as unknown as Record<string, string>)) as never)).toBe(trusted);
    const runner = await keyIn({ HOSTFORM_RECEIPT_KEY_FILE: "key.pem" }, path.dirname(file), RUNNER);
    expect(publicText(runner as never)).toBe(trusted);
    expect(await keyIn({ HOSTFORM_MANDATE_KEY_FILE: file }, undefined, RUNNER)).toBeUndefined();
  });

  it.each([
    ["a file that others may read", () => inFile(pem, 0o640), /others may read or write it/],
    ["a missing file", () => keyIn({ HOSTFORM_MANDATE_KEY_FILE: "no" }), /there is no such file/],
    [
      "a folder",
      () => {
        const folder = temporaryFolder();
        mkdirSync(path.join(folder, "key"), { mode: 0o700 });
        return keyIn({ HOSTFORM_MANDATE_KEY_FILE: "key" }, folder);
      },
      /it is a folder/,
    ],
    [
      "a link",
      () => {
        const link = path.join(temporaryFolder(), "link");
        symlinkSync(fileWith(pem), link);
        return keyIn({ HOSTFORM_MANDATE_KEY_FILE: link });
      },
      /it is a link/,
    ],
    ["an empty file", () => inFile(""), /not an unencrypted private key/],
    ["a public key", () => inFile(pem.replaceAll("PRIVATE", "PUBLIC")), /not an unencrypted private key/],
    ["a key for another curve", () => inFile(otherKey("ed448")), /a key for ed448, not for ed25519/],
    ["a key that cannot sign", () => inFile(otherKey("x25519")), /a key for x25519, not for ed25519/],
    ["an empty variable", () => keyIn({ HOSTFORM_MANDATE_KEY_FILE: " " }), /the variable is empty/],
    [
      "both variables",
      () => keyIn({ HOSTFORM_MANDATE_KEY_FILE: "a", HOSTFORM_MANDATE_KEY_COMMAND: "b" }),
      /HOSTFORM_MANDATE_KEY_FILE is also set/,
    ],
    [
      "a command that fails",
      () => keyIn({ HOSTFORM_MANDATE_KEY_COMMAND: "false" }),
      /HOSTFORM_MANDATE_KEY_COMMAND ended with/,
    ],
    ["a command in the form of a shell", () => keyIn({ HOSTFORM_MANDATE_KEY_COMMAND: "cat 'a b'" }), /not a program/],
  ])("is refused: %s", async (_, key, why) => {
    const error = await key().then(
      () => undefined,
      (found: unknown) => found,
    );
    expect(error).toMatchObject({ message: expect.stringMatching(why), diagnostics: [{ code: "mandate.key" }] });
    expect(JSON.stringify(error)).not.toContain(body);
  });

  it("is hidden in every output of the run", async () => {
    await inFile(pem);
    expect(redaction.redact(`<${pem}>`)).not.toContain(body);
  });

  it("of a hard link is the key of its file", async () => {
    const file = fileWith(pem);
    linkSync(file, `${file}.2`);
    expect(await keyIn({ HOSTFORM_MANDATE_KEY_FILE: `${file}.2` })).toBeDefined();
    chmodSync(file, 0o644);
    await expect(keyIn({ HOSTFORM_MANDATE_KEY_FILE: `${file}.2` })).rejects.toThrow(/others may read/);
  });

  it("is withheld from child processes, with its command", () => {
    const names = ["MANDATE", "RECEIPT"].flatMap((of) =>
      ["COMMAND", "FILE"].map((kind) => `HOSTFORM_${of}_KEY_${kind}`),
    );
    const env = { ...Object.fromEntries(names.map((name) => [name, "x"])), HOSTFORM_APPROVERS: trusted };
    expect(childEnvironment(env)).toEqual({ HOSTFORM_APPROVERS: trusted });
  });
});
