/** The provider's own diagnostics, beside those of the lifecycle: one function for each. */
import { type Kind, matches, type Remote } from "../../../core/kinds/kind.ts";
import {
  type Applied,
  isPendingCreate,
  isSimilarName,
  lookalike,
  unchangedFor,
  unreadable,
} from "../../../core/lifecycle/index.ts";
import {
  type Change,
  type Diagnostic,
  effectOf,
  errorOf,
  formatMoney,
  HostformError,
  type JsonObject,
  PENDING_CREATE,
  type ResourceState,
  type Value,
  type ValueObject,
  warningOf,
} from "../../../core/model/index.ts";
import type { Entry } from "../entries.ts";
import { describeDefect, logError } from "../wire/log.ts";
import { labelOf, type Mark, shownValue } from "./attribute-mapping.ts";
import type { ProviderScope } from "./provider-scope.ts";

/** The diagnostics of a successful change. */
export function notices(kind: Kind, { diagnostics, awaiting, invoice }: Applied, moneyScale?: number): Diagnostic[] {
  const reported = [...diagnostics];
  if (awaiting === "job") {
    const remedies = ["The next plan shows whether it is done. `timeouts` sets how long the apply waits."];
    reported.push(warningOf("apply.waiting", `A job of the ${kind.noun} is queued and not done yet`, { remedies }));
  }
  if (awaiting === "payment") {
    const { number, id, total, currency } = invoice ?? {};
    const amount = total == null ? "" : ` of ${formatMoney(total, currency ?? null, moneyScale)}`;
    const invoiced = number ?? id;
    const raised = `${invoiced == null ? "An invoice" : `Invoice ${invoiced}`}${amount} was raised.`;
    const detail = invoiced == null && amount === "" ? "The answer names no invoice." : raised;
    const summary = `The ${kind.noun} is ordered and waits for the payment of its invoice`;
    reported.push(warningOf("apply.waiting", summary, { detail }));
  }
  return reported;
}

/** The diagnostics of a failure. A defect is reported without any value; the log has the place where it was thrown. */
export function failureOf(error: unknown): readonly Diagnostic[] {
  if (error instanceof HostformError) return error.diagnostics;
  logError("a call failed", error);
  const detail = describeDefect(error).summary;
  const remedies = ["Report it, with the command and the output of `TF_LOG=debug`. Nothing is lost: apply again."];
  return [errorOf("internal", "The provider has a defect", { detail, remedies })];
}

/** An apply that does not know whether it created something. Terraform marks the instance as tainted. */
export function notKnown(kind: Kind): Diagnostic {
  const blind = kind.creation === "blind";
  return errorOf("plan.pending", `It is not known whether the ${kind.noun} was created`, {
    detail:
      "The answer to the create request was lost. The state keeps the request, and Terraform marks it as tainted.",
    remedies: [
      blind
        ? { do: "resolve" }
        : "Apply again: the provider adopts what was created, or creates it. It orders nothing twice.",
    ],
  });
}

/** The state has a pending create, and this machine does not have its request. */
export function unseenCreate(what: string): Diagnostic {
  return errorOf("plan.pending", `The request of the pending create of ${what} is not on this machine`, {
    detail:
      "Terraform sends the provider the request of a tainted instance only when it refreshes the state. Without the request a create could be sent twice, so nothing was sent.",
    remedies: ["Plan again without `-refresh=false` on this machine, and apply that plan here."],
  });
}

/** A one-time secret is lost. @param isTainted whether Terraform marks the object, as it does when a create fails. */
export function secretLost(said: Diagnostic, isTainted: boolean): Diagnostic {
  const again = isTainted
    ? "Apply again: Terraform has marked it as tainted, and replaces it."
    : "`terraform apply -replace=ADDRESS` replaces it with one that has a secret.";
  const untaint = isTainted ? "`terraform untaint ADDRESS`, and " : "";
  return {
    ...said,
    remedies: [`${again} If the dashboard can show or rotate its secret: ${untaint}give that secret to the receiver.`],
  };
}

