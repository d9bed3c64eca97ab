/**
 * `import { loadProject, plan, apply, adopt } from "hostform"`: a declaration loaded, planned and applied by a program, and an account
 * adopted. It stands on what the command line stands on, `withPlan`, `carryOut` and `adoptAccount`. Whatever is returned, reported or thrown has secrets hidden.
 */
import path from "node:path";
import {
  type ApplyEvent,
  type Clock,
  type Diagnostic,
  type FailOn,
  fail,
  HostformError,
  heldIn,
  isFulfilled,
  systemClock,
} from "../core/model/index.ts";
import {
  type Attention,
  attentionOf,
  type ConditionJson,
  type DiagnosticJson,
  diagnosticJson,
  type PlanJson,
  planJson,
  type RequestEvent,
  renderDiagnostics,
  renderPlan,
  renderPlanHtml,
  renderPlanMarkdown,
} from "../report/index.ts";
import type { Adopted, AdoptOptions, Forecast } from "./adopt/types.ts";
import { carryOut, hasChanges, mayApply } from "./apply.ts";
import { learnEnvironment } from "./environment-secrets.ts";
import { type Run, type RunOptions, withPlan } from "./plan.ts";
import { captureCommand, runShell } from "./programs.ts";
import { Project } from "./project.ts";
import { Redaction } from "./redaction.ts";
import { readSavedPlan, writeSavedPlan } from "./saved-plan.ts";
import type { Host, Log, ProjectSource } from "./source.ts";
import { throwingForStack, yamlRemedies } from "./stack-diagnostics.ts";
import { refuseUntrustedCommand } from "./trust.ts";

export { HostformError } from "../core/model/index.ts";
export type {
  Adopted,
  AdoptOptions,
  ApplyEvent,
  ConditionJson,
  DiagnosticJson,
  FailOn,
  Forecast,
  PlanJson,
  RequestEvent,
};

/** Which project, and how it is read. */
export interface LoadOptions {
  /** The project's folder. Default: the working folder. */
  readonly dir?: string;
  /** Files of the declaration in YAML, relative to `dir`. Default: `hosting.yaml`, or the files that `hostform` finds. */
  readonly files?: readonly string[];
  /** A stack in place of a declaration in YAML: `cdktf.out`, or a folder with `*.tf.json`, relative to `dir`. */
  readonly stack?: string;
  /** The name of the stack, where there are several. */
  readonly only?: string;
  /** Variables of the stack. */
  readonly variables?: Readonly<Record<string, string>>;
  /** The environment: `environments/NAME.yaml` with its account, state, guards and variables. Default: none. */
  readonly environment?: string;
  /** The state file, relative to `dir`, where no backend is declared. Default: `hosting.tfstate`. */
  readonly state?: string;
  /** Holds the token and what the declaration refers to. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The declaration may come from a stranger: it can be planned, not applied. Default: false. */
  readonly untrusted?: boolean;
  /** Allows plain http to addresses other than loopback. Default: false. */
  readonly insecureHttp?: boolean;
  /**
   * Longest wait for a locked state, and for another process on this machine that creates with the token, in milliseconds. Default:
   * no wait for the state, and no limit for a process that lives.
   */
  readonly lockTimeoutMs?: number;
  /** Stops what is done with the project: nothing that has not left is sent any more; what is under way is awaited and recorded. */
  readonly signal?: AbortSignal;
  /** What is said while it works. */
  readonly onMessage?: (message: Message) => void;
  /** Default: the clock of the system. */
  readonly clock?: Clock;
}

/** What is said beside the results. */
export type Message =
  | { readonly type: "note"; readonly text: string }
  | { readonly type: "diagnostic"; readonly diagnostic: DiagnosticJson }
  | { readonly type: "request"; readonly request: RequestEvent }
  /** A request waits so many milliseconds for the budget of requests, or as the API asks. */
  | { readonly type: "waiting"; readonly ms: number }
  /** So many listings and objects are still to be read. */
  | { readonly type: "reading"; readonly open: number };

/** A project whose declaration has no mistakes. */
export interface LoadedProject {
  /** The addresses that it declares: `hosting_service.acme`. */
  readonly addresses: readonly string[];
  readonly warnings: readonly DiagnosticJson[];
}

