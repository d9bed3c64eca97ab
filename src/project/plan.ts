import {
  costOf,
  type DataReading,
  holdBack,
  type Limits,
  type Move,
  moved,
  narrow,
  refreshAndPlan,
  storeRefusals,
} from "../core/engine/index.ts";
import { kindAt, kinds } from "../core/kinds/index.ts";
import { findOrder } from "../core/lifecycle/index.ts";
import { problem } from "../core/messages/index.ts";
import {
  type Desired,
  type Diagnostic,
  didYouMean,
  HostformError,
  isError,
  join,
  type Plan,
  type ResourceState,
  refusalsOfPlan,
  type State,
} from "../core/model/index.ts";
import type { OpenState } from "../core/record/index.ts";
import { plural } from "../report/index.ts";
import { type Base, changedSince, checkBase, headOf, readBase } from "./base.ts";
import { dataReader } from "./data-reader.ts";
import { withFirstSuspensions } from "./first-seen.ts";
import { type Caps, limitsOf, tightened } from "./guards.ts";
import { budgetOf } from "./history.ts";
import { type Identities, identitiesOf, placesOf, requireAccounts } from "./identity.ts";
import { Interrupts } from "./interrupt.ts";
import { checkRefresh, lastReads, type RefreshOptions } from "./last-read.ts";
import { requireMandate } from "./mandate/gate.ts";
import { type GivenMandate, RunMandate } from "./mandate/run.ts";
import { raise } from "./messages.ts";
import {
  checkOrigin,
  differences,
  hasSameEntries,
  type Origin,
  originOf,
  refuseDifferences,
  runsSince,
} from "./plan-origin.ts";
import type { Project } from "./project.ts";
import { Providers } from "./providers.ts";
import { RunPolicy, withFiles } from "./run-policy.ts";
import { changedAddresses, type PlanRequest, type SavedPlan } from "./saved-plan.ts";
import { fieldsOf, learnPlan, withDestinations } from "./secrets.ts";
import { selectable, selected } from "./selection.ts";
import type { ProjectParts, ProjectSource } from "./source.ts";
import { conditionsForStack, forStack } from "./stack-diagnostics.ts";
import { stateNotices } from "./state-notices.ts";
import { declaredEnvironment } from "./trust.ts";

/** Options of a run. */
export interface RunOptions extends PlanRequest, RefreshOptions {
  readonly command: "plan" | "apply" | "destroy" | "watch" | "status";
  /** Commit: plans only resources that changed since then. */
  readonly base?: string;
  /** Plans only the resources of this provider. */
  readonly provider?: string | undefined;
  /** Saved plan to apply. A new plan must contain the same changes. */
  readonly saved?: SavedPlan;
  /** Limits of the run that applies a saved plan. */
  readonly caps?: Caps;
  /** Mandate that limits the run. Required if the runner trusts approvers. */
  readonly mandate?: GivenMandate | undefined;
  /** True if nobody reviews the plan before the apply. */
  readonly unattended?: boolean;
  /** True if a person must approve the plan. */
  readonly asks?: boolean;
  /** True to wait for queued jobs. Default: true. */
  readonly waits?: boolean;
  /** Locks the state also for a run that only reads. Default: only with a lock timeout. */
  readonly lock?: boolean | undefined;
}

/** A plan, and everything needed to apply it. */
export interface Run extends Pick<RunOptions, "command"> {
  readonly project: Project;
  readonly plan: Plan;
  /** Declaration, limited to the targets. */
  readonly desired: Desired;
  readonly state: State;
  /** All declared addresses. */
  readonly all: ReadonlySet<string>;
  /**
   * Moves between addresses that `state` already contains, but the saved state does not. They run together before the apply.
   */
  readonly moves: readonly Move[];
  readonly identities: Identities;
  /** True if the account has a new URL or identity (`--account-moved`). All state entries then get new marks. */
  readonly hasMoved: boolean;
  /** Results of the data sources. */
  readonly data: ReadonlyMap<string, DataReading> | undefined;
  readonly limits: Limits;
  readonly policy: RunPolicy;
  readonly mandate: RunMandate | undefined;
  readonly store: OpenState;
  readonly providers: Providers;
  readonly interrupts: Interrupts;
  /** Errors that were reported already. Closing the state may throw the same errors again. */
  readonly shown: Diagnostic[];
}

