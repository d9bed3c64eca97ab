import {
  type Change,
  type CostLine,
  type Effect,
  effectOf,
  type Plan,
  type Quote,
  type Reason,
  type RemedyText,
  type RequestEstimate,
} from "../core/model/index.ts";
import { type DiagnosticJson, diagnosticJson } from "./diagnostic-json.ts";

/** What Terraform's representation has no place for. */
export interface PlanExtrasJson {
  readonly project: string;
  readonly mode: "apply" | "destroy";
  readonly lineage: string;
  readonly serial: number;
  readonly cost: readonly CostLine[];
  readonly requests: RequestEstimate;
  /** Addresses of creates without known outcome that applying does not settle; the exit code is 1 while there are any. */
  readonly pending: readonly string[];
  /** Addresses that are not compared, as the token may not read them: nothing is planned for them. */
  readonly unread?: readonly string[];
  readonly diagnostics: readonly DiagnosticJson[];
  /** By address; resources about which there is nothing to say are left out. */
  readonly resources: Readonly<Record<string, ResourceExtrasJson>>;
}

export interface ResourceExtrasJson {
  /** Alias of the provider, that is of the account. */
  readonly provider: string;
  readonly reasons?: readonly Reason[];
  /** Declared changes that wait until the service is live. */
  readonly deferred?: readonly string[];
  /** What the change does to the account, where it does anything: Terraform's actions do not tell a suspension. */
  readonly effect?: Effect;
  /** What is declared is not fulfilled, or that cannot be seen: the status is not understood. The exit codes say so, too. */
  readonly unfulfilled?: true;
  /** When it was created (ISO 8601), where no list shows it yet: it is planned as it was recorded. */
  readonly unlisted?: string;
  /** The API shows nothing of it before this is live, such as `service 1001`. */
  readonly waits_for?: string;
  /** Where the secret that it brings is written, links followed: relative to the project, or in full outside of it. */
  readonly secret_to?: string;
  readonly removal?: "delete" | "forget" | "suspend";
  readonly quote?: Quote;
}

/** Our own additions to the plan as JSON, under `hostform`. */
export function extrasJson(plan: Plan, remedies: RemedyText): PlanExtrasJson {
  return {
    project: plan.project,
    mode: plan.mode,
    lineage: plan.lineage,
    serial: plan.serial,
    cost: plan.cost,
    requests: plan.requests,
    pending: plan.pending,
    ...(plan.unread && { unread: plan.unread }),
    diagnostics: plan.diagnostics.map((one) => diagnosticJson(one, remedies)),
    resources: Object.fromEntries(plan.changes.map((change) => [change.address, resourceExtras(change)])),
  };
}

function resourceExtras(change: Change): ResourceExtrasJson {
  const effect = effectOf(change);
  return {
    provider: change.provider,
    ...(change.reasons.length > 0 && { reasons: change.reasons }),
    ...(change.deferred.length > 0 && { deferred: change.deferred }),
    ...(effect !== "none" && { effect }),
    ...(change.unfulfilled && { unfulfilled: true }),
    ...(change.unlisted !== undefined && { unlisted: change.unlisted }),
    ...(change.waitsFor !== undefined && { waits_for: change.waitsFor }),
    ...(change.secretTo !== undefined && { secret_to: change.secretTo }),
    ...(change.removal !== undefined && { removal: change.removal }),
    ...(change.quote !== undefined && { quote: change.quote }),
  };
}
