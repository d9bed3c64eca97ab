import {
  convert,
  type Expression,
  evaluate,
  fromValue,
  type Names,
  parseExpression,
  type Typed,
  toValue,
} from "../../core/expression/index.ts";
import { ExpressionError, formatAddress, parseAddress, type Value } from "../../core/model/index.ts";
import { type Entry, valueSpan } from "../source/tree.ts";
import { type Block, textOf } from "./blocks.ts";
import { type Compiled, compile, reportExpression } from "./compile.ts";
import { readProviderName } from "./draft.ts";
import { addressOf, hasKey } from "./expansion.ts";
import { checkKeys, KEYS } from "./keys.ts";
import { checkNames, type Declared } from "./references.ts";
import type { Surroundings } from "./surroundings.ts";

/** Where a block is read. */
interface Context {
  readonly surroundings: Surroundings;
  readonly declared: Declared;
}

/** Reads the `import` blocks. @returns by the address of the instance, the id of the object that it adopts. */
export function readImports(blocks: readonly Block[], context: Context): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  const { diags } = context.declared;
  for (const block of blocks) {
    checkKeys(block, KEYS.import, (key) => `\`import\` has no ${key} here`, diags);
    const id = block.body.entries.get("id");
    const to = block.body.entries.get("to");
    const target = textOf(to, diags);
    if (id === undefined || to === undefined || target === undefined) {
      const fix = 'Write `{"to": "hosting_service.NAME", "id": "1001"}`.';
      diags.add(block.body.span, "config.missing_attribute", "`import` needs `to` and `id`", { fix });
      continue;
    }
    for (const each of repetitionsOf(block, context) ?? []) {
      const address = targetOf(target, to, block, each, context);
      const value = address === undefined ? undefined : idOf(id, each, context);
      if (address === undefined || value === undefined) continue;
      if (ids.has(address)) {
        const summary = `${address} is imported twice`;
        diags.add(valueSpan(to), "config.duplicate", summary, { address, fix: "Remove one of the two." });
      }
      ids.set(address, value);
    }
  }
  return ids;
}

/** What `each` means in one turn of a block with `for_each`; without it nothing. */
interface Each {
  readonly key: string;
  readonly value: Typed;
}

/** @returns one entry for each turn, undefined after a mistake. */
function repetitionsOf({ body }: Block, context: Context): readonly (Each | undefined)[] | undefined {
  const entry = body.entries.get("for_each");
  if (entry === undefined) return [undefined];
  const typed = evaluated(entry, undefined, context);
  if (typed === undefined) return undefined;
  const { content } = typed;
  if (content instanceof Map) return [...content].map(([key, value]) => ({ key, value }));
  if (Array.isArray(content) && typeof typed.type === "object" && "set" in typed.type) {
    return content.map((value: Typed) => ({ key: String(value.content), value }));
  }
  context.declared.diags.add(
    valueSpan(entry),
    "config.expression",
    "`for_each` must be an object or a set of texts that is known",
    {
      fix: 'Write `{"acme": "1001"}`.',
    },
  );
  return undefined;
}

/** The address of the instance that adopts; its key may be an expression (`hosting_grant.g[each.key]`). */
function targetOf(
  target: string,
  entry: Entry,
  { body }: Block,
  each: Each | undefined,
  context: Context,
): string | undefined {
  const { declared, surroundings } = context;
  const [, base = target, index] = /^([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)\[(.+)\]$/s.exec(target) ?? [];
  const parsed = parseAddress(base);
  const draft = declared.drafts.get(base);
  const refuse = (summary: string, fix: string) => {
    declared.diags.add(valueSpan(entry), "config.reference", summary, { fix });
    return undefined;
  };
  if (parsed === undefined)
    return refuse("This is not the address of a resource", "Write an address such as hosting_service.acme.");
  if (draft === undefined)
    return refuse(`No resource ${base} is declared`, "Declare what is to be adopted, or correct the address.");
  const named = readProviderName(body.entries.get("provider"), base, declared.diags)?.name;
  if (named !== undefined && named !== (draft.provider?.name ?? "default")) {
    return refuse(`${base} has another provider than its \`import\``, "Leave `provider` out here.");
  }
  const expansion = surroundings.expansions.get(base);
  if (expansion === undefined || expansion.unclear) return undefined;
  if (index === undefined) {
    if (expansion.form === "single") return base;
    return refuse(
      `${base} has several instances; one has to be named`,
      `Write an address such as ${formatAddress({ ...parsed, key: expansion.form === "count" ? 0 : "KEY" })}.`,
    );
  }
  const key = keyOf(index, entry, each, context);
  if (key === undefined) return undefined;
  if (expansion.form !== "single" && hasKey(expansion, key)) return addressOf(expansion, key);
  return refuse(
    `There is no ${formatAddress({ ...parsed, key })}`,
    "Declare what is to be adopted, or correct the address.",
  );
}

function keyOf(index: string, entry: Entry, each: Each | undefined, { surroundings, declared }: Context) {
  try {
    const value = toValue(evaluate(parseExpression(index), withEach(surroundings, each)));
    if (typeof value === "string" || typeof value === "number") return value;
    declared.diags.add(
      valueSpan(entry),
      "config.expression",
      "The key of the address must be a text or a number that is known",
    );
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    reportExpression(new ExpressionError(error.message, 0), entry.value, declared.diags);
  }
  return undefined;
}

function idOf(entry: Entry, each: Each | undefined, context: Context): string | undefined {
  const typed = evaluated(entry, each, context);
  if (typed === undefined) return undefined;
  const value = textIn(typed);
  if (typeof value === "string" && value !== "") return value;
  context.declared.diags.add(
    valueSpan(entry),
    "config.expression",
    "The `id` of an `import` must be a text that is known",
    {
      fix: "Write the id that the API gave the object.",
    },
  );
  return undefined;
}

function textIn(typed: Typed): Value {
  try {
    return toValue(convert(typed, "string"));
  } catch (error) {
    if (error instanceof ExpressionError) return null;
    throw error;
  }
}

function evaluated(entry: Entry, each: Each | undefined, { surroundings, declared }: Context): Typed | undefined {
  const compiled: Compiled | undefined = compile(entry.value, declared.diags);
  if (compiled === undefined || !checkNames(compiled, declared, { each: each !== undefined })) return undefined;
  try {
    return evaluate(compiled.expression satisfies Expression, withEach(surroundings, each));
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    reportExpression(error, entry.value, declared.diags);
    return undefined;
  }
}

function withEach(surroundings: Surroundings, each: Each | undefined): Names {
  const names = surroundings.names();
  if (each === undefined) return names;
  return {
    ...names,
    resolve(traversal) {
      const {
        root,
        steps: [first],
      } = traversal;
      if (root !== "each") return names.resolve(traversal);
      if (first === "key") return { value: fromValue(each.key), used: 1 };
      return first === "value" ? { value: each.value, used: 1 } : undefined;
    },
  };
}