/** Returns the saved form of a plan, with its request and origin. */
export async function savedFrom(
  { project: { source, host, redaction }, plan, desired, store, identities, providers }: Run,
  request: PlanRequest,
): Promise<SavedPlan> {
  const { commit } = await headOf(host, source);
  const counts = [...identities.keys()].map(async (alias) => {
    return [alias, (await providers.get(alias).account.store?.count()) ?? 0] as const;
  });
  const origin: Origin = {
    ...(await originOf(source, desired, store.state)),
    identities: Object.fromEntries(identities),
    ...(commit !== undefined && { commit }),
    ...(source.environment && { environment: source.environment.name }),
    sequence: Object.fromEntries(await Promise.all(counts)),
  };
  return { request, origin: redaction.redactValue(origin) as Origin, plan };
}

/**
 * Plans while the state is locked, then runs `then`: declaration -> state -> observe -> plan -> `then`. Always releases the
 * lock and closes connections.
 */
export async function withPlan<T>(project: Project, options: RunOptions, then: (run: Run) => Promise<T>): Promise<T> {
  const { source, host, redaction, log } = project;
  const { saved } = options;
  checkRefresh(options);
  checkBase(options.base, options);
  if (options.mandate === undefined && !isReading(options)) requireMandate(source, `\`${options.command}\``);
  const mandate = options.mandate && (await RunMandate.open(project, options.mandate));
  const policy = await RunPolicy.open(source);
  const { desired: declared, diagnostics: found } = await project.declaration.load();
  const since = options.base === undefined || saved ? undefined : await readBase(project, options.base);
  const interrupts = new Interrupts(host);
  const providers = new Providers(declared.providers, project, interrupts);
  const shown: Diagnostic[] = [];
  let store: OpenState | undefined;
  let before: State | undefined;
  try {
    // A plan of an untrusted project takes no lock, because the project could prepare a file at the lock's path.
    const waits = options.lock === true || source.lockTimeoutMs !== undefined;
    const isLocked = source.untrusted !== true && (waits || !isReading(options));
    const open = () =>
      project.state.store().open({
        write: isLocked,
        command: options.command,
        timeoutMs: source.lockTimeoutMs ?? 0,
        signal: interrupts.now,
      });
    store = await open();
    if (store.recovered.length > 0) {
      const what = plural(store.recovered.length, "resource");
      log.say(
        isLocked
          ? `An earlier run was interrupted. Its last results (${what}) were recovered from the journal.`
          : `Another run has not ended, or was interrupted. The plan uses its results so far (${what}).`,
      );
    }
    if (saved !== undefined) {
      // A saved origin replaces secrets in names by marks.
      const here = redaction.redactValue(await originOf(source, declared, store.state)) as Origin;
      checkOrigin(saved.origin, here, await runsSince(saved.plan.timestamp, store));
    }
    const wanted = saved === undefined ? options : { ...options, ...WHOLE, targets: changedAddresses(saved.plan) };
    const planFrom = (opened: OpenState) => {
      before = opened.state;
      providers.place = project.state.place(before.lineage)?.mark;
      const planning = { ...wanted, since, owner: project.state.owner(before.lineage) };
      return makePlan(project, planning, declared, opened, providers, interrupts.now);
    };
    let made = await planFrom(store);
    const later = isLocked ? undefined : await open();
    if (later !== undefined && !hasSameEntries(store.state, later.state)) {
      // The listings may contain objects that another run created after the first read of the state. The state now has
      // the entries of all these objects. The second plan uses the same listings.
      store = later;
      const again = await planFrom(store);
      const diagnostics = [...again.plan.diagnostics, problem("state.changing", {})];
      made = { ...again, plan: { ...again.plan, diagnostics } };
    }
    // Report the differences only if the new plan has no errors, because its errors explain more.
    if (saved !== undefined && !made.plan.diagnostics.some(isError))
      refuseDifferences(differences(saved.plan, made.plan, redaction, providers.moneyScale));
    if (source.untrusted !== true) learnPlan(redaction, made.plan);
    redaction.refuseIn(fieldsOf(made.plan));
    noteOutputs(source, made.plan);
    const servers = source.untrusted ? [] : providers.servers();
    const named = await project.state.compare(servers, store.state, made.plan, importsIn(made.plan));
    const compared = forStack(source, named, declared);
    const judged = await policy.judge(made.plan, {
      recorded: store.state,
      saved: saved?.plan,
      hasStateKey: project.state.encryption().key !== undefined,
      now: host.clock.now(),
      isLater: isReading(options),
    });
    const parts = { project, plan: judged, command: options.command, store, providers, interrupts };
    const outside = (await mandate?.check({ ...made, plan: judged, providers, saved })) ?? [];
    const month = await budgetOf({ ...made, ...parts, limits: policy.limits(made.limits) }, !isReading(options));
    const { conditions } = judged;
    const attention = conditions && { conditions: conditionsForStack(source, conditions) };
    const verdicts = judged.diagnostics.slice(0, judged.diagnostics.length - made.plan.diagnostics.length);
    const limits = mandate?.limits(month.limits) ?? month.limits;
    const diagnostics = [
      ...outside,
      ...verdicts,
      ...found,
      ...compared,
      ...month.diagnostics,
      ...providers.takeWarnings(),
    ];
    const { variables } = declared;
    const warned = { ...judged, ...(variables && { variables }), ...attention, diagnostics };
    if (options.command !== "status") interrupts.planned();
    return await then({ ...made, ...parts, limits, policy, mandate, plan: warned, shown });
  } finally {
    try {
      const closing = store?.close().catch((error: unknown) => unlessShown(error, shown));
      if (!(await interrupts.unlessAbandoned(closing)))
        log.say("The state could not be written in time. Plan again to see what was done.");
      if (store !== undefined && before !== undefined && store.state !== before)
        await interrupts.unlessAbandoned(project.state.record(providers.servers(), store.state, before));
    } finally {
      await interrupts.unlessAbandoned(providers.close());
      interrupts.end();
    }
  }
}

