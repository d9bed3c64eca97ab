/** Changes of the suite: two declarations, and the user's actions between them. */
import { addressesOf, type Declaration, type Form, type Item } from "./declaration.ts";
import type { KindName } from "./kinds.ts";

export const CHANGES = [
  "create",
  "add",
  "remove",
  "middle",
  "shift",
  "swap",
  "rename",
  "rename moved",
  "rename add",
  "rename parent",
  "count to for_each",
  "for_each to count",
  "regroup moved",
  "taint",
  "replace",
  "import",
  "import held",
] as const;
export type ChangeName = (typeof CHANGES)[number];

interface Shape {
  /** Resource names and keys: `a=one b=two`. */
  readonly before: string;
  readonly after: string;
  readonly forms: readonly Form[];
  /** Form of the second declaration. Default: the form of the first declaration. */
  readonly to?: Form;
  readonly moved?: true;
  /** New name of the service with the grants. */
  readonly home?: string;
}

const ANY = ["blocks", "count", "for_each", "keyed"] as const;
const NAMED = ["blocks", "for_each"] as const;
const LISTED = ["blocks", "count"] as const;

const SHAPES: Readonly<Record<ChangeName, Shape>> = {
  create: { before: "", after: "a=one b=two", forms: ANY },
  add: { before: "a=one", after: "a=one b=two", forms: ANY },
  remove: { before: "a=one b=two c=three", after: "a=one c=three", forms: ["blocks", "for_each", "keyed"] },
  middle: { before: "a=one b=two c=three", after: "a=one b=three", forms: LISTED },
  shift: { before: "a=one b=two c=three", after: "a=two b=three", forms: LISTED },
  swap: { before: "a=one b=two", after: "a=two b=one", forms: ["blocks", "count", "for_each"] },
  rename: { before: "a=one b=two", after: "c=one b=two", forms: NAMED },
  "rename moved": { before: "a=one b=two", after: "c=one b=two", forms: NAMED, moved: true },
  "rename add": { before: "a=one", after: "b=one c=two", forms: NAMED },
  "rename parent": { before: "a=one b=two", after: "a=one b=two", forms: ANY, home: "house" },
  "count to for_each": { before: "a=one b=two", after: "a=one b=two", forms: ["count"], to: "for_each" },
  "for_each to count": { before: "a=one b=two", after: "a=one b=two", forms: ["for_each"], to: "count" },
  "regroup moved": { before: "a=one b=two", after: "a=one b=two", forms: ["count"], to: "for_each", moved: true },
  taint: { before: "a=one b=two", after: "a=one b=two", forms: ANY },
  replace: { before: "a=one b=two", after: "a=one b=two", forms: ANY },
  import: { before: "a=one", after: "a=one b=two", forms: ANY },
  "import held": { before: "a=one b=two", after: "c=one b=two", forms: NAMED },
};

export const formsOf = (change: ChangeName): readonly Form[] => SHAPES[change].forms;

const itemsOf = (text: string): Item[] =>
  text
    .split(" ")
    .filter((pair) => pair !== "")
    .map((pair) => {
      const [name = "", key = ""] = pair.split("=");
      return { name, key };
    });

export function declarationsOf(
  change: ChangeName,
  kind: KindName,
  form: Form,
): { readonly before: Declaration; readonly after: Declaration } {
  const { before: first, after: second, to = form, moved, home } = SHAPES[change];
  const before: Declaration = { kind, form, items: itemsOf(first) };
  const after: Declaration = { kind, form: to, items: itemsOf(second), ...(home !== undefined && { home }) };
  return { before, after: moved === undefined ? after : withMoves(before, after) };
}

/** Returns the old and the new address of each key whose address differs. */
export function movesOf(before: Declaration, after: Declaration): { readonly from: string; readonly to: string }[] {
  const old = addressesOf(before);
  const moves = [...addressesOf(after)].flatMap(([key, to]) => {
    const from = old.get(key);
    return from === undefined || from === to ? [] : [{ from, to }];
  });
  return after.home === before.home
    ? moves
    : [...moves, { from: `hosting_service.${before.home ?? "home"}`, to: `hosting_service.${after.home ?? "home"}` }];
}

export const withMoves = (before: Declaration, after: Declaration): Declaration => ({
  ...after,
  moved: movesOf(before, after),
});

/** Returns the keys of both declarations. */
export function keptOf(before: Declaration, after: Declaration): string[] {
  const old = addressesOf(before);
  return after.items.map(({ key }) => key).filter((key) => old.has(key));
}
