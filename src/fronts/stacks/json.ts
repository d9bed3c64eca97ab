import { JsonError, type JsonMaker, type JsonPlace, readJson } from "../../core/expression/json.ts";
import type { DiagnosticCollector } from "../source/diagnostics.ts";
import type { Source, Span } from "../source/source.ts";
import type { Entry, Tree } from "../source/tree.ts";

/** What a file of a stack may hold. A stack of five hundred services is a fiftieth of this. */
export const JSON_LIMITS = {
  /** UTF-16 units of a file. */
  length: 64 * 1024 * 1024,
  /** Levels of objects and arrays in each other. */
  depth: 100,
  /** Values of a file. */
  values: 5_000_000,
} as const;

/**
 * Reads a JSON text into a tree that knows its places. Keys that are given twice, and numbers that JavaScript does not hold
 * exactly, are mistakes: the one hides what is declared, the other changes it.
 * @returns undefined when the text cannot be read to its end, which is reported.
 */
export function readTree(source: Source, diags: DiagnosticCollector): Tree | undefined {
  const refuse = (offset: number, code: "config.syntax" | "config.too_large", summary: string, fix: string) => {
    diags.add(source.span(offset, offset + 1), code, summary, { fix });
    return undefined;
  };
  try {
    if (source.text.length > JSON_LIMITS.length) throw new TooLarge("is larger than 64 MiB", 0);
    return readJson(source.text, treeMaker(source, diags));
  } catch (error) {
    if (error instanceof TooLarge)
      return refuse(
        error.offset,
        "config.too_large",
        `${source.path} ${error.message}`,
        "Divide the stack into several.",
      );
    if (!(error instanceof JsonError)) throw error;
    const fix = "Synthesize the stack again; of a file written by hand, correct the place shown.";
    return refuse(error.offset, "config.syntax", `The JSON cannot be parsed: ${error.message}`, fix);
  }
}

/** More than is accepted. */
class TooLarge extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

function treeMaker(source: Source, diags: DiagnosticCollector): JsonMaker<Tree> {
  let values = 0;
  const span = ({ start, end }: JsonPlace) => source.span(start, end);
  return {
    enter(depth, start) {
      values += 1;
      if (values > JSON_LIMITS.values) throw new TooLarge(`has more than ${JSON_LIMITS.values} values`, start);
      if (depth > JSON_LIMITS.depth) throw new TooLarge(`is nested more than ${JSON_LIMITS.depth} levels deep`, start);
    },
    number(digits, place) {
      const value = Number(digits);
      if (!isExact(digits, value)) {
        const fix = "Put quotes around it: as a text it stays as it is.";
        diags.add(span(place), "config.invalid_value", "This number has more digits than can be kept", { fix });
      }
      return { form: "leaf", value, span: span(place) };
    },
    leaf(value, place) {
      if (typeof value === "string") checkText(value, place);
      return { form: "leaf", value, span: span(place) };
    },
    list: (items, place) => ({ form: "list", items, span: span(place) }),
    object(members, place) {
      const entries = new Map<string, Entry>();
      for (const { key, place: keyPlace, value } of members) {
        checkText(key, keyPlace);
        const keySpan = span(keyPlace);
        if (isKey(key, keySpan, entries, source, diags)) entries.set(key, { key, keySpan, value });
      }
      return { form: "map", entries, span: span(place) };
    },
  };
}

function checkText(text: string, { start }: JsonPlace): void {
  if (!text.isWellFormed()) throw new JsonError("this text holds one half of a character", start);
}

function isKey(
  key: string,
  span: Span,
  entries: ReadonlyMap<string, Entry>,
  source: Source,
  diags: DiagnosticCollector,
): boolean {
  if (key === "__proto__") {
    const fix = "Choose another name.";
    diags.add(span, "config.structure", '"__proto__" is not accepted as a key', { fix });
    return false;
  }
  const twice = entries.get(key);
  if (twice === undefined) return true;
  const { line } = source.range(twice.keySpan.start, twice.keySpan.end);
  diags.add(span, "config.duplicate", `"${key.slice(0, 100)}" is given twice in the same object`, {
    detail: `The first one is in line ${line}.`,
    fix: "Remove one of the two.",
  });
  return false;
}

/** Whether a number that was read is the one that is written. */
function isExact(text: string, value: number): boolean {
  if (!Number.isFinite(value)) return false;
  if (String(value) === text) return true;
  return sameDecimal(decimal(text), decimal(String(value)));
}

interface Digits {
  readonly digits: string;
  readonly exponent: number;
}

function decimal(text: string): Digits {
  const [, whole = "", part = "", exponent = "0"] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${part}`.replace(/^0+/, "");
  const short = digits.replace(/0+$/, "");
  return { digits: short, exponent: Number(exponent) - part.length + digits.length - short.length };
}

function sameDecimal(a: Digits, b: Digits): boolean {
  return a.digits === b.digits && (a.digits === "" || a.exponent === b.exponent);
}
