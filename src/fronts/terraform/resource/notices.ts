/** What Terraform's users are shown of a plan and of an apply beside the lifecycle's own diagnostics: one function for each. */
import type { Kind, Remote } from "../../../core/kinds/kind.ts";
import { type Applied, isPendingCreate, unknownPhase } from "../../../core/lifecycle/index.ts";
import {
  type Change,
  type Diagnostic,
  effectOf,
  type JsonObject,
  PENDING_CREATE,
  type ResourceState,
  type Value,
  type ValueObject,
} from "../../../core/model/index.ts";
import type { Note } from "../index.ts";
import { labelOf, type Mark, shownValue } from "./attribute-mapping.ts";
import type { ProviderScope } from "./provider-scope.ts";

/**
 * What a successful change has to say. An error of an update saves what is known, and fails the run; one of a create would
 * have Terraform create the object again.
 */
export function notices(
  kind: Kind,
  { diagnostics, awaiting, invoice, unclear }: Applied,
  operation: "create" | "update",
): Diagnostic[] {
  const reported = [...diagnostics];
  if (unclear !== undefined) reported.push(operation === "create" ? { ...unclear, severity: "warning" } : unclear);
  if (awaiting === "job") {
    reported.push({
      severity: "warning",
      code: "apply.waiting",
      summary: `A job of the ${kind.noun} is queued and not done yet`,
      remedies: ["The next plan shows whether it is. `timeouts` says how long it is waited for."],
    });
  }
  if (awaiting === "payment") {
    const { number, id, total, currency } = invoice ?? {};
    const of = `Invoice ${number ?? id ?? "(unknown)"}${total == null ? "" : ` of ${total} ${currency ?? ""} (in the API's own unit)`}`;
    reported.push({
      severity: "warning",
      code: "apply.waiting",
      summary: `The ${kind.noun} is ordered and waits for the payment of its invoice`,
      detail: `${of} was raised.`,
    });
  }
  return reported;
}

export function defect(error: unknown): Diagnostic {
  const detail = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { severity: "error", code: "internal", summary: "The provider failed", detail };
}

export function notKnown(kind: Kind): Diagnostic {
  return {
    severity: "warning",
    code: "plan.pending",
    summary: `It is not known whether the ${kind.noun} was made`,
    detail:
      "A request to make it left and its answer was lost. It is in the state without an id, with a note of that request.",
    remedies: [
      kind.creation === "blind"
        ? "Look in the dashboard. If it was ordered: `terraform state rm` it and import it. If it was not: `terraform plan` once, `terraform state rm` it, and apply again."
        : "Apply again: what was made is adopted, and what was not is made. Nothing is ordered twice.",
    ],
  };
}

/** A one-time secret did not come. @param isTainted whether Terraform marks the object, as it does one whose creation fails. */
export function secretLost(said: Diagnostic, isTainted: boolean): Diagnostic {
  const again = isTainted
    ? "Apply again: Terraform has marked it as tainted and replaces it."
    : "`terraform apply -replace=ADDRESS` makes another one, with a secret.";
  const keep = isTainted ? "`terraform untaint ADDRESS`, and give" : "give";
  return {
    ...said,
    remedies: [`${again} If the dashboard shows its secret or rotates it: ${keep} that to the receiver.`],
  };
}

export function incomplete(kind: Kind, { attributes }: ResourceState): Diagnostic {
  return {
    severity: "warning",
    code: "apply.skipped",
    summary: `${kind.noun} ${String(attributes.id)} was made, but not everything that was to follow was done`,
    detail: "It is in the state as far as it has come; an error here would have Terraform make it anew.",
    remedies: ["Apply again: the next plan shows what is missing."],
  };
}

/** The API gives something else than was asked for. The next plan shows it; an error now would recreate it. */
export function different(kind: Kind, name: string, attributes: JsonObject): Diagnostic {
  return {
    severity: "warning",
    code: "apply.drifted",
    summary: `The ${kind.noun} has another ${name} than was asked for`,
    detail: `The API answered with ${shownValue(kind, name, attributes[name] ?? null)}.`,
    remedies: ["The next plan shows the difference."],
    attribute: [name],
  };
}

/** Two declarations came to the same thing. */
export function twice(kind: Kind, other: string): Diagnostic {
  return {
    severity: "error",
    code: "config.duplicate",
    summary: `Another resource is the same ${kind.noun}: ${other}`,
    detail: "Both have the same natural key. No request was sent for this one.",
    remedies: ["Remove one of the two, or correct what it refers to."],
  };
}

/** The same, where the status does not show whether the object is live: nobody waits for that in vain. */
export function notUnderstood(
  kind: Kind,
  attributes: JsonObject,
  { waiting = [], job }: Mark,
  operation: string,
): Diagnostic[] {
  if (waiting.length === 0) return [];
  const subject = { kind, address: labelOf(kind, attributes), provider: "default", attributes, job };
  const said = unknownPhase(subject, { left: waiting, unseen: [] });
  return [operation === "create" ? said : { ...said, severity: "error" }];
}

/** What is declared and recorded, because Terraform insists on that, and not done. What a queued job is about is said of the job. */
export function waits(kind: Kind, { waiting = [], job }: Mark, isLive: boolean): Diagnostic[] {
  const names = waiting.filter((name) => job === undefined || name !== "suspended");
  if (names.length === 0) return [];
  const they = names.length === 1 ? "it" : "them";
  const when = isLive ? "Apply again: the next plan" : `Apply again when the ${kind.noun} is live: the plan`;
  return [
    {
      severity: "warning",
      code: "apply.waiting",
      summary: isLive
        ? `Declared, and not done yet: ${names.join(", ")} of the ${kind.noun}`
        : notPossibleYet(kind, names),
      detail: "The state has what is declared, as Terraform demands it; that it is not done is noted.",
      remedies: [`${when} shows ${they}${isLive ? "" : " then"}.`],
    },
  ];
}

const notPossibleYet = (kind: Kind, names: readonly string[]) =>
  `Declared, but not possible yet: ${names.join(", ")} ${names.length === 1 ? "waits" : "wait"} until the ${kind.noun} is live`;

/** A host may show nothing of what belongs to a service before that is live. */
export function shownLater(kind: Kind, waitsFor: string): Diagnostic {
  return {
    severity: "warning",
    code: "apply.waiting",
    summary: `The API shows no ${kind.noun}s of ${waitsFor} until that is live`,
    detail: "What is recorded of them is taken as it is, and what is new is made then.",
    remedies: ["Apply again when it is live: it is provisioned when its invoice is paid."],
  };
}

/** Ids mean nothing at another host; with a refresh it is seen whether it is the same object. */
export function otherHost(kind: Kind, prior: JsonObject, what: "changed" | "refreshed" | "removed"): Diagnostic {
  if (prior.id === null) return askedElsewhere(kind, prior);
  return {
    severity: "error",
    code: "state.stranger",
    summary: `${kind.noun} ${String(prior.id)} was recorded at another address of the API`,
    detail: `Nothing is ${what} on an id alone: at another host it is another object.`,
    remedies: [
      what === "refreshed"
        ? "Correct `base_url`. If it is the same host at a new address: `terraform state rm` it and import it."
        : "Correct `base_url`; or, if the host has moved, apply once with a refresh, which looks at the object.",
    ],
  };
}

/** A create without known outcome is a matter of the host that it was sent to. */
const askedElsewhere = (kind: Kind, prior: JsonObject): Diagnostic => ({
  severity: "error",
  code: "state.stranger",
  summary: `The request to make ${labelOf(kind, prior)} was sent to another address of the API`,
  detail: "Its answer was lost, and only that host shows what it made. Nothing is sent here: there could be two then.",
  remedies: [
    "Correct `base_url`. If the host has moved: look in the dashboard; `terraform state rm` it, and import it if it was made.",
  ],
});

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
      : (scope.recordedId(kind, name) ?? (blind ? sameName(name, replacing) : undefined));
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
      summary: notPossibleYet(kind, names),
      remedies: ["Apply again when it is live."],
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

/** What refers to an object whose creation has no known outcome waits until that is settled. @param kind what is planned; absent: nothing is. */
export function refersToPending(config: ValueObject, kind?: Kind): Diagnostic[] {
  const names = Object.entries(config).filter(([, value]) => JSON.stringify(value)?.includes(PENDING_CREATE));
  return names.map(([name]) => ({
    severity: "error",
    code: "plan.pending",
    summary: `${name} refers to something of which it is not known whether it was made`,
    ...(kind && { detail: `The ${kind.noun} is not made or changed before that is settled.` }),
    remedies: ["Apply what it refers to again: that is settled first."],
    attribute: [name],
  }));
}

/** Terraform would recreate it, and the provider could not know what became of the first request. */
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

/** Servers that look like the declared one are nothing unusual; with a state that holds none, it may be lost. */
export function strangers(
  kind: Kind,
  { alike = [] }: { readonly alike?: readonly Remote[] },
  scope: ProviderScope,
): Diagnostic[] {
  const ids = alike.filter(({ phase }) => phase !== "gone").map(({ id }) => id);
  if (ids.length === 0 || scope.hasRecorded(kind)) return [];
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
  const ids = unreadable.flatMap(({ id, attributes }) =>
    scope.ownerOf(kind, { ...attributes, id }) === undefined ? [id] : [],
  );
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
  const other = scope.claimPlanned({ label: labelOf(kind, declared) }, kind, name);
  return other === undefined ? [] : [twice(kind, other)];
}
