// One run over all projects of a fleet: plan, status, or apply in waves.
import path from "node:path";
import {
  type Clock,
  type Diagnostic,
  type EnvVars,
  type FailOn,
  formatMoney,
  ifExplained,
  isLike,
  shellPath,
  shellWord,
} from "../core/model/index.ts";
import { type LoadedProject, loadProject, type Planned, type WorkOptions } from "../project/library.ts";
import { yamlRemedies } from "../project/stack-diagnostics.ts";
import {
  type DiagnosticJson,
  diagnosticJson,
  type FleetProject,
  type FleetReport,
  fleetTotals,
} from "../report/index.ts";
import { plural } from "../report/numbers.ts";
import type { Fleet } from "./declaration.ts";
import { type Member, members } from "./members.ts";
import { problem, raise } from "./messages.ts";

export interface FleetOptions {
  readonly env: EnvVars;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  /** Cancels requests in progress, as the second Ctrl-C does. */
  readonly now?: AbortSignal;
  /** Names or patterns of projects. Default: all. */
  readonly projects?: readonly string[] | undefined;
  /** Selected resources of each project, such as `client:acme`. A project without such a resource is omitted. */
  readonly targets?: readonly string[] | undefined;
  /** Called after each project. */
  onProject?(project: FleetProject): void;
  /** Called for a warning during the work on a project, such as a restored store. */
  onWarning?(warnings: readonly Diagnostic[]): void;
}

export interface ApplyFleetOptions extends FleetOptions {
  /** Decides about the plans of all projects. */
  approve(report: FleetReport): Promise<boolean>;
}

/** A loaded project with its plan. */
export interface Ready {
  readonly member: Member;
  readonly project: LoadedProject;
  readonly plan: Planned;
}

const NOTHING = { add: 0, change: 0, destroy: 0, orders: 0, spend: {}, offline: [], holds: [], errors: [] };

export const failedProject = (
  { name, commit }: Pick<Member, "name" | "commit">,
  errors: readonly Diagnostic[],
): FleetProject => ({
  ...NOTHING,
  name,
  commit: commit ?? null,
  result: "failed",
  errors: errors.map((one) => diagnosticJson(one, yamlRemedies)),
});

/** Plans each project, and checks the limits of the fleet. Changes nothing. */
export async function planFleet(fleet: Fleet, options: FleetOptions): Promise<FleetReport> {
  const { projects } = await plannedFleet(fleet, options);
  return { ...reportOf(fleet, "plan", options, projects), errors: guardErrors(fleet, projects) };
}

/** Reads the status of each project. Changes nothing. */
export async function statusFleet(fleet: Fleet, options: FleetOptions): Promise<FleetReport> {
  const { targets } = options;
  const projects = await eachProject(fleet, options, async (member, run) => {
    const { report } = await (await load(member, options)).status({ targets, ...run });
    const { services, states, synced, declared } = report.overview;
    const result = synced === declared ? "same" : "differs";
    const overview = { services, live: states.live, offline: states.offline };
    return { ...NOTHING, ...headOf(member), result, holds: report.holds, overview };
  });
  return reportOf(fleet, "status", options, projects);
}

/**
 * Plans each project, checks the limits of the fleet, asks once, and applies in waves. After a wave with a failure, the other
 * waves do not start. A project whose plan has errors is not applied.
 */
export async function applyFleet(fleet: Fleet, options: ApplyFleetOptions): Promise<FleetReport> {
  const { projects, ready } = await plannedFleet(fleet, options, true);
  const errors = guardErrors(fleet, projects);
  const planned = { ...reportOf(fleet, "plan", options, projects), errors };
  if (errors.length > 0) return { ...planned, command: "apply", projects: projects.map(notStarted) };
  const changing = ready.filter(({ plan }) => plan.hasChanges && plan.applicable);
  if (changing.length > 0 && !(await options.approve(planned)))
    return { ...planned, command: "apply", projects: projects.map(notStarted) };
  const done = new Map(projects.map((one) => [one.name, one]));
  // A project that could not be planned keeps its place, so that no later project takes its place in the first wave.
  for (const wave of wavesOf(
    projects.filter(({ result }) => result !== "same"),
    fleet.waves,
  )) {
    const starting = changing.filter(({ member }) => wave.some(({ name }) => name === member.name));
    const failed = wave.filter(({ result }) => result === "failed");
    const applying = inParallel(starting, fleet, options, (one) =>
      workOn(one.member, options, (run) => applied(one, run)),
    );
    const ended = [...failed, ...(await applying)];
    for (const one of ended) done.set(one.name, one);
    const isStopped = (one: FleetProject) =>
      one.result === "failed" || one.holds.some((name) => fleet.stop_on.includes(name as FailOn));
    if (options.signal?.aborted || ended.some(isStopped)) break;
  }
  const all = [...done.values()].map(notStarted);
  return reportOf(fleet, "apply", options, all);
}