/** Returns true if the run never applies its plan. */
const isReading = ({ command, unattended }: Pick<RunOptions, "command" | "unattended">) =>
  command === "plan" || command === "status" || (command === "watch" && unattended !== true);

/** Returns state entries for the objects that a plan imports. */
const importsIn = ({ changes }: Plan): ResourceState[] =>
  changes.flatMap(({ address, provider, importing, before }): ResourceState[] =>
    importing === undefined || before === null
      ? []
      : [{ address, provider, attributes: before, schemaVersion: 0, sensitive: [], private: {}, dependencies: [] }],
  );

/** Keeps the planned outputs for later stacks of the same run. */
function noteOutputs({ stack }: ProjectSource, { outputs, diagnostics }: Plan): void {
  if (stack?.run.purpose !== "plan" || outputs === undefined || diagnostics.some(isError)) return;
  const stay = outputs.filter(({ action }) => action !== "delete");
  const values = stay.map(({ name, after, after_unknown }) => [name, join(after, after_unknown)]);
  const types = stay.flatMap(({ name, type }) => (type === undefined ? [] : [[name, type]]));
  stack.run.planned.set(stack.name, { values: Object.fromEntries(values), types: Object.fromEntries(types) });
}

/** An apply always reads the objects of a saved plan again. */
const WHOLE = { refresh: "all", refreshBudget: undefined } as const;

/** Throws the error, unless it was reported already. */
function unlessShown(error: unknown, shown: readonly Diagnostic[]): void {
  const said = ({ code, summary }: Diagnostic) => shown.some((one) => one.code === code && one.summary === summary);
  if (!(error instanceof HostformError && error.diagnostics.every(said))) throw error;
}

/** `since`: base of the plan. `owner`: mark of the state in its create requests. */
type Planning = RunOptions & { readonly since: Base | undefined; readonly owner: string | undefined };

