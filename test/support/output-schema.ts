/** Checks documents of `--json` with `schemas/output.schema.json`. Here a document must not have a field that no schema has. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { ROOT } from "./built-once.ts";

type Schema = Readonly<Record<string, unknown>>;

const SCHEMA = JSON.parse(readFileSync(path.join(ROOT, "schemas/output.schema.json"), "utf8"));
const ajv = new Ajv2020({ allErrors: true, strictTypes: false });
ajv.addSchema(closed(SCHEMA) as object);
const compiled = new Map<string, ValidateFunction | undefined>();

/** Returns a schema whose objects have only the named properties. */
function closed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closed);
  if (typeof part !== "object" || part === null) return part;
  const inner = Object.fromEntries(Object.entries(part).map(([name, value]) => [name, closed(value)]));
  const isOpen = inner.type !== "object" || inner.properties === undefined || "additionalProperties" in inner;
  return isOpen ? inner : { ...inner, additionalProperties: false };
}

/** Names of the definitions: commands with `-` instead of spaces, and types. */
export const DEFINITIONS: ReadonlySet<string> = new Set(Object.keys(SCHEMA.$defs as Schema));

/** Definitions of the documents that {@link checkOutput} has checked in this process. */
export const CHECKED = new Set<string>();

/** Returns the mistakes of a document. @param name Definition, such as `state-list`. */
export function mistakesIn(name: string, document: unknown): string[] {
  if (!compiled.has(name)) compiled.set(name, ajv.getSchema(`${SCHEMA.$id}#/$defs/${name}`));
  const validate = compiled.get(name);
  if (validate === undefined) return [`no schema for ${name}`];
  if (validate(document)) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    return `${instancePath || "(document)"} ${message} ${JSON.stringify(params)}`;
  });
}

/** Returns the documents of an output. A document begins in the first column. */
export const documentsIn = (out: string): unknown[] =>
  out
    .split(/\n(?=[^\s}\]])/)
    .filter((text) => text.trim() !== "")
    .map((text) => JSON.parse(text));

/** Returns the definition of a command line. Undefined for a command that prints no document. */
export function definitionFor(args: readonly string[]): string | undefined {
  const names = args.flatMap((_, at) => [`${args[at]}-${args[at + 1]}`, `${args[at]}`]);
  return names.find((name) => DEFINITIONS.has(name) && /^[a-z-]+$/.test(name));
}

/** Checks the output of a command line with `--json`. @throws Error with all mistakes. */
export function checkOutput(args: readonly string[], out: string): void {
  const own = args.includes("--") ? args.slice(0, args.indexOf("--")) : args;
  const name = own.includes("--json") ? definitionFor(own) : undefined;
  if (name === undefined) return;
  const wrong = documentsIn(out).flatMap((document) => {
    const isError =
      typeof document === "object" && document !== null && "errored" in document && !("hostform" in document);
    CHECKED.add(isError ? "error" : name);
    return mistakesIn(isError ? "error" : name, document);
  });
  if (wrong.length > 0)
    throw new Error(`hostform ${args.join(" ")} does not match its schema:\n${wrong.slice(0, 20).join("\n")}`);
}