const notStarted = (one: FleetProject): FleetProject =>
  one.result === "differs" ? { ...one, result: "not_started" } : one;

export async function applied({ member, project, plan }: Ready, run: WorkOptions): Promise<FleetProject> {
  const { warnings = [], ...planned } = summaryOf(member, plan);
  const result = await project.apply(plan, run);
  const { error = [], warning = [] } = bySeverity([
    ...result.changes.flatMap(({ diagnostics }) => diagnostics),
    ...result.diagnostics,
  ]);
  const end = result.complete ? "applied" : "failed";
  return { ...planned, result: end, holds: result.holds, errors: error, warnings: [...warnings, ...warning] };
}

const bySeverity = (all: readonly DiagnosticJson[]) =>
  Object.groupBy(all, ({ severity }) => severity) as Partial<Record<"error" | "warning", DiagnosticJson[]>>;

/** @param approved true if the plans are applied without a wait for an approval. */
async function plannedFleet(fleet: Fleet, options: FleetOptions, approved = false) {
  const ready: Ready[] = [];
  const { targets = [] } = options;
  const projects = await eachProject(fleet, options, async (member, run) => {
    const project = await load(member, options);
    const plan = await project.plan({ targets, approved, ...run });
    ready.push({ member, project, plan });
    return summaryOf(member, plan);
  });
  const order = new Map(projects.map(({ name }, at) => [name, at]));
  const at = ({ member }: Ready) => order.get(member.name) ?? 0;
  return { projects, ready: ready.sort((a, b) => at(a) - at(b)) };
}

export const load = ({ options }: Member, { clock }: Pick<FleetOptions, "clock">) => loadProject({ ...options, clock });

const headOf = ({ name, commit }: Member) => ({ name, commit: commit ?? null });

export function summaryOf(member: Member, plan: Planned): FleetProject {
  const { json, diagnostics, holds, hasChanges, applicable } = plan;
  const { resource_changes, hostform } = json;
  const has = (...actions: readonly string[]) =>
    resource_changes.filter(({ change }) => change.actions.some((action) => actions.includes(action))).length;
  const { error: errors = [], warning: warnings = [] } = bySeverity(diagnostics);
  const spend = hostform.totals.map(({ currency, now, unknown }) => [currency, unknown > 0 ? null : now] as const);
  return {
    ...headOf(member),
    result: errors.length > 0 || !(applicable || !hasChanges) ? "failed" : hasChanges ? "differs" : "same",
    add: has("create"),
    change: has("update"),
    destroy: has("delete"),
    orders: hostform.totals.reduce((sum, { orders }) => sum + orders, 0),
    spend: Object.fromEntries(spend),
    scales: Object.fromEntries(hostform.totals.map(({ currency }) => [currency, plan.scaleOf(currency)])),
    offline: hostform.effects.flatMap(({ kind, domain, address }) => (kind === "offline" ? (domain ?? address) : [])),
    holds,
    errors,
    warnings,
  };
}

/**
 * Returns an error for each exceeded limit over all projects. A limit of money also refuses unknown prices.
 * @param withinMs time in which the limits count. Default: one run.
 */
export function guardErrors({ guards }: Fleet, projects: readonly FleetProject[], withinMs?: number) {
  const { orders, destroy, spend, scales } = fleetTotals(projects);
  const found: Diagnostic[] = [];
  const check = (
    what: string,
    planned: number | null = 0,
    limit: number | undefined,
    text: (amount: number | null) => string = String,
  ) => {
    if (limit === undefined || (planned !== null && planned <= limit)) return;
    const given = { what, planned: text(planned), limit: text(limit) };
    const minutes = withinMs && plural(Math.round(withinMs / 60_000), "minute");
    found.push(minutes ? problem("fleet.guard/interval", { ...given, minutes }) : problem("fleet.guard", given));
  };
  check("order", orders, guards.max_orders);
  check("destroy", destroy, guards.max_removals);
  for (const [currency, limit] of Object.entries(guards.max_spend ?? {}))
    check("spend", spend[currency], limit, (amount) =>
      amount === null ? "an unknown amount" : formatMoney(amount, currency, scales?.[currency]),
    );
  return found.map((one) => diagnosticJson(one, yamlRemedies));
}

