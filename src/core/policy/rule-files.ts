import { isMap, isNode, LineCounter, parseDocument } from "yaml";
import type * as z from "zod";
import { problem, raise } from "../messages/index.ts";
import {
  attempt,
  type Diagnostic,
  didYouMean,
  expectation,
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
 * @returns also the location of each value. For a top-level entry or an unknown key: the location of the key.
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
  const at = (path: readonly PropertyKey[]) => (path.length === 0 ? document.contents : document.getIn(path, true));
  const placeOf = (path: readonly PropertyKey[], isKey = path.length === 1): SourceRange | undefined => {
    const above = path.slice(0, -1);
    const map = isKey && at(above);
    const key = isMap(map) ? map.items.find((item) => String(item.key) === path.at(-1))?.key : undefined;
    const node = key ?? at(path);
    if (isNode(node) && node.range) return rangeOf(node.range);
    return path.length === 0 ? undefined : placeOf(above);
  };
  // Throws if the document has too many aliases.
  const value: unknown = attempt(
    () => document.toJS({ maxAliasCount: 100 }),
    () => failWith([invalid("it has too many aliases")]),
  );
  if (value === null) throw new HostformError([invalid("the file is empty")]);
  const parsed = schema.safeParse(value);
  if (parsed.success) return { data: parsed.data, placeOf };
  const { issues } = parsed.error;
  // A file without a known key also has no rule. Report only the unknown key.
  const own = issues.filter(({ code, path }) => issues.length === 1 || code !== "custom" || path.length > 0);
  const known = Object.keys(schema.shape);
  const mistakes = own.flatMap((issue) => {
    const { code, path } = issue;
    if (code === "unrecognized_keys")
      return issue.keys.map((key) => invalid(unknownKey(path, key, known), placeOf([...path, key], true)));
    const isMissing = code === "invalid_type" && !document.hasIn(path);
    return invalid(`${prefix(path)}${isMissing ? "it is missing" : expectation(issue)}`, placeOf(path));
  });
  throw new HostformError(mistakes);
}

/** Returns a path as the beginning of a sentence: `projects[0].path: `. */
function prefix(path: readonly PropertyKey[]): string {
  const steps = path.map((step, at) =>
    typeof step === "number" ? `[${step}]` : `${at > 0 ? "." : ""}${String(step)}`,
  );
  return steps.length === 0 ? "" : `${steps.join("")}: `;
}

/**
 * Returns the end of a sentence, for example `"max_order" is not known. Did you mean "max_orders"?`
 * @param known keys at the top of the file.
 */
function unknownKey(path: readonly PropertyKey[], key: string, known: readonly string[]): string {
  const named = `${prefix(path)}"${key.slice(0, 100)}"`;
  if (path.length > 0 && known.includes(key)) return `${named} belongs at the top of the file`;
  const near = didYouMean(key, path.length === 0 ? known : []);
  return `${named} is not known${near && `.${near}`}`;
}
