import { isMap, isNode, LineCounter, parseDocument } from "yaml";
import type * as z from "zod";
import type { $ZodIssue } from "zod/v4/core";
import { problem, raise } from "../messages/index.ts";
import {
  attempt,
  type Diagnostic,
  didYouMean,
  failWith,
  fileFailure,
  HostformError,
  type Policy,
  type PolicyRules,
  type SourceRange,
  utf8,
} from "../model/index.ts";
import { policySchema } from "./rule-schema.ts";

/** Maximum size of a file, in bytes. */
const MOST_BYTES = 1024 * 1024;

/** A mistake in a file of the runner. `why`: the end of a sentence. */
interface Mistake {
  readonly file: string;
  readonly why: string;
  readonly range?: SourceRange;
}

/** Reads the first `limit` bytes of a file. Rejects with Node's errors. */
export type ReadFile = (file: string, limit: number) => Promise<Uint8Array>;

/**
 * Reads files of rules. @param files Paths for people.
 * @throws HostformError `policy.invalid` with every mistake. An unreadable policy rejects the run.
 */
export async function readPolicies(files: readonly string[], read: ReadFile): Promise<readonly Policy[]> {
  return Promise.all(files.map(async (file) => parsePolicy(file, await readPolicyText(file, read))));
}

/** Returns the text of a policy file. @throws HostformError `policy.invalid`. */
export async function readPolicyText(file: string, read: ReadFile): Promise<string> {
  const text = await read(file, MOST_BYTES + 1)
    .then(utf8)
    .catch((error: unknown) => refuse(file, fileFailure(error)));
  return text.length > MOST_BYTES ? refuse(file, "it is larger than 1 MiB") : text;
}

function refuse(file: string, why: string): never {
  raise("policy.invalid", { file, why });
}

/** Parses the rules in a text. @throws HostformError `policy.invalid` with the location of each mistake. */
export function parsePolicy(file: string, text: string): Policy {
  const { data, placeOf } = checkedYaml(policySchema, file, text);
  const places = new Map<string, SourceRange>();
  for (const [rule, entries] of Object.entries(data)) {
    const paths = [[rule], ...(Array.isArray(entries) ? [...entries.keys()].map((at) => [rule, at]) : [])];
    for (const at of paths) {
      const place = placeOf(at);
      if (place !== undefined) places.set(at.join("."), place);
    }
  }
  return { file, rules: data as PolicyRules, places };
}

/**
 * Parses YAML and validates it.
 * @param mistake returns the error about a mistake. Default: `policy.invalid`.
 * @returns also the location of each value. For a top-level entry: the location of its key.
 * @throws HostformError with the location of each mistake.
 */
export function checkedYaml<Schema extends z.ZodObject>(
  schema: Schema,
  file: string,
  text: string,
  mistake: (given: Mistake) => Diagnostic = (given) => problem("policy.invalid", given),
) {
  const lines = new LineCounter();
  const document = parseDocument(text, { schema: "core", lineCounter: lines, prettyErrors: false, stringKeys: true });
  const rangeOf = ([from, to]: readonly [number, number, ...unknown[]]): SourceRange => {
    const start = lines.linePos(from);
    const end = lines.linePos(to);
    const line = text.slice(lines.lineStarts[start.line - 1]).split(/\r?\n/, 1)[0] ?? "";
    return { file, line: start.line, column: start.col, endLine: end.line, endColumn: end.col, text: line };
  };
  const invalid = (why: string, range?: SourceRange): Diagnostic => mistake({ file, why, ...(range && { range }) });
  const [syntax] = document.errors;
  if (syntax !== undefined) throw new HostformError([invalid(syntax.message, rangeOf(syntax.pos))]);
  const placeOf = (path: readonly PropertyKey[]): SourceRange | undefined => {
    const { contents } = document;
    const [name, ...below] = path;
    const key =
      below.length === 0 && isMap(contents) ? contents.items.find((item) => String(item.key) === name)?.key : undefined;
    const node = key ?? (path.length === 0 ? contents : document.getIn(path, true));
    if (isNode(node) && node.range) return rangeOf(node.range);
    return path.length === 0 ? undefined : placeOf(path.slice(0, -1));
  };
  // Throws if the document has too many aliases.
  const value: unknown = attempt(
    () => document.toJS({ maxAliasCount: 100 }),
    () => failWith([invalid("it has too many aliases")]),
  );
  const parsed = schema.safeParse(value ?? {});
  if (parsed.success) return { data: parsed.data, placeOf };
  const { issues } = parsed.error;
  // A file without a known key also has no rule. Report only the unknown key.
  const own = issues.filter(({ code, path }) => issues.length === 1 || code !== "custom" || path.length > 0);
  throw new HostformError(own.map((issue) => invalid(whyOf(issue, Object.keys(schema.shape)), placeOf(issue.path))));
}

/** Returns the end of a sentence, for example `"max_order" is not known. Did you mean "max_orders"?` */
function whyOf(issue: $ZodIssue, keys: readonly string[]): string {
  const at = issue.path.map(String).join(".");
  if (issue.code === "unrecognized_keys") {
    const [key = ""] = issue.keys;
    const near = didYouMean(key, at === "" ? keys : []);
    return `${at === "" ? "" : `${at}: `}"${key.slice(0, 100)}" is not known${near && `.${near}`}`;
  }
  return at === "" ? issue.message : `${at}: ${issue.message}`;
}
