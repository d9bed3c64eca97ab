import { kinds } from "../../../core/kinds/index.ts";
import type { Kind, ReadSettings, Remote } from "../../../core/kinds/kind.ts";
import {
  attributesOf,
  fileOutputIn,
  isPendingCreate,
  type Observation,
  oneTimeSecretName,
  type PlanInput,
  parentOf,
  planResource,
  read,
  settledMark,
} from "../../../core/lifecycle/index.ts";
import {
  type AttributePath,
  type Diagnostic,
  HostformError,
  hasUnknown,
  isError,
  type JsonObject,
  UNKNOWN,
  type ValueObject,
} from "../../../core/model/index.ts";
import type { ProviderSession } from "../index.ts";
import {
  conform,
  declaredIn,
  hiddenNames,
  labelOf,
  type Mark,
  nameOf,
  recordedAs,
  withProviderAttributes,
} from "./attribute-mapping.ts";
import { activeEntry } from "./journal-lookup.ts";
import {
  deferred,
  effectNotices,
  heldByOther,
  hiddenOnes,
  laterRefused,
  refersToPending,
  settleFirst,
  shownLater,
  stillPending,
  strangers,
  twicePlanned,
  twoAddresses,
  willSettle,
} from "./notices.ts";
import { checkOrder } from "./order-name.ts";
import type { ProviderScope } from "./provider-scope.ts";
import {
  immutableSinceCreate,
  isToReplace,
  noteReplacing,
  planReplacement,
  prevented,
  replacedObject,
  unmarkReleased,
  wasReleased,
} from "./replacement.ts";

interface PlanAnswer {
  readonly planned: ValueObject;
  readonly mark: Mark;
  /** Attributes whose change recreates the object. */
  readonly requiresReplace: readonly AttributePath[];
  readonly diagnostics: readonly Diagnostic[];
}

/** What Terraform asks to have planned. */
interface PlanQuestion {
  /** Null: nothing is recorded. */
  readonly prior: JsonObject | null;
  /** As declared, null where nothing is; parts may be unknown. */
  readonly config: ValueObject;
  readonly mark: Mark;
}

/**
 * Plans one declared resource, through the same function as hostform's own plan. For what is recorded nothing is read:
 * Terraform has just had it refreshed, or wants it not to be (`-refresh=false`).
 * @throws ApiError when the account cannot be read.
 */
export async function planDeclared(kind: Kind, question: PlanQuestion, scope: ProviderScope): Promise<PlanAnswer> {
  const { prior, config, mark } = question;
  const refused = refersToPending(declaredIn(kind, config), kind);
  if (refused.length > 0) return { planned: config, mark, requiresReplace: [], diagnostics: refused };
  const answer =
    prior === null
      ? await planCreate(kind, config, mark, scope)
      : await planRecorded(kind, { ...question, prior }, scope);
  const place = await secretPlaceNotices(kind, config, prior === null, scope.session);
  return {
    ...answer,
    planned: withProviderAttributes(kind, answer.planned, config),
    diagnostics: [...answer.diagnostics, ...place],
  };
}

type Own = Pick<PlanInput, "config" | "prior" | "observed" | "plans" | "adopting">;

function inputOf(kind: Kind, own: Own, { account }: ProviderScope): PlanInput {
  return {
    kind,
    address: labelOf(kind, own.config),
    provider: "default",
    declared: {},
    dependsOn: [],
    reorder: false,
    // Which objects other instances hold is not known here: something like it may well be one of those. The name decides.
    orderAnyway: true,
    secretByReference: hiddenNames(kind),
    now: account.hostNow(),
    ...own,
  };
}

