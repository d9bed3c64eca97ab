import type { Kind, Remote } from "../../../core/kinds/kind.ts";
import { isPendingCreate } from "../../../core/lifecycle/index.ts";
import {
  type Change,
  type Diagnostic,
  effectOf,
  type JsonObject,
  PENDING_CREATE,
  type Value,
  type ValueObject,
} from "../../../core/model/index.ts";
import type { Note } from "../contract.ts";
import { labelOf, type Mark, shownValue } from "./attribute-mapping.ts";
import { twice } from "./notices.ts";
import type { ProviderScope } from "./provider-scope.ts";

/** What there is to say of a plan: one function for each. */

/** The plan shows a create, whatever comes of it. */
export function willSettle(kind: Kind, note: Note): Diagnostic {
  const what = isPendingCreate(note)
    ? `was begun by a run that was cut off: the apply settles it, and makes nothing twice`
    : `was made by a run that was cut off, as ${kind.noun} ${String(note.attributes.id)}: the apply adopts it, and makes nothing`;
  return { severity: "warning", code: "apply.replayed", summary: `${note.address} ${what}` };
}

/** One name is one order: a second resource with it would be given the service of the first. */
export function heldByOther(kind: Kind, name: string, { replacing }: Mark, scope: ProviderScope): Diagnostic[] {
  const blind = kind.creation === "blind";
  const id =
    kind.creation === "listable"
      ? undefined
      : (scope.heldAs(kind, name) ?? (blind ? sameName(name, replacing) : undefined));
  // A domain cannot be registered again in its own place.
  if (id === undefined || (!blind && (id === replacing?.id || scope.isReleased(kind, { id })))) return [];
  return [
    {
      severity: "error",
      code: "config.duplicate",
      summary: `The order "${name}" is ${kind.noun} ${id}, which is in the state already`,
      detail: blind
        ? "What is registered cannot be registered once more."
        : "The Idempotency-Key is made from the name: a second order with it would be answered with the first one's.",
      remedies: [
        `If the resource was renamed, add a \`moved\` block; if Terraform has it marked as tainted, \`terraform untaint\` it.${blind ? "" : " If there are to be two, give the second another `reference`."}`,
      ],
      ...(!blind && { attribute: ["reference"] }),
    },
  ];
}

const sameName = (name: string, replacing: Mark["replacing"]) => (replacing?.name === name ? replacing.id : undefined);

/** In place, but not now: the service is not live. */
export function deferred(kind: Kind, names: readonly string[]): Diagnostic[] {
  const [first] = names;
  if (first === undefined) return [];
  return [
    {
      severity: "warning",
      code: "apply.waiting",
      summary: `Declared, but not possible yet: ${names.join(", ")} ${names.length === 1 ? "waits" : "wait"} until the ${kind.noun} is live`,
      remedies: [`Apply again when it is live.`],
      attribute: [first],
    },
  ];
}

/** `service 1019 (www.acme.example)`. */
function named(kind: Kind, { id, domain }: JsonObject): string {
  return `${kind.noun} ${String(id)}${typeof domain === "string" && domain !== id ? ` (${domain})` : ""}`;
}

/** Terraform says "Destruction complete" of whatever leaves its state, and counts a suspension as an update. */
export function effectNotices(kind: Kind, prior: JsonObject, change: Change): Diagnostic[] {
  const [what, effect] = [named(kind, prior), effectOf(change)];
  const leaves = change.actions[0] === "forget";
  if (effect === "suspend") {
    return [
      {
        severity: "warning",
        code: "plan.offline",
        summary: `${what} is suspended: it goes offline`,
        detail: leaves
          ? `Terraform calls it "destroy". The API cannot delete a ${kind.noun}: by its deletion_policy it is suspended, and stays in the account without being managed.`
          : 'Terraform calls it "update in-place".',
        remedies: [
          leaves ? "To end it for good, cancel it in the dashboard." : "Leave `suspended` out if that is not meant.",
        ],
      },
    ];
  }
  if (effect !== "forget" || change.reasons.some(({ why }) => why === "gone")) return [];
  const billed = kind.quote === undefined ? "" : " and goes on being billed";
  return [
    {
      severity: "warning",
      code: "plan.stays",
      summary: `${what} stays in the account${billed}`,
      detail: `Terraform calls it "destroy". The API cannot delete a ${kind.noun}: Terraform stops managing it, and nothing else happens.`,
      remedies: ["To end it, cancel it in the dashboard."],
    },
  ];
}

/** What one address removes, the other one loses. */
export function twoAddresses(kind: Kind, id: string): Diagnostic {
  return {
    severity: "error",
    code: "plan.exists",
    summary: `${kind.noun} ${id} is imported, and another address of this state has it already`,
    detail: "An object can be managed under one address only.",
    remedies: [
      "If it is to be managed under another address, use a `moved` block or `terraform state mv` instead of the import.",
    ],
  };
}

