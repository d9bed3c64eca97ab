import type { Kind } from "../../../core/kinds/kind.ts";
import {
  type Diagnostic,
  type PrivateMark,
  type ResourceState,
  UNKNOWN,
  type ValueObject,
} from "../../../core/model/index.ts";
import type { Session } from "../index.ts";
import { type Mark, nameOf } from "./attribute-mapping.ts";

/**
 * What an order needs beside its attributes: a project and a name of its own. From the two its Idempotency-Key is made
 * (§4), which is all that keeps the order from being placed twice when a process is killed before Terraform has written
 * its state.
 */
export function checkOrder(kind: Kind, declared: ValueObject, { replacing }: Mark, session: Session): Diagnostic[] {
  if (kind.creation !== "keyed") return [];
  const found: Diagnostic[] = [];
  if (session.project === undefined) {
    found.push({
      severity: "error",
      code: "terraform.project",
      summary: "The provider needs `project` to order a service",
      detail: "The Idempotency-Key of an order is made from it: two configurations must not share one by accident.",
      remedies: ['Set `project = "…"` in the provider block (or HOSTFORM_PROJECT) to a name that stays.'],
    });
  }
  const open = declared.reference === UNKNOWN || declared.domain === UNKNOWN;
  const name = nameOf(kind, declared);
  if (name === undefined && !open) {
    found.push({
      severity: "error",
      code: "terraform.reference",
      summary: `A ${kind.noun} without a domain needs \`reference\``,
      detail:
        "Terraform tells the provider no resource address. Without a domain nothing names this order, and an order that has no name of its own could be placed twice.",
      remedies: ['Add `reference = "…"`: a name that is this order\'s alone in the project, and stays.'],
      attribute: ["reference"],
    });
  }
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
export function noteRefused(kind: Kind, name: string, order: ResourceState, { journal, place }: Session): void {
  journal.put(refused(kind), name, { ...order, place });
}

/** The generation of the next order of this name, for its mark; nothing where none was refused. */
export function generationOf(kind: Kind, name: string | undefined, { journal }: Session): PrivateMark {
  const note = name === undefined ? undefined : journal.get(refused(kind), name);
  return { generation: note?.private.generation };
}
