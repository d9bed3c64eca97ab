import type { Kind } from "../kinds/kind.ts";
import type { Diagnostic, Job, Json, JsonObject, Phase, PrivateMark, Remedy } from "../model/index.ts";
import { attributesOf } from "./attributes.ts";
import { settledMark } from "./pending-create.ts";

/** What is said and remembered where a status word is not understood (§2 Gaps): it is named, and never acted upon. */
interface Subject {
  readonly kind: Pick<Kind, "noun">;
  readonly address: string;
  /** The provider's alias. */
  readonly provider: string;
  /** The live attributes. */
  readonly attributes: JsonObject;
  /** What hostform last asked for, if that is not known to have ended. */
  readonly job: Job | undefined;
}

/**
 * The mark of an object as it is observed: without the requests that are answered, and without the job that the phase shows
 * as done. What was asked for stays while that cannot be seen, so that a later plan knows what the word should mean.
 */
export function observedMark(mark: PrivateMark, phase: Phase): PrivateMark {
  const { job, ...rest } = settledMark(mark);
  const over = job === undefined || phase === job.toward || phase === "gone";
  return over ? rest : { ...rest, job };
}

/**
 * The declared attributes of which a status that is not understood says neither that they are as declared nor that they are
 * not: those that requests change and the API shows.
 */
export function unseenNames(kind: Kind, config: { readonly [name: string]: unknown }): string[] {
  return attributesOf(kind).flatMap(([name, , { change, computed }]) =>
    change === "in-place" && computed && (config[name] ?? null) !== null ? [name] : [],
  );
}

/** Of a plan: what is declared is left alone, or it cannot be seen whether it is fulfilled. */
export function unknownPhase(
  subject: Subject,
  { left, unseen }: { left: readonly string[]; unseen: readonly string[] },
) {
  const { address, attributes } = subject;
  const [first] = [...left, ...unseen];
  const what =
    left.length > 0
      ? `${left.join(", ")} of ${address} is left alone`
      : `It cannot be seen whether ${unseen.join(", ")} of ${address} is as declared`;
  return said(subject, "warning", `${what}: ${notUnderstood(attributes.status)}`, first === undefined ? [] : [first]);
}

/** Of a removal that begins with a suspension. */
export function notRemovable(subject: Subject): Diagnostic {
  const { address, attributes } = subject;
  const summary = `${address} may not be removed yet: ${notUnderstood(attributes.status)}`;
  const planned = said(subject, "error", summary);
  const detail = `The recorded deletion_policy is "suspend". ${planned.detail}`;
  return { ...planned, code: "plan.prevented", detail, remedies: [...(planned.remedies ?? []), { do: "forget" }] };
}

/** Of an apply: a job was asked for, and the status went from a word that is known to one that is not. */
export function unclearEnd(subject: Subject & { readonly job: Job }): Diagnostic {
  const { address, attributes, job } = subject;
  const from = job.before === null ? "" : ` from ${JSON.stringify(job.before)}`;
  const summary = `${nounOf(job)} of ${address} was asked for; its status went${from} to ${attributes.status == null ? "none" : JSON.stringify(attributes.status)}, which is not understood`;
  return said(subject, "error", summary);
}

/** Of an order: what is declared waits for a live object, and its status does not say whether it is one. */
export function unknownAtOnce(subject: Subject, names: readonly string[]): Diagnostic {
  const { address, attributes } = subject;
  const summary = `${names.join(", ")} of ${address} is not done: ${notUnderstood(attributes.status)}`;
  return said(subject, "warning", summary);
}

const notUnderstood = (word: Json | undefined) =>
  word == null ? "the API shows no status" : `the status ${JSON.stringify(word)} is not understood`;

const nounOf = ({ toward }: Job) => (toward === "suspended" ? "The suspension" : "The end of the suspension");

function said(
  { kind, address, provider, attributes, job }: Subject,
  severity: Diagnostic["severity"],
  summary: string,
  attribute: readonly string[] = [],
): Diagnostic {
  const rule = `Nothing is done to a ${kind.noun} whose status is not known.`;
  const asked =
    job === undefined
      ? ""
      : `${nounOf(job)} was asked for at ${job.since}${job.before === null ? "" : `, when the status was ${JSON.stringify(job.before)}`}. `;
  return {
    severity,
    code: "plan.unknown_status",
    summary,
    detail: `${asked}${rule}`,
    remedies: [remedy(attributes.status, provider, job)],
    address,
    ...(attribute.length > 0 && { attribute }),
  };
}

/** What came after a job that was asked for is what that was to bring; else only a look at the object tells. */
function remedy(word: Json | undefined, provider: string, job: Job | undefined): Remedy {
  if (word == null) return "Compare it with the dashboard. Nothing is done until the API shows a status.";
  const map = { do: "map_status", provider, word } as const;
  if (job !== undefined) {
    const shows = job.toward === "suspended" ? "suspended" : "up again";
    return { ...map, phases: [job.toward], when: `the dashboard shows it as ${shows}` };
  }
  return { ...map, phases: /suspen|paus/i.test(String(word)) ? ["suspended", "live"] : ["live", "suspended"] };
}
