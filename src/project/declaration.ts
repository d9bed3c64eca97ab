/** The declaration of a project, read once. */
import path from "node:path";
import { overrideWarnings } from "../core/api/address.ts";
import { VERSION } from "../core/api/version.ts";
import { validateDesired } from "../core/engine/index.ts";
import { exists, listNow } from "../core/files/index.ts";
import { kinds } from "../core/kinds/index.ts";
import { moneyScaleOf } from "../core/kinds/provider-settings.ts";
import {
  attempt,
  type Backend,
  type Desired,
  type Diagnostic,
  fail,
  HostformError,
  ifErrno,
  isError,
  openVariables,
  type ProviderConfig,
} from "../core/model/index.ts";
import type { Declaration } from "../fronts/source/index.ts";
import { type DeclarationFiles, OWN_LIMITS, type ReadOptions, readDeclaration } from "../fronts/yaml/index.ts";
import { checkEnvironment } from "./environments.ts";
import { learnDeclared } from "./known-secrets.ts";
import { listOwn, readOwn } from "./own-files.ts";
import type { Redaction } from "./redaction.ts";
import { misplacedOutputs } from "./secrets.ts";
import type { ProjectSource } from "./source.ts";
import { forStack } from "./stack-diagnostics.ts";
import type { OutputsAt } from "./stacks/stack.ts";
import { declaredEnvironment, namedFiles, variableGate, withoutTrust } from "./trust.ts";

/** A declaration that was read and checked. */
export interface CheckedDeclaration {
  readonly desired: Desired;
  /** Warnings; errors are thrown. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The declaration of a project. The files are read at the first use, and all of the command works with what was read. */
export class ProjectDeclaration {
  readonly #source: ProjectSource;
  readonly #redaction: Redaction;
  readonly #outputsAt: OutputsAt;
  #known: Promise<Declaration> | undefined;

  constructor(source: ProjectSource, redaction: Redaction, outputsAt: OutputsAt) {
    this.#source = source;
    this.#redaction = redaction;
    this.#outputsAt = outputsAt;
  }

