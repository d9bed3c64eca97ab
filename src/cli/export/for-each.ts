import type { Kind } from "../../core/kinds/kind.ts";
import { parseAddress } from "../../core/model/index.ts";
import type { TfAttribute, TfItem, TfValue } from "../../report/index.ts";
import type { WrittenInstance } from "./context.ts";

/**
 * Instances of one name as a block with `for_each`: `hosting_grant.acme["dev@acme.example"]` keeps its address. What all
 * of them have from the block around them in YAML stands in the block; the rest in a map by key, in which an attribute
 * that is the only one stands for itself, as a single word does in YAML.
 */
export function forEach(
  kind: Kind,
  written: readonly WrittenInstance[],
): { readonly meta: readonly TfItem[]; readonly attributes: readonly TfAttribute[] } {
  const names = [...new Set(written.flatMap(({ values }) => [...values.keys()]))];
  const shared = names.filter((name) => name === kind.nested?.parentAttribute && isShared(name, written));
  const implied = names.filter((name) => name === kind.nested?.keyAttribute && isKey(name, written));
  const own = names.filter((name) => !shared.includes(name) && !implied.includes(name));
  const [only, ...more] = own;
  const entry = ({ values }: WrittenInstance): TfValue => {
    if (only !== undefined && more.length === 0 && everyoneHas(only, written)) return values.get(only) ?? null;
    // Every entry has all of them, so that each.value has them for each.
    return { map: own.map((name) => [name, values.get(name) ?? null] as const) };
  };
  const entries = written.map((one) => [keyOf(one), entry(one)] as const);
  const single = own.length === 1 && only !== undefined && everyoneHas(only, written);
  const value = (name: string): TfValue => {
    if (shared.includes(name)) return written[0]?.values.get(name) ?? null;
    if (implied.includes(name)) return { code: "each.key" };
    return { code: single ? "each.value" : `each.value.${name}` };
  };
  return {
    meta: [{ name: "for_each", value: { map: entries } }],
    attributes: names.map((name) => ({ name, value: value(name) })),
  };
}

const keyOf = ({ resource }: WrittenInstance) => String(parseAddress(resource.address)?.key);

const everyoneHas = (name: string, written: readonly WrittenInstance[]) =>
  written.every(({ values }) => values.has(name));

const isKey = (name: string, written: readonly WrittenInstance[]) =>
  written.every((one) => one.values.get(name) === keyOf(one));

const isShared = (name: string, written: readonly WrittenInstance[]) =>
  new Set(written.map(({ values }) => JSON.stringify(values.get(name)))).size === 1;