async function makePlan(
  { source, host: { clock }, log }: ProjectParts,
  {
    command,
    mode,
    targets,
    reorder,
    replace = [],
    orderAnyway = [],
    guards,
    unattended,
    asks,
    waits,
    since,
    owner,
    saved,
    provider,
    caps = {},
    ...reads
  }: Planning,
  declared: Desired,
  store: OpenState,
  providers: Providers,
  signal: AbortSignal,
): Promise<Pick<Run, "plan" | "desired" | "state" | "limits" | "all" | "moves" | "identities" | "hasMoved" | "data">> {
  const env = declaredEnvironment(source);
  const { state: recorded, moves, diagnostics: unmoved } = moved(declared, store.state);
  const all = new Set(declared.resources.map(({ address }) => address));
  const known = new Set([...all, ...recorded.resources.keys()]);
  for (const [purpose, addresses] of Object.entries({ ordered: [...reorder, ...orderAnyway], replaced: replace })) {
    const name = addresses.find((address) => !known.has(address));
    if (name !== undefined) raise("plan.address/unknown", { name, purpose, meant: didYouMean(name, known) });
  }
  const wanted = mode === "destroy" ? { ...declared, resources: [] } : declared;
  // A saved plan may contain old addresses that were moved already.
  const sought = saved === undefined ? targets : targets.filter((address) => known.has(address));
  const named = sought.length === 0 ? [] : selected(sought, selectable(declared, recorded, mode));
  const ofProvider = () =>
    selectable(declared, recorded, mode).flatMap((one) => (one.provider === provider ? one.address : []));
  const whole = provider === undefined || named.length > 0;
  const changed = since ? changedSince(since.desired, declared, recorded) : whole ? undefined : ofProvider();
  const { desired, state }: { desired: Desired; state: State } =
    changed?.length === 0
      ? { desired: { ...wanted, resources: [] }, state: { ...recorded, resources: new Map() } }
      : narrow(wanted, recorded, changed ?? named);
  const { data = [] } = mode === "destroy" ? {} : desired;
  const aliases = new Set([...desired.resources, ...state.resources.values(), ...data].map(({ provider }) => provider));
  await providers.prepare(aliases);
  const accounts = (alias: string) => providers.get(alias).account;
  const hasMoved = guards?.accountMoved === true;
  // For a saved plan, the account of the plan is also accepted.
  requireAccounts(aliases, providers, hasMoved ? { resources: new Map() } : recorded, saved?.origin.identities);
  const dated = command === "status" ? await withFirstSuspensions(state, providers) : state;
  // A run that only plans may use a token with only the ability `view`.
  const shared = { state: dated, kinds, env, reorder: new Set(reorder), isReading: isReading({ command, unattended }) };
  const observing = {
    ...shared,
    desired: { ...desired, data },
    accounts,
    readData: await dataReader(clock, desired, providers, signal),
    onOpen: (open: number) => log.reading(open),
  };
  const limits = tightened(limitsOf(declared.guards, guards, unattended), caps);
  const planning = {
    ...shared,
    desired,
    recorded,
    mode,
    replace: new Set(replace),
    orderAnyway: new Set(orderAnyway),
    now: clock.now(),
    applying: { asks, waits },
    limits,
    declared: all,
    moves,
  };
  const budget = (alias: string) => providers.get(alias).client.budget();
  const lastRead = lastReads(source, clock, state.lineage, reads, providers.stores(aliases));
  const options = {
    observing,
    planning,
    whole: declared,
    refresh: await lastRead.refresh(),
    requests: () => providers.requests,
    budget,
  };
  const {
    plan: made,
    observed,
    ...handed
  } = await refreshAndPlan(options)
    .catch((error: unknown) => {
      // After an interruption, each request only reports that it was cancelled. Throw the interruption instead.
      signal.throwIfAborted();
      throw error;
    })
    .finally(() => log.reading(0));
  // An apply may delete all objects that identify the account, so do not check again.
  for (const alias of aliases) accounts(alias).confirm = undefined;
  await lastRead.record(observed.read?.keys() ?? []);
  signal.throwIfAborted();
  const base = since && { ref: since.ref, commit: since.commit, not_planned: known.size - made.changes.length };
  const placed = withFiles(source, made.changes, declared);
  const { changes, diagnostics: misplaced } = await withDestinations(source, placed, declared);
  const refused = refusalsOfPlan(await storeRefusals(changes, accounts));
  const ordered = await Promise.all(
    changes.map((change) => {
      const kind = kindAt(change.address);
      return kind && findOrder(accounts(change.provider), kind, change, owner ?? "");
    }),
  );
  const late = [...misplaced, ...ordered.filter((one) => one !== undefined)];
  const left = holdBack(changes, late, new Set(), kinds);
  const held = [...(made.held ?? []), ...left.held];
  return {
    plan: {
      ...made,
      places: placesOf(source, declared, aliases, providers, recorded),
      ...(base && { base }),
      changes: left.changes,
      cost: costOf(left.changes),
      ...(held.length > 0 && { held }),
      diagnostics: [...made.diagnostics, ...late, ...left.diagnostics, ...refused, ...unmoved, ...stateNotices(store)],
    },
    desired,
    ...handed,
    limits,
    all,
    identities: identitiesOf(aliases, providers),
    hasMoved,
    data: observed.data,
  };
}