  /** Everything that is wrong with the declaration, in the order of the places; the declaration itself unless there are errors. */
  async check(): Promise<{ desired?: Desired; diagnostics: readonly Diagnostic[] }> {
    const { desired, partial, diagnostics } = await this.read();
    const readable = desired ?? partial;
    const values =
      readable === undefined
        ? []
        : [
            ...validateDesired(readable, kinds, declaredEnvironment(this.#source)),
            ...(await misplacedOutputs(this.#source, readable)),
          ];
    // A template that the declaration itself has refused cannot be evaluated either: once is enough.
    const refused = new Set(diagnostics.flatMap((one) => [placeOf(one), attributeOf(one) ?? placeOf(one)]));
    const news = values.filter(
      (value) =>
        !["config.expression", "secret.output"].includes(value.code) ||
        !(refused.has(placeOf(value)) || refused.has(attributeOf(value) ?? placeOf(value))),
    );
    const elsewhere = [...(readable?.providers.values() ?? [])].flatMap(({ alias, baseUrl, range }) =>
      overrideWarnings(baseUrl, this.#source.env, { of: `Provider ${alias}`, ...(range && { range }) }),
    );
    const all = forStack(this.#source, inPlaceOrder([...diagnostics, ...news, ...elsewhere]));
    return { diagnostics: all, ...(desired !== undefined && !all.some(isError) && { desired }) };
  }

  /** The checked declaration. @throws HostformError with every mistake in it. */
  async load(): Promise<CheckedDeclaration> {
    const { desired, diagnostics } = await this.check();
    if (desired === undefined) throw new HostformError(diagnostics);
    return { desired, diagnostics };
  }

  /** The providers that are declared; without any declaration, the default one of the environment. */
  async providers(): Promise<ReadonlyMap<string, ProviderConfig>> {
    const { desired, partial, diagnostics } = await this.read();
    if (desired !== undefined) return desired.providers;
    // A command that only lists the account needs the providers; mistakes elsewhere in the declaration do not matter.
    const hindering = diagnostics.filter(
      ({ code, address }) =>
        code.startsWith("provider.") ||
        code.startsWith("trust.") ||
        (code === "config.secret" && address === undefined),
    );
    if (partial !== undefined && hindering.length === 0) return partial.providers;
    if (diagnostics.every(({ code }) => code === "config.missing") && this.#source.files.length === 0) {
      return withMoneyScale(new Map([["default", { alias: "default" }]]), this.#source.env);
    }
    throw new HostformError(diagnostics);
  }

  /**
   * The backend that is declared; mistakes elsewhere in the declaration do not matter.
   * @throws HostformError the mistakes of the declaration when one of them may hide a backend; `usage` for `--state` beside one.
   */
  async backend(): Promise<Backend | undefined> {
    const { stateNamed } = this.#source;
    const { backend, diagnostics } = await this.read();
    if (backend === "unclear" && !stateNamed) throw new HostformError(diagnostics);
    if (typeof backend === "object" && stateNamed) {
      fail("usage", "--state names a file, and the declaration names a backend", {
        detail: "The state is kept in one place only.",
        remedies: ["Leave --state out, or remove `backend` from the declaration."],
        ...(backend.range && { range: backend.range }),
      });
    }
    return typeof backend === "object" ? backend : undefined;
  }

  /** What the files declare, mistakes included. The secrets that they hold or name are announced. */
  read(): Promise<Declaration> {
    this.#known ??= this.#read();
    return this.#known;
  }

  /** What was declared where other files stood in place of these. Nothing of it may be shown: its secrets are not announced. */
  async readAt(fs: DeclarationFiles): Promise<Declaration> {
    return scaled(await readDeclaration({ ...optionsOf(this.#source), fs }), this.#source);
  }

  async #read(): Promise<Declaration> {
    const source = this.#source;
    const found =
      source.stack === undefined
        ? withStackHint(source, await readYaml(source))
        : await (await import("./stacks/read.ts")).readStack(source, source.stack, this.#redaction, this.#outputsAt);
    const declaration = scaled(await withoutTrust(source, found), source);
    const readable = declaration.desired ?? declaration.partial;
    // What a stranger's declaration calls a secret is the stranger's own word: hidden, it would hide what the plan says.
    if (readable !== undefined && source.untrusted !== true) learnDeclared(this.#redaction, readable, source.env);
    return declaration;
  }
}

async function readYaml(source: ProjectSource): Promise<Declaration> {
  const warnings = await checkEnvironment(source);
  const read = await readDeclaration(optionsOf(source));
  return { ...read, diagnostics: [...warnings, ...read.diagnostics] };
}

/** With the scale of amounts that the environment adds. */
function scaled(read: Declaration, { env }: ProjectSource): Declaration {
  const withScale = (one: Desired | undefined) => one && { ...one, providers: withMoneyScale(one.providers, env) };
  return { ...read, desired: withScale(read.desired), partial: withScale(read.partial) };
}

/** Without a declaration, but with what looks like stacks: a hint shows the way to those. */
function withStackHint(source: ProjectSource, declaration: Declaration): Declaration {
  const hint = source.files.length === 0 ? stackHint(source.dir) : undefined;
  if (hint === undefined) return declaration;
  const withHint = (one: Diagnostic) =>
    one.code === "config.missing" ? { ...one, remedies: [hint, ...(one.remedies ?? [])] } : one;
  return { ...declaration, diagnostics: declaration.diagnostics.map(withHint) };
}

/** Where the declaration is read; paths are shown relative to the working folder. */
function optionsOf(source: ProjectSource): ReadOptions {
  const named = namedFiles(source);
  const found = { roots: [source.dir] };
  const near = (file: string) => path.relative(source.cwd, file) || ".";
  const far = (file: string) => path.resolve(source.cwd, file);
  return {
    dir: near(source.dir),
    files: source.files.map((file) => path.relative(source.dir, file)),
    fs: {
      // The user has named the folder of the project itself.
      list: (folder, isNamed = true) => listOwn(far(folder), { shown: folder, ...(!isNamed && (named ?? found)) }),
      read: (file, limit, isNamed = true) =>
        readOwn(far(file), { shown: file, limit, ...(named ?? (isNamed ? { streams: true } : found)) }),
    },
    kinds,
    env: declaredEnvironment(source),
    refusesVariable: variableGate(source),
    isOpenVariable: openVariables(source.env),
    environment: source.environment?.file,
    version: VERSION,
    ...(source.untrusted !== true && { limits: OWN_LIMITS }),
  };
}

const attributeOf = ({ address, attribute: [name] = [] }: Diagnostic) =>
  address === undefined || name === undefined ? undefined : `${address} ${name}`;
const placeOf = ({ range }: Diagnostic) => `${range?.file}:${range?.line}:${range?.column}`;

function inPlaceOrder(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const files = [...new Set(diagnostics.map(({ range }) => range?.file ?? ""))];
  return diagnostics.toSorted(
    (a, b) =>
      files.indexOf(a.range?.file ?? "") - files.indexOf(b.range?.file ?? "") ||
      (a.range?.line ?? 0) - (b.range?.line ?? 0) ||
      (a.range?.column ?? 0) - (b.range?.column ?? 0),
  );
}

/** What to try in a folder that holds stacks and no declaration in YAML; undefined when it holds none. */
export function stackHint(folder: string): string | undefined {
  const has = (name: string) => exists(path.join(folder, name));
  if (has("cdktf.out")) return "To apply the synthesized stacks: `--stack cdktf.out`.";
  if (has("cdktf.json")) return 'To synthesize and apply the stacks of this folder: `--app "node main.js"`.';
  return attempt(
    () => listNow(folder),
    ifErrno(() => []),
  ).some((name) => name.endsWith(".tf.json"))
    ? "To apply the `*.tf.json` of this folder: `--stack .`."
    : undefined;
}

/** The providers with the scale that the environment adds. @throws HostformError as {@link moneyScaleOf} does. */
export function withMoneyScale(
  providers: Desired["providers"],
  env: ProjectSource["env"],
): ReadonlyMap<string, ProviderConfig> {
  return new Map(
    [...providers].map(([alias, config]) => [alias, { ...config, moneyScale: moneyScaleOf(config, env) }]),
  );
}
