import type { Kind } from "../../../core/kinds/kind.ts";
import { type Applied, unknownPhase } from "../../../core/lifecycle/index.ts";
import type { Diagnostic, JsonObject, ResourceState } from "../../../core/model/index.ts";
import { labelOf, type Mark, shownValue } from "./attribute-mapping.ts";

/** What there is to say of an apply that has come to something: one function for each. */

/**
 * What a successful change has to say. An error of an update saves what is known, and fails the run; one of a create would
 * have Terraform create the object again.
 */
export function notices(
  kind: Kind,
  { diagnostics, awaiting, invoice, unclear }: Applied,
  operation: "create" | "update",
): Diagnostic[] {
  const told = [...diagnostics];
  if (unclear !== undefined) told.push(operation === "create" ? { ...unclear, severity: "warning" } : unclear);
  if (awaiting === "job") {
    told.push({
      severity: "warning",
      code: "apply.waiting",
      summary: `A job of the ${kind.noun} is queued and not done yet`,
      remedies: ["The next plan shows whether it is. `timeouts` says how long it is waited for."],
    });
  }
  if (awaiting === "payment") {
    const { number, id, total, currency } = invoice ?? {};
    const of = `Invoice ${number ?? id ?? "(unknown)"}${total == null ? "" : ` of ${total} ${currency ?? ""} (in the API's own unit)`}`;
    told.push({
      severity: "warning",
      code: "apply.waiting",
      summary: `The ${kind.noun} is ordered and waits for the payment of its invoice`,
      detail: `${of} was raised.`,
    });
  }
  return told;
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

/** The API gives something else than was asked for. The next plan shows it; an error now would make it anew. */
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
    detail: "What tells one from another came to the same value in both; nothing was sent for this one.",
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
  const [verb, they] = names.length === 1 ? ["waits", "it"] : ["wait", "them"];
  const common = {
    severity: "warning",
    code: "apply.waiting",
    detail: "The state has what is declared, as Terraform demands it; that it is not done is noted.",
  } as const;
  if (isLive)
    return [
      {
        ...common,
        summary: `Declared, and not done yet: ${names.join(", ")} of the ${kind.noun}`,
        remedies: [`Apply again: the next plan shows ${they}.`],
      },
    ];
  return [
    {
      ...common,
      summary: `Declared, but not possible yet: ${names.join(", ")} ${verb} until the ${kind.noun} is live`,
      remedies: [`Apply again when the ${kind.noun} is live: the plan shows ${they} then.`],
    },
  ];
}

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
