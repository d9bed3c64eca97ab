/** Evaluates the policy of a run: policy files from the command line or environment, and their verdicts about a plan. */
import path from "node:path";
import type { Limits } from "../core/engine/index.ts";
import { read } from "../core/files/index.ts";
import { kindAt, wordsOf } from "../core/kinds/index.ts";
import {
  type Change,
  capsOf,
  changeFacts,
  type Desired,
  type Diagnostic,
  failWith,
  HostformError,
  ifExplained,
  isError,
  isOutsider,
  namesIn,
  newNames,
  type Plan,
  type Policy,
  type PolicyFacts,
  type PolicyVerdict,
  parseAddress,
  type State,
  verdictsOf,
} from "../core/model/index.ts";
import {
  authorOf,
  diagnosticOf,
  isFunctionFile,
  policyFiles,
  readPolicies,
  runFunction,
  unsupported,
} from "../core/policy/index.ts";
import { planJson } from "../report/index.ts";
import { tightened } from "./guards.ts";
import type { Project } from "./project.ts";
import type { ProjectSource } from "./source.ts";
import { yamlRemedies } from "./stack-diagnostics.ts";
import { refuseOwnPolicy } from "./trust.ts";

/** Context of a policy evaluation. */
export interface Judging extends Pick<PolicyFacts, "hasStateKey" | "now"> {
  /** Saved plan to apply. It contains the conditions of objects that the apply does not read. */
  readonly saved?: Plan | undefined;
  /** All state entries before the plan. */
  readonly recorded: State;
  /** True if this run does not apply the plan. */
  readonly isLater: boolean;
}

export class RunPolicy {
  readonly #source: ProjectSource;
  readonly #policies: readonly Policy[];
  /** Absolute paths of the files with functions. */
  readonly #functions: readonly string[];
  #facts: PolicyFacts | undefined;

  private constructor(source: ProjectSource, policies: readonly Policy[], functions: readonly string[]) {
    this.#source = source;
    this.#policies = policies;
    this.#functions = functions;
  }

  /** Reads the policy of a run. @throws HostformError `policy.invalid`, `trust.file`. */
  static async open(source: ProjectSource): Promise<RunPolicy> {
    const { cwd, env, policy = [] } = source;
    const files = new Set([...policyFiles(env), ...policy].map((file) => path.resolve(cwd, file)));
    for (const file of files) refuseOwnPolicy(source, file);
    const near = (file: string) => path.relative(cwd, file);
    const reading = (file: string, limit: number) => read(path.resolve(cwd, file), { limit, streams: true });
    const { true: functions = [], false: rules = [] } = Object.groupBy(files, (file) => `${isFunctionFile(file)}`);
    return new RunPolicy(source, await readPolicies(rules.map(near), reading), functions);
  }

  get isGiven(): boolean {
    return this.#policies.length + this.#functions.length > 0;
  }

  /** Returns true if a policy does not allow the domain of an e-mail address. */
  isOutside(email: unknown): boolean {
    return this.#policies.some((policy) => isOutsider(policy, email));
  }

