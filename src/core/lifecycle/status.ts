/**
 * Effects of an object's status. hostform never acts on an unknown status. A service that is not live yet rejects many
 * requests.
 */
import type { Kind, Remote } from "../kinds/kind.ts";
import { conditionFor, problem } from "../messages/index.ts";
import {
  ApiError,
  type Condition,
  type Diagnostic,
  type Forms,
  HostformError,
  isPaid,
  type JsonObject,
  openUrl,
  type Phase,
  type PrivateMark,
  type QueuedJob,
} from "../model/index.ts";
import type { Account } from "./account.ts";
import { attributesOf, parentOf } from "./attributes.ts";
import { withForms } from "./own-forms.ts";
import { withoutRequests } from "./pending-create.ts";

/** Subject of a message about an unknown status (§2 Gaps). */
interface Subject {
  readonly kind: Pick<Kind, "noun">;
  readonly address: string;
  /** Alias of the provider. */
  readonly provider: string;
  /** Live attributes. */
  readonly attributes: JsonObject;
  /** Last job that hostform requested, if its end is unknown. */
  readonly job: QueuedJob | undefined;
}

/**
 * Returns the private part of the entry after an observation: without settled requests and finished jobs. An unfinished job
 * stays, so that a later plan can interpret the status. A live object loses its suspension.
 */
export function observedMark(mark: PrivateMark, phase: Phase, forms?: Forms): PrivateMark {
  const { job, ...since } = withoutRequests(mark);
  const { suspended: _, ...awake } = since;
  const settled = phase === "live" ? awake : since;
  const rest = forms === undefined ? settled : withForms(settled, forms);
  const over = job === undefined || phase === job.toward || phase === "gone";
  return over ? rest : { ...rest, job };
}

/** Returns the declared attributes that depend on the status. They cannot be compared while the status is unknown. */
export function unseenNames(kind: Kind, config: { readonly [name: string]: unknown }): string[] {
  return attributesOf(kind).flatMap(({ name, meta: { change, computed } }) =>
    change === "in-place" && computed && (config[name] ?? null) !== null ? [name] : [],
  );
}

/** Returns the message parameters of a status. */
const stated = ({ kind, address, provider, attributes, job }: Subject) => ({
  address,
  noun: kind.noun,
  provider,
  status: attributes.status,
  job,
});

/**
 * Returns the condition of an object with an unknown status. `left`: attributes that hostform cannot change. `unseen`:
 * attributes that it cannot compare.
 */
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

/** Returns the message that an unknown status prevents changes of these attributes. */
export const unchangedFor = (subject: Subject, names: readonly string[], severity: Diagnostic["severity"]) =>
  problem("plan.unknown_status/unchanged", {
    ...stated(subject),
    names: names.join(", "),
    attribute: names.slice(0, 1),
    severity,
  });

/** Returns how an object has ended, for example `is "terminated"`. */
export const endOf = ({ end, attributes: { status } }: Pick<Remote, "end" | "attributes">): string =>
  end ?? `is ${JSON.stringify(status ?? "gone")}`;

/** Returns the message that the list contains the object as ended. */
export const endedInList = (noun: string, object: string, how: string): Diagnostic =>
  problem("plan.gone/ended", { noun, object, how });

/**
 * Returns the condition of an object that the host disabled. No request can enable it.
 * @param secrets Names of secret attributes.
 */
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

/** Returns the error that an unknown status prevents the suspension of a removed object. */
export const notRemovable = (subject: Subject, severity: Diagnostic["severity"]): Diagnostic =>
  problem("plan.prevented/status", { ...stated(subject), severity });

/** Returns the error about a status that became unknown after hostform requested a job. */
export const unclearEnd = (subject: Subject & { readonly job: QueuedJob }): Diagnostic =>
  problem("plan.unknown_status/ended", { ...stated(subject), job: subject.job });

/** Returns the message about a new order with an unknown status, whose other attributes must wait. */
export const unknownAtOnce = (subject: Subject, names: readonly string[]): Diagnostic =>
  problem("plan.unknown_status/ordered", { ...stated(subject), names: names.join(", ") });

/**
 * HTTP statuses that may mean "not ready yet". §7 defines only 422. Not included: 401, 403 and 429, because they concern the
 * token.
 */
const NOT_NOW: ReadonlySet<number> = new Set([400, 402, 404, 409, 412, 422, 423, 425]);

/** Returns true if the rejection may end when the service is live. A rejection of sent values (§7, 422) does not end. */
export function mayPass(error: unknown, kind?: Kind): error is ApiError {
  if (!(error instanceof ApiError) || error.status === undefined || !NOT_NOW.has(error.status)) return false;
  if (error.diagnostics[0]?.code === "api.malformed") return false;
  const sent = new Set(kind === undefined ? [] : attributesOf(kind).map(({ name }) => name));
  return !Object.keys(error.fieldErrors).some((field) => sent.has(field.split(".")[0] ?? field));
}

/**
 * Error: the API rejected a request because the service is not live yet (§3: a service is provisioned after payment). Nothing
 * was changed.
 */
export class NotLiveYet extends HostformError {
  readonly kind: Kind;
  readonly service: Remote;
  readonly refusal: ApiError;
  /** Message of the waiting change. A later run applies the change. */
  readonly waiting: Diagnostic;
  readonly #what: string;

  /**
   * @param what Rejected subject: an address, or "The single sign-on".
   * @param why Reason why the service is not live, if known.
   */
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

  /**
   * Returns the rejection, with a hint at the unknown status. The status may be the cause, and only the user can interpret
   * it.
   */
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
 * Returns the error if the create request was only too early: the parent is not live yet, has an unknown status, or was
 * created in this run and just became live. Undefined for other failures. Sends at most one GET.
 */
export async function notLiveYet(
  kind: Kind,
  what: string,
  planned: JsonObject,
  error: unknown,
  { account, parentKind }: { readonly account: Account; readonly parentKind?: Kind | undefined },
): Promise<NotLiveYet | undefined> {
  const id = parentOf(kind, planned);
  // A 403 for a list may be a 403 for the parent service.
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

/** Returns the error about a rejected single sign-on. Explains if the service is not live yet. */
export async function signOnRefused(account: Account, kind: Kind, id: string, error: unknown): Promise<unknown> {
  const found = mayPass(error) ? await early(account, kind, id, "The single sign-on", error) : undefined;
  return found?.because(await whyWaiting(account, found)) ?? error;
}

/**
 * Returns the reason why the service waits for the user. Undefined if its invoices are paid. With an unknown status and an
 * unpaid invoice, the service counts as not live.
 * @throws HostformError the rejection, if the status is unknown and no unpaid invoice is known.
 */
export async function whyWaiting(account: Account, early: NotLiveYet): Promise<string | undefined> {
  const paid = await isPaidFor(account, early.service.id);
  if (early.service.phase === "unknown" && paid !== false) throw early.notUnderstood();
  if (paid === true) return undefined;
  return paid === false ? "its invoice is not paid" : "no invoice shows its payment";
}

/** Returns true if all invoices of a service are paid. Undefined if they are unreadable or missing. */
async function isPaidFor(account: Account, id: string): Promise<boolean | undefined> {
  // Invoices need their own ability (§5). Without it, the result is undefined.
  const invoices = await account.invoices.all().catch(() => []);
  const own = invoices.filter(({ order_id: order }) => order === id);
  const paid = own.map(isPaid);
  if (paid.includes(false)) return false;
  return paid.length === 0 || paid.includes(undefined) ? undefined : true;
}
