// Verifies downloaded files of a release, offline: node verify.mjs KEY [FOLDER]
// KEY is the publisher's public key. FOLDER contains SHA256SUMS, SHA256SUMS.minisig and the files, and no other files.
import { createHash, createPublicKey, verify } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";

const [key = "", folder = "."] = process.argv.slice(2);
const bytes = (base64 = "") => Buffer.from(base64, "base64");

function fail(why) {
  console.error(`Not verified: ${why}`);
  process.exit(1);
}

function read(name) {
  if (!existsSync(path.join(folder, name))) fail(`${name} is not in ${path.resolve(folder)}.`);
  return readFileSync(path.join(folder, name));
}

const publicKey = bytes(key);
if (publicKey.length !== 42)
  fail("name the publisher's public key, which begins with RW: node verify.mjs KEY [FOLDER]");
const [, first, comment = "", second] = read("SHA256SUMS.minisig").toString().split("\n");
const signed = bytes(first);
const sums = read("SHA256SUMS");
const x = publicKey.subarray(10).toString("base64url");
const ed25519 = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
const about = comment.replace(/^trusted comment: /, "");
const isSigned =
  signed.subarray(0, 2).toString() === "ED" &&
  signed.subarray(2, 10).equals(publicKey.subarray(2, 10)) &&
  verify(null, createHash("blake2b512").update(sums).digest(), ed25519, signed.subarray(10)) &&
  verify(null, Buffer.concat([signed.subarray(10), Buffer.from(about)]), ed25519, bytes(second));
if (!isSigned) fail("SHA256SUMS does not have a signature by this key. Do not use the files.");

const listed = [...sums.toString().matchAll(/^([0-9a-f]{64}) {2}(.+)$/gm)];
const here = listed.filter(([, , name]) => existsSync(path.join(folder, name)));
if (here.every(([, , name]) => name === "verify.mjs"))
  fail(`no other file of this release is in ${path.resolve(folder)}.`);
for (const [, sum, name] of here) {
  if (createHash("sha256").update(read(name)).digest("hex") !== sum)
    fail(`${name} is not the file of the release. Do not use it.`);
  console.log(`ok  ${name}`);
}
const known = new Set(["SHA256SUMS", "SHA256SUMS.minisig", ...listed.map(([, , name]) => name)]);
const unknown = readdirSync(folder, { withFileTypes: true }).filter(
  (one) => !one.isDirectory() && !known.has(one.name),
);
if (unknown.length > 0) fail(`SHA256SUMS does not list ${unknown.map(({ name }) => name).join(", ")}. Move them away.`);
console.log(
  `${about}: the signature is valid, and so ${here.length === 1 ? "is 1 file" : `are ${here.length} files`}.`,
);
