/**
 * `import { loadProject, plan, apply, adopt } from "hostform"`: a declaration loaded, planned and applied by a program, and an account
 * adopted. It stands on what the command line stands on, `withPlan`, `carryOut` and `adoptAccount`. Whatever is returned, reported or thrown has secrets hidden.
 */
import path from "node:path";
import {
  type ApplyEvent,
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
import type {
  AdoptLibraryOptions,
  Applied,
  ApplyOptions,
  LoadedProject,
  LoadOptions,
  Message,
  Planned,
  PlanOptions,
} from "./library-types.ts";
import { type Run, type RunOptions, withPlan } from "./plan.ts";
import { captureCommand, runShell } from "./programs.ts";
import { Project } from "./project.ts";
import { learnEnvironment, leaving, Redaction } from "./redaction.ts";
import { readSavedPlan, writeSavedPlan } from "./saved-plan.ts";
import type { Host, Log, ProjectSource } from "./source.ts";
import { throwingForStack, yamlRemedies } from "./stack-diagnostics.ts";
import { refuseUntrustedCommand } from "./trust.ts";

export { HostformError } from "../core/model/index.ts";
export type * from "./library-types.ts";
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
    return withPlan(project, { ...request, ...(saved && { ...saved.request, saved, caps: options }) }, async (run) => {
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
    text: () => leaving(renderPlan(made, { ...look, color: false }), redaction),
    markdown: () => leaving(renderPlanMarkdown(made, look), redaction, "markdown"),
    html: () => leaving(renderPlanHtml(made, look), redaction, "html"),
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
