/** Creates a mandate for a saved plan, or for a project within limits. */
import { hash, randomUUID } from "node:crypto";
import { kinds } from "../../core/kinds/index.ts";
import { service } from "../../core/kinds/service/index.ts";
import { keyOf } from "../../core/lifecycle/index.ts";
import { problem, raise } from "../../core/messages/index.ts";
import {
  type AccountMark,
  attempt,
  clientOf,
  type Diagnostic,
  ifExplained,
  type Mandate,
  type Plan,
  resourceOf,
  type State,
} from "../../core/model/index.ts";
import { identityOf } from "../identity.ts";
import { interruptible } from "../interrupt.ts";
import type { Project } from "../project.ts";
import { withProviders } from "../providers.ts";
import { decodeSavedPlan, planBytes } from "../saved-plan.ts";
import { selectable, selected } from "../selection.ts";
import { signMandate } from "./document.ts";
import { APPROVER, privateKeyOf } from "./keys.ts";

/** Names of the kinds that a mandate can allow. */
export const MANDATE_KINDS: readonly string[] = [...kinds.keys()].map((type) => type.replace("hosting_", ""));

/** Limits of a new mandate. */
export interface MandateRequest {
  readonly kinds?: readonly string[];
  readonly maxOrders?: number;
  readonly maxSpend?: Readonly<Record<string, number>>;
  readonly maxRemovals?: number;
  readonly targets?: readonly string[];
  readonly noOffline: boolean;
  /** Default: 1. */
  readonly uses?: number;
  /** Lifetime in milliseconds. */
  readonly lifetimeMs: number;
}

export interface NewMandate {
  readonly mandate: Mandate;
  /** The signed file. */
  readonly text: string;
  /** The saved plan that the mandate allows. */
  readonly plan?: Plan;
  readonly warnings: readonly Diagnostic[];
}

/** Subject of a mandate. */
interface Subject extends Pick<Mandate, "project" | "environment" | "accounts" | "plan"> {
  readonly saved?: Plan;
  readonly known: Parameters<typeof selected>[1];
}

/**
 * Creates and signs a mandate.
 * @param file saved plan that the mandate allows. Without a plan, a missing limit allows nothing.
 * @throws HostformError `mandate.key`, `mandate.file`, `plan.saved`, and mistakes of the declaration.
 */
export async function createMandate(project: Project, asked: MandateRequest, file?: string): Promise<NewMandate> {
  const missing = { variable: APPROVER.file, why: "the variable is not set" };
  const key = (await privateKeyOf(project, APPROVER)) ?? raise("mandate.key", missing);
  const { saved, known, ...subject } = await (file === undefined ? ofProject(project) : ofPlan(project, file));
  const { kinds = null, targets = [], noOffline: no_offline, uses = 1 } = asked;
  const isFree = subject.plan !== null;
  const now = project.host.clock.now();
  const mandate: Mandate = {
    id: randomUUID(),
    ...(project.redaction.redactValue(subject) as typeof subject),
    kinds,
    max_orders: asked.maxOrders ?? (isFree ? null : 0),
    max_spend: asked.maxSpend ?? (isFree ? null : {}),
    max_removals: asked.maxRemovals ?? (isFree ? null : 0),
    ...{ targets, no_offline, uses },
    issued: new Date(now).toISOString(),
    expires: new Date(now + asked.lifetimeMs).toISOString(),
  };
  const matches = (target: string) =>
    attempt(
      () =>
        selected([target], known).some((one) =>
          known.some(({ address }) => [address, resourceOf(address)].includes(one)),
        ),
      ifExplained(() => false),
    );
  const warnings = targets.filter((one) => !matches(one)).map((target) => problem("plan.address/mandate", { target }));
  return { mandate, text: signMandate(mandate, key), ...(saved && { plan: saved }), warnings };
}

/** The run that applies the plan checks its proof, because the approver may not have the key of the state. */
async function ofPlan({ source }: Project, file: string): Promise<Subject> {
  const bytes = await planBytes(source, file);
  const { plan: saved, origin } = decodeSavedPlan(bytes.toString("utf8"), file);
  const { project, environment = null, lineage, serial, identities = {} } = origin;
  return {
    project,
    environment,
    accounts: identities,
    plan: { digest: hash("sha256", bytes), lineage, serial },
    saved,
    known: saved.changes.map((change) => ({ address: change.address, client: clientOf(change) ?? undefined })),
  };
}

async function ofProject(project: Project): Promise<Subject> {
  const { desired } = await project.declaration.load();
  const state = await project.state.read(false);
  const accounts = recordedAccounts(state);
  const used = [...desired.resources, ...state.resources.values()].map(({ provider }) => provider);
  const unknown = [...new Set(used)].filter((alias) => !accounts.get(alias)?.anchors.length);
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
  return {
    project: desired.project,
    environment: project.source.environment?.name ?? null,
    accounts: Object.fromEntries([...accounts].sort()),
    plan: null,
    known: selectable(desired, state, "apply"),
  };
}

/** Returns the accounts that the state records. Each entry has some anchors of its account. */
function recordedAccounts({ resources }: State): Map<string, AccountMark> {
  const marks = new Map<string, AccountMark>();
  for (const { provider, private: mark } of resources.values()) {
    const { account } = mark;
    if (account === undefined) continue;
    const { origin, anchors } = marks.get(provider) ?? { ...account, anchors: [] };
    const seen = new Set(anchors.map(keyOf));
    const fresh = origin === account.origin ? account.anchors.filter((one) => !seen.has(keyOf(one))) : [];
    marks.set(provider, { origin, anchors: [...anchors, ...fresh] });
  }
  return marks;
}