export function incomplete(kind: Kind, { attributes }: ResourceState): Diagnostic {
  return warningOf("apply.skipped", `${kind.noun} ${String(attributes.id)} was created, but a step after it failed`, {
    detail:
      "The state has what was done. This is a warning because Terraform would recreate the object after an error.",
    remedies: ["Apply again: the next plan shows what is missing."],
  });
}

/** The API returns another value than was sent. The next plan shows it; after an error Terraform would recreate the object. */
export function different(kind: Kind, name: string, attributes: JsonObject): Diagnostic {
  return warningOf("apply.drifted", `The API returned another ${name} for the ${kind.noun} than was sent`, {
    detail: `It returned ${shownValue(kind, name, attributes[name] ?? null)}.`,
    remedies: ["The next plan shows the difference."],
    attribute: [name],
  });
}

/** Name of a resource in messages: Terraform sends no address, and adds it to the message. */
export const THIS = "This resource";

/**
 * Reports an object that waits for an unknown status word: it may never become live, so that this is not reported as waiting. After an
 * update it is an error, so that the run fails.
 */
export function notUnderstood(
  kind: Kind,
  attributes: JsonObject,
  { waiting = [], job }: Mark,
  operation: "create" | "update",
): Diagnostic[] {
  if (waiting.length === 0) return [];
  const subject = { kind, address: labelOf(kind, attributes), provider: "default", attributes, job };
  return [unchangedFor(subject, waiting, operation === "create" ? "warning" : "error")];
}

/** Warns about deferred attributes, which Terraform's state has to hold, and about queued jobs. */
export function waits(kind: Kind, { waiting = [], job }: Mark, isLive: boolean): Diagnostic[] {
  const names = waiting.filter((name) => job === undefined || name !== "suspended");
  if (names.length === 0) return [];
  const summary = isLive ? `Not done yet: ${names.join(", ")} of the ${kind.noun}` : deferredUntilLive(kind, names);
  const detail = "The state has the declared value, as Terraform requires, with a mark that it is not done.";
  const remedies = [isLive ? "Apply again: the next plan shows it." : `Apply again when the ${kind.noun} is live.`];
  return [warningOf("apply.waiting", summary, { detail, remedies })];
}

const deferredUntilLive = (kind: Kind, names: readonly string[]) =>
  `Deferred until the ${kind.noun} is live: ${names.join(", ")}`;

/** A host may list nothing that belongs to a service before that is live. */
export function shownLater(kind: Kind, waitsFor: string): Diagnostic {
  return warningOf("apply.waiting", `The API lists no ${kind.noun}s of ${waitsFor} until it is live`, {
    detail: "The provider keeps what the state has of them, and creates new ones when it is live.",
    remedies: ["Apply again when it is live. It is provisioned when its invoice is paid."],
  });
}

/** Ids mean nothing at another host. A refresh shows whether it is the same object. */
export function otherHost(kind: Kind, prior: JsonObject, what: "changed" | "refreshed" | "removed"): Diagnostic {
  if (prior.id === null) return sentElsewhere(kind, prior);
  return errorOf("state.stranger", `${kind.noun} ${String(prior.id)} was recorded at another address of the API`, {
    detail: `It is not ${what}: at another host the same id is another object.`,
    remedies: [
      what === "refreshed"
        ? "Correct `base_url`. If it is the same host at a new address: `terraform state rm` it and import it."
        : "Correct `base_url`. If the host has moved: apply once with a refresh, which compares the objects.",
    ],
  });
}

/** Only the host that a create was sent to can show its outcome. */
const sentElsewhere = (kind: Kind, prior: JsonObject): Diagnostic =>
  errorOf("state.stranger", `The create request of ${labelOf(kind, prior)} was sent to another address of the API`, {
    detail:
      "Its answer was lost, and only that host shows what it created. No request was sent here, because it could create a second one.",
    remedies: [
      "Correct `base_url`. If the host has moved: look in the dashboard, `terraform state rm` it, and import it if it was created.",
    ],
  });