/** What is planned, and within which limits. */
export interface PlanOptions {
  /** Plans the removal of everything. Default: false. */
  readonly destroy?: boolean;
  /** Only these addresses, and what they depend on. Default: all. */
  readonly targets?: readonly string[];
  /** Addresses of services to order again on purpose. */
  readonly reorder?: readonly string[];
  /** Addresses of webhooks and grants to replace on purpose, such as a webhook whose secret is to change. */
  readonly replace?: readonly string[];
  /** Addresses of services to order although something like them exists. */
  readonly orderAnyway?: readonly string[];
  /** Only what the declaration changes since this commit, and what refers to it. Runs `git`. Default: all. */
  readonly base?: string;
  /**
   * How much of the account is read: everything, what the plan changes against the state and all that this refers to, or only
   * what a request of the plan touches. The rest is planned as it was recorded, and the plan names it. Default: `all`.
   */
  readonly refresh?: "all" | "changed" | "false";
  /** With `all`: at most so many requests for what takes one for each service (grants), least recently read first. */
  readonly refreshBudget?: number;
  /** At most so many services and domains are ordered. */
  readonly maxOrders?: number;
  /** Currency -> the most to spend, in the API's own unit. */
  readonly maxSpend?: Readonly<Record<string, number>>;
  /** Lifts the removal limits. Default: false. */
  readonly allowRemovals?: boolean;
  /** Also orders what has no listed price. Default: false. */
  readonly allowUnknownPrices?: boolean;
  /** Accepts that many recorded resources are missing in the account. Default: false. */
  readonly allowMissing?: boolean;
  /** Accepts another address of the account, or one without the recorded objects, and records it. Default: false. */
  readonly accountMoved?: boolean;
  /** Writes the plan to a file, relative to the project's folder, for {@link ApplyOptions.saved}, unless it cannot be applied. */
  readonly saveTo?: string;
}

/** A plan: what would change, and whether it may. */
export interface Planned extends Attention {
  /** Terraform's representation, as `hostform plan --json` prints it. */
  readonly json: PlanJson;
  readonly diagnostics: readonly DiagnosticJson[];
  readonly hasChanges: boolean;
  /** Whether all of it can be applied: it has no errors, nothing is held back, and the token may read what is declared. */
  readonly applicable: boolean;
  /** Addresses that trouble holds back: {@link ApplyOptions.partial} applies the rest. */
  readonly heldBack: readonly string[];
  /** For people, as `hostform plan` prints it. */
  text(): string;
  /** For a review comment. */
  markdown(): string;
  /** A page of its own. */
  html(): string;
}

/** How a plan is applied. */
export interface ApplyOptions extends Omit<PlanOptions, "saveTo"> {
  /**
   * Decides on the plan while the state is locked; nothing is changed unless it returns true. A saved plan was decided on
   * when it was made: it is carried out exactly, or refused.
   */
  readonly approve: (plan: Planned) => boolean | Promise<boolean>;
  /** A file that {@link PlanOptions.saveTo} wrote. The other options of the plan come from it. */
  readonly saved?: string;
  /** Asks `approve` for the rest of a plan of which trouble holds a part back. Default: false, such a plan is not applied. */
  readonly partial?: boolean;
  /** Whether queued jobs are waited for. Default: true. */
  readonly wait?: boolean;
  /** For how long, in milliseconds. Default: 300,000. */
  readonly waitTimeoutMs?: number;
  /** Changes under way at once. Default: 10. */
  readonly parallelism?: number;
  readonly onEvent?: (event: ApplyEvent) => void;
}

/** What an apply has done. */
export interface Applied extends Attention {
  readonly plan: Planned;
  /** Whether `approve` returned true. If not, nothing was changed. */
  readonly approved: boolean;
  /** Whether everything that the plan says is done: exit code 0 of `hostform apply`. */
  readonly complete: boolean;
  readonly changes: readonly AppliedChange[];
  readonly diagnostics: readonly DiagnosticJson[];
  /** Addresses of creates of which it is not known whether the host has made them. */
  readonly pending: readonly string[];
}

/** The end of one change. */
export interface AppliedChange {
  readonly address: string;
  readonly result: string;
  readonly diagnostics: readonly DiagnosticJson[];
}

/** Which account is adopted, into which folder. */
export interface AdoptLibraryOptions extends LoadOptions, AdoptOptions {
  /** Decides when it is known what is there, before the grants are read; nothing is written unless it returns true. */
  readonly approve: (forecast: Forecast) => boolean | Promise<boolean>;
}

const projects = new WeakMap<LoadedProject, Project>();

/**
 * Reads and checks a declaration. Nothing is asked of the account.
 * @throws HostformError with every mistake in it, each with its place.
 */
export async function loadProject(options: LoadOptions = {}): Promise<LoadedProject> {
  const { unstacked, redaction } = placeOf(options);
  return hiding(redaction, async () => {
    await refuseUntrustedCommand(unstacked, "plan");
    const source = await selected(unstacked, options);
    const project = projectOn(source, redaction, options);
    const { desired, diagnostics } = await throwingForStack(source, () => project.declaration.load());
    const loaded: LoadedProject = {
      addresses: desired.resources.map(({ address }) => address),
      warnings: shown(redaction, diagnostics),
    };
    projects.set(loaded, project);
    return loaded;
  });
}

