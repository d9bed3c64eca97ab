import type { OutputState } from "../model/index.ts";
import { equal, isObject } from "../model/index.ts";
import { canonical, order, plainNumbers } from "./json.ts";

type Outputs = ReadonlyMap<string, OutputState>;

/** The outputs of a state file; undefined where there are none. */
export function decodeOutputs(found: unknown): Outputs | undefined {
  return inOrder(Object.entries(isObject(found) ? found : {}).map(([name, output]) => [name, decoded(output)]));
}

/**
 * The outputs as Terraform writes them.
 * @param original as they were read. What did not change keeps its bytes, digits that a JavaScript number cannot hold too;
 * so does what is no output, which neither Terraform nor hostform has written.
 */
export function encodeOutputs(outputs: Outputs = new Map(), original: unknown = {}): unknown {
  if (!isObject(original)) return outputs.size === 0 ? original : encodeOutputs(outputs);
  const foreign = Object.entries(original).filter(
    ([name, found]) => !outputs.has(name) && decoded(found) === undefined,
  );
  const ours = [...outputs].map(([name, output]): [string, unknown] => {
    const before = Object.hasOwn(original, name) ? original[name] : undefined;
    return [name, equal(decoded(before), output) ? before : encoded(output)];
  });
  return Object.fromEntries([...foreign, ...ours].sort(([a], [b]) => order(a, b)));
}

/** The one form that outputs have on disk: by name, their values as they will be read. One that is null is none. */
export function normalizedOutputs(outputs: Outputs): Outputs | undefined {
  return inOrder(
    [...outputs].map(([name, { value, type, sensitive }]) => [
      name,
      value === null ? undefined : { value: canonical(value), type: canonical(type), sensitive },
    ]),
  );
}

/** Undefined for what is no output. */
function decoded(found: unknown): OutputState | undefined {
  if (!isObject(found) || found.value === undefined || found.type === undefined) return undefined;
  return { value: canonical(found.value), type: canonical(found.type), sensitive: found.sensitive === true };
}

function encoded({ value, type, sensitive }: OutputState): object {
  return { value: plainNumbers(value), type, ...(sensitive && { sensitive }) };
}

function inOrder(entries: readonly (readonly [string, OutputState | undefined])[]): Outputs | undefined {
  const present = entries.filter((entry): entry is [string, OutputState] => entry[1] !== undefined);
  return present.length === 0 ? undefined : new Map(present.sort(([a], [b]) => order(a, b)));
}