/** Terraform shows a create, or a replacement, for what an earlier run began. */
export function willSettle(kind: Kind, entry: Entry): Diagnostic {
  const { inState } = entry;
  const [what, detail] = isPendingCreate(entry)
    ? [
        "was begun by an interrupted run: the apply finishes it, and creates nothing twice",
        // After a kill the store alone has the request: Terraform shows a create.
        inState &&
          "A replacement that Terraform shows is this settlement. If the replaced instance is the pending create of something else, which no resource declares, the apply removes that. With `prevent_destroy`: `terraform untaint ADDRESS`, then apply.",
      ]
    : [
        `was created by an interrupted run as ${kind.noun} ${String(entry.attributes.id)}: the apply adopts it, and creates nothing`,
      ];
  return warningOf("apply.replayed", `${entry.address} ${what}`, { ...(detail && { detail }) });
}

/** One name is one order: a second resource with it would get the service of the first. */
export function heldByOther(kind: Kind, name: string, { replacing }: Mark, scope: ProviderScope): Diagnostic[] {
  const blind = kind.creation === "blind";
  const id =
    kind.creation === "listable"
      ? undefined
      : (scope.recordedId(kind, name) ?? (blind ? sameName(name, replacing) : undefined));
  // A domain cannot be registered again in its own place.
  if (id === undefined || (!blind && (id === replacing?.id || scope.isReleased(kind, { id })))) return [];
  return [
    errorOf("config.duplicate", `The order "${name}" is ${kind.noun} ${id}, which the state already has`, {
      detail: blind
        ? "A registered domain cannot be registered again."
        : "The Idempotency-Key is derived from the name: the API would answer a second order with the service of the first.",
      remedies: [
        `If the resource was renamed, add a \`moved\` block. If Terraform has marked it as tainted, \`terraform untaint\` it.${blind ? "" : " If you want two, set another `reference` on the second."}`,
      ],
      attribute: blind ? undefined : ["reference"],
    }),
  ];
}

const sameName = (name: string, replacing: Mark["replacing"]) => (replacing?.name === name ? replacing.id : undefined);

/** Changes in place that need a live service. */
export function deferred(kind: Kind, names: readonly string[]): Diagnostic[] {
  const [first] = names;
  if (first === undefined) return [];
  const remedies = ["Apply again when it is live."];
  return [warningOf("apply.waiting", deferredUntilLive(kind, names), { remedies, attribute: [first] })];
}

/** `service 1019 (www.acme.example)`. */
function named(kind: Kind, { id, domain }: JsonObject): string {
  return `${kind.noun} ${String(id)}${typeof domain === "string" && domain !== id ? ` (${domain})` : ""}`;
}

/** Terraform reports "Destruction complete" for whatever leaves its state, and counts a suspension as an update. */
export function effectNotices(kind: Kind, prior: JsonObject, change: Change): Diagnostic[] {
  const [what, effect] = [named(kind, prior), effectOf(change)];
  const leaves = change.actions[0] === "forget";
  if (effect === "suspend") {
    return [
      warningOf("plan.offline", `${what} is suspended: it goes offline`, {
        detail: leaves
          ? `Terraform calls it "destroy". The API cannot delete a ${kind.noun}. Its deletion_policy suspends it; it stays in the account, and Terraform stops managing it.`
          : 'Terraform calls it "update in-place".',
        remedies: [
          leaves ? "To end it for good, cancel it in the dashboard." : "Remove `suspended` if you do not want that.",
        ],
      }),
    ];
  }
  if (effect !== "forget" || change.reasons.some(({ why }) => why === "gone")) return [];
  const billed = kind.quote === undefined ? "" : ", and the host still bills it";
  return [
    warningOf("plan.stays", `${what} stays in the account${billed}`, {
      detail: `Terraform calls it "destroy". The API cannot delete a ${kind.noun}, so Terraform only stops managing it.`,
      remedies: ["To end it, cancel it in the dashboard."],
    }),
  ];
}