/** Plans: reads the account and says what differs. Changes nothing. @throws HostformError when no plan can be made. */
export async function plan(loaded: LoadedProject, options: PlanOptions = {}): Promise<Planned> {
  const project = projectOf(loaded);
  return during(project, () =>
    withPlan(project, runOptions("plan", options), async (run) => {
      const planned = plannedOf(run);
      if (options.saveTo !== undefined && mayApply(run.plan, true)) {
        const { originOf } = await import("./plan-origin.ts");
        const identities = Object.fromEntries(run.identities);
        const origin = { ...(await originOf(project.source, run.desired, run.store.state)), identities };
        await writeSavedPlan(project, options.saveTo, { request: runOptions("plan", options), origin, plan: run.plan });
      }
      return planned;
    }),
  );
}

/**
 * Plans, asks `approve`, and changes the account to match, within the declared guards. Every order is made exactly once, also
 * when the process is ended in the middle of it and the project is applied again.
 * @throws HostformError when no plan can be made; what failed while it was applied is in the result.
 */
export async function apply(loaded: LoadedProject, options: ApplyOptions): Promise<Applied> {
  const project = projectOf(loaded);
  const { approve, saved: file, wait, waitTimeoutMs, parallelism, onEvent } = options;
  if (project.source.untrusted) await during(project, () => refuseUntrustedCommand(project.source, "apply"));
  return during(project, async () => {
    const saved = file === undefined ? undefined : await readSavedPlan(project, file);
    const request = runOptions(options.destroy ? "destroy" : "apply", options);
    return withPlan(project, { ...request, ...(saved && { ...saved.request, saved }) }, async (run) => {
      const planned = plannedOf(run);
      const approved =
        mayApply(run.plan, options.partial === true && saved === undefined) &&
        (saved !== undefined || (await approve(planned)) === true);
      const { conditions, holds } = planned;
      const before = { plan: planned, approved, conditions, holds };
      const nothing = { ...before, complete: false, changes: [], diagnostics: [], pending: [] };
      if (!approved) return nothing;
      run.providers.refresh();
      const settings = { wait, waitTimeout: waitTimeoutMs, parallelism };
      const { redaction } = project;
      const result = await carryOut(run, settings, (event) => onEvent?.(redaction.redactValue(event) as ApplyEvent));
      return {
        ...nothing,
        complete: isFulfilled(result) && (saved === undefined || heldIn(saved.plan).length === 0),
        changes: result.outcomes.map(({ address, result: end, diagnostics }) => ({
          address,
          result: end,
          diagnostics: shown(redaction, diagnostics),
        })),
        diagnostics: shown(redaction, result.diagnostics),
        ...(redaction.redactValue(attentionOf(run.plan, yamlRemedies, result)) as Attention),
        pending: result.pending,
      };
    });
  });
}

/**
 * Brings an account under management: reads it, and writes its declaration and its state into the folder. Sends GETs only. `onMessage`
 * gets what is still to be read (`reading`) and each request; after an abort the next call goes on where it stopped.
 * @throws HostformError for mistakes in a declaration that is there, and when the account cannot be read: nothing was written then.
 */
export async function adopt(options: AdoptLibraryOptions): Promise<Adopted> {
  const { unstacked, redaction } = placeOf(options);
  const { approve } = options;
  return hiding(redaction, async () => {
    await refuseUntrustedCommand(unstacked, "adopt");
    const { adoptAccount } = await import("./adopt/adopt.ts");
    const project = projectOn(await selected(unstacked, options), redaction, options);
    const adopted = await adoptAccount(project, options, approve);
    return redaction.redactValue(adopted) as Adopted;
  });
}

/** What went wrong, for people: every mistake with its place and what to do about it, as the command line prints it. */
export function errorText({ diagnostics }: HostformError): string {
  return renderDiagnostics(diagnostics, { color: false, remedies: yamlRemedies });
}

/** Where the project is, before a stack is chosen, and the secrets of its environment. */
function placeOf({ env = process.env, files = [], state, ...options }: LoadOptions) {
  const dir = path.resolve(options.dir ?? ".");
  const redaction = new Redaction();
  learnEnvironment(redaction, env);
  const unstacked: ProjectSource = {
    env,
    cwd: dir,
    dir,
    files: files.map((file) => path.resolve(dir, file)),
    state: path.resolve(dir, state ?? "hosting.tfstate"),
    stateNamed: state !== undefined,
    insecureHttp: options.insecureHttp ?? false,
    untrusted: options.untrusted ?? false,
    lockTimeoutMs: options.lockTimeoutMs,
  };
  return { unstacked, redaction };
}

