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
import { kinds } from "../core/kinds/index.ts";
import { findOrder } from "../core/lifecycle/index.ts";
import {
  type Desired,
  type Diagnostic,
  didYouMean,
  fail,
  HostformError,
  isError,
  join,
  type Plan,
  parseAddress,
  type ResourceState,
  refusalsOfPlan,
  type State,
  selected,
} from "../core/model/index.ts";
import type { OpenState } from "../core/record/index.ts";
import { escapeLine, plural } from "../report/index.ts";
import { type Base, type BaseOptions, changedSince, checkBase, readBase } from "./base.ts";
import { dataReader } from "./data-reader.ts";
import { type Caps, limitsOf, tightened } from "./guards.ts";
import { type Identities, identitiesOf, placesOf, requireAccounts } from "./identity.ts";
import { Interrupts } from "./interrupt.ts";
import { fieldsOf, learnPlan } from "./known-secrets.ts";
import { checkRefresh, lastReads, type RefreshOptions } from "./last-read.ts";
import { checkOrigin, differences, type Origin, originOf, refuseDifferences } from "./plan-origin.ts";
import type { Project } from "./project.ts";
import { Providers } from "./providers.ts";
import { RunPolicy, withFiles } from "./run-policy.ts";
import { changedAddresses, type PlanRequest, type SavedPlan } from "./saved-plan.ts";
import { withDestinations } from "./secrets.ts";
import type { ProjectParts, ProjectSource } from "./source.ts";
import { conditionsForStack, forStack } from "./stack-diagnostics.ts";
import { declaredEnvironment } from "./trust.ts";

/** What `plan`, `apply`, `destroy` and `watch` take. */
export interface RunOptions extends PlanRequest, RefreshOptions, BaseOptions {
  readonly command: "plan" | "apply" | "destroy" | "watch";
  /** The plan to apply. What it changes is planned again, and must come out the same. */
  readonly saved?: SavedPlan;
  /** Limits of the run that applies a saved plan. */
  readonly caps?: Caps;
  /** Nobody looks at the plan before it is applied. */
  readonly unattended?: boolean;
  /** Somebody is asked whether it is to be applied. */
  readonly asks?: boolean;
  /** Queued jobs are waited for. Default: yes. */
  readonly waits?: boolean;
}

/** A plan with everything that is needed to apply it. */
export interface Run {
  readonly project: Project;
  readonly plan: Plan;
  /** Narrowed to the targets. */
  readonly desired: Desired;
  readonly state: State;
  /** The addresses of the whole declaration. */
  readonly all: ReadonlySet<string>;
  /** Records with another address in `state` than in the store. They move there, all at once, before anything is applied. */
  readonly moves: readonly Move[];
  /** Identities of the accounts. */
  readonly identities: Identities;
  /** The records of these accounts get new marks (`--account-moved`). */
  readonly hasMoved: boolean;
  /** What data sources returned. */
  readonly data: ReadonlyMap<string, DataReading> | undefined;
  /** What it may order, spend and remove. */
  readonly limits: Limits;
  readonly policy: RunPolicy;
  readonly store: OpenState;
  readonly providers: Providers;
  /** What Ctrl-C does to it. */
  readonly interrupts: Interrupts;
  /** Errors that have been shown: a state that cannot be written says so of every change, and once more when it is closed. */
  readonly shown: Diagnostic[];
}

/**
 * Makes a plan and hands it on, with the state locked meanwhile: declaration -> state -> observe -> plan -> `then`.
 * Whatever happens, the lock is freed and connections are closed.
 */
