import { isMap, isNode, LineCounter, type Node, parseDocument } from "yaml";
import type { $ZodIssue } from "zod/v4/core";
import { problem } from "../messages/index.ts";
import {
  attempt,
  type Diagnostic,
  didYouMean,
  fileFailure,
  HostformError,
  type Policy,
  type PolicyRules,
  type SourceRange,
  utf8,
} from "../model/index.ts";
import { policySchema } from "./rule-schema.ts";

/** Bytes of a file. */
const MOST_BYTES = 1024 * 1024;

/** Reads the first `limit` bytes of a file. Rejects with Node's errors. */
export type ReadFile = (file: string, limit: number) => Promise<Uint8Array>;

/**
 * Reads files of rules. @param files paths as people know them.
 * @throws HostformError `policy.invalid` with every mistake: a policy that cannot be read refuses the run.
 */
export async function readPolicies(files: readonly string[], read: ReadFile): Promise<readonly Policy[]> {
  const found = await Promise.all(
    files.map(async (file) => {
      const text = await read(file, MOST_BYTES + 1)
        .then(utf8)
        .catch((error: unknown) => refuse(file, fileFailure(error)));
      return text.length > MOST_BYTES ? refuse(file, "it is larger than 1 MiB") : parsePolicy(file, text);
    }),
  );
  return found;
}

function refuse(file: string, why: string): never {
  throw new HostformError([problem("policy.invalid", { file, why })]);
}

/** The rules of a text. @throws HostformError `policy.invalid` with the place of each mistake. */
export function parsePolicy(file: string, text: string): Policy {
  const lines = new LineCounter();
  const document = parseDocument(text, { schema: "core", lineCounter: lines, prettyErrors: false, stringKeys: true });
  const rangeOf = ([from, to]: readonly [number, number, ...unknown[]]): SourceRange => {
    const [start, end] = [lines.linePos(from), lines.linePos(to)];
    const line = text.slice(lines.lineStarts[start.line - 1]).split(/\r?\n/, 1)[0] ?? "";
    return { file, line: start.line, column: start.col, endLine: end.line, endColumn: end.col, text: line };
  };
  const invalid = (why: string, range?: SourceRange): Diagnostic =>
    problem("policy.invalid", { file, why, ...(range && { range }) });
  const [syntax] = document.errors;
  if (syntax !== undefined) throw new HostformError([invalid(syntax.message, rangeOf(syntax.pos))]);
  const placeOf = (path: readonly PropertyKey[]): SourceRange | undefined => {
    const node = path.length === 0 ? document.contents : (document.getIn(path, true) as Node | undefined);
    return isNode(node) && node.range
      ? rangeOf(node.range)
      : path.length === 0
        ? undefined
        : placeOf(path.slice(0, -1));
  };
  // Too many aliases throw.
  const value: unknown = attempt(
    () => document.toJS({ maxAliasCount: 100 }),
    () => refuse(file, "it has too many aliases"),
  );
  const parsed = policySchema.safeParse(value ?? {});
  if (!parsed.success) {
    const issues = parsed.error.issues.filter(
      ({ code, path }, _, all) => all.length === 1 || code !== "custom" || path.length > 0,
    );
    throw new HostformError(issues.map((issue) => invalid(whyOf(issue), placeOf(issue.path))));
  }
  const places = new Map<string, SourceRange>();
  for (const [rule, entries] of Object.entries(parsed.data)) {
    const key = isMap(document.contents)
      ? document.contents.items.find((item) => String(item.key) === rule)?.key
      : null;
    if (isNode(key) && key.range) places.set(rule, rangeOf(key.range));
    if (!Array.isArray(entries)) continue;
    for (const at of entries.keys()) {
      const place = placeOf([rule, at]);
      if (place !== undefined) places.set(`${rule}.${at}`, place);
    }
  }
  return { file, rules: parsed.data as PolicyRules, places };
}

/** The end of a sentence: `max_order is no rule. Did you mean "max_orders"?` */
function whyOf(issue: $ZodIssue): string {
  const at = issue.path.map(String).join(".");
  if (issue.code === "unrecognized_keys") {
    const [key = ""] = issue.keys;
    const known = at === "" ? Object.keys(policySchema.shape) : [];
    const near = didYouMean(key, known);
    return `${at === "" ? "" : `${at}: `}"${key.slice(0, 100)}" is not known${near && `.${near}`}`;
  }
  return at === "" ? issue.message : `${at}: ${issue.message}`;
}