const projectOn = (source: ProjectSource, redaction: Redaction, options: LoadOptions) =>
  new Project({ source, host: hostOf(options), redaction, log: logOf(redaction, options.onMessage) });

function projectOf(loaded: LoadedProject): Project {
  return projects.get(loaded) ?? fail("usage", "The project was not loaded with loadProject");
}

function runOptions(command: RunOptions["command"], options: PlanOptions): RunOptions {
  const { destroy = false, targets = [], reorder = [], orderAnyway = [] } = options;
  const { replace, refresh, refreshBudget, base } = options;
  const mode = destroy ? "destroy" : "apply";
  return { command, mode, targets, reorder, replace, orderAnyway, guards: options, refresh, refreshBudget, base };
}

/** The project in the environment or on the stack that the options name. */
async function selected(source: ProjectSource, options: LoadOptions): Promise<ProjectSource> {
  const { environment, stack } = options;
  if (environment === undefined) return onStack(source, options);
  const { inEnvironment } = await import("./environments.ts");
  return inEnvironment(source, environment, stack !== undefined);
}

async function onStack(source: ProjectSource, { stack, only, variables = {} }: LoadOptions): Promise<ProjectSource> {
  if (stack === undefined) return source;
  const { chooseStacks, refuseTerraformArguments, sourceOn } = await import("./stacks/choose.ts");
  refuseTerraformArguments(source.env, "apply");
  const given = Object.entries(variables).map(([name, text]) => ({ name, text }));
  const named = { only: only === undefined ? [] : [only], variables: given };
  const { stacks, run } = await chooseStacks(source, path.resolve(source.dir, stack), named, "apply");
  const [one, ...others] = stacks;
  if (one === undefined || others.length > 0) {
    return fail("usage", `There are ${stacks.length} stacks: ${stacks.map(({ name }) => name).join(", ")}`, {
      remedies: ["Name one of them with `only`."],
    });
  }
  return sourceOn(source, one, run);
}

/** A signal is to the project what the first Ctrl-C is. */
function hostOf({ clock = systemClock, signal }: LoadOptions): Host {
  return {
    clock,
    capture: captureCommand,
    shell: runShell,
    onInterrupt(callback) {
      signal?.addEventListener("abort", callback, { once: true });
      return () => signal?.removeEventListener("abort", callback);
    },
    wasInterrupted: () => signal?.aborted ?? false,
    // A library does not end its process.
    exit() {},
  };
}

function logOf(redaction: Redaction, onMessage: LoadOptions["onMessage"]): Log {
  const say = (message: Message) => onMessage?.(redaction.redactValue(message) as Message);
  const report = (diagnostic: Diagnostic) =>
    say({ type: "diagnostic", diagnostic: diagnosticJson(diagnostic, yamlRemedies) });
  return {
    say: (text) => say({ type: "note", text }),
    warn: (diagnostics) => diagnostics.forEach(report),
    alert: report,
    request: (event, budget) => say({ type: "request", request: { ...event, budgetLeft: event.left, budget } }),
    wait: ({ ms }) => say({ type: "waiting", ms }),
    connecting: () => undefined,
    reading: (open) => say({ type: "reading", open }),
    output: (text) => say({ type: "note", text }),
    showsOutput: onMessage !== undefined,
  };
}

function shown(redaction: Redaction, diagnostics: readonly Diagnostic[]): readonly DiagnosticJson[] {
  const texts = diagnostics.map((one) => diagnosticJson(one, yamlRemedies));
  return redaction.redactValue(texts) as readonly DiagnosticJson[];
}

function plannedOf({ plan: made, providers: { moneyScale }, project: { redaction } }: Run): Planned {
  const look = { moneyScale, remedies: yamlRemedies };
  return {
    json: redaction.redactValue(planJson(made, look)) as PlanJson,
    diagnostics: shown(redaction, made.diagnostics),
    ...(redaction.redactValue(attentionOf(made, yamlRemedies)) as Attention),
    hasChanges: hasChanges(made),
    applicable: mayApply(made, false),
    heldBack: heldIn(made),
    text: () => redaction.redact(renderPlan(made, { ...look, color: false })),
    markdown: () => redaction.redact(renderPlanMarkdown(made, look)),
    html: () => redaction.redact(renderPlanHtml(made, look)),
  };
}

const during = <T>({ source, redaction }: Project, work: () => Promise<T>): Promise<T> =>
  hiding(redaction, () => throwingForStack(source, work));

/** What is thrown has no secret in it. */
async function hiding<T>(redaction: Redaction, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof HostformError)) throw error;
    throw new HostformError(redaction.redactValue(error.diagnostics) as readonly Diagnostic[]);
  }
}