export async function withPlan<T>(project: Project, options: RunOptions, then: (run: Run) => Promise<T>): Promise<T> {
  const { source, host, redaction, log } = project;
  const { saved } = options;
  checkRefresh(options);
  checkBase(options);
  const policy = await RunPolicy.open(source);
  const { desired: declared, diagnostics: found } = await project.declaration.load();
  const since = options.base === undefined || saved ? undefined : await readBase(project, options.base);
  const interrupts = new Interrupts(host);
  const providers = new Providers(declared.providers, project, interrupts);
  const shown: Diagnostic[] = [];
  let store: OpenState | undefined;
  let before: State | undefined;
  try {
    store = await project.state.store().open({
      // A plan of a stranger's project leaves nothing in it, not even a lock: what lies in the lock's place is the stranger's.
      write: source.untrusted !== true,
      command: options.command,
      timeoutMs: source.lockTimeoutMs ?? 0,
      signal: interrupts.now,
    });
    if (store.recovered.length > 0) {
      const what = plural(store.recovered.length, "resource");
      log.say(`An earlier run was interrupted. Its last results (${what}) were recovered from the journal.`);
    }
    if (saved !== undefined) {
      // As the file would say it: a secret in a name is marked there.
      const here = await originOf(source, declared, store.state);
      checkOrigin(saved.origin, redaction.redactValue(here) as Origin);
    }
    before = store.state;
    providers.place = project.state.place(before.lineage)?.mark;
    const wanted = saved === undefined ? options : { ...options, ...WHOLE, targets: changedAddresses(saved.plan) };
    const made = await makePlan(
      project,
      { ...wanted, since, owner: project.state.owner(before.lineage) },
      declared,
      store,
      providers,
      interrupts.now,
    );
    // Errors say more than that the plan is another one: they are shown with it.
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
    const { conditions } = judged;
    const attention = conditions && { conditions: conditionsForStack(source, conditions) };
    const verdicts = judged.diagnostics.slice(0, judged.diagnostics.length - made.plan.diagnostics.length);
    const diagnostics = [...verdicts, ...found, ...compared, ...providers.takeWarnings()];
    const { variables } = declared;
    const warned = { ...judged, ...(variables && { variables }), ...attention, diagnostics };
    interrupts.planned();
    const limits = policy.limits(made.limits);
    return await then({ ...made, limits, policy, project, plan: warned, store, providers, interrupts, shown });
  } finally {
    try {
      const closing = store?.close().catch((error: unknown) => unlessShown(error, shown));
      if (!(await interrupts.unlessAbandoned(closing)))
        log.say("The state could not be written in time: `hostform plan` shows where things stand.");
      if (store !== undefined && before !== undefined && store.state !== before)
        await interrupts.unlessAbandoned(project.state.record(providers.servers(), store.state, before));
    } finally {
      await interrupts.unlessAbandoned(providers.close());
      interrupts.end();
    }
  }
}

/** Returns true if nobody applies the plan of a run. */
const isReading = ({ command, unattended }: Pick<RunOptions, "command" | "unattended">) =>
  command === "plan" || (command === "watch" && unattended !== true);

/** The records of the objects that a plan imports. */
const importsIn = ({ changes }: Plan): ResourceState[] =>
  changes.flatMap(({ address, provider, importing, before }): ResourceState[] =>
    importing === undefined || before === null
      ? []
      : [{ address, provider, attributes: before, schemaVersion: 0, sensitive: [], private: {}, dependencies: [] }],
  );

/** What the stacks that come after this one in the same run are planned with. */
function noteOutputs({ stack }: ProjectSource, { outputs, diagnostics }: Plan): void {
  if (stack?.run.purpose !== "plan" || outputs === undefined || diagnostics.some(isError)) return;
  const stay = outputs.filter(({ action }) => action !== "delete");
  const values = stay.map(({ name, after, after_unknown }) => [name, join(after, after_unknown)]);
  const types = stay.flatMap(({ name, type }) => (type === undefined ? [] : [[name, type]]));
  stack.run.planned.set(stack.name, { values: Object.fromEntries(values), types: Object.fromEntries(types) });
}

/** What a target can mean: of what is declared with its client as declared, else as recorded. What is destroyed is recorded. */
function selectable({ resources }: Desired, recorded: State, mode: RunOptions["mode"]) {
  const declared = new Map(resources.map((one) => [one.address, one]));
  const known = [...recorded.resources.values()].map(({ address, private: { client } }) => {
    return declared.get(address) ?? { address, client };
  });
  return mode === "destroy" ? known : [...known, ...resources];
}