/** Divides projects into groups of the declared sizes. The last group has all remaining projects. */
export function wavesOf<T>(all: readonly T[], sizes: readonly number[] = []): T[][] {
  const waves: T[][] = [];
  let from = 0;
  for (const size of sizes) {
    waves.push(all.slice(from, from + size));
    from += size;
  }
  return [...waves, all.slice(from)].filter(({ length }) => length > 0);
}

/** Runs a task for each selected project, several at the same time. A failed project has a result with its errors. */
async function eachProject(
  fleet: Fleet,
  options: FleetOptions,
  work: (member: Member, run: WorkOptions) => Promise<FleetProject>,
): Promise<FleetProject[]> {
  const { found, failed } = await members(fleet, options.env);
  const isChosen = ({ name }: { readonly name: string }) =>
    options.projects === undefined || options.projects.some((pattern) => isLike(pattern, name));
  const unusable = failed.filter(isChosen).map((one) => failedProject(one, one.errors));
  const chosen = found.filter(isChosen);
  if (unusable.length + chosen.length === 0) raise("fleet.project/unmatched", { names: found.map(({ name }) => name) });
  return [
    ...unusable,
    ...(await inParallel(chosen, fleet, options, (one) => workOn(one, options, (run) => work(one, run)))),
  ];
}

/**
 * Runs a task on a project. Errors become a result. The result has all warnings of the project, and the commands of its remedies
 * select the project.
 */
export async function workOn<T extends FleetProject | undefined>(
  member: Member,
  { signal, now, onWarning }: Pick<FleetOptions, "signal" | "now" | "onWarning">,
  work: (run: WorkOptions) => Promise<T>,
): Promise<T | FleetProject> {
  const heard: DiagnosticJson[] = [];
  const onProgress: WorkOptions["onProgress"] = (progress) => {
    if (progress.type !== "diagnostic") return;
    const { severity, code, summary, detail, fix } = progress.diagnostic;
    heard.push(progress.diagnostic);
    onWarning?.([{ severity, code, summary, detail, ...(fix !== undefined && { remedies: [fix] }) } as Diagnostic]);
  };
  const failed = ifExplained(({ diagnostics }) => failedProject(member, diagnostics));
  const done = await work({ signal, now, onProgress }).catch(failed);
  if (done === undefined) return done;
  const here = (one: DiagnosticJson) => (one.fix === undefined ? one : { ...one, fix: commandsOn(member, one.fix) });
  const { error = [], warning = [] } = bySeverity(heard);
  const each = (all: readonly DiagnosticJson[]) => [
    ...new Map(all.map((one) => [`${one.code} ${one.address} ${one.summary}`, here(one)])).values(),
  ];
  return { ...done, errors: each([...done.errors, ...error]), warnings: each([...warning, ...(done.warnings ?? [])]) };
}

/** Adds the options that select a project to the commands of a text. */
function commandsOn({ options: { directory = ".", environment, stack } }: Member, text: string): string {
  const own = stack === undefined ? "" : ` --stack ${shellPath(path.join(directory, stack))}`;
  const flags = ` -C ${shellPath(directory)}${environment === undefined ? "" : ` -e ${shellWord(environment)}`}`;
  return text.replaceAll(/`(hostform (?!sandbox|fleet)[^`]*)`/g, (_, command: string) =>
    own === "" ? `\`${command}${flags}\`` : `\`${command.replace(/ --stack \S+/, () => own)}\``,
  );
}

/** Runs a task for each item, at most `parallelism` at the same time, in order. After an abort, no further task starts. */
async function inParallel<T>(
  all: readonly T[],
  { parallelism }: Fleet,
  { signal, onProject }: FleetOptions,
  work: (item: T) => Promise<FleetProject>,
): Promise<FleetProject[]> {
  const done: FleetProject[] = [];
  const queue = all.entries();
  const next = async () => {
    for (const [at, item] of queue) {
      if (signal?.aborted) return;
      const project = await work(item);
      done[at] = project;
      onProject?.(project);
    }
  };
  await Promise.all(Array.from({ length: parallelism }, next));
  return done.filter((one) => one !== undefined);
}

export const reportOf = (
  { fleet, templates }: Fleet,
  command: FleetReport["command"],
  { clock }: Pick<FleetOptions, "clock">,
  projects: readonly FleetProject[],
): FleetReport => ({
  format_version: "1.0",
  fleet,
  command,
  timestamp: new Date(clock.now()).toISOString(),
  templates: templates ? [templates.path, templates.commit?.slice(0, 12)].filter(Boolean).join(" at ") : null,
  projects,
  totals: fleetTotals(projects),
  errors: [],
});
