import type { Kind } from "../../../core/kinds/kind.ts";
import { orderNameErrors } from "../../../core/lifecycle/index.ts";
import {
  type Diagnostic,
  type PrivateMark,
  type ResourceState,
  UNKNOWN,
  type ValueObject,
} from "../../../core/model/index.ts";
import type { ProviderSession } from "../index.ts";
import { type Mark, nameOf } from "./attribute-mapping.ts";

/** What an order needs beside its attributes: a project and a name of its own; a replacement, another than the old one has. */
export function checkOrder(
  kind: Kind,
  declared: ValueObject,
  { replacing }: Mark,
  session: ProviderSession,
): Diagnostic[] {
  if (kind.creation !== "keyed") return [];
  const found = orderNameErrors(kind, declared, session.project);
  const open = declared.reference === UNKNOWN || declared.domain === UNKNOWN;
  const name = nameOf(kind, declared);
  if (replacing !== undefined && name === undefined && open) {
    found.push({
      severity: "error",
      code: "terraform.reference",
      summary: "The `reference` of a replacement must be known when it is planned",
      detail: `${kind.noun} ${replacing.id} would be let go of before it is known whether the new order has a name of its own. Without a \`reference\` that is its domain.`,
      remedies: ["Give a value that is known when the plan is made."],
      attribute: ["reference"],
    });
  }
  if (replacing?.name !== undefined && replacing.name === name) {
    found.push({
      severity: "error",
      code: "terraform.reference",
      summary: "A second order needs a `reference` of its own",
      detail: `${kind.noun} ${replacing.id} was ordered under the name "${name}"; the API would take the new order for a repetition of it, and order nothing.`,
      remedies: [`Set \`reference\` to another name, for example "${name}-2".`],
      attribute: ["reference"],
    });
  }
  return found;
}

/** Noted in the journal under a type of its own, for everything that orders under the project and name. */
const refused = (kind: Kind) => `${kind.type} refused`;

/** Notes that the key of an order is used up: it was refused, and a host may repeat that for the corrected order (§4). */
export function noteRefused(kind: Kind, name: string, order: ResourceState, { journal, place }: ProviderSession): void {
  journal.put(refused(kind), name, { ...order, place });
}

/** The generation of the next order of this name, for its mark; nothing where none was refused. */
export function generationOf(kind: Kind, name: string | undefined, { journal }: ProviderSession): PrivateMark {
  const note = name === undefined ? undefined : journal.get(refused(kind), name);
  return { generation: note?.private.generation };
}
