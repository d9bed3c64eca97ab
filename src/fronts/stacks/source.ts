import { fileURLToPath } from "node:url";
import type { SourceRange } from "../../core/model/index.ts";
import { Source } from "../source/source.ts";
import type { Leaf, MapTree, Tree } from "../source/tree.ts";

/** A line of the program that a block was synthesized from. */
interface Frame {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A stretch of the text that one construct wrote. */
interface Origin {
  readonly start: number;
  readonly end: number;
  readonly construct: string | undefined;
  readonly frame: Frame | undefined;
}

/**
 * A synthesized text. Its ranges name the construct that wrote the place and, where the synthesis recorded stack traces,
 * the line of the program in place of that of the JSON. What is secret is blotted out of the lines that it shows.
 */
export class StackSource extends Source {
  /** In the order of the text; blocks do not stand in each other. */
  readonly #origins: Origin[] = [];
  readonly #secrets = new Set<string>();

  /** Learns who wrote a block, from what its `//` says. To be told in the order of the text. @param start where its key begins. */
  credit(start: number, block: MapTree): void {
    if (start < (this.#origins.at(-1)?.end ?? 0)) return;
    const metadata = entryOf(entryOf(block, "//"), "metadata");
    const construct = textOf(entryOf(metadata, "path"));
    const trace = entryOf(metadata, "stackTrace");
    const frame = trace?.form === "list" ? frameOf(trace.items.flatMap((item) => textOf(item) ?? [])) : undefined;
    if (construct === undefined && frame === undefined) return;
    this.#origins.push({ start, end: block.span.end, construct, frame });
  }

  /** A text that no range of this source shows. */
  hide(secret: string): void {
    if (secret !== "") this.#secrets.add(JSON.stringify(secret).slice(1, -1)).add(secret);
  }

  override range(start: number, end: number): SourceRange {
    const origin = this.#originOf(start);
    const construct = origin?.construct === undefined ? {} : { construct: origin.construct };
    if (origin?.frame !== undefined) {
      const { file, line, column } = origin.frame;
      return { file, line, column, endLine: line, endColumn: column + 1, ...construct };
    }
    const { text, ...range } = super.range(start, end);
    return { ...range, ...(text !== undefined && { text: this.#hidden(text) }), ...construct };
  }

  #originOf(offset: number): Origin | undefined {
    const origins = this.#origins;
    let low = 0;
    let high = origins.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((origins[middle]?.end ?? 0) > offset) high = middle;
      else low = middle + 1;
    }
    const found = origins[low];
    return found !== undefined && offset >= found.start && offset < found.end ? found : undefined;
  }

  #hidden(text: string): string {
    let shown = text;
    for (const secret of this.#secrets) shown = shown.replaceAll(secret, "*".repeat(secret.length));
    return shown;
  }
}

function entryOf(tree: Tree | undefined, key: string): Tree | undefined {
  return tree?.form === "map" ? tree.entries.get(key)?.value : undefined;
}

function textOf(tree: Tree | undefined): string | undefined {
  return tree?.form === "leaf" && typeof tree.value === "string" ? tree.value : undefined;
}

const FOREIGN = /[\\/]node_modules[\\/]|^node:|^internal[\\/]|<anonymous>/;

/** The first frame that is neither of a library nor of Node.js: `new Site (/app/main.ts:12:34)`, `/app/main.ts:12:34`. */
function frameOf(trace: readonly string[]): Frame | undefined {
  for (const line of trace.slice(0, 200)) {
    const [, inner, bare] = /\(([^()]+:\d+:\d+)\)\s*$|^\s*(?:at\s+)?(\S.*:\d+:\d+)\s*$/.exec(line.slice(0, 2000)) ?? [];
    const [, file, row, column] = /^(.+):(\d+):(\d+)$/.exec(inner ?? bare ?? "") ?? [];
    if (file === undefined || FOREIGN.test(file)) continue;
    return { file: pathOf(file), line: Number(row), column: Number(column) };
  }
  return undefined;
}

function pathOf(file: string): string {
  try {
    return file.startsWith("file:") ? fileURLToPath(file) : file;
  } catch {
    return file;
  }
}

/**
 * The place of a sign of a string's value in the text: escapes take more room there than what they stand for.
 * @param offset in the value, in UTF-16 units.
 */
export function offsetInText({ span: { source, start, end } }: Leaf, offset: number): number {
  let at = start + 1;
  for (let passed = 0; passed < offset && at < end - 1; passed++) {
    if (source.text[at] !== "\\") at += 1;
    else at += source.text[at + 1] === "u" ? 6 : 2;
  }
  return at;
}