async function planCreate(kind: Kind, config: ValueObject, asked: Mark, scope: ProviderScope): Promise<PlanAnswer> {
  const declared = declaredIn(kind, config);
  const name = nameOf(kind, declared);
  // Terraform does not show a tainted object to the plan of what takes its place.
  const lost = scope.lostId(kind, name);
  const mark = lost === undefined ? asked : { replacing: { id: lost }, ...asked };
  const { note, elsewhere } = await activeEntry(kind, name, scope);
  // What an earlier process began or made under this name is settled by the apply: nothing new is made beside it.
  const known = note !== undefined || elsewhere !== undefined;
  const observed: Observation = known
    ? { status: "absent", matches: [] }
    : await observeNew(kind, declared, { mark, config }, scope);
  const plans = kind.creation === "keyed" && !known ? await scope.account.knownPlans() : [];
  // With create_before_destroy the apply plans the new one while the old one stands, and does not know of it.
  const replaces = config.replace_on_change === true;
  const knowsReplaced = mark.replacing !== undefined;
  const inTheWay = replaces && !knowsReplaced && observed.status === "absent" ? observed.matches : [];
  const free = inTheWay.length === 0 ? observed : { ...observed, matches: [] };
  const input = inputOf(kind, { config: declared, prior: undefined, observed: free, plans }, scope);
  const { result, change, diagnostics } = planResource(input);
  const isPending = mark.pending !== undefined || scope.hasPending(kind, name);
  const found = [
    ...(isPending ? [settleFirst(labelOf(kind, declared))] : []),
    ...diagnostics,
    ...laterRefused(kind, inTheWay),
    ...unsure(kind, declared, observed, scope),
    ...(elsewhere ? [elsewhere] : []),
    ...(note ? [willSettle(kind, note)] : []),
    ...checkOrder(kind, declared, mark, scope.session),
    ...(mark.replacing?.prevented ? [prevented(kind, mark.replacing.id)] : []),
    ...(name === undefined ? [] : heldByOther(kind, name, mark, scope)),
    ...twicePlanned(kind, name, declared, scope),
  ];
  // A grant that expired is not made; Terraform has no way to leave it out.
  const refused = change.after === null ? found.map((each) => ({ ...each, severity: "error" as const })) : found;
  if (!refused.some(isError)) noteReplacing(kind, name, mark.replacing, scope.session);
  const { values } = conform(kind, result, { config: declared, prior: null });
  return { planned: values, mark: {}, requiresReplace: [], diagnostics: refused };
}

/** What could be the declared object although it does not certainly show. */
function unsure(kind: Kind, declared: ValueObject, observed: Observation, scope: ProviderScope): Diagnostic[] {
  if (observed.status !== "absent") return [];
  return [
    ...(kind.naturalKey(declared) === undefined ? strangers(kind, observed, scope) : []),
    ...hiddenOnes(kind, observed, scope),
    ...(observed.waitsFor === undefined ? [] : [shownLater(kind, observed.waitsFor)]),
  ];
}

/** What the account shows that could be the declared object. What it takes the place of does not count. */
async function observeNew(
  kind: Kind,
  declared: ValueObject,
  { mark: { replacing }, config }: { readonly mark: Mark; readonly config: ValueObject },
  scope: ProviderScope,
): Promise<Observation> {
  const parent = parentOf(kind, declared);
  if (kind.naturalKey(declared) === undefined && kind.mayMatch === undefined) return { status: "absent", matches: [] };
  if (hasUnknown(kind.parent === undefined ? null : (parent ?? UNKNOWN))) return { status: "absent", matches: [] };
  const parentKind = kinds.get(kind.nested?.in ?? "");
  const seen = await read(scope.account, { kind, prior: undefined, config: declared, parentKind });
  if (seen.status === "present") return seen;
  const name = nameOf(kind, declared);
  const makesRoom = (remote: Remote) =>
    remote.id === replacing?.id || wasReleased(kind, config, remote, scope) || isToReplace(kind, name, remote, scope);
  const isOther = (remote: Remote) => !makesRoom(remote);
  return { ...seen, matches: seen.matches.filter(isOther), alike: (seen.alike ?? []).filter(isOther) };
}

