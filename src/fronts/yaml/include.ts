import { dirname, isAbsolute, join, relative, sep } from "node:path";
import type { Kinds } from "../../core/kinds/kind.ts";
import { type Diagnostic, errnoOf, HostformError } from "../../core/model/index.ts";
import { DiagnosticCollector } from "../source/diagnostics.ts";
import { isDeclaration, rangeOf, type SourceFile, type Span } from "../source/source.ts";
import { type Entry, isNull, stringOf, valueSpan } from "../source/tree.ts";
import { problem } from "./messages.ts";
import { type DeclarationLimits, readYaml, STRICT_LIMITS } from "./yaml.ts";

/**
 * Resolves `include: clients/*.yaml` to further files of a declaration. Paths are relative to the including file. `*` matches
 * any part of a name, but no hidden file. Included files cannot include files, so no cycle is possible.
 */

/** Maximum number of matched paths, including folders. */
const MOST = 10_000;
const YAML_NAME = /\.ya?ml$/i;

interface Reading {
  /** Folder of the project. */
  readonly dir: string;
  /** Returns the names in a folder that hostform found. Rejects with Node's errors. */
  readonly fs: { list(folder: string, named?: boolean): Promise<readonly string[]> };
  readonly kinds: Kinds;
  readonly limits?: DeclarationLimits;
}

interface Included {
  /** Paths without duplicates. The including files are omitted. */
  readonly paths: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Returns the files that the given files include. File errors become diagnostics. */
export async function includedBy(files: readonly SourceFile[], options: Reading): Promise<Included> {
  const paths = new Set(files.map(({ path }) => path));
  const search = new Search(options);
  for (const [index, file] of files.entries()) {
    for (const entry of includesOf(file, index, options)) {
      for (const { text, span } of search.patterns(entry)) {
        for (const path of await search.matches(text, span, file.path)) paths.add(path);
      }
    }
  }
  return { paths: [...paths].slice(files.length), diagnostics: search.problems() };
}

/** Returns an error for each included file with `include`. */
export function nestedIncludes(files: readonly SourceFile[], options: Reading): Diagnostic[] {
  const diags = new DiagnosticCollector();
  for (const [index, file] of files.entries()) {
    for (const { keySpan } of includesOf(file, index, options)) {
      diags.add(keySpan, problem("config.include/nested"));
    }
  }
  return diags.list();
}

/** Returns the `include` entries of a file. Mistakes in the file are reported later. */
function includesOf(file: SourceFile, index: number, { kinds, limits = STRICT_LIMITS }: Reading): Entry[] {
  // Without this word or an escape, the file has no such entry.
  if (!/include|\\/.test(file.text)) return [];
  const source = { ...file, quotable: isDeclaration(file.text, kinds) };
  const { documents } = readYaml(source, index, new DiagnosticCollector(), limits);
  return documents.flatMap((tree) => (tree.form === "map" ? (tree.entries.get("include") ?? []) : []));
}

class Search {
  readonly #options: Reading;
  readonly #diags = new DiagnosticCollector();
  readonly #refused: Diagnostic[] = [];
  readonly #known = new Map<string, readonly string[]>();
  #left = MOST;

  constructor(options: Reading) {
    this.#options = options;
  }

  problems(): Diagnostic[] {
    return [...this.#refused, ...this.#diags.list()];
  }

  patterns(entry: Entry): { text: string; span: Span }[] {
    const { value } = entry;
    if (isNull(value)) return [];
    const items = value.form === "list" ? value.items : [value];
    const texts = items.flatMap((item) => {
      const text = stringOf(item);
      return text === undefined || text === "" ? [] : [{ text, span: item.span }];
    });
    if (texts.length === items.length) return texts;
    this.#diags.add(valueSpan(entry), problem("config.include/path"));
    return [];
  }

  /** Returns the paths that match a pattern. Empty after a reported mistake. */
  async matches(pattern: string, span: Span, from: string): Promise<readonly string[]> {
    const { dir } = this.#options;
    const near = relative(dir, join(dirname(from), pattern));
    const steps = near.split(sep);
    const refuse = (mistake: Diagnostic) => this.#diags.add(span, mistake) ?? [];
    if (isAbsolute(pattern) || isAbsolute(near) || steps[0] === "..") {
      this.#diags.add(span, problem("trust.file", { pattern }));
      return [];
    }
    if (pattern.includes("**")) return refuse(problem("config.include/levels", { pattern }));
    const last = steps.at(-1) ?? "";
    if (!YAML_NAME.test(last)) return refuse(problem("config.include/name", { pattern }));
    let found = [dir];
    for (const step of steps) {
      const names: string[] = [];
      const next: string[] = [];
      for (const folder of found) {
        const listed = await this.#names(folder, span);
        if (listed === undefined) return [];
        for (const name of listed) matchesName(step, name) ? next.push(join(folder, name)) : names.push(name);
      }
      this.#left -= 1 + next.length;
      if (this.#left < 0) {
        return refuse(problem("config.include/number", { most: MOST }));
      }
      if (next.length === 0) {
        const visible = [...new Set(names)].filter((name) => !name.startsWith("."));
        const near = this.#diags.nearest(step, visible);
        return refuse(problem("config.include/no_match", { pattern, step, visible, near }));
      }
      found = next;
    }
    return found;
  }

  /** Returns the names in a folder, sorted. Empty if it is not a folder. Undefined if it was rejected, which is reported. */
  async #names(folder: string, span: Span): Promise<readonly string[] | undefined> {
    try {
      const names = this.#known.get(folder) ?? (await this.#options.fs.list(folder, false)).toSorted();
      this.#known.set(folder, names);
      return names;
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === "ENOENT" || errno === "ENOTDIR") return [];
      const refusals = error instanceof HostformError ? error.diagnostics : [];
      for (const one of refusals) this.#refused.push({ ...one, range: rangeOf(span) });
      if (refusals.length === 0) this.#diags.add(span, problem("config.unreadable/folder", { folder, errno }));
      return undefined;
    }
  }
}

/** Returns true if a name matches one segment of a pattern. Runs in linear time, because the pattern may be untrusted. */
function matchesName(step: string, name: string): boolean {
  const [first = "", ...rest] = step.split("*");
  if (rest.length === 0) return name === step;
  if (!name.startsWith(first) || (name.startsWith(".") && first === "")) return false;
  const last = rest.pop() ?? "";
  let at = first.length;
  for (const part of rest) {
    const next = name.indexOf(part, at);
    if (next < 0) return false;
    at = next + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