  /** Returns the limits, tightened by the policy. */
  limits(limits: Limits): Limits {
    return tightened(limits, capsOf(this.#policies));
  }

  /** Returns the plan with the verdicts of the policy and with names that are new to the project. */
  async judge(plan: Plan, { recorded, isLater, saved, ...judging }: Judging): Promise<Plan> {
    const names = namesIn(recorded.resources.values(), wordsAt);
    const changes = changeFacts(plan);
    const fresh = newNames(changes, names);
    const known = [...names.receivers, ...names.grantees, ...names.sites];
    const author = authorOf(this.#source.env);
    const seen = [plan, ...(saved === undefined ? [] : [saved])];
    const read = new Set(seen.flatMap((one) => one.changes.map(({ address }) => address)));
    for (const { address } of seen.flatMap(({ notRead = [] }) => notRead)) read.delete(address);
    const unseen = [...recorded.resources.keys()].filter((address) => !read.has(address)).length;
    const conditions = seen.flatMap((one) => one.conditions ?? []);
    const facts: PolicyFacts = { ...judging, changes, conditions, unseen, author, known };
    this.#facts = facts;
    const named = { ...plan, ...(fresh.length > 0 && { newNames: fresh }) };
    if (!this.isGiven) return named;
    const called = await this.#call(named);
    const verdicts = [...verdictsOf(this.#policies, facts, { isLater }), ...called.verdicts];
    const files = [...this.#policies.map(({ file }) => file), ...this.#functions.map(this.#near)];
    const diagnostics = [...verdicts.map(diagnosticOf), ...called.diagnostics];
    return { ...named, policy: { files, verdicts }, diagnostics: [...diagnostics, ...plan.diagnostics] };
  }

  /** Calls the policy functions. A failed call rejects the plan. */
  async #call(plan: Plan): Promise<{ verdicts: PolicyVerdict[]; diagnostics: Diagnostic[] }> {
    const verdicts: PolicyVerdict[] = [];
    const diagnostics: Diagnostic[] = [];
    const { hostform, ...json } = planJson(plan, { remedies: yamlRemedies });
    const input = [hostform.effects, hostform.conditions, { ...json, hostform }] as const;
    for (const file of this.#functions) {
      const shown = this.#near(file);
      if (this.#source.untrusted === true) {
        const why = "hostform runs no policy function for an untrusted declaration";
        diagnostics.push(unsupported(`the function ${shown}`, why, "warning"));
      } else {
        const found = await runFunction(file, shown, input).catch(ifExplained((error) => error));
        if (found instanceof HostformError) diagnostics.push(...found.diagnostics);
        else verdicts.push(...found);
      }
    }
    return { verdicts, diagnostics };
  }

  #near = (file: string) => path.relative(this.#source.cwd, file);

  /**
   * Evaluates the policy again at the start of the apply, possibly hours after the plan.
   * @throws HostformError `policy.denied`.
   */
  confirm(now: number): void {
    if (this.#facts === undefined) return;
    const denied = verdictsOf(this.#policies, { ...this.#facts, now }).filter(({ level }) => level === "deny");
    failWith(denied.map(diagnosticOf));
  }
}

const wordsAt = (address: string) => {
  const kind = kindAt(address);
  return kind && wordsOf(kind);
};

/** Adds the file of its block to each change, relative to the project's folder. */
export function withFiles({ cwd, dir }: ProjectSource, changes: readonly Change[], { resources }: Desired): Change[] {
  const files = new Map(resources.map(({ address, locate }) => [address, locate([])?.file]));
  return changes.map((change) => {
    const file = files.get(change.address);
    if (file === undefined) return change;
    return { ...change, file: path.relative(dir, path.resolve(cwd, file)).replaceAll(path.sep, "/") };
  });
}

/**
 * Evaluates the policy for a new password of a service, as a plan with only this change. Sends no request.
 * @param id Id of the service. The state may lack it.
 * @throws HostformError `policy.denied` and other errors of a policy.
 */
export async function requirePassword(
  { source, state, host, log }: Project,
  id: string,
  provider: string,
): Promise<void> {
  const policy = await RunPolicy.open(source);
  if (!policy.isGiven) return;
  const recorded = await state.read();
  const type = "hosting_service";
  const own = [...recorded.resources.values()].find(
    (one) => parseAddress(one.address)?.type === type && one.attributes.id === id && one.provider === provider,
  );
  const { attributes = { id }, address = `${type} ${id}` } = own ?? {};
  const client = own?.private.client;
  const change: Change = {
    address,
    type,
    words: wordsAt(`${type}.one`) ?? { noun: "service", plural: "services", name: "id" },
    provider,
    actions: ["update"],
    before: attributes,
    after: attributes,
    after_unknown: {},
    sensitive: Object.keys(attributes).filter((name) => own?.sensitive?.includes(name)),
    config: null,
    reasons: [{ why: "declared", attribute: "password", text: "a new password" }],
    deferred: [],
    private: {},
    dependsOn: [],
    requests: 1,
    ...(client !== undefined && { client }),
  };
  const now = host.clock.now();
  const { lineage, serial } = recorded;
  const timestamp = new Date(now).toISOString();
  const about = { project: "", lineage, serial, timestamp, mode: "apply" as const };
  const none = { drift: [], pending: [], diagnostics: [], cost: [], requests: { read: 0, apply: 1, seconds: 0 } };
  const hasStateKey = state.encryption().key !== undefined;
  const plan = { ...about, ...none, changes: [change] };
  const { diagnostics } = await policy.judge(plan, { recorded, isLater: false, hasStateKey, now });
  if (diagnostics.some(isError)) throw new HostformError(diagnostics);
  log.warn(...diagnostics);
}
