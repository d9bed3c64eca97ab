import { isAbsolute, join, normalize } from "node:path";
import type { Kinds } from "../../core/kinds/kind.ts";
import { type Diagnostic, fileFailure, HostformError, NotUtf8, utf8 } from "../../core/model/index.ts";
import { DiagnosticCollector } from "../source/diagnostics.ts";
import type { Declaration } from "../source/index.ts";
import { isDeclaration, type SourceFile } from "../source/source.ts";
import { type DeclarationOptions, parseDeclaration } from "./declaration.ts";
import { readDocument } from "./document.ts";
import { includedBy, nestedIncludes } from "./include.ts";
import { problem } from "./messages.ts";
import { type DeclarationLimits, mebibytes, readYaml, STRICT_LIMITS } from "./yaml.ts";

/** File system functions for reading a declaration. They reject with Node's errors. */
export interface DeclarationFiles {
  /** Returns the names in a folder. @param named as in `read`. */
  list(folder: string, named?: boolean): Promise<readonly string[]>;
  /**
   * Returns the first `limit` bytes of a file.
   * @param named False if hostform found the file. Default: true, the user named it.
   */
  read(path: string, limit: number, named?: boolean): Promise<Uint8Array>;
}

export interface ReadOptions extends DeclarationOptions {
  /** Folder of the project. */
  readonly dir: string;
  /** Files to read, relative to `dir`. Undefined: find the files in `dir`. */
  readonly files?: readonly string[];
  readonly fs: DeclarationFiles;
  /** The declaration as a value, instead of files. */
  readonly value?: SourceFile | undefined;
}

/**
 * Finds and reads the declaration of a folder: `hosting.yaml`, then `*.hosting.yaml` sorted by name, then included files.
 * File errors become diagnostics.
 */
export async function readDeclaration(options: ReadOptions): Promise<Declaration> {
  const { dir, fs, files: given = [], limits = STRICT_LIMITS, value } = options;
  const found = given.length > 0 || value !== undefined ? named(dir, given) : await find(dir, fs);
  if ("severity" in found) {
    // For `adopt`, which starts without a declaration: account and state come from the environment.
    if (options.environment !== undefined && found.code === "config.missing") {
      const { diagnostics, ...alone } = parseDeclaration([], options);
      return { ...alone, desired: undefined, diagnostics: [found, ...diagnostics] };
    }
    const backend = found.code === "config.missing" ? undefined : "unclear";
    return { desired: undefined, partial: undefined, backend, diagnostics: [found] };
  }
  const files: SourceFile[] = value === undefined ? [] : [value];
  const unreadable: Diagnostic[] = [];
  const readAll = async (paths: readonly string[], isNamed: boolean) => {
    for (const path of paths) {
      const read = await readSource(path, fs, limits, isNamed);
      if ("text" in read) files.push(read);
      else unreadable.push(read);
    }
  };
  await readAll(found, given.length > 0);
  const including = files.length;
  const { paths: included, diagnostics: wrong } = await includedBy(files, options);
  await readAll(included, false);
  unreadable.push(...wrong, ...nestedIncludes(files.slice(including), options));
  if (unreadable.length === 0) {
    const declaration = parseDeclaration(files, options);
    const names = given.length === 0 && value === undefined ? await fs.list(dir) : [];
    const unread = await unreadWarnings(names, new Set([...found, ...included]), options);
    return { ...declaration, diagnostics: [...declaration.diagnostics, ...unread] };
  }
  const { diagnostics } = parseDeclaration(files, { ...options, incomplete: true });
  return { desired: undefined, partial: undefined, backend: "unclear", diagnostics: [...unreadable, ...diagnostics] };
}

function named(dir: string, files: readonly string[]): string[] {
  return [...new Set(files.map((file) => (isAbsolute(file) ? normalize(file) : join(dir, file))))];
}

async function find(dir: string, fs: DeclarationFiles): Promise<readonly string[] | Diagnostic> {
  const names = await fs.list(dir).catch((error: unknown) => unreadableDiagnostic(dir, error));
  if ("severity" in names) return names;
  const main = names.filter((name) => name === "hosting.yaml");
  const more = names.filter((name) => /^[^.].*\.hosting\.yaml$/.test(name)).toSorted();
  const paths = [...main, ...more].map((name) => join(dir, name));
  if (paths.length > 0) return paths;
  const other = names.find((name) => /^(?:[^.].*\.)?hosting\.yml$/.test(name));
  return problem("config.missing", { dir, other });
}

