/**
 * `import { loadProject } from "hostform"`: a project for programs. Its methods equal the commands of the command line.
 * Results, messages and errors contain no secrets.
 */
import path from "node:path";
import {
  type ApplyEvent,
  type ApplyResult,
  type FailOn,
  fail,
  HostformError,
  heldIn,
  isFulfilled,
  systemClock,
} from "../core/model/index.ts";
import { valueFile } from "../fronts/source/index.ts";
import {
  type ConditionJson,
  type DiagnosticJson,
  diagnosticJson,
  type PlanJson,
  type RequestEvent,
  renderDiagnostics,
  renderReport,
  renderReportCsv,
  renderReportHtml,
  renderReportMarkdown,
  STATUS_SECTIONS,
} from "../report/index.ts";
import type { Adopted, AdoptOptions, Forecast } from "./adopt/types.ts";
import { carryOut, hasChanges, requireApplicable, unchanged } from "./apply.ts";
import { templatesIn } from "./declaration.ts";
import type {
  AdoptAccountOptions,
  Applied,
  ApplyOptions,
  LoadOptions,
  PlanOptions,
  Progress,
  RehearsalOptions,
  Rehearsed,
  Status,
  StatusOptions,
  WorkOptions,
} from "./library-types.ts";
import { failureNews, notify } from "./notify/index.ts";
import { savedFrom, withPlan } from "./plan.ts";
import { declarationDigest } from "./plan-origin.ts";
import { attentionIn, hiding, Planned, shown } from "./planned.ts";
import { hostOf } from "./programs.ts";
import { Project } from "./project.ts";
import { accountsOf } from "./providers.ts";
import { learnEnvironment, leaving, Redaction } from "./redaction.ts";
import { type PlanRequest, readSavedPlan, type SavedPlan, sealOf } from "./saved-plan.ts";
import type { Log, ProjectSource } from "./source.ts";
import { throwingForStack, yamlRemedies } from "./stack-diagnostics.ts";
import { projectStatus } from "./status.ts";
import { refuseUntrusted } from "./trust.ts";

export { memoryStores } from "../core/local/memory-store.ts";
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
  LoadedProject,
  PlanJson,
  Planned,
  RequestEvent,
};

/**
 * Reads and checks a declaration. Sends no request. The folder may have no declaration, so that its account can be adopted.
 * @throws HostformError with all mistakes of the declaration and their locations.
 */
export async function loadProject(options: LoadOptions = {}): Promise<LoadedProject> {
  const { env = process.env, files = [], policy = [], clock = systemClock, state, templates, declaration } = options;
  const sends = options.notify ?? false;
  const dir = path.resolve(options.directory ?? ".");
  const redaction = new Redaction();
  learnEnvironment(redaction, env);
  const unchosen: ProjectSource = {
    env,
    cwd: path.resolve(options.cwd ?? dir),
    dir,
    files: files.map((file) => path.resolve(dir, file)),
    ...(declaration !== undefined && { value: valueFile(declaration) }),
    ownState: typeof state === "object" ? state : undefined,
    openStore: options.store,
    state: path.resolve(dir, typeof state === "string" ? state : "hosting.tfstate"),
    stateNamed: state !== undefined,
    policy: policy.map((file) => path.resolve(dir, file)),
    insecureHttp: options.insecureHttp ?? false,
    untrusted: options.untrusted ?? false,
    isProposed: options.isProposed,
    lockTimeoutMs: options.lockTimeoutMs,
    ...(templates && { templates: await templatesIn(path.resolve(dir, templates.file)) }),
    ...(typeof sends === "object" && { channels: sends }),
  };
  return hiding(redaction, async () => {
    await refuseUntrusted(unchosen, "plan", true);
    const source = await chosen(unchosen, options);
    const project = new Project({ source, host: hostOf(clock), redaction, log: logOf(redaction) });
    const { desired, diagnostics } = await throwingForStack(source, () => project.declaration.check());
    if (desired === undefined && diagnostics.some(({ code }) => code !== "config.missing"))
      throw new HostformError(diagnostics);
    const addresses = (desired?.resources ?? []).map(({ address }) => address);
    const warnings = desired === undefined ? [] : shown(redaction, diagnostics);
    return new LoadedProject(project, addresses, warnings, sends !== false);
  });
}

