import type { Kind } from "../../../core/kinds/kind.ts";
import {
  applyChange,
  isPendingCreate,
  type Observation,
  type PlannedRemoval,
  parentOf,
  planRemoval,
  policyOf,
  read,
  settledMark,
} from "../../../core/lifecycle/index.ts";
import {
  type Diagnostic,
  HostformError,
  isError,
  type JsonObject,
  type ResourceState,
} from "../../../core/model/index.ts";
import { applyContext } from "./apply.ts";
import { labelOf, type Mark, nameOf, recordedAs, withProviderAttributes } from "./attribute-mapping.ts";
import { effectNotices, otherHost, settleFirst } from "./notices.ts";
import type { ProviderScope } from "./provider-scope.ts";
import { GONE } from "./read.ts";
import { markReleased } from "./replacement.ts";

/**
 * Plans the removal of a recorded object: what has a DELETE is deleted, for the rest the recorded deletion_policy decides.
 * Terraform forgets whatever it may destroy, so that what is to stay managed is an error.
 */
export async function planDestroy(
  kind: Kind,
  prior: JsonObject,
  mark: Mark,
  scope: ProviderScope,
): Promise<PlannedRemoval> {
  const recorded = recordedAs(kind, prior, mark);
  const now = scope.account.hostNow();
  // The half of a replacement is not given the mark: without it nothing says what became of the request.
  if (prior.id === null && !isPendingCreate(recorded))
    return { ...notFound(kind, recorded, now), diagnostics: [settleFirst(recorded.address)] };
  const { settings } = scope.session;
  const phase = kind.phase?.(prior, settings) ?? "live";
  const observed: Observation = isPendingCreate(recorded)
    ? await read(scope.account, { kind, prior: undefined, config: recorded.attributes })
    : phase === "gone"
      ? { status: "gone", how: "is gone", matches: [] }
      : { status: "present", attributes: recorded.attributes, phase };
  if (prior.status === GONE && policyOf(prior) === "prevent") return notFound(kind, recorded, now);
  const { change, diagnostics } = planRemoval({ kind, prior: recorded, observed, mode: "apply", now, settings });
  // Only what is not removed comes with diagnostics.
  return {
    change,
    diagnostics:
      change.removal === undefined
        ? diagnostics.map((each) => ({ ...each, severity: "error" as const }))
        : effectNotices(kind, prior, change),
  };
}

export interface Destroyed {
  readonly diagnostics: readonly Diagnostic[];
  /** What stays in the state, with an error: the removal was begun and its end is not to be seen. Absent: nothing. */
  readonly left?: { readonly state: JsonObject; readonly mark: Mark };
}

/**
 * Removes a recorded object.
 * @throws HostformError: it stays in the state as it is.
 */
export async function destroyResource(
  kind: Kind,
  prior: JsonObject,
  mark: Mark,
  scope: ProviderScope,
  cancelled?: AbortSignal,
): Promise<Destroyed> {
  const { change, diagnostics } = await planDestroy(kind, prior, mark, scope);
  if (diagnostics.some(isError)) throw new HostformError(diagnostics);
  if (mark.host !== undefined && mark.host !== scope.session.host)
    throw new HostformError([otherHost(kind, prior, "removed")]);
  const name = nameOf(kind, prior);
  const options = { name, config: prior, prior, operation: "delete", scope, cancelled } as const;
  const { context, latest } = applyContext(kind, { ...options, owner: { label: labelOf(kind, prior) } });
  const applied = await applyChange(kind, change, null, context);
  if (applied.attributes !== null) {
    const state = withProviderAttributes(kind, applied.attributes, prior) as JsonObject;
    const left = { state, mark: settledMark(latest.resource?.private ?? mark) };
    return { diagnostics: [...applied.diagnostics, applied.unclear ?? stillSuspending(kind, prior)], left };
  }
  markReleased(kind, recordedAs(kind, prior, {}), scope);
  scope.release(kind, name, prior);
  scope.collections.changed(kind, parentOf(kind, prior));
  return { diagnostics: [...diagnostics, ...applied.diagnostics] };
}

/** A 404 is an answer of another account as well: only a status says that an object has ended. */
function notFound(kind: Kind, recorded: ResourceState, now: number): PlannedRemoval {
  const { change } = planRemoval({
    kind,
    prior: recorded,
    observed: { status: "gone", how: "is gone", matches: [] },
    mode: "apply",
    now,
  });
  const refusal: Diagnostic = {
    severity: "error",
    code: "plan.prevented",
    summary: `${recorded.address} may not be removed: this account does not know ${kind.noun} ${String(recorded.attributes.id)}`,
    detail:
      'Its deletion_policy is "prevent", and that nothing is found does not say that it has ended: another account answers so, too.',
    remedies: [
      "Check the token and the address of the provider. If it has really ended: a `removed` block with `destroy = false`, or `terraform state rm`.",
    ],
  };
  return { change, diagnostics: [refusal] };
}

/** It is let go of only when it is suspended: until then the policy is not carried out. */
function stillSuspending(kind: Kind, prior: JsonObject): Diagnostic {
  return {
    severity: "error",
    code: "apply.waiting",
    summary: `The suspension of ${kind.noun} ${String(prior.id)} is queued and not done yet`,
    detail: 'Its deletion_policy is "suspend": it leaves the state only when it is suspended.',
    remedies: ['Run the command again later, or give it longer: `timeouts = { delete = "20m" }`.'],
  };
}