async function readSource(
  path: string,
  fs: DeclarationFiles,
  limits: DeclarationLimits,
  isNamed: boolean,
): Promise<SourceFile | Diagnostic> {
  const bytes = await fs.read(path, limits.bytes + 1, isNamed).catch((error: unknown) => {
    const [refusal] = error instanceof HostformError ? error.diagnostics : [];
    return refusal ?? unreadableDiagnostic(path, error);
  });
  if ("severity" in bytes) return bytes;
  if (bytes.length > limits.bytes) {
    return problem("config.too_large/bytes", { path, size: mebibytes(limits) });
  }
  try {
    return { path, text: declarationText(path, bytes).replace(/^\uFEFF/, "") };
  } catch (error) {
    const [wrong] = error instanceof HostformError ? error.diagnostics : [];
    if (wrong === undefined) throw error;
    return wrong;
  }
}

/**
 * Decodes a file. Keeps its byte order mark.
 * @param path Path for messages.
 * @throws HostformError for bytes that are not UTF-8.
 */
export function declarationText(path: string, bytes: Uint8Array): string {
  try {
    return utf8(bytes);
  } catch (error) {
    if (!(error instanceof NotUtf8)) throw error;
    const { what, line, column } = error;
    const range = { file: path, line, column, endLine: line, endColumn: column + 1 };
    throw new HostformError([problem("config.syntax/bytes", { path, what, range })]);
  }
}

function unreadableDiagnostic(path: string, error: unknown): Diagnostic {
  return problem("config.unreadable", { path, why: fileFailure(error) });
}

/** Limits of the search for ignored files: number of files, and bytes per file. */
const LOOKED_AT = { files: 100, bytes: 256 * 1024 };

/** Pattern of a name that was probably meant to be read: `hosting.yml`, `shop.hosting.yml`, `Hosting.yaml`. */
const MEANT = /^(?:[^.].*\.)?hosting\.ya?ml$/i;

/**
 * Finds files in the folder that look like declarations but are not read: their resources would be missing.
 * @param names Names of the files in the folder.
 * @param read Paths of the files that are read.
 * @returns one warning with a remedy for each file.
 */
async function unreadWarnings(
  names: readonly string[],
  read: ReadonlySet<string>,
  { dir, fs, kinds }: ReadOptions,
): Promise<Diagnostic[]> {
  const others = names.filter((name) => /^[^.].*\.ya?ml$/i.test(name) && !read.has(join(dir, name))).toSorted();
  const found: Diagnostic[] = [];
  for (const name of others.slice(0, LOOKED_AT.files)) {
    const path = join(dir, name);
    if (!(MEANT.test(name) || looksDeclared(await textOf(path, fs), kinds))) continue;
    const meant = name.replace(/(?:\.hosting)?\.ya?ml$/i, "").toLowerCase();
    found.push(problem("config.unread", { path, meant }));
  }
  return found;
}

/** Reads a file that the user did not name. Empty if unreadable. */
async function textOf(path: string, fs: DeclarationFiles): Promise<string> {
  const bytes = await fs.read(path, LOOKED_AT.bytes + 1, false).catch(() => new Uint8Array());
  return bytes.length > LOOKED_AT.bytes ? "" : new TextDecoder().decode(bytes);
}

/**
 * Returns true if a text declares resources of hostform. `services:` alone is not sufficient, because Docker Compose files
 * contain it too.
 */
function looksDeclared(text: string, kinds: Kinds): boolean {
  if (!isDeclaration(text, kinds)) return false;
  const diags = new DiagnosticCollector();
  const { documents } = readYaml({ path: "", text }, 0, diags, STRICT_LIMITS);
  return documents
    .map((tree) => readDocument(tree, kinds, diags))
    .some(({ drafts }) => drafts.some(({ kind, attributes }) => kind.nested === undefined && attributes.size > 0));
}
