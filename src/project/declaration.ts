/** Reads the declaration of a project once. */
import path from "node:path";
import { overrideWarnings } from "../core/api/address.ts";
import { VERSION } from "../core/api/version.ts";
import { validateDesired } from "../core/engine/index.ts";
import { listNow } from "../core/files/index.ts";
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
  ifExplained,
  isError,
  openVariables,
  type ProviderConfig,
  type Remedy,
} from "../core/model/index.ts";
import type { Declaration } from "../fronts/source/index.ts";
import {
  type DeclarationFiles,
  declarationText,
  OWN_LIMITS,
  type ReadOptions,
  readDeclaration,
} from "../fronts/yaml/index.ts";
import type { MoneyScale } from "../report/index.ts";
import { checkEnvironment } from "./environments.ts";
import { raise } from "./messages.ts";
import { listOwn, readOwn } from "./own-files.ts";
import type { Redaction } from "./redaction.ts";
import { learnDeclared, misplacedOutputs } from "./secrets.ts";
import type { ProjectSource, Rehearsal } from "./source.ts";
import { forStack } from "./stack-diagnostics.ts";
import type { OutputsAt } from "./stacks/stack.ts";
import { declaredEnvironment, namedFiles, variableGate, withoutTrust } from "./trust.ts";

/** The declaration of a project. Reads the files once, at the first use. */
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

  /**
   * Returns all mistakes, sorted by location, and the declaration if it has no errors.
   * @param texts Replacements for the texts of files, by absolute path. A path may be new.
   */
  async check(texts?: ReadonlyMap<string, string>): Promise<{ desired?: Desired; diagnostics: readonly Diagnostic[] }> {
    const { desired, partial, diagnostics } = await (texts ? this.readAt(this.#over(texts)) : this.read());
    const readable = desired ?? partial;
    const values = readable && [
      ...validateDesired(readable, kinds, declaredEnvironment(this.#source)),
      ...(await misplacedOutputs(this.#source, readable)),
    ];
    // A rejected template also has no value. Report one error only.
    const refused = new Set(diagnostics.flatMap((one) => [placeOf(one), attributeOf(one) ?? placeOf(one)]));
    const news = (values ?? []).filter(
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

  /** Returns the declaration with its warnings. @throws HostformError with every mistake. */
  async load(): Promise<{ desired: Desired; diagnostics: readonly Diagnostic[] }> {
    const { desired, diagnostics } = await this.check();
    if (desired === undefined) throw new HostformError(diagnostics);
    return { desired, diagnostics };
  }

  /** Returns the declared providers. Without a declaration, returns the default provider from the environment. */
  async providers(): Promise<ReadonlyMap<string, ProviderConfig>> {
    const { desired, partial, diagnostics } = await this.read();
    if (desired !== undefined) return desired.providers;
    // Mistakes in resources do not matter to commands that only need the account.
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

  /** Returns the function that returns the `money_scale` of a provider. */
  async moneyScale(): Promise<MoneyScale> {
    const providers = await this.providers().catch(ifExplained(() => new Map<string, ProviderConfig>()));
    return (_, alias) => providers.get(alias)?.moneyScale;
  }

  /**
   * Returns the declared backend. Ignores unrelated mistakes.
   * @throws HostformError for mistakes that may concern a backend; `usage` if the user also named a state file.
   */
  async backend(): Promise<Backend | undefined> {
    const { stateNamed } = this.#source;
    const { backend, diagnostics } = await this.read();
    if (backend === "unclear" && !stateNamed) throw new HostformError(diagnostics);
    if (typeof backend !== "object") return undefined;
    if (stateNamed) raise("usage/two_states", { range: backend.range });
    return backend;
  }

  /** Reads the files, and registers their secrets for redaction. */
  read(): Promise<Declaration> {
    this.#known ??= this.#read();
    return this.#known;
  }

  /**
   * Reads the declaration from other files. Does not register their secrets, because hostform prints no value of these files.
   */
  async readAt(fs: DeclarationFiles): Promise<Declaration> {
    return scaled(await readDeclaration({ ...optionsOf(this.#source), fs }), this.#source);
  }

  #over(texts: ReadonlyMap<string, string>): DeclarationFiles {
    const { fs } = optionsOf(this.#source);
    const far = (file: string) => path.resolve(this.#source.cwd, file);
    return {
      list: async (folder, isNamed) => {
        const added = [...texts.keys()].filter((file) => path.dirname(file) === far(folder));
        const names = await fs.list(folder, isNamed).catch(ifErrno(() => []));
        return [...new Set([...names, ...added.map((file) => path.basename(file))])];
      },
      read: async (file, limit, isNamed) => {
        const text = texts.get(far(file));
        return text === undefined ? fs.read(file, limit, isNamed) : new TextEncoder().encode(text);
      },
    };
  }

  async #read(): Promise<Declaration> {
    const source = this.#source;
    if (source.rehearsal !== undefined) return rehearsed(await source.rehearsal.declaration(), source.rehearsal);
    const found =
      source.stack === undefined
        ? withStackHint(source, await readYaml(source))
        : await (await import("./stacks/read.ts")).readStack(source, source.stack, this.#redaction, this.#outputsAt);
    const declaration = scaled(await withoutTrust(source, found), source);
    const readable = declaration.desired ?? declaration.partial;
    // An untrusted declaration could hide words of the plan by declaring them as secret.
    if (readable !== undefined && source.untrusted !== true) learnDeclared(this.#redaction, readable, source.env);
    return declaration;
  }
}

async function readYaml(source: ProjectSource): Promise<Declaration> {
  const warnings = source.value === undefined ? await checkEnvironment(source) : [];
  const read = await readDeclaration(optionsOf(source));
  return { ...read, diagnostics: [...warnings, ...read.diagnostics] };
}

/** Reads a file of shared templates. @param file absolute path. @throws HostformError `config.unreadable`. */
export async function templatesIn(file: string): Promise<ProjectSource["templates"]> {
  const bytes = await readOwn(file, { shown: file, limit: OWN_LIMITS.bytes }).catch(
    ifErrno((why) =>
      fail("config.unreadable", `${file} cannot be read: ${why}`, { remedies: ["Correct the path of the templates."] }),
    ),
  );
  return { path: file, text: declarationText(file, bytes) };
}

/** Adds the money scale from the environment. */
function scaled(read: Declaration, { env }: ProjectSource): Declaration {
  const withScale = (one: Desired | undefined) => one && { ...one, providers: withMoneyScale(one.providers, env) };
  return { ...read, desired: withScale(read.desired), partial: withScale(read.partial) };
}

/** Replaces the accounts and the backend for a rehearsal. */
function rehearsed(read: Declaration, rehearsal: Rehearsal): Declaration {
  const account = ({ baseUrl: _, tokenEnv: __, tokenFile: ___, ...config }: ProviderConfig): ProviderConfig => {
    return { ...config, ...rehearsal.accounts.get(config.alias) };
  };
  const moved = (one: Desired | undefined) =>
    one && { ...one, providers: new Map([...one.providers].map(([alias, config]) => [alias, account(config)])) };
  return { ...read, backend: undefined, desired: moved(read.desired), partial: moved(read.partial) };
}

/** Adds a remedy if the folder has stacks but no declaration. */
function withStackHint(source: ProjectSource, declaration: Declaration): Declaration {
  const hint = source.files.length === 0 && source.value === undefined ? stackHint(source.dir) : undefined;
  if (hint === undefined) return declaration;
  const withHint = (one: Diagnostic) =>
    one.code === "config.missing" ? { ...one, remedies: [hint, ...(one.remedies ?? [])] } : one;
  return { ...declaration, diagnostics: declaration.diagnostics.map(withHint) };
}

/** Returns the options for reading. Messages contain paths relative to the working folder. */
function optionsOf(source: ProjectSource): ReadOptions {
  const named = namedFiles(source);
  const found = { roots: [source.dir] };
  const near = (file: string) => path.relative(source.cwd, file) || ".";
  const far = (file: string) => path.resolve(source.cwd, file);
  return {
    dir: near(source.dir),
    files: source.files.map((file) => path.relative(source.dir, file)),
    fs: {
      // The user named the project folder.
      list: (folder, isNamed = true) => listOwn(far(folder), { shown: folder, ...(!isNamed && (named ?? found)) }),
      read: (file, limit, isNamed = true) =>
        readOwn(far(file), { shown: file, limit, ...(named ?? (isNamed ? { streams: true } : found)) }),
    },
    kinds,
    env: declaredEnvironment(source),
    refusesVariable: variableGate(source),
    isOpenVariable: openVariables(source.env),
    environment: source.environment?.file,
    templates: source.templates,
    value: source.value,
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

/** Returns the remedy for a folder with stacks. Undefined if the folder has none. */
function stackHint(folder: string): Remedy | undefined {
  const names: readonly string[] = attempt(
    () => listNow(folder),
    ifErrno(() => []),
  );
  if (names.includes("cdktf.out")) return { do: "advise", on: "stack_output" };
  if (names.includes("cdktf.json")) return { do: "advise", on: "stack_app" };
  return names.some((name) => name.endsWith(".tf.json")) ? { do: "advise", on: "stack_folder" } : undefined;
}

/** @throws HostformError as {@link moneyScaleOf} does. */
export function withMoneyScale(
  providers: Desired["providers"],
  env: ProjectSource["env"],
): ReadonlyMap<string, ProviderConfig> {
  return new Map(
    [...providers].map(([alias, config]) => [alias, { ...config, moneyScale: moneyScaleOf(config, env) }]),
  );
}
