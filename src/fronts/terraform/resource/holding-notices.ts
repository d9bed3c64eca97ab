/** The provider's own diagnostics about objects that several addresses, or several states, may hold. */
import { importIdOf, type Kind } from "../../../core/kinds/kind.ts";
import type { Held } from "../../../core/local/index.ts";
import {
  type Diagnostic,
  errorOf,
  type HostformError,
  type JsonObject,
  openUrl,
  warningOf,
} from "../../../core/model/index.ts";
import type { Entry } from "../entries.ts";
import type { Holder } from "./holdings.ts";

const ONE_ADDRESS = "An object can be managed under one address only.";

const MOVED = { do: "move", when: "another address of this plan is the same thing: it was renamed" } as const;

const RENAMED = { do: "move", when: "it was renamed" } as const;

/** `service 1003 (www.acme.example)`. */
function named(kind: Kind, attributes: JsonObject): string {
  const { id } = attributes;
  const name = attributes[kind.words.name];
  return `${kind.noun} ${String(id)}${typeof name === "string" && name !== id ? ` (${openUrl(name)})` : ""}`;
}

const time = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");

/** Two addresses declare one thing, and neither gives it up. */
export function declaredTwice(kind: Kind, attributes: JsonObject): Diagnostic {
  return errorOf("plan.exists", `${named(kind, attributes)} is at another address of this state, which keeps it`, {
    detail: `Two addresses declare the same ${kind.noun}. ${ONE_ADDRESS}`,
    object: importIdOf(kind, String(attributes.id), attributes),
    remedies: [RENAMED, "Otherwise remove one of the two, or declare other values."],
  });
}

/** A create is what an object of the state was, and this run was not shown its address: it left the state, or is renamed. */
export function heldUnseen(kind: Kind, attributes: JsonObject, { lastSeen }: Holder): Diagnostic {
  const id = importIdOf(kind, String(attributes.id), attributes);
  return warningOf("plan.exists", `${named(kind, attributes)} exists already: this state had it at ${time(lastSeen)}`, {
    detail: "If it has left the state (`terraform state rm`), the apply creates nothing and fails.",
    object: id,
    remedies: [{ do: "import", id, when: "this address is to manage it again" }, RENAMED],
  });
}

/** The id of an import is recorded. */
export function importHeld(kind: Kind, attributes: JsonObject, { isShown, lastSeen }: Holder): Diagnostic {
  const what = named(kind, attributes);
  return errorOf("plan.exists", `${what} is at another address of this state already`, {
    detail: `${isShown ? "" : `The provider saw it there at ${time(lastSeen)}. `}${ONE_ADDRESS} The removal of one would take the object away from the other.`,
    remedies: [
      RENAMED,
      "If it shall leave that address: `terraform state rm`, then `terraform plan` without an `import` block, then import it.",
    ],
  });
}

/** Two instances hold one object: a destroy of one would take it from the other. */
export function heldTwice(kind: Kind, attributes: JsonObject, instances: number, does?: "destroy"): Diagnostic {
  const what = named(kind, attributes);
  const number = instances === 2 ? "Two addresses" : `${instances} addresses`;
  const make = does === undefined ? warningOf : errorOf;
  return make("state.duplicate", `${number} of this state have ${what}`, {
    detail: does === undefined ? ONE_ADDRESS : `Neither is destroyed: the ${kind.noun} would be gone for both.`,
    remedies: [
      "`terraform state rm` the address that should not have it, run `terraform plan` while the other one is declared, then apply.",
    ],
  });
}

/** Another state has it as well. */
export function heldElsewhere(kind: Kind, attributes: JsonObject, held: Held, here: string): Diagnostic {
  const at = held.address === undefined ? "" : `, as ${held.address}`;
  return warningOf("state.shared", `${named(kind, attributes)} is in two states`, {
    detail: `Here: ${here}. There: ${held.place.label}${at}, last seen at ${time(held.lastSeen)}. Each undoes the changes of the other.`,
    remedies: [
      "Remove it from one of the two states: here with a `removed` block and `destroy = false`.",
      "If the other state is no longer used, ignore this.",
    ],
  });
}

/** One address gives up an object, and another one declares it. @param isKept the object is what the other one declares. */
export function moves(kind: Kind, attributes: JsonObject, isKept: boolean): Diagnostic {
  const what = `${named(kind, attributes)} moves to another address of this state`;
  return isKept
    ? warningOf("apply.replayed", `${what}: the apply sends no request for it`, {
        detail: "Terraform counts it as added and destroyed.",
      })
    : warningOf("apply.replayed", `${what}, with other values: the apply deletes it and creates it again, at once`);
}

/** The destroy of an object that another address takes over ends before that address has it. */
export const staysHere = (kind: Kind, attributes: JsonObject, why: "stopped" | "failed"): Diagnostic =>
  errorOf("apply.waiting", `${named(kind, attributes)} is still at its old address`, {
    detail: `Another address of this plan takes it over, and ${why === "failed" ? "this apply failed before that" : "Terraform was stopped before that"}. No request was sent: it exists, and the state has it.`,
    remedies: ["Apply again: that goes on."],
  });

/** An interrupted apply took an object out of the state, and no create has it yet. */
export const leftOver = (kind: Kind, attributes: JsonObject): Diagnostic =>
  warningOf("apply.waiting", `${named(kind, attributes)} exists, and no address of this state has it`, {
    detail:
      "An apply took it from its old address, and ended before the new address had it. The store of this machine keeps what is known of it.",
    object: importIdOf(kind, String(attributes.id), attributes),
    remedies: [
      "Declare it again and apply: that takes it over, with its secret.",
      "If you do not need it, delete it in the dashboard.",
    ],
  });

/** A destroy is refused: the create at the same address would fail. @param isUnseen the store does not know the plan. */
export function halfPlanned(kind: Kind, prior: JsonObject, other: JsonObject, isUnseen: boolean): Diagnostic {
  const why = isUnseen
    ? "The plan was made on another machine, or with another token"
    : "The plan does not include that address";
  return errorOf("plan.exists", `${named(kind, prior)} is not deleted: what replaces it exists`, {
    detail: `Its address becomes ${named(kind, other)}, which another address has. ${why}. Nothing was sent.`,
    remedies: ["Plan and apply both addresses here, without `-target`."],
  });
}

/** A removal is refused, and another address declares the same thing: `moved` is the first remedy. */
export const renamedFirst = ({ diagnostics: [first, ...others] }: HostformError): readonly Diagnostic[] =>
  first === undefined ? [] : [{ ...first, remedies: [MOVED, ...(first.remedies ?? [])] }, ...others];

/** The create of the other address sends nothing. */
export const adoptedHere = (kind: Kind, attributes: JsonObject): Diagnostic =>
  warningOf(
    "apply.replayed",
    `Took over ${named(kind, attributes)} from another address of this state; no request changed it`,
  );

export const recreatedHere = (kind: Kind, attributes: JsonObject): Diagnostic =>
  warningOf(
    "apply.replayed",
    `Deleted ${named(kind, attributes)}, which another address of this state gave up, and created it again`,
  );

/** An interrupted apply left an object for a create that did not come. */
export const willTakeOver = (kind: Kind, { attributes }: Entry): Diagnostic =>
  warningOf(
    "apply.replayed",
    `${named(kind, attributes)} was left by another address of this state: the apply takes it over`,
  );
