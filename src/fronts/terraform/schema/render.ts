import type { Attribute } from "../../../core/model/schema.ts";

export { typeJson } from "../../../core/model/schema.ts";

/** The description as Terraform is told it: the protocol has no place of its own for why something is deprecated. */
export function shownDescription({ description, deprecated }: Attribute): string {
  return deprecated === undefined ? description : `Deprecated: ${deprecated} ${description}`;
}