/** Returns all diagnostics of an error as text, with locations and remedies, as the command line prints them. */
export function errorText({ diagnostics }: HostformError): string {
  return renderDiagnostics(diagnostics, { color: false, remedies: yamlRemedies });
}

/** A project with a valid declaration. Each method reads the declaration again. */
class LoadedProject {
  /** Addresses of the declared resources, such as `hosting_service.acme`. */
  readonly addresses: readonly string[];
  readonly warnings: readonly DiagnosticJson[];
  readonly #project: Project;
  readonly #notifies: boolean;

  /** @internal */
  constructor(project: Project, addresses: readonly string[], warnings: readonly DiagnosticJson[], notifies: boolean) {
    this.#notifies = notifies;
    this.#project = project;
    this.addresses = addresses;
    this.warnings = warnings;
  }

  /**
   * Reads the account, and returns the changes that would make it equal to the declaration.
   * @throws HostformError if there is no plan.
   */
  plan(options: PlanOptions = {}): Promise<Planned> {
    const { destroy = false, targets = [], reorder = [], replace = [], orderAnyway = [] } = options;
    const { refresh, refreshBudget, base, lock, approved = false } = options;
    const mode = destroy ? "destroy" : "apply";
    const request: PlanRequest = { mode, targets, reorder, replace, orderAnyway, guards: options };
    return this.#during(options, (project) =>
      withPlan(project, { ...request, command: "plan", refresh, refreshBudget, base, lock }, async (run) => {
        if (this.#notifies) await notify(project, { ...run, moneyScale: run.providers.moneyScale, waits: !approved });
        const saved: SavedPlan = { ...(await savedFrom(run, request)), isProved: true };
        return new Planned(project, saved, run.providers.moneyScale, await sealOf(project.state));
      }),
    );
  }

  /** Reads a plan that {@link Planned.save} or the command line wrote. @throws HostformError `plan.saved`, `state.key`. */
  readPlan(file: string): Promise<Planned> {
    return this.#during({}, async (project) => {
      const scale = await project.declaration.moneyScale();
      return new Planned(project, await readSavedPlan(project, file), scale, await sealOf(project.state));
    });
  }

  /**
   * Applies exactly this plan within the declared guards. Each order is sent once, even if the process crashes and the
   * project is applied again.
   * @throws HostformError if the plan cannot be applied, or no longer matches the account, the state or the declaration. The
   * result contains failures of the apply.
   */
  apply(plan: Planned, options: ApplyOptions = {}): Promise<Applied> {
    const { partial = false, wait, waitTimeoutMs, parallelism, onEvent, mandate: text } = options;
    return this.#during(options, async (project) => {
      const { source, redaction } = project;
      await refuseUntrusted(source, "apply", false);
      const saved = Planned.savedIn(plan);
      requireApplicable(saved.plan, partial);
      const { request } = saved;
      const { pending, conditions = [] } = saved.plan;
      if (!hasChanges(saved.plan)) return appliedOf(redaction, saved, unchanged(saved.plan));
      const mandate = text === undefined ? undefined : { text, file: "`mandate`" };
      const bound = mandate === undefined ? saved : { ...saved, digest: plan.digest };
      const asked = { ...request, command: request.mode, saved: bound, caps: options, waits: wait, mandate };
      return withPlan(project, asked, async (run) => {
        requireApplicable(run.plan, false);
        run.providers.refresh();
        const settings = { wait, waitTimeout: waitTimeoutMs, parallelism };
        const result = await carryOut(run, settings, (event) => onEvent?.(redaction.redactValue(event) as ApplyEvent));
        if (this.#notifies) await notify(project, { ...run, moneyScale: run.providers.moneyScale, result });
        const isOpen = (address: string) => run.store.state.resources.get(address)?.private.pending !== undefined;
        // Conditions and pending creations of objects that the run did not read are in the saved plan.
        const own = new Set(run.plan.changes.map(({ address }) => address));
        const others = conditions.filter(({ address }) => !own.has(address));
        return appliedOf(redaction, saved, {
          ...result,
          held: heldIn(saved.plan),
          pending: [...new Set([...pending.filter(isOpen), ...result.pending])],
          conditions: [...others, ...(result.conditions ?? run.plan.conditions ?? [])],
        });
      });
    });
  }

  /** Applies a plan in a sandbox with a copy of the account, and lets time run there. Sends only GET requests to the account. */
  async rehearse({ plan, ...options }: RehearsalOptions & { readonly plan?: Planned } = {}): Promise<Rehearsed> {
    const { rehearse } = await import("./rehearse/rehearse.ts");
    const asked = { ...options, saved: plan && Planned.savedIn(plan) };
    return this.#during(options, (project) => rehearse(project, asked, yamlRemedies));
  }

  /** Reads the account, and returns its status. Changes nothing. @throws HostformError if there is no plan. */
  status(options: StatusOptions = {}): Promise<Status> {
    return this.#during(options, async (project) => {
      const report = await projectStatus(project, options);
      const form =
        (render: typeof renderReportHtml, as?: "markdown" | "html") =>
        (names = STATUS_SECTIONS) =>
          leaving(render(report, names), project.redaction, as);
      return {
        report,
        text: form((one, names) => renderReport(one, names, { color: false })),
        markdown: form(renderReportMarkdown, "markdown"),
        html: form(renderReportHtml, "html"),
        csv: (section) => leaving(renderReportCsv(report, section), project.redaction),
      };
    });
  }

  /** Returns the digests of the declared accounts. @internal */
  accounts(): Promise<readonly string[]> {
    return this.#during({}, accountsOf);
  }

  /** Returns a digest of the contents of the declaration's files, wherever they are. @internal */
  digest(): Promise<string> {
    return this.#during({}, declarationDigest);
  }

  /**
   * Brings the account under management: reads it, and writes its declaration and state into the folder. Sends only GET
   * requests. After an abort, the next call reuses the lists.
   * @throws HostformError for mistakes in an existing declaration, or if the account cannot be read. No file is then written.
   */
  adopt(options: AdoptAccountOptions): Promise<Adopted> {
    return this.#during(options, async (project) => {
      await refuseUntrusted(project.source, "adopt", false);
      if (project.source.value) fail("usage", "adopt writes files: load the project without `declaration`");
      const { adoptAccount } = await import("./adopt/adopt.ts");
      return project.redaction.redactValue(await adoptAccount(project, options, options.approve)) as Adopted;
    });
  }

  #during<T>({ signal, now, onProgress }: WorkOptions, work: (project: Project) => Promise<T>): Promise<T> {
    const { source, redaction, host } = this.#project;
    const log = logOf(redaction, onProgress);
    const project = this.#project.on(source, { host: hostOf(host.clock, signal, now), log });
    const done = hiding(redaction, () => throwingForStack(source, () => work(project)));
    return this.#notifies ? done.catch(failureNews(project)) : done;
  }
}

