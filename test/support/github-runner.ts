/**
 * A runner of GitHub Actions for tests, as far as the files in integrations/github need one: conditions, expressions
 * (by GitHub's own package), environment, the files of a step, composite actions and artifacts. Stands in for the
 * actions of GitHub. Each step runs in its own shell, as on a real runner.
 */
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { data, Evaluator, Lexer, Parser } from "@actions/expressions";
import { parse } from "yaml";
import { ROOT } from "./built-once.ts";
import { temporaryFolder } from "./folder.ts";

export const FOLDER = path.join(ROOT, "integrations/github");
/** Name of an action of this project, in a workflow that a user copies. */
const OWN = /^OWNER\/hostform\/integrations\/github\/(\w+)@vX\.Y\.Z$/;

type Texts = Readonly<Record<string, string>>;

export interface Step {
  readonly id?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Texts;
  readonly env?: Texts;
}

export interface Ran {
  readonly failed: boolean;
  readonly log: string;
  readonly summary: string;
  readonly outputs: Texts;
}

/** Parts of a run that its jobs share. */
export interface RunOptions {
  readonly event: string;
  readonly payload?: object;
  /** URL of GitHub's API. */
  readonly api: string;
  readonly token?: string;
  /** Account that started the run. Default: ada. */
  readonly actor?: string;
  /** Inputs of a called workflow. */
  readonly inputs?: Texts;
  readonly vars?: Texts;
  readonly secrets?: Texts;
  readonly env?: Texts;
  /** Content of the repository at a ref. */
  readonly checkout?: (ref: string) => Texts;
  /** Folder with the program `hostform`. */
  readonly bin?: string;
  /** Receives each started process of a shell. */
  readonly onStart?: (pid: number) => void;
}

interface Scope {
  readonly contexts: Readonly<Record<string, unknown>>;
  readonly env: Texts;
  readonly action?: string;
}

export class WorkflowRun {
  /** Folders of artifacts by name. */
  readonly artifacts = new Map<string, string>();
  readonly workspace = temporaryFolder();
  readonly #home = temporaryFolder();
  readonly #options: RunOptions;
  #temp = "";
  #path = "";
  #log = "";
  #summary = "";

  constructor(options: RunOptions) {
    this.#options = options;
  }

