// Downloads hostform, checks its digest, and adds it to the PATH. Runs nothing of the workspace.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { fail, input } from "../runner.mjs";

const { GITHUB_PATH, RUNNER_TEMP } = process.env;
const version = input("VERSION");
if (!/^\d[\w.+-]*$/.test(version)) fail("The input version needs one exact version, such as 0.1.0.");
const url = input("URL");
if (!/^https?:\/\//.test(url)) fail("The input url needs the URL of the downloaded file.");
/** A digest as npm prints it (`sha512-…`), or as a line of `SHA256SUMS` begins. */
const wanted = input("DIGEST");
const [, npm] = /^sha512-([\w+/]{86}==)$/.exec(wanted) ?? [];
if (npm === undefined && !/^[\da-f]{64}$/.test(wanted)) fail("The input digest needs sha512-…, or 64 hexadecimal digits of SHA-256.");

let bytes;
try {
  const response = await fetch(url, { signal: AbortSignal.timeout(300_000) });
  if (!response.ok) fail(`${url} responded ${response.status}.`);
  bytes = Buffer.from(await response.arrayBuffer());
} catch (error) {
  fail(`${url} did not respond: ${error.cause?.message ?? error.message}`);
}
const hash = (algorithm, encoding) => createHash(algorithm).update(bytes).digest(encoding);
const found = npm === undefined ? hash("sha256", "hex") : `sha512-${hash("sha512", "base64")}`;
if (found !== wanted) fail(`The digest of ${url} is ${found}, not ${wanted}. Nothing was installed.`);

const folder = mkdtempSync(path.join(RUNNER_TEMP, "hostform-"));
const bin = path.join(folder, "bin");
mkdirSync(bin);
const archive = path.join(folder, "hostform.tgz");
writeFileSync(archive, bytes);
execFileSync("tar", ["-xzf", archive, "-C", folder]);
const program = ["package/dist/hostform.js", "hostform"].map((name) => path.join(folder, name)).find(existsSync);
if (program === undefined) fail(`${url} contains neither the npm package nor the executable of hostform.`);
symlinkSync(program, path.join(bin, "hostform"));
const printed = execFileSync(path.join(bin, "hostform"), ["--version"], { cwd: folder, encoding: "utf8" }).trim();
if (!printed.split(/\s+/).includes(version)) fail(`The archive contains ${printed}, not ${version}.`);
appendFileSync(GITHUB_PATH, `${bin}\n`);