/** Of what a saved plan changes everything is read again, however it was made. */
const WHOLE = { refresh: "all", refreshBudget: undefined } as const;

/** Throws an error on, unless all that it says was shown. */
function unlessShown(error: unknown, shown: readonly Diagnostic[]): void {
  const said = ({ code, summary }: Diagnostic) => shown.some((one) => one.code === code && one.summary === summary);
  if (!(error instanceof HostformError && error.diagnostics.every(said))) throw error;
}

/** `since`: only what changes since then is planned. `owner`: mark of the creates of the state. */
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
  const given = { "--reorder": reorder, "--replace": replace, "--order-anyway": orderAnyway };
  for (const [flag, addresses] of Object.entries(given)) {
    const stray = addresses.find((address) => !known.has(address));
    if (stray !== undefined) {
      fail("plan.address", `No resource ${stray} is declared or recorded (${flag}).${didYouMean(stray, known)}`, {
        remedies: ["Give the address as `hostform plan` shows it."],
      });
    }
  }
  const wanted = mode === "destroy" ? { ...declared, resources: [] } : declared;
  // The former addresses of a saved plan are those of the store; declared moves are made by now.
  const sought = saved === undefined ? targets : targets.filter((address) => known.has(address));
  const named = sought.length === 0 ? [] : selected(sought, selectable(declared, recorded, mode));
  const changed = since && changedSince(since.desired, declared, recorded);
  const { desired, state }: { desired: Desired; state: State } =
    changed?.length === 0
      ? { desired: { ...wanted, resources: [] }, state: { ...recorded, resources: new Map() } }
      : narrow(wanted, recorded, changed ?? named);
  const { data = [] } = mode === "destroy" ? {} : desired;
  const aliases = new Set([...desired.resources, ...state.resources.values(), ...data].map(({ provider }) => provider));
  await providers.prepare(aliases);
  const accounts = (alias: string) => providers.get(alias).account;
  const hasMoved = guards?.accountMoved === true;
  // A saved plan accepts the account that it was made with.
  const { identities = {} } = saved?.origin ?? {};
  requireAccounts(aliases, providers, hasMoved ? { resources: new Map() } : recorded, identities);
  // A job that plans a request has a token that only views.
  const shared = { state, kinds, env, reorder: new Set(reorder), isReading: isReading({ command, unattended }) };
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
      // Interrupted: every request says that it was cancelled, and none of them why.
      signal.throwIfAborted();
      throw error;
    })
    .finally(() => log.reading(0));
  // An apply may itself end all that identifies the account.
  for (const alias of aliases) accounts(alias).confirm = undefined;
  await lastRead.record(observed.read?.keys() ?? []);
  signal.throwIfAborted();
  const base = since && { ref: since.ref, commit: since.commit, not_planned: known.size - made.changes.length };
  const placed = withFiles(source, made.changes, declared);
  const { changes, diagnostics: misplaced } = await withDestinations(source, placed, declared);
  const refused = refusalsOfPlan(await storeRefusals(changes, accounts));
  const ordered = await Promise.all(
    changes.map((change) => {
      const kind = kinds.get(parseAddress(change.address)?.type ?? "");
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
      diagnostics: [
        ...made.diagnostics,
        ...late,
        ...left.diagnostics,
        ...refused,
        ...unmoved,
        ...store.warnings,
        ...unmanaged(store),
      ],
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

function unmanaged({ unmanaged: addresses }: OpenState): Diagnostic[] {
  if (addresses.length === 0) return [];
  return [
    {
      severity: "warning",
      code: "state.unmanaged",
      summary: `The state holds ${plural(addresses.length, "object")} that hostform does not manage`,
      detail: addresses.slice(0, 5).map(escapeLine).join(", "),
      remedies: ["Nothing to do: Terraform's resources stay in the state."],
    },
  ];
}