/** Two addresses must not manage one object. */
export function twoAddresses(kind: Kind, id: string): Diagnostic {
  return errorOf("plan.exists", `Another address of this state already has ${kind.noun} ${id}`, {
    detail: "An object can be managed under one address only.",
    remedies: ["To manage it under another address, use a `moved` block instead of the import."],
  });
}

/** A pending create is finished before anything of it changes. */
export function stillPending(kind: Kind, prior: JsonObject, name: string): Diagnostic {
  const was: Value = prior[name] ?? null;
  return errorOf("plan.pending", `${name} cannot change yet: the create of the ${kind.noun} has no known outcome`, {
    detail: "The provider sent the request and its answer was lost. It finishes that request first, unchanged.",
    remedies: [`Set \`${name}\` back to ${shownValue(kind, name, was)}, apply, then change it.`],
    attribute: [name],
  });
}

/** Whatever refers to a pending create waits until that is finished. @param kind of the planned resource; absent: none is planned. */
export function refersToPending(config: ValueObject, kind?: Kind): Diagnostic[] {
  const names = Object.entries(config).filter(([, value]) => JSON.stringify(value)?.includes(PENDING_CREATE));
  return names.map(([name]) =>
    errorOf("plan.pending", `${name} refers to a resource whose create has no known outcome`, {
      detail: kind && `The ${kind.noun} is not created or changed until that create is finished.`,
      remedies: ["Apply the resource that it refers to again: that finishes its create."],
      attribute: [name],
    }),
  );
}

/** Servers may look like the declared one although they are others. Only where the state has none it may have been lost. */
export function lookalikes(
  kind: Kind,
  declared: ValueObject,
  { alike = [] }: { readonly alike?: readonly Remote[] },
  scope: ProviderScope,
): Diagnostic[] {
  const isNamed = kind.naturalKey(declared) !== undefined;
  // An object without a name that is shown may belong to another resource of this state.
  const isFree = ({ id, attributes }: Remote) => scope.ownerOf(kind, { ...attributes, id }) === undefined;
  const isSimilar = (one: Remote) =>
    isSimilarName(kind, declared, one.attributes) && isFree(one) && !matches(kind, declared, one.attributes);
  const live = alike.filter((one) => one.phase !== "gone" && (!isNamed || isSimilar(one)));
  if (live.length === 0 || (!isNamed && scope.hasRecorded(kind))) return [];
  const found = lookalike({ kind, address: labelOf(kind, declared) }, live, declared, "warning");
  const [adopt = ""] = found.remedies ?? [];
  return [
    {
      ...found,
      remedies: [adopt, `If it is not, the apply ${kind.quote === undefined ? "creates" : "orders"} another one.`],
    },
  ];
}

/** Objects that may be the declared one, of which the API shows too little. Other resources of the state may have them. */
export function unreadableOnes(
  kind: Kind,
  declared: ValueObject,
  objects: readonly Remote[],
  scope: ProviderScope,
): Diagnostic[] {
  const others = objects.filter(({ id, attributes }) => scope.ownerOf(kind, { ...attributes, id }) === undefined);
  if (others.length === 0) return [];
  const detail = `If another resource of this state has it, ignore this. If none has it, the apply creates a second ${kind.noun}.`;
  return [{ ...unreadable({ kind, address: labelOf(kind, declared) }, declared, others, "warning"), detail }];
}

/** The apply refuses the order, unless this state has the object and replaces it. */
export function laterRefused(kind: Kind, inTheWay: readonly Remote[]): Diagnostic[] {
  return inTheWay.map(({ id }) =>
    warningOf("plan.exists", `${kind.noun} ${id} already exists, and may not be the one that this replaces`, {
      detail: "If this state does not have it, the apply orders nothing.",
      object: id,
      remedies: ["If the state was lost, import it."],
    }),
  );
}
