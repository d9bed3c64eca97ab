import { type Kind, type Remote, type RemovalPolicy, wordsOf } from "../kinds/kind.ts";
import { problem } from "../messages/index.ts";
import { type Change, type Diagnostic, type JsonObject, type ResourceState, some } from "../model/index.ts";
import { refreshed } from "./attributes.ts";
import { isPendingCreate, type PendingCreate, withoutRequests } from "./pending-create.ts";
import { decidePending, type PendingDecision, type PendingSettings } from "./pending-facts.ts";
import { secretNames } from "./planned.ts";
import type { Observation } from "./read.ts";
import { notRemovable, observedMark } from "./status.ts";
import { unreadOf } from "./unread.ts";

interface RemovalInput {
  readonly kind: Kind;
  readonly prior: ResourceState;
  readonly observed: Observation;
  readonly mode: "apply" | "destroy";
  /**
   * Severity of the message that an object is not removed. Default: warning in a destroy, else error. Messages about waits
   * have their own severity.
   */
  readonly severity?: Diagnostic["severity"];
  /** True if the resource must only leave the state, under any policy (`removed` with `destroy = false`). */
  readonly forget?: boolean;
  /** Current time by the host's clock, in milliseconds since the epoch. */
  readonly now: number;
  readonly settings?: PendingSettings | undefined;
  /** Returns the other address whose state entry has this live object. */
  ownerOf?(remote: Remote): string | undefined;
  /** Other pending creations of the kind and account. */
  readonly siblings?: readonly PendingCreate[];
}

