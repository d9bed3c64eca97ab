/**
 * Expected errors: the API cannot perform the declared change, so the front rejects the change before any request and
 * prints a fix. The table has a row for each such error. An error without a row fails its cell, and a cell whose row
 * expects an error fails without the error.
 */
import type { Cell } from "./cells.ts";
import { FACTS } from "./kinds.ts";

/** The fix in the message. */
export type WayOut = "moved" | "state mv" | "untaint" | "without -replace";

export interface Refusal {
  /** Pattern of the message. */
  readonly says: RegExp;
  readonly wayOut: WayOut;
  readonly why: string;
}

/** Renames that one `moved` block for each address expresses. No object has the new address. */
const FREE: ReadonlySet<string> = new Set(["rename", "rename add", "count to for_each", "for_each to count"]);
/** Changes whose new addresses still have objects. */
const TAKEN: ReadonlySet<string> = new Set(["middle", "shift", "swap"]);

/** Returns the error that a cell must cause, or undefined. */
export function refusalOf({
  kind,
  change,
  fronts: [, front],
}: Pick<Cell, "kind" | "change" | "form" | "fronts">): Refusal | undefined {
  const { deletable, type } = FACTS[kind];
  if (front !== "terraform") return undefined;
  if (change === "rename parent")
    return {
      says: /\bmoved\b/,
      wayOut: "moved",
      why: "Terraform plans a create of the service, and the API deletes none",
    };
  if (deletable) return undefined;
  if (FREE.has(change))
    return { says: /\bmoved\b/, wayOut: "moved", why: `Terraform plans a create, and the API deletes no ${type}` };
  if (TAKEN.has(change))
    return {
      says: /cannot change/,
      wayOut: "state mv",
      why: "the address keeps its object, and the API changes no key",
    };
  if (change === "taint")
    return { says: /terraform untaint/, wayOut: "untaint", why: "a replacement would be a second one" };
  if (change === "replace")
    return {
      says: /new `reference`|untaint|-replace/,
      wayOut: "without -replace",
      why: "a replacement would be a second one",
    };
  return undefined;
}