async function planRecorded(
  kind: Kind,
  { prior, config, mark }: PlanQuestion & { readonly prior: JsonObject },
  scope: ProviderScope,
): Promise<PlanAnswer> {
  const declared = declaredIn(kind, config);
  const recorded = recordedAs(kind, prior, mark);
  const pending = isPendingCreate(recorded);
  const observed = pending
    ? await read(scope.account, { kind, prior: undefined, config: recorded.attributes })
    : asRecorded(kind, recorded.attributes, scope);
  // The list of plans shows whether what is recorded of an adopted object by this plan fits it.
  const learns = kind.creation === "keyed" && prior.plan_id === null && declared.plan_id !== undefined;
  const plans = learns || (pending && kind.creation === "keyed") ? await scope.account.knownPlans() : [];
  const adopting = scope.isImported(kind, prior);
  const planned = planResource(inputOf(kind, { config: declared, prior: recorded, observed, plans, adopting }, scope));
  const gone = observed.status === "gone";
  const double = scope.isDouble(kind, prior) ? [twoAddresses(kind, String(prior.id))] : [];
  const asMade = pending ? [] : immutableSinceCreate(kind, prior, { mark, declared, gone });
  const diagnostics = [
    ...planned.diagnostics,
    ...asMade,
    ...double,
    ...deferred(kind, planned.change.deferred),
    ...effectNotices(kind, prior, planned.change),
  ];
  const replacement = planReplacement(kind, { prior, config, mark, diagnostics, session: scope.session });
  // What is gone and not recreated stays as it is recorded.
  const result = replacement.result ?? (planned.change.after === null ? recorded.attributes : planned.result);
  unmarkReleased(kind, recorded.attributes, scope.session);
  const { values, overruled } = conform(kind, result, { config: declared, prior });
  const edited = pending ? overruled.filter((name) => !(kind.deferred?.("pending") ?? []).includes(name)) : [];
  return {
    planned: values,
    mark: {
      ...(pending ? mark : settledMark(mark)),
      ...replacingOf(kind, recorded.attributes, mark, scope.session.settings),
    },
    requiresReplace: [...replacement.requiresReplace, ...replacedBy(kind, planned.change.reasons)],
    diagnostics: [...replacement.diagnostics, ...edited.map((name) => stillPending(kind, prior, name))],
  };
}

/** The object as Terraform has it recorded, in the phase that its attributes show. */
function asRecorded(kind: Kind, attributes: JsonObject, { session }: ProviderScope): Observation {
  const phase = kind.phase?.(attributes, session.settings) ?? "live";
  return phase === "gone"
    ? { status: "gone", how: `is ${JSON.stringify(attributes.status ?? "gone")}`, matches: [] }
    : { status: "present", attributes, phase };
}

/** If it is recreated, the next question of the same plan, for the create, gets this to know what it replaces. */
function replacingOf(kind: Kind, attributes: JsonObject, mark: Mark, settings: ReadSettings): Mark {
  const { id } = attributes;
  return typeof id === "string" ? { replacing: replacedObject(kind, { ...attributes, id }, mark, settings) } : {};
}

/** The attributes that no request changes in place, where the API can delete the object and make another. */
function replacedBy(kind: Kind, reasons: readonly { readonly attribute?: string }[]): AttributePath[] {
  const replaced = attributesOf(kind).filter(([name, , { change }]) => {
    return change === "replace" && reasons.some(({ attribute }) => attribute === name);
  });
  return replaced.map(([name]) => [name]);
}

/**
 * What a plan says of the place of a one-time secret: that no secret may be written there, and, when the object is made,
 * where a link or a path that leaves the project leads.
 */
async function secretPlaceNotices(
  kind: Kind,
  config: ValueObject,
  isNew: boolean,
  { secretDestination }: Pick<ProviderSession, "secretDestination">,
): Promise<readonly Diagnostic[]> {
  const [output, attribute] = [fileOutputIn(config), oneTimeSecretName(kind)];
  if (output === undefined || attribute === undefined) return [];
  const address = labelOf(kind, config);
  try {
    const { real, inside, linked } = await secretDestination(output, { address, attribute });
    if (!isNew || (inside && !linked)) return [];
    const summary = `The ${attribute} of ${address} will be written to ${real}`;
    const detail = inside
      ? "A symbolic link leads there."
      : "It is outside of the project, as `outside_project` allows.";
    return [{ severity: "warning", code: "secret.output", summary, detail, address, attribute: ["secret_output"] }];
  } catch (error) {
    if (error instanceof HostformError) return error.diagnostics;
    throw error;
  }
}