export interface PlannedRemoval {
  readonly change: Change;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Plans the removal of an undeclared resource. If the API has DELETE for the kind, the object is deleted. Otherwise the
 * `deletion_policy` in the state decides. The protection therefore outlives the removed block.
 */
export function planRemoval(input: RemovalInput): PlannedRemoval {
  const { kind, prior, observed, mode, severity = mode === "destroy" ? "warning" : "error" } = input;
  if (isPendingCreate(prior)) return planPendingRemoval(input, prior);
  const { address } = prior;
  const { noun } = kind;
  const before = observed.status === "present" ? observed.attributes : prior.attributes;
  const reason = mode === "destroy" ? ("destroy" as const) : ("removed" as const);
  const text = mode === "destroy" ? "destroy" : "no longer declared";
  const phase = observed.status === "present" ? observed.phase : "gone";
  const mark = observedMark(prior.private, phase);
  const base = {
    address,
    type: kind.type,
    words: wordsOf(kind),
    provider: prior.provider,
    before,
    after: null,
    after_unknown: {},
    sensitive: secretNames({ kind, prior }),
    config: null,
    deferred: [],
    private: mark,
    dependsOn: prior.dependencies,
  };
  const forget = (why: "gone" | typeof reason, how: string): Change => ({
    ...base,
    actions: ["forget"],
    reasons: [{ why, text: how }],
    removal: "forget",
    requests: 0,
  });
  const keep = (diagnostic: Diagnostic, more: Pick<Change, "unfulfilled"> = {}) => ({
    change: { ...base, actions: ["no-op"] as const, after: before, reasons: [], requests: 0, ...more },
    diagnostics: [diagnostic],
  });

  const silently = (change: Change) => ({ change, diagnostics: [] });

  if (observed.status !== "present" && prior.private.deposed === undefined)
    return silently(forget("gone", observed.status === "gone" ? `it ${observed.how}` : "it was never made"));
  if (input.forget === true) return silently(forget(reason, "destroy = false keeps the object"));
  const unread = unreadOf(observed);
  if (unread?.cause === "handed_over") return silently(forget(reason, `${text}; no list shows it: ${unread.said}`));
  // Delete even if only the deposed object still exists. DELETE of a missing object is no error.
  if (kind.removal === "delete") {
    const requests = prior.private.deposed === undefined ? 1 : 2;
    return silently({ ...base, actions: ["delete"], reasons: [{ why: reason, text }], removal: "delete", requests });
  }
  const policy = policyOf(prior.attributes);
  const billed = kind.quote === undefined ? text : `${text}: the host still bills it`;
  if (policy === "forget") return silently(forget(reason, billed));
  if (policy === "suspend" && kind.suspendSteps !== undefined) {
    if (phase === "unknown") {
      const subject = { kind, address, provider: prior.provider, attributes: before, job: mark.job };
      return keep(notRemovable(subject, severity), { unfulfilled: true });
    }
    if (phase !== "live" && phase !== "suspended")
      return keep(problem("plan.prevented/early", { address, noun, status: JSON.stringify(before.status), severity }));
    const requests = kind.suspendSteps(before).length;
    const asked = `${text}, and its deletion_policy is "suspend"`;
    return silently({ ...forget(reason, asked), removal: "suspend", requests });
  }
  const policies = kind.suspendSteps === undefined ? ["forget"] : ["forget", "suspend"];
  const object = String(prior.attributes.id);
  return keep(
    mode === "destroy"
      ? problem("plan.prevented/kept", { address, noun, policies })
      : problem("plan.prevented", { address, noun, id: object, object, policies }),
  );
}

/** Returns the deletion policy in the state of an object that the API cannot delete. Default: `prevent`. */
export function policyOf(attributes: JsonObject): RemovalPolicy {
  const policy = attributes.deletion_policy;
  return policy === "forget" || policy === "suspend" ? policy : "prevent";
}

/** Plans the removal of a pending creation: removes its object, drops an entry without an object, or waits. */
function planPendingRemoval(input: RemovalInput, prior: PendingCreate): PlannedRemoval {
  const { kind, observed } = input;
  const settled = withoutRequests(prior.private);
  const { deposed, ...mark } = settled;
  const listed = observed.status === "absent" ? observed.listed : undefined;
  const decided = decidePending({ ...input, sent: prior, listed, want: "nothing" });
  const [only] = decided.objects;
  // The object may be another site that only resembles the request. hostform never suspends it.
  const harmful = policyOf(prior.attributes) === "suspend";
  if (decided.do === "adopt" && only !== undefined && !harmful) {
    const attributes = refreshed(kind, prior.attributes, only);
    const present = { status: "present", attributes, phase: only.phase } as const;
    return planRemoval({ ...input, prior: { ...prior, attributes, private: settled }, observed: present });
  }
  if (decided.do === "refused") {
    // The deposed object of the replacement still exists.
    const left: Observation =
      deposed === undefined ? ABSENT : { status: "present", attributes: deposed, phase: "live" };
    return planRemoval({ ...input, prior: { ...prior, private: mark }, observed: left });
  }
  const forgotten = planRemoval({ ...input, prior: { ...prior, private: {} }, observed: ABSENT });
  const { removal: _, ...change } = forgotten.change;
  return {
    change: { ...change, actions: ["no-op"], after: change.before, reasons: [], private: prior.private },
    diagnostics: [undecided(input, prior, decided)],
  };
}

const ABSENT: Observation = { status: "absent", matches: [] };

function undecided(
  { kind: { noun }, severity }: RemovalInput,
  { address, private: mark }: PendingCreate,
  decided: PendingDecision,
): Diagnostic {
  const ids = some(decided.objects.map(({ id }) => id));
  const likely = `it may be ${noun} ${ids}, and a likeness permits no suspension`;
  const reason = decided.do === "adopt" ? likely : `${decided.because}${ids === "" ? "" : ` (${ids})`}`;
  const isWaiting = decided.do === "wait";
  const until = isWaiting && decided.proof ? new Date(decided.proof).toISOString() : undefined;
  const isQuestion = decided.do === "ask";
  const { since } = mark.pending;
  return problem("plan.pending/removal", { address, since, reason, isWaiting, isQuestion, until, severity });
}
