/**
 * What a status means for what is to be done: one that is not understood is never acted upon, and a service that is not live yet
 * refuses much of what belongs to it.
 */
import type { Kind, Remote } from "../kinds/kind.ts";
import { conditionFor, problem } from "../messages/index.ts";
import {
  ApiError,
  type Condition,
  type Diagnostic,
  HostformError,
  isPaid,
  type JsonObject,
  openUrl,
  type Phase,
  type PrivateMark,
  type QueuedJob,
} from "../model/index.ts";
import type { Account } from "./account.ts";
import { attributesOf, type Forms, parentOf } from "./attributes.ts";
import { withForms } from "./own-forms.ts";
import { withoutRequests } from "./pending-create.ts";

/** The subject of a message about an unknown status word (§2 Gaps): it is named, and never acted upon. */
interface Subject {
  readonly kind: Pick<Kind, "noun">;
  readonly address: string;
  /** The provider's alias. */
  readonly provider: string;
  /** The live attributes. */
  readonly attributes: JsonObject;
  /** The job that hostform last requested, unless its end is known. */
  readonly job: QueuedJob | undefined;
}

/**
 * The mark of an object as it is observed: without the requests that are answered, and without the job that the phase shows
 * as done. What was asked for stays while that cannot be seen, so that a later plan knows what the word should mean. A live object
 * loses the mark of its suspension.
 */
export function observedMark(mark: PrivateMark, phase: Phase, forms?: Forms): PrivateMark {
  const { job, ...since } = withoutRequests(mark);
  const { suspended: _, ...awake } = since;
  const settled = phase === "live" ? awake : since;
  const rest = forms === undefined ? settled : withForms(settled, forms);
  const over = job === undefined || phase === job.toward || phase === "gone";
  return over ? rest : { ...rest, job };
}

/**
 * The declared attributes of which a status that is not understood says neither that they are as declared nor that they are
 * not: those that requests change and the API shows.
 */
export function unseenNames(kind: Kind, config: { readonly [name: string]: unknown }): string[] {
  return attributesOf(kind).flatMap(({ name, meta: { change, computed } }) =>
    change === "in-place" && computed && (config[name] ?? null) !== null ? [name] : [],
  );
}

/** The parameters of the messages about a status. */
const stated = ({ kind, address, provider, attributes, job }: Subject) => ({
  address,
  noun: kind.noun,
  provider,
  status: attributes.status,
  job,
});

/** The condition of an object with an unknown status: which attributes cannot change, or cannot be compared. */
export function unknownStatus(
  subject: Subject,
  { left, unseen }: { readonly left: readonly string[]; readonly unseen: readonly string[] },
): Condition {
  const about = stated(subject);
  if (left.length > 0) return conditionFor("unknown_status/unchanged", { ...about, names: left.join(", ") });
  return unseen.length > 0
    ? conditionFor("unknown_status/unchecked", { ...about, names: unseen.join(", ") })
    : conditionFor("unknown_status", about);
}

/** An apply leaves attributes unchanged because of an unknown status. */
export const unchangedFor = (subject: Subject, names: readonly string[], severity: Diagnostic["severity"]) =>
  problem("plan.unknown_status/unchanged", {
    ...stated(subject),
    names: names.join(", "),
    attribute: names.slice(0, 1),
    severity,
  });

/** The evidence that the row of an object has ended: `is "terminated"`. */
export const endOf = ({ end, attributes: { status } }: Pick<Remote, "end" | "attributes">): string =>
  end ?? `is ${JSON.stringify(status ?? "gone")}`;

/** The account lists the row of an object that has ended. */
export const endedInList = (noun: string, object: string, how: string): Diagnostic =>
  problem("plan.gone/ended", { noun, object, how });

/** An object that the host has switched off: no request of the API switches it on. @param secrets names of secret attributes. */
export function switchedOff(
  { kind, address, attributes }: Pick<Subject, "address" | "attributes"> & { readonly kind: Kind },
  off: string | undefined,
  secrets: readonly string[],
): Condition[] {
  if (off === undefined) return [];
  const { name } = kind.words;
  const shown = secrets.includes(name) ? undefined : attributes[name];
  const about = {
    address,
    noun: kind.noun,
    id: String(attributes.id),
    off,
    name: shown == null ? undefined : openUrl(String(shown)),
  };
  return [conditionFor("off", about)];
}

/** A removal that begins with a suspension waits for a status that hostform understands. */
export const notRemovable = (subject: Subject, severity: Diagnostic["severity"]): Diagnostic =>
  problem("plan.prevented/status", { ...stated(subject), severity });

/** The status changed from a known word to an unknown one after hostform requested a job. */
export const unclearEnd = (subject: Subject & { readonly job: QueuedJob }): Diagnostic =>
  problem("plan.unknown_status/ended", { ...stated(subject), job: subject.job });

/** An order whose status does not show whether the object is live: its other attributes wait. */
export const unknownAtOnce = (subject: Subject, names: readonly string[]): Diagnostic =>
  problem("plan.unknown_status/ordered", { ...stated(subject), names: names.join(", ") });

/**
 * Statuses by which an API may say that a service is not ready for something: §7 leaves all but 422 open. 401, 403 and 429
 * are about the token, and never a matter of time alone.
 */