const appliedOf = (redaction: Redaction, { plan }: SavedPlan, result: ApplyResult): Applied => ({
  ...attentionIn(redaction, plan, result),
  complete: isFulfilled(result),
  changes: result.outcomes.map(({ address, result: end, diagnostics }) => {
    return { address, result: end, diagnostics: shown(redaction, diagnostics) };
  }),
  diagnostics: shown(redaction, result.diagnostics),
  pending: result.pending,
  ...(result.mandate && { receipt: result.mandate }),
});

/** Returns the project with the environment or stack of the options. */
async function chosen(source: ProjectSource, options: LoadOptions): Promise<ProjectSource> {
  const { environment, stack, only, variables = {} } = options;
  if (environment !== undefined) {
    const { inEnvironment } = await import("./environments.ts");
    return inEnvironment(source, environment, stack !== undefined);
  }
  if (stack === undefined) return source;
  const { sourceOnOne } = await import("./stacks/choose.ts");
  return sourceOnOne(source, path.resolve(source.dir, stack), only, variables);
}

function logOf(redaction: Redaction, onProgress?: WorkOptions["onProgress"]): Log {
  const report = (progress: Progress) => onProgress?.(redaction.redactValue(progress) as Progress);
  const note = (text: string) => report({ type: "note", text });
  return {
    say: note,
    warn(...diagnostics) {
      for (const one of diagnostics) report({ type: "diagnostic", diagnostic: diagnosticJson(one, yamlRemedies) });
    },
    request: (event, budget) => report({ type: "request", request: { ...event, budgetLeft: event.left, budget } }),
    wait: ({ ms }) => report({ type: "waiting", ms }),
    connecting: () => undefined,
    reading: (open) => report({ type: "reading", open }),
    output: note,
    showsOutput: onProgress !== undefined,
  };
}