/** Nothing else is done to it before that is settled. */
export function stillPending(kind: Kind, prior: JsonObject, name: string): Diagnostic {
  const was: Value = prior[name] ?? null;
  return {
    severity: "error",
    code: "plan.pending",
    summary: `${name} was changed while it is not known what became of the ${kind.noun}'s creation`,
    detail: "A request to make it left and its answer was lost. It is settled first, as it was sent.",
    remedies: [`Put \`${name}\` back to ${shownValue(kind, name, was)}, apply, then change it.`],
    attribute: [name],
  };
}

/** What refers to an object whose creation has no known outcome waits until that is settled. */
export function refersToPending(kind: Kind, declared: ValueObject): Diagnostic[] {
  const names = Object.entries(declared).filter(([, value]) => JSON.stringify(value)?.includes(PENDING_CREATE));
  return names.map(
    ([name]): Diagnostic => ({
      severity: "error",
      code: "plan.pending",
      summary: `${name} refers to something of which it is not known whether it was made`,
      detail: `The ${kind.noun} is not made or changed before that is settled.`,
      remedies: ["Apply again: what is in doubt is settled first."],
      attribute: [name],
    }),
  );
}

/** Terraform would make it anew, and the provider could not know what became of the first request. */
export function settleFirst(what: string): Diagnostic {
  return {
    severity: "error",
    code: "plan.pending",
    summary: `${what} cannot be made anew: it is not known whether it was made`,
    detail: "A request to make it left and its answer was lost. Made anew, it could be there, and be paid for, twice.",
    remedies: [
      "Settle it first: without `-replace`, and after `terraform untaint ADDRESS` if it is marked as tainted, apply.",
    ],
  };
}

/** Servers that nothing tells from the declared one are nothing unusual; with a state that holds none, it may be lost. */
export function strangers(
  kind: Kind,
  { alike = [] }: { readonly alike?: readonly Remote[] },
  scope: ProviderScope,
): Diagnostic[] {
  const ids = alike.filter(({ phase }) => phase !== "gone").map(({ id }) => id);
  if (ids.length === 0 || !scope.holdsNone(kind)) return [];
  const which = ids.length === 1 ? `${kind.noun} ${ids[0]} is` : `The ${kind.noun}s ${ids.slice(0, 10).join(", ")} are`;
  return [
    {
      severity: "warning",
      code: "plan.lookalike",
      summary: `${which} of the same plan, and this state holds no ${kind.noun}`,
      detail: "Without a domain nothing tells one from the other. Was the state lost?",
      remedies: ["If it is the declared one, import it. Else another one is ordered."],
    },
  ];
}

/** Objects that may be the declared one, of which the API shows too little to be sure. Which are other instances' is not known. */
export function hiddenOnes(
  kind: Kind,
  { unreadable = [] }: { readonly unreadable?: readonly Remote[] },
  scope: ProviderScope,
): Diagnostic[] {
  const ids = unreadable.filter(({ id }) => !scope.holds(kind, id)).map(({ id }) => id);
  if (ids.length === 0) return [];
  const which = ids.length === 1 ? `${kind.noun} ${ids[0]}` : `one of the ${kind.noun}s ${ids.slice(0, 10).join(", ")}`;
  return [
    {
      severity: "warning",
      code: "plan.unreadable",
      summary: `This ${kind.noun} may exist already as ${which}: the API shows too little to be sure`,
      detail: `If it is in this state under another address, nothing is wrong. If it is not, another ${kind.noun} is created beside it.`,
      remedies: ["If it is the declared one, import it."],
    },
  ];
}

/** Refused by the apply, unless this state holds what is in the way and it is to be replaced. */
export function laterRefused(kind: Kind, inTheWay: readonly Remote[]): Diagnostic[] {
  return inTheWay.map(({ id }) => ({
    severity: "warning",
    code: "plan.exists",
    summary: `${kind.noun} ${id} exists already, and is not known to be the one that is to be replaced`,
    detail: "If it is not in this state, the apply orders nothing.",
    object: id,
    remedies: ["If the state was lost, import it."],
  }));
}

/** Two new resources of one plan that are the same order: the apply would make one, and fail at the other. */
export function twicePlanned(
  kind: Kind,
  name: string | undefined,
  declared: ValueObject,
  scope: ProviderScope,
): Diagnostic[] {
  if (kind.creation === "listable" || name === undefined) return [];
  const other = scope.plan(kind, name, labelOf(kind, declared));
  return other === undefined ? [] : [twice(kind, other)];
}