const NOT_NOW: ReadonlySet<number> = new Set([400, 402, 404, 409, 412, 422, 423, 425]);

/** Returns true if a refusal may end when the service is live. A refusal of sent values (§7, 422) does not. */
export function mayPass(error: unknown, kind?: Kind): error is ApiError {
  if (!(error instanceof ApiError) || error.status === undefined || !NOT_NOW.has(error.status)) return false;
  if (error.diagnostics[0]?.code === "api.malformed") return false;
  const sent = new Set(kind === undefined ? [] : attributesOf(kind).map(({ name }) => name));
  return !Object.keys(error.fieldErrors).some((field) => sent.has(field.split(".")[0] ?? field));
}

/** The API refused something of a service that is not live yet (§3: it is provisioned when it is paid). Nothing was done. */
export class NotLiveYet extends HostformError {
  readonly kind: Kind;
  readonly service: Remote;
  readonly refusal: ApiError;
  /** Reason of a change that waits: a later run carries it out. */
  readonly waiting: Diagnostic;
  readonly #what: string;

  /** @param what was refused: an address, or "The single sign-on". @param why it is not live, if that is known. */
  constructor(kind: Kind, service: Remote, what: string, refusal: ApiError, why?: string) {
    const [said] = refusal.diagnostics;
    const words = [said?.summary, said?.detail].filter(Boolean).join(". ");
    const about = { what, noun: kind.noun, id: service.id, why, refusal: words };
    super([problem("apply.waiting/live", { severity: "error", ...about })], { cause: refusal });
    this.waiting = problem("apply.waiting/live", about);
    this.kind = kind;
    this.service = service;
    this.#what = what;
    this.refusal = refusal;
  }

  because(why: string | undefined): NotLiveYet {
    return new NotLiveYet(this.kind, this.service, this.#what, this.refusal, why);
  }

  /** The refusal where the status is not understood: the word may be why, and only the user can say what it means. */
  notUnderstood(): HostformError {
    const { id, attributes } = this.service;
    const about = { noun: this.kind.noun, id, status: attributes.status };
    const { summary, remedies = [] } = problem("plan.unknown_status/parent", about);
    const diagnostics = this.refusal.diagnostics.map((each) => ({
      ...each,
      detail: [each.detail, `${summary}.`].filter(Boolean).join(" "),
      remedies: [...remedies, ...(each.remedies ?? [])],
    }));
    return new HostformError(diagnostics, { cause: this.refusal });
  }
}

/**
 * What a refused create is that is only early: what the object belongs to is not live yet, has a status that is not
 * understood, or was made in this run and has become live just now. Undefined for any other failure. Sends one GET, and none
 * for what time alone does not change.
 */
export async function notLiveYet(
  kind: Kind,
  what: string,
  planned: JsonObject,
  error: unknown,
  { account, parentKind }: { readonly account: Account; readonly parentKind?: Kind | undefined },
): Promise<NotLiveYet | undefined> {
  const id = parentOf(kind, planned);
  // A 403 to a list may be about the service that the list belongs to.
  const isHidden = error instanceof ApiError && error.status === 403 && error.endpoint.startsWith("GET");
  if (parentKind === undefined || id === undefined || !(isHidden || mayPass(error, kind))) return undefined;
  return early(account, parentKind, id, what, error);
}

async function early(account: Account, kind: Kind, id: string, what: string, error: ApiError) {
  const service = await account.get(kind, id).catch(() => undefined);
  const { phase } = service ?? {};
  const isEarly = phase === "pending" || phase === "unknown" || (phase === "live" && account.isNew(id));
  return service && isEarly ? new NotLiveYet(kind, service, what, error) : undefined;
}

/** A single sign-on that was refused: in other words where the service is not live yet, else as it came. */
export async function signOnRefused(account: Account, kind: Kind, id: string, error: unknown): Promise<unknown> {
  const found = mayPass(error) ? await early(account, kind, id, "The single sign-on", error) : undefined;
  return found?.because(await whyWaiting(account, found)) ?? error;
}

/**
 * Why a service cannot become live without the user; undefined when its invoices are paid. One whose status is not understood
 * counts as not live while it is not paid.
 * @throws HostformError the refusal, where it is not known to be unpaid: then its word has to be understood.
 */
export async function whyWaiting(account: Account, early: NotLiveYet): Promise<string | undefined> {
  const paid = await isPaidFor(account, early.service.id);
  if (early.service.phase === "unknown" && paid !== false) throw early.notUnderstood();
  if (paid === true) return undefined;
  return paid === false ? "its invoice is not paid" : "no invoice shows its payment";
}

/** Returns true if the invoices of a service are paid; undefined: unreadable, or none. */
async function isPaidFor(account: Account, id: string): Promise<boolean | undefined> {
  // §5: invoices need an ability of their own. Without them the answer is not known, and only a wait depends on it.
  const invoices = await account.invoices.all().catch(() => []);
  const own = invoices.filter(({ order_id: order }) => order === id);
  const paid = own.map(isPaid);
  if (paid.includes(false)) return false;
  return paid.length === 0 || paid.includes(undefined) ? undefined : true;
}
