/**
 * Refusals that are right: the API has no call for what is declared, so a front refuses it before it sends anything, and prints the way out.
 * Each is a row here; a cell that is refused without a row has failed, and so has a row that is not met.
 */
import type { Cell } from "./cells.ts";
import { FACTS } from "./kinds.ts";

/** The way out, as the message prints it. */
export type WayOut = "moved" | "state mv" | "untaint" | "without -replace";

export interface Refusal {
  /** The text of the message. */
  readonly says: RegExp;
  readonly wayOut: WayOut;
  readonly why: string;
}

/** Renames that one `moved` block for each address expresses: nothing else is at the new address. */
const FREE: ReadonlySet<string> = new Set(["rename", "rename add", "count to for_each", "for_each to count"]);
/** Exchanges in which the new address still has its object. */
const TAKEN: ReadonlySet<string> = new Set(["middle", "shift", "swap"]);

/** The refusal that a cell must meet; undefined: none. */
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
