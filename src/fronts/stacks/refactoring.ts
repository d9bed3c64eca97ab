import {
  attempt,
  evaluate,
  fromValue,
  isSecret,
  type Names,
  parseExpression,
  type Typed,
  toValue,
} from "../../core/expression/index.ts";
import type { Kinds } from "../../core/kinds/kind.ts";
import {
  type Diagnostic,
  ExpressionError,
  formatAddress,
  type MovedBlock,
  parseAddress,
  type RemovedBlock,
} from "../../core/model/index.ts";
import type { DiagnosticCollector } from "../source/diagnostics.ts";
import { rangeOf } from "../source/source.ts";
import { type Entry, valueSpan } from "../source/tree.ts";
import { type Block, checkKeys, literalFlag, literalText, onlyBlock } from "./blocks.ts";
import { readProviderName } from "./draft.ts";
import { evaluated, plainValue, reportExpression } from "./expressions.ts";
import { problem } from "./messages.ts";
import { compileNamed } from "./references.ts";
import { instanceAddress, type StackContext } from "./stack-context.ts";

/** Reads the blocks that change the address of a state entry: `import`, `moved` and `removed`. */

/** Reads the `import` blocks. @returns the ids of objects to adopt, by address of the instance. */
export function readImports(context: StackContext): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  const { diags, module } = context;
  for (const block of module.imports) {
    checkKeys(block, "import", diags);
    const id = block.body.entries.get("id");
    const to = block.body.entries.get("to");
    const target = literalText(to, diags);
    if (id === undefined || to === undefined || target === undefined) {
      diags.add(block.body.span, problem("config.missing_attribute/import"));
      continue;
    }
    for (const each of repetitionsOf(block, context) ?? []) {
      const address = targetOf(target, to, block, each, context);
      const value = address === undefined ? undefined : idOf(id, each, context);
      if (address === undefined || value === undefined) continue;
      if (ids.has(address)) {
        diags.add(valueSpan(to), problem("config.duplicate/import", { address }));
      }
      ids.set(address, value);
    }
  }
  return ids;
}

/** Value of `each` in one iteration of a block with `for_each`. */
interface Each {
  readonly key: string;
  readonly value: Typed;
}

/** Returns one entry per iteration. Without `for_each`: one undefined entry. Undefined after a reported error. */
function repetitionsOf({ body }: Block, context: StackContext): readonly (Each | undefined)[] | undefined {
  const entry = body.entries.get("for_each");
  if (entry === undefined) return [undefined];
  const typed = evaluatedEntry(entry, undefined, context);
  if (typed === undefined || isRefusedSecret("for_each", keysOf(typed), entry, context)) return undefined;
  const { content } = typed;
  if (content instanceof Map) return [...content].map(([key, value]) => ({ key, value }));
  if (Array.isArray(content) && typeof typed.type === "object" && "set" in typed.type) {
    return content.map((value: Typed) => ({ key: String(value.content), value }));
  }
  return context.diags.add(valueSpan(entry), problem("config.expression/import_each"));
}

