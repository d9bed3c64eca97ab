import { execFileSync, spawnSync } from "node:child_process";
import { createHash, generateKeyPairSync } from "node:crypto";
import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { signature, signingKey } from "../../../scripts/release/sign.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { itWith } from "../../support/needing.ts";
import { MINISIGN } from "../../support/programs.ts";

const newKey = () =>
  signingKey(generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString());
const key = newKey();
const verifier = path.resolve(import.meta.dirname, "../../../scripts/release/verify.mjs");

/** Writes a release of two files, of which one is downloaded. */
function download(comment = "hostform 1.2.3"): string {
  const folder = temporaryFolder();
  const sum = (text: string) => createHash("sha256").update(text).digest("hex");
  const sums = `${sum("an archive")}  a.tar.gz\n${sum("another")}  b.zip\n${sum("an archive")}  verify.mjs\n`;
  writeFileSync(path.join(folder, "a.tar.gz"), "an archive");
  writeFileSync(path.join(folder, "SHA256SUMS"), sums);
  writeFileSync(path.join(folder, "SHA256SUMS.minisig"), signature(Buffer.from(sums), key, comment));
  return folder;
}

function verified(folder: string, by = key.publicKey) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [verifier, by, folder], { encoding: "utf8" });
  return { status, stdout, stderr };
}

describe("the signature of a release", () => {
  it("is the same for the same key and bytes", () => {
    const content = Buffer.from("content");
    expect(signature(content, key, "c")).toBe(signature(content, key, "c"));
  });

  it("needs an Ed25519 key", () => {
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" });
    expect(() => signingKey(rsa.toString())).toThrow("not an unencrypted Ed25519 key");
    expect(() => signingKey("a passphrase")).toThrow("not an unencrypted Ed25519 key");
  });

  itWith(MINISIGN)("is accepted by minisign, with its comment, and refused after a change", () => {
    const folder = download();
    const args = ["-Vm", "SHA256SUMS", "-P", key.publicKey];
    expect(execFileSync("minisign", args, { cwd: folder, encoding: "utf8" })).toContain("hostform 1.2.3");
    appendFileSync(path.join(folder, "SHA256SUMS"), "\n");
    expect(spawnSync("minisign", args, { cwd: folder, encoding: "utf8" }).stderr).toContain(
      "Signature verification failed",
    );
  });
});

describe("verify.mjs", () => {
  it("accepts the downloaded files of a release, and names them", () => {
    expect(verified(download())).toEqual({
      status: 0,
      stdout: "ok  a.tar.gz\nhostform 1.2.3: the signature is valid, and so is 1 file.\n",
      stderr: "",
    });
  });

  itWith(MINISIGN)("accepts a signature by minisign itself", () => {
    const folder = download();
    const keys = temporaryFolder();
    const sums = path.join(folder, "SHA256SUMS");
    execFileSync("minisign", ["-GWp", "own.pub", "-s", "own.key"], { cwd: keys });
    execFileSync("minisign", ["-Sm", sums, "-s", "own.key", "-t", "by hand"], { cwd: keys });
    const [, own] = readFileSync(path.join(keys, "own.pub"), "utf8").split("\n");
    expect(verified(folder, own)).toMatchObject({ status: 0, stdout: expect.stringContaining("by hand: ") });
  });

  it.each<[string, (folder: string) => void, RegExp]>([
    ["a changed file", (folder) => appendFileSync(path.join(folder, "a.tar.gz"), "x"), /a\.tar\.gz is not the file/],
    ["changed digests", (folder) => appendFileSync(path.join(folder, "SHA256SUMS"), "x"), /does not have a signature/],
    [
      "a missing signature",
      (folder) => rmSync(path.join(folder, "SHA256SUMS.minisig")),
      /SHA256SUMS\.minisig is not in/,
    ],
    ["a folder without a file", (folder) => rmSync(path.join(folder, "a.tar.gz")), /no other file of this release/],
    [
      "a folder with verify.mjs alone",
      (folder) => renameSync(path.join(folder, "a.tar.gz"), path.join(folder, "verify.mjs")),
      /no other file of this release/,
    ],
    [
      "a file that the release does not list",
      (folder) => writeFileSync(path.join(folder, "a (1).tar.gz"), "an archive"),
      /SHA256SUMS does not list a \(1\)\.tar\.gz\. /,
    ],
    [
      "a changed comment",
      (folder) => {
        const file = path.join(folder, "SHA256SUMS.minisig");
        writeFileSync(file, readFileSync(file, "utf8").replace("1.2.3", "1.2.4"));
      },
      /does not have a signature/,
    ],
  ])("refuses %s", (_, change, why) => {
    const folder = download();
    change(folder);
    expect(verified(folder)).toMatchObject({ status: 1, stderr: expect.stringMatching(why) });
  });

  it("refuses another key, and no key", () => {
    expect(verified(download(), newKey().publicKey).stderr).toContain("does not have a signature by this key");
    expect(verified(download(), "").stderr).toContain("node verify.mjs KEY");
  });
});
