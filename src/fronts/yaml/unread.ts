import { join } from "node:path";
import type { Kinds } from "../../core/kinds/kind.ts";
import { type Diagnostic, warningOf } from "../../core/model/index.ts";
import { DiagnosticCollector } from "../source/diagnostics.ts";
import { isDeclaration } from "../source/source.ts";
import { readDocument } from "./document.ts";
import { readYaml, STRICT_LIMITS } from "./yaml.ts";

/** Finds files beside a declaration that look like a part of it, and that nothing reads: what they hold would not exist. */

interface Reading {
  /** The first `limit` bytes of a file that nobody named. Rejects with Node's errors. */
  readonly fs: { read(path: string, limit: number, named?: boolean): Promise<Uint8Array> };
  readonly kinds: Kinds;
}

/** A larger file is not looked at, and no more files than these. */
const BYTES = 256 * 1024;
const FILES = 100;

/** A name that was meant to be read: `hosting.yml`, `shop.hosting.yml`, `Hosting.yaml`. */
const MEANT = /^(?:[^.].*\.)?hosting\.ya?ml$/i;

/** @param names of the folder @param read the paths that are read. @returns a warning for each file with its remedy. */
export async function unreadWarnings(
  dir: string,
  names: readonly string[],
  read: ReadonlySet<string>,
  { fs, kinds }: Reading,
): Promise<Diagnostic[]> {
  const others = names.filter((name) => /^[^.].*\.ya?ml$/i.test(name) && !read.has(join(dir, name))).toSorted();
  const found: Diagnostic[] = [];
  for (const name of others.slice(0, FILES)) {
    const path = join(dir, name);
    if (!(MEANT.test(name) || looksDeclared(await textOf(path, fs), kinds))) continue;
    const meant = name.replace(/(?:\.hosting)?\.ya?ml$/i, "").toLowerCase();
    const fix =
      meant === "hosting"
        ? "Rename it to NAME.hosting.yaml, or move its content into hosting.yaml."
        : `Rename it to ${meant}.hosting.yaml, or name the files to read with \`-f\`.`;
    const detail = "What it declares is not part of the project.";
    const summary = `${path} looks like a declaration and is not read`;
    found.push(warningOf("config.unread", summary, { detail, remedies: [fix] }));
  }
  return found;
}

/** Empty for what cannot be read: nobody asked for it. */
async function textOf(path: string, fs: Reading["fs"]): Promise<string> {
  const bytes = await fs.read(path, BYTES + 1, false).catch(() => new Uint8Array());
  return bytes.length > BYTES ? "" : new TextDecoder().decode(bytes);
}

/** Returns true if a text declares something of hostform: `services:` alone is also what a file of Docker Compose begins with. */
function looksDeclared(text: string, kinds: Kinds): boolean {
  if (!isDeclaration(text, kinds)) return false;
  const diags = new DiagnosticCollector();
  const { documents } = readYaml({ path: "", text }, 0, diags, STRICT_LIMITS);
  return documents
    .map((tree) => readDocument(tree, kinds, diags))
    .some(({ drafts }) => drafts.some(({ kind, attributes }) => kind.nested === undefined && attributes.size > 0));
}
