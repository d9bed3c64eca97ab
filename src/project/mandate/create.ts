/** Creates a mandate for a saved plan, or for a project within limits. */
import { hash, randomUUID } from "node:crypto";
import { kinds } from "../../core/kinds/index.ts";
import { service } from "../../core/kinds/service/index.ts";
import { keyOf } from "../../core/lifecycle/index.ts";
import { problem, raise } from "../../core/messages/index.ts";
import {
  type AccountMark,
  clientOf,
  type Diagnostic,
  type Mandate,
  type Plan,
  parseAddress,
  type ResourceState,
  type State,
} from "../../core/model/index.ts";
import type { MoneyScale } from "../../report/index.ts";
import { identityOf } from "../identity.ts";
import { interruptible } from "../interrupt.ts";
import { type Origin, savedScale } from "../plan-origin.ts";
import type { Project } from "../project.ts";
import { withProviders } from "../providers.ts";
import { decodeSavedPlan, planBytes } from "../saved-plan.ts";
import { isSelected, type Selectable, selectable } from "../selection.ts";
import { signMandate } from "./document.ts";
import { APPROVER, privateKeyOf } from "./keys.ts";
import { leftOf, limitsOf } from "./ledger.ts";
import { objectName, outOfScope } from "./scope.ts";

/** Names of the kinds that a mandate can allow. */
export const MANDATE_KINDS: readonly string[] = [...kinds.keys()].map((type) => type.replace("hosting_", ""));

/** Options of a new mandate. */
export interface MandateFlags {
  readonly kinds?: readonly string[];
  readonly maxOrders?: number;
  readonly maxSpend?: Readonly<Record<string, number>>;
  readonly maxRemovals?: number;
  readonly target?: readonly string[];
  /** False if no site may go offline. */
  readonly offline: boolean;
  /** Lifetime in milliseconds. Default: 2 hours. */
  readonly expires?: number;
  /** Default: 1. */
  readonly uses?: number;
}

/**
 * Creates and signs a mandate.
 * @param file saved plan that the mandate allows. Without a plan, a missing limit allows nothing.
 * @returns the mandate, its signed file, the saved plan, and warnings.
 * @throws HostformError `mandate.key`, `mandate.file`, `plan.saved`, and mistakes of the declaration.
 */
export async function createMandate(project: Project, flags: MandateFlags, file?: string) {
  const key = (await privateKeyOf(project, APPROVER)) ?? raise("mandate.key/unset", {});
  const { bound, plan, origin, known, records } = await (file === undefined
    ? ofProject(project)
    : ofPlan(project, file));
  const { kinds = null, target: targets = [], uses = 1, expires = 7_200_000 } = flags;
  const selected = known.filter((one: Selectable) => targets.some((target) => isSelected(target, one)));
  const existing = selected.flatMap(({ address }) => records.get(address) ?? []);
  const objects = existing.map(({ address, provider, attributes }) =>
    objectName(provider, parseAddress(address)?.type ?? "", attributes.id),
  );
  const now = project.host.clock.now();
  const asked: Mandate = {
    id: randomUUID(),
    ...(project.redaction.redactValue(bound) as typeof bound),
    kinds,
    max_orders: flags.maxOrders ?? null,
    max_spend: flags.maxSpend ?? null,
    max_removals: flags.maxRemovals ?? null,
    targets,
    objects: plan === undefined && targets.length > 0 ? [...new Set(objects)] : null,
    no_offline: !flags.offline,
    uses,
    issued: new Date(now).toISOString(),
    expires: new Date(now + expires).toISOString(),
  };
  const mandate = { ...asked, ...limitsOf(asked) };
  const unmatched = targets.filter((target) => !known.some((one) => isSelected(target, one)));
  const own = await project.declaration.moneyScale();
  const moneyScale = origin === undefined ? own : savedScale(own, origin);
  const isUnpaid = plan === undefined && Boolean(flags.maxOrders) && flags.maxSpend === undefined;
  const warnings = [
    ...unmatched.map((target) => problem("plan.address/mandate", { id: target })),
    ...(isUnpaid ? [problem("mandate.limit/unpaid", { id: mandate.id })] : []),
    ...(plan === undefined ? [] : excessOf(mandate, plan, origin, moneyScale)),
  ];
  return { mandate, text: signMandate(mandate, key), plan, moneyScale, warnings };
}

/** Returns warnings about everything in the plan that its mandate does not allow. */
function excessOf(mandate: Mandate, plan: Plan, origin: Origin, moneyScale: MoneyScale): Diagnostic[] {
  const left = leftOf(mandate, { mandate, revoked: null, uses: [], orders: new Map(), removals: new Set() });
  const saved = { origin, digest: mandate.plan?.digest ?? "" };
  const found = outOfScope({ mandate, left, plan, environment: mandate.environment, saved, moneyScale });
  return found.map(({ summary, detail = "" }) => problem("mandate.scope/excess", { summary, detail }));
}

/** The run that applies the plan checks its proof, because the approver may not have the key of the state. */
async function ofPlan({ source }: Project, file: string) {
  const bytes = await planBytes(source, file);
  const { plan, origin } = decodeSavedPlan(bytes.toString("utf8"), file);
  const { project, environment = null, lineage, serial, identities: accounts } = origin;
  return {
    bound: { project, environment, accounts, plan: { digest: hash("sha256", bytes), lineage, serial } },
    plan,
    records: new Map<string, ResourceState>(),
    origin,
    known: plan.changes.map((change) => ({ address: change.address, client: clientOf(change) ?? undefined })),
  };
}

async function ofProject(project: Project) {
  const { desired } = await project.declaration.load();
  const state = await project.state.read(false);
  const accounts = recordedAccounts(state);
  const used = [...desired.resources, ...state.resources.values()].map(({ provider }) => provider);
  // The first plan of an empty declaration may use each account.
  const aliases = used.length > 0 ? used : desired.providers.keys();
  const unknown = [...new Set(aliases)].filter((alias) => !accounts.get(alias)?.anchors.length);
  if (unknown.length > 0)
    await interruptible(project.host, (signal) =>
      withProviders(desired.providers, project, signal, async (providers) => {
        for (const alias of unknown) {
          const { account } = await providers.use(alias);
          await account.list(service);
          accounts.set(alias, identityOf(account));
        }
      }),
    );
  const environment = project.source.environment?.name ?? null;
  const bound = { environment, accounts: Object.fromEntries([...accounts].sort()), plan: null };
  return {
    bound: { project: desired.project, ...bound },
    plan: undefined,
    origin: undefined,
    known: selectable(desired, state, "apply"),
    records: state.resources,
  };
}

/** Returns the accounts that the state records. Each entry has some anchors of its account. */
function recordedAccounts({ resources }: State): Map<string, AccountMark> {
  const marks = new Map<string, AccountMark>();
  for (const { provider, private: mark } of resources.values()) {
    if (mark.account === undefined) continue;
    const all = [...(marks.get(provider)?.anchors ?? []), ...mark.account.anchors];
    const anchors = [...new Map(all.map((one) => [keyOf(one), one])).values()];
    marks.set(provider, { ...mark.account, anchors });
  }
  return marks;
}