/** Returns the address of the instance to import. Its instance key may be an expression (`hosting_grant.g[each.key]`). */
function targetOf(
  target: string,
  entry: Entry,
  { body }: Block,
  each: Each | undefined,
  context: StackContext,
): string | undefined {
  const { diags, drafts, expansions } = context;
  const [, base = target, index] = /^([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)\[(.+)\]$/s.exec(target) ?? [];
  const parsed = parseAddress(base);
  const draft = drafts.get(base);
  const refuse = (mistake: Diagnostic) => diags.add(valueSpan(entry), mistake);
  if (parsed === undefined) return refuse(problem("config.reference/depends_on"));
  if (draft === undefined) return refuse(problem("config.reference/import", { base }));
  const named = readProviderName(body.entries.get("provider"), base, diags)?.name;
  if (named !== undefined && named !== (draft.provider?.name ?? "default"))
    return refuse(problem("config.reference/import_provider", { base }));
  const expansion = expansions.get(base);
  if (expansion === undefined || expansion.unclear) return undefined;
  if (index === undefined) {
    if (expansion.form === "single") return base;
    const example = formatAddress({ ...parsed, key: expansion.form === "count" ? 0 : "KEY" });
    return refuse(problem("config.reference/import_instance", { base, example }));
  }
  const key = keyOf(index, entry, each, context);
  if (key === undefined) return undefined;
  if (expansion.keys.has(key)) return instanceAddress(expansion, key);
  return refuse(problem("config.reference/import_key", { instance: formatAddress({ ...parsed, key }) }));
}

function keyOf(index: string, entry: Entry, each: Each | undefined, context: StackContext) {
  const { diags } = context;
  const read = () => {
    const typed = evaluate(parseExpression(index), withEach(context, each));
    return isRefusedSecret("key", typed, entry, context) ? undefined : { value: toValue(typed) };
  };
  const known = attempt(read, ({ message }) => {
    reportExpression(new ExpressionError(message), entry.value, diags);
    return undefined;
  });
  if (typeof known?.value === "string" || typeof known?.value === "number") return known.value;
  if (known !== undefined) diags.add(valueSpan(entry), problem("config.expression/import_key"));
  return undefined;
}

function idOf(entry: Entry, each: Each | undefined, context: StackContext): string | undefined {
  const typed = evaluatedEntry(entry, each, context);
  if (typed === undefined || isRefusedSecret("id", typed, entry, context)) return undefined;
  const value = plainValue(typed, "string");
  if (typeof value === "string" && value !== "") return value;
  return context.diags.add(valueSpan(entry), problem("config.expression/import_id"));
}

/** Returns the part of `for_each` that determines the instance keys: without the values of a map. */
const keysOf = (typed: Typed): Typed => (typed.content instanceof Map ? { ...typed, content: new Map() } : typed);

/**
 * Rejects secrets, as Terraform does, because URLs of requests and messages contain ids and keys.
 * @returns true if the value was rejected.
 */
function isRefusedSecret(
  what: "for_each" | "key" | "id",
  typed: Typed,
  entry: Entry,
  { diags }: StackContext,
): boolean {
  if (!isSecret(typed)) return false;
  diags.add(valueSpan(entry), problem("config.expression/import_secret", { what }));
  return true;
}

function evaluatedEntry(entry: Entry, each: Each | undefined, context: StackContext): Typed | undefined {
  const compiled = compileNamed(entry.value, context, { each: each !== undefined });
  return compiled && evaluated(compiled, withEach(context, each), context.diags);
}

function withEach(context: StackContext, each: Each | undefined): Names {
  const names = context.names();
  if (each === undefined) return names;
  return {
    ...names,
    resolve(traversal) {
      const { root, steps } = traversal;
      if (root !== "each") return names.resolve(traversal);
      if (steps[0] === "key") return { value: fromValue(each.key), used: 1 };
      return steps[0] === "value" ? { value: each.value, used: 1 } : undefined;
    },
  };
}

/** Reads the `moved` blocks. The plan compares them with resources and state. */
export function readMoved(blocks: readonly Block[], kinds: Kinds, diags: DiagnosticCollector): MovedBlock[] {
  return blocks.flatMap((block) => {
    checkKeys(block, "moved", diags);
    const from = addressIn(block, "moved", "from", kinds, diags);
    const to = addressIn(block, "moved", "to", kinds, diags);
    return from === undefined || to === undefined ? [] : [{ from, to, range: rangeOf(block.body.span) }];
  });
}

/** Reads the `removed` blocks. Default without `lifecycle`: destroy, if the API can delete the object. */
export function readRemoved(blocks: readonly Block[], kinds: Kinds, diags: DiagnosticCollector): RemovedBlock[] {
  return blocks.flatMap((block) => {
    checkKeys(block, "removed", diags);
    const lifecycle = onlyBlock(block.body.entries.get("lifecycle"), diags);
    if (lifecycle !== undefined) checkKeys(lifecycle, "removed.lifecycle", diags);
    const destroy = literalFlag(lifecycle?.body.entries.get("destroy"), diags) ?? true;
    const from = addressIn(block, "removed", "from", kinds, diags);
    if (from === undefined) return [];
    if (parseAddress(from)?.key !== undefined) {
      const entry = block.body.entries.get("from");
      diags.add(entry && valueSpan(entry), problem("config.reference/removed_key"));
      return [];
    }
    return [{ from, destroy, range: rangeOf(block.body.span) }];
  });
}

function addressIn(
  block: Block,
  type: string,
  key: string,
  kinds: Kinds,
  diags: DiagnosticCollector,
): string | undefined {
  const entry = block.body.entries.get(key);
  if (entry === undefined) {
    return diags.add(block.body.span, problem("config.missing_attribute/address", { type, key }));
  }
  const text = literalText(entry, diags);
  if (text === undefined || kinds.has(parseAddress(text)?.type ?? "")) return text;
  return diags.add(valueSpan(entry), problem("config.reference/hosting_address"));
}
