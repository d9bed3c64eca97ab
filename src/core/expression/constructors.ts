import { convert } from "./convert.ts";
import { attempt, mistaken, type Run } from "./run.ts";
import type { Expression, ObjectNode, Tuple } from "./syntax.ts";
import { isKnown, object, secretIf, tuple, unknown } from "./typed.ts";
import type { Typed } from "./value.ts";

export function tupleOf(run: Run, node: Tuple): Typed {
  return tuple(node.items.map((item) => run.value(item)));
}

/** As long as one of the keys is unknown, so is the whole. */
export function objectOf(run: Run, node: ObjectNode): Typed {
  const entries = new Map<string, Typed>();
  let known = true;
  let secret = false;
  for (const entry of node.entries) {
    const key = keyOf(run, entry.key);
    const value = run.value(entry.value);
    if (key === undefined || !isKnown(key)) known = false;
    else if (node.unique && entries.has(String(key.content)))
      mistaken(run, `the key ${JSON.stringify(key.secret ? "(secret)" : key.content)} is there twice`, entry.key);
    else entries.set(String(key.content), value);
    secret ||= key?.secret === true;
  }
  return secretIf(known ? object(entries) : unknown("any"), secret);
}

/** The key of an entry as a text; undefined when it is none, which is noted. */
export function keyOf(run: Run, node: Expression): Typed | undefined {
  const before = run.mistakes.count;
  const value = run.value(node);
  if (run.mistakes.count > before) return undefined;
  if (value.content === null) {
    mistaken(run, "a key is null", node);
    return undefined;
  }
  return attempt(run, node, "this cannot be a key: ", () => convert(value, "string"));
}