  get #github() {
    const { event, payload = {}, token = "ghs_write", actor = "ada" } = this.#options;
    return {
      actor,
      event_name: event,
      event: payload,
      repository: "acme/sites",
      ref: "refs/pull/7/merge",
      sha: "5".repeat(40),
      token,
    };
  }

  /** Runs one action of this project as the only step of a job. */
  action(name: string, inputs: Texts = {}): Promise<Ran> {
    const step = { id: "it", uses: `OWNER/hostform/integrations/github/${name}@vX.Y.Z`, with: inputs };
    return this.#job([step], undefined, { env: this.#options.env });
  }

  /** Runs a job of a workflow. Returns undefined if its condition is false. @param needs Outputs of earlier jobs. */
  async job(workflow: string, name: string, needs: Readonly<Record<string, Texts>> = {}): Promise<Ran | undefined> {
    const { env = {}, jobs, on } = parse(readFileSync(path.join(FOLDER, workflow), "utf8"));
    const { if: condition = "true", steps, outputs, env: own = {}, strategy } = jobs[name];
    const given = Object.fromEntries(Object.entries(needs).map(([job, of]) => [job, { outputs: of }]));
    const { vars = {}, secrets = {}, inputs = {} } = this.#options;
    const matrix = strategy?.matrix.include[0] ?? {};
    const contexts = {
      github: this.#github,
      needs: given,
      vars,
      secrets,
      matrix,
      steps: {},
      inputs: inputsOf(workflow, on.workflow_call ?? {}, inputs),
    };
    if (!isTrue(condition, contexts, false)) return undefined;
    return this.#job(steps, outputs, {
      ...contexts,
      env: { ...expanded({ ...env, ...own }, contexts), ...this.#options.env },
    });
  }

  async #job(
    steps: readonly Step[],
    outputs: Texts | undefined,
    given: Readonly<Record<string, unknown>>,
  ): Promise<Ran> {
    this.#temp = mkdtempSync(path.join(this.#home, "temp-"));
    [this.#log, this.#summary] = ["", ""];
    this.#path = [this.#options.bin, path.dirname(process.execPath), process.env.PATH].filter(Boolean).join(":");
    const contexts = { github: this.#github, runner: { temp: this.#temp }, ...given };
    const result = await this.#steps(steps, { contexts, env: (given.env ?? {}) as Texts });
    const values = outputs && expanded(outputs, { ...contexts, steps: stepsContext(result) });
    const own = { log: this.#log, summary: this.#summary, outputs: values ?? result.outputs.it ?? {} };
    return { failed: result.failed, ...own };
  }

  async #steps(steps: readonly Step[], scope: Scope) {
    const outputs: Record<string, Texts> = {};
    let failed = false;
    for (const step of steps) {
      const contexts = { ...scope.contexts, steps: stepsContext({ outputs }) };
      const env = { ...scope.env, ...expanded(step.env ?? {}, contexts) };
      if (!isTrue(step.if ?? "success()", { ...contexts, env }, failed)) continue;
      const inputs = expanded(step.with ?? {}, contexts);
      const ran = await (step.run === undefined
        ? this.#use(step.uses ?? "", inputs, { ...scope, env })
        : this.#shell(expand(step.run, contexts), env, scope.action));
      if (ran.failed) failed = true;
      if (step.id !== undefined) outputs[step.id] = ran.outputs;
    }
    return { failed, outputs };
  }

  async #use(name: string, inputs: Texts, scope: Scope): Promise<{ failed: boolean; outputs: Texts }> {
    const done = (outputs: Texts = {}) => ({ failed: false, outputs });
    const [, own] = OWN.exec(name) ?? [];
    if (own !== undefined) return this.#composite(own, inputs, scope);
    const at = (key: string) => inputs[key] ?? "";
    const place = (file: string) => path.resolve(this.workspace, file);
    switch (name.split("@")[0]) {
      case "actions/setup-node":
      case "actions/attest-build-provenance":
        return done();
      case "actions/checkout": {
        rmSync(this.workspace, { recursive: true });
        mkdirSync(this.workspace);
        const files = this.#options.checkout?.(at("ref")) ?? {};
        for (const [file, text] of Object.entries(files)) {
          mkdirSync(path.dirname(place(file)), { recursive: true });
          writeFileSync(place(file), text);
        }
        return done();
      }
      case "actions/upload-artifact": {
        const folder = mkdtempSync(path.join(this.#home, "artifact-"));
        cpSync(place(at("path")), folder, { recursive: true });
        this.artifacts.set(at("name"), folder);
        return done({ "artifact-url": "https://github.example/artifacts/1" });
      }
      case "actions/download-artifact": {
        const folder = this.artifacts.get(at("name"));
        if (folder === undefined) return { failed: true, outputs: {} };
        cpSync(folder, place(at("path")), { recursive: true });
        return done();
      }
      default:
        throw new Error(`The runner of the tests does not know ${name}.`);
    }
  }

  async #composite(name: string, given: Texts, scope: Scope) {
    const folder = path.join(FOLDER, name);
    const action = parse(readFileSync(path.join(folder, "action.yml"), "utf8"));
    const { github, runner } = scope.contexts;
    const inputs = inputsOf(name, action, given, (value) => expand(value, { github }));
    const contexts = { github, runner, inputs, env: scope.env };
    const ran = await this.#steps(action.runs.steps, { contexts, env: scope.env, action: folder });
    const values = Object.entries<{ value: string }>(action.outputs ?? {}).map(([key, { value }]) => [key, value]);
    const outputs = expanded(Object.fromEntries(values), { ...contexts, steps: stepsContext(ran) });
    return { failed: ran.failed, outputs };
  }

  /** Runs a script as `shell: bash` does. */
  async #shell(script: string, env: Texts, action?: string): Promise<{ failed: boolean; outputs: Texts }> {
    const { event, payload = {}, api, onStart } = this.#options;
    const folder = mkdtempSync(path.join(this.#temp, "step-"));
    const file = (name: string, text = "") => {
      writeFileSync(path.join(folder, name), text);
      return path.join(folder, name);
    };
    const files = ["output", "step_summary", "path"].map((name) => [`GITHUB_${name.toUpperCase()}`, file(name)]);
    const child = spawn("bash", ["--noprofile", "--norc", "-eo", "pipefail", file("script.sh", script)], {
      cwd: this.workspace,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: this.#path,
        HOME: this.#home,
        XDG_STATE_HOME: process.env.XDG_STATE_HOME,
        CI: "true",
        GITHUB_ACTIONS: "true",
        GITHUB_ACTOR: this.#github.actor,
        GITHUB_API_URL: api,
        GITHUB_EVENT_NAME: event,
        GITHUB_REF_NAME: "v0.1.0",
        GITHUB_EVENT_PATH: file("event.json", JSON.stringify(payload)),
        GITHUB_REPOSITORY: "acme/sites",
        GITHUB_RUN_ID: "99",
        GITHUB_SERVER_URL: "https://github.example",
        GITHUB_WORKSPACE: this.workspace,
        RUNNER_TEMP: this.#temp,
        ...(action && { GITHUB_ACTION_PATH: action }),
        ...env,
        ...Object.fromEntries(files),
      },
    });
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (this.#log += chunk));
    if (child.pid !== undefined) onStart?.(child.pid);
    const code = await new Promise((resolve) => child.once("close", resolve));
    const read = (name: string) => readFileSync(path.join(folder, name), "utf8");
    this.#summary += read("step_summary");
    this.#path = [...read("path").split("\n").filter(Boolean), this.#path].join(":");
    const outputs = read("output")
      .split("\n")
      .filter(Boolean)
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]);
    return { failed: code !== 0, outputs: Object.fromEntries(outputs) };
  }
}

/** Returns the inputs of an action or of a called workflow. @throws Error for a missing or an unknown input. */
function inputsOf(
  name: string,
  { inputs: declared = {} }: { readonly inputs?: Readonly<Record<string, { default?: string; required?: boolean }>> },
  given: Texts,
  expandDefault = (value: string) => value,
): Texts {
  const missing = Object.keys(declared).filter((key) => declared[key]?.required && !(key in given));
  const unknown = Object.keys(given).filter((key) => !(key in declared));
  if (missing.length > 0) throw new Error(`${name} needs the input ${missing}.`);
  if (unknown.length > 0) throw new Error(`${name} has no input ${unknown}.`);
  const values = Object.entries(declared).map(([key, one]) => [key, given[key] ?? expandDefault(one.default ?? "")]);
  return Object.fromEntries(values);
}

const stepsContext = ({ outputs }: { readonly outputs: Readonly<Record<string, Texts>> }) =>
  Object.fromEntries(Object.entries(outputs).map(([id, of]) => [id, { outputs: of }]));

/** Evaluates an expression with GitHub's own package. @throws Error for an unknown context. */
function evaluate(expression: string, contexts: object, failed: boolean) {
  const functions = Object.entries({ success: !failed, failure: failed, always: true, cancelled: false }).map(
    ([name, value]) => ({ name, minArgs: 0, maxArgs: 0, call: () => new data.BooleanData(value) }),
  );
  const tree = new Parser(new Lexer(expression).lex().tokens, Object.keys(contexts), functions).parse();
  const values = JSON.parse(JSON.stringify(contexts), data.reviver);
  return new Evaluator(tree, values, new Map(functions.map((one) => [one.name, one]))).evaluate();
}

/** Decides a condition. Without a status function, a condition also requires that no step has failed. */
function isTrue(condition: string, contexts: object, failed: boolean): boolean {
  const expression = condition.replace(/^\$\{\{(.*)\}\}$/, "$1");
  const status = /\b(?:success|failure|always|cancelled)\(\)/.test(expression)
    ? expression
    : `success() && (${expression})`;
  return evaluate(`(${status}) && true || false`, contexts, failed).coerceString() === "true";
}

const expand = (text: string, contexts: object): string =>
  String(text).replace(/\$\{\{(.*?)\}\}/g, (_, expression) => evaluate(expression, contexts, false).coerceString());

const expanded = (texts: Texts, contexts: object): Texts =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, expand(text, contexts)]));
