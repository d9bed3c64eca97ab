/** The declaration of a project, read once for each, and the store of its state. */
import { randomUUID } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { overrideWarnings } from "../core/api/address.ts";
import { validateDesired } from "../core/engine/index.ts";
import { kinds } from "../core/kinds/index.ts";
import { moneyScaleOf } from "../core/kinds/provider-settings.ts";
import {
  type Backend,
  type Desired,
  type Diagnostic,
  errnoOf,
  fail,
  HostformError,
  isError,
  type ProviderConfig,
} from "../core/model/index.ts";
import { createFileBackend, createStateStore, type Encryption, type StateStore } from "../core/record/index.ts";
import type { Declaration } from "../fronts/source/index.ts";
import { type ReadOptions, readDeclaration, systemFiles } from "../fronts/yaml/index.ts";
import { refusingForgotten, stateBackend, stateEncryption } from "./backend.ts";
import { warningOfTracked } from "./git-tracked.ts";
import { announcing, learnDeclared } from "./known-secrets.ts";
import { misplacedOutputs } from "./secrets.ts";
import type { Project, ProjectSource } from "./source.ts";
import { forStack } from "./stack-diagnostics.ts";
import { stateFile } from "./stacks/stack.ts";
import {
  declaredEnvironment,
  namedFiles,
  requireOwnFile,
  requireOwnState,
  variableGate,
  withoutTrust,
} from "./trust.ts";

/** A declaration that was read and checked. */
export interface CheckedDeclaration {
  readonly desired: Desired;
  /** Warnings; errors are thrown. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads and checks the declaration: everything that is wrong with it, in the order of the places. */
export async function checkDeclaration(
  project: Project,
): Promise<{ desired?: Desired; diagnostics: readonly Diagnostic[] }> {
  const { desired, partial, diagnostics } = await declarationOf(project);
  const readable = desired ?? partial;
  const values =
    readable === undefined
      ? []
      : [
          ...validateDesired(readable, kinds, declaredEnvironment(project.source)),
          ...(await misplacedOutputs(project.source, readable)),
        ];
  // A template that the declaration itself has refused cannot be evaluated either: once is enough.
  const refused = new Set(diagnostics.flatMap((one) => [placeOf(one), attributeOf(one) ?? placeOf(one)]));
  const news = values.filter(
    (value) =>
      !["config.expression", "secret.output"].includes(value.code) ||
      !(refused.has(placeOf(value)) || refused.has(attributeOf(value) ?? placeOf(value))),
  );
  const elsewhere = [...(readable?.providers.values() ?? [])].flatMap(({ alias, baseUrl, range }) =>
    overrideWarnings(baseUrl, project.source.env, { of: `Provider ${alias}`, ...(range && { range }) }),
  );
  const all = forStack(project.source, inPlaceOrder([...diagnostics, ...news, ...elsewhere]));
  return { diagnostics: all, ...(desired !== undefined && !all.some(isError) && { desired }) };
}

/** The declaration. @throws HostformError with every mistake in it. */
export async function loadDeclaration(project: Project): Promise<CheckedDeclaration> {
  const { desired, diagnostics } = await checkDeclaration(project);
  if (desired === undefined) throw new HostformError(diagnostics);
  return { desired, diagnostics };
}

/** The providers that are declared; without any declaration, the default one of the environment. */
export async function loadProviders(project: Project): Promise<ReadonlyMap<string, ProviderConfig>> {
  const { desired, partial, diagnostics } = await declarationOf(project);
  if (desired !== undefined) return desired.providers;
  // Looking at the account needs only the providers; mistakes elsewhere in the declaration do not matter.
  const hindering = diagnostics.filter(
    ({ code, address }) =>
      code.startsWith("provider.") || code.startsWith("trust.") || (code === "config.secret" && address === undefined),
  );
  if (partial !== undefined && hindering.length === 0) return partial.providers;
  if (diagnostics.every(({ code }) => code === "config.missing") && project.source.files.length === 0) {
    return withMoneyScale(new Map([["default", { alias: "default" }]]), project.source.env);
  }
  throw new HostformError(diagnostics);
}

const declarations = new WeakMap<Project, Promise<Declaration>>();

/** The declaration as it was when this command first looked: all of the command goes by the same. */
function declarationOf(project: Project): Promise<Declaration> {
  const known = declarations.get(project) ?? readAndLearn(project);
  declarations.set(project, known);
  return known;
}

/** Reads the declaration, and announces the secrets that it holds or names. */
async function readAndLearn(project: Project): Promise<Declaration> {
  const found =
    project.source.stack === undefined
      ? await readDeclaration(sourceOf(project.source)).then((read) => withStackHint(project.source, read))
      : await (await import("./stacks/read.ts")).readStack(project, project.source.stack);
  const read = await withoutTrust(project.source, found);
  const { env } = project.source;
  const { desired, partial } = read;
  const declaration: Declaration = {
    ...read,
    ...(desired && { desired: { ...desired, providers: withMoneyScale(desired.providers, env) } }),
    ...(partial && { partial: { ...partial, providers: withMoneyScale(partial.providers, env) } }),
  };
  const readable = declaration.desired ?? declaration.partial;
  // What a stranger's declaration calls a secret is the stranger's own word: hidden, it would hide what the plan says.
  if (readable !== undefined && project.source.untrusted !== true)
    learnDeclared(project.redaction, readable, project.source.env);
  return declaration;
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
function sourceOf(source: ProjectSource): ReadOptions {
  const named = namedFiles(source);
  const near = (file: string) => path.relative(source.cwd, file) || ".";
  const far = (file: string) => path.resolve(source.cwd, file);
  return {
    dir: near(source.dir),
    files: source.files.map((file) => path.relative(source.dir, file)),
    fs: {
      list: (folder) => systemFiles.list(far(folder)),
      async read(file, limit, isNamed = true) {
        const own = named ?? (isNamed ? undefined : { roots: [source.dir] });
        if (own !== undefined) await requireOwnFile(far(file), file, own);
        return systemFiles.read(far(file), limit);
      },
    },
    kinds,
    env: declaredEnvironment(source),
    refusesVariable: variableGate(source),
  };
}

/**
 * The project's state: at the backend that is declared, else in a file. Nothing is read before the store is used.
 * @param encryption default: with the key in the environment.
 */
export function stateStore(project: Project, encryption: Encryption = stateEncryption(project)): StateStore {
  let remote = false;
  let file: string | undefined;
  // Terraform may go on with the state of a stack, and knows nothing of the journal.
  const whole = project.source.stack !== undefined;
  const place = async (signal?: AbortSignal) => {
    const backend = await backendOf(project);
    remote = backend !== undefined;
    file =
      backend?.type === "local"
        ? stateFile(project.source.dir, backend.settings)
        : remote
          ? undefined
          : project.source.state;
    if (backend !== undefined) return stateBackend(backend, project, signal);
    await requireOwnState(project.source, project.source.state);
    return createFileBackend({ path: project.source.state, clock: project.host.clock, whole });
  };
  const store = warningOfTracked(createStateStore(place, randomUUID, encryption), () => file);
  const known = refusingForgotten(store, () => (remote ? project.source.state : undefined));
  const { untrusted, stateNamed } = project.source;
  // So is a state that a stranger's project brings along.
  return untrusted === true && stateNamed !== true ? known : announcing(known, project.redaction);
}

/**
 * The backend that is declared; mistakes elsewhere in the declaration do not matter.
 * @throws HostformError the mistakes of the declaration when one of them may hide a backend; `usage` for `--state` beside one.
 */
async function backendOf(project: Project): Promise<Backend | undefined> {
  const { stateNamed } = project.source;
  const { backend, diagnostics } = await declarationOf(project);
  if (backend === "unclear" && !stateNamed) throw new HostformError(diagnostics);
  if (typeof backend === "object" && stateNamed) {
    fail("usage", "--state names a file, and the declaration a backend: the state is at one place only", {
      remedies: ["Leave --state out, or remove `backend` from the declaration."],
      ...(backend.range && { range: backend.range }),
    });
  }
  return typeof backend === "object" ? backend : undefined;
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
  const has = (name: string) => existsSync(path.join(folder, name));
  if (has("cdktf.out")) return "To apply the synthesized stacks: `--stack cdktf.out`.";
  if (has("cdktf.json")) return 'To synthesize and apply the stacks of this folder: `--app "node main.js"`.';
  return namesIn(folder).some((name) => name.endsWith(".tf.json"))
    ? "To apply the `*.tf.json` of this folder: `--stack .`."
    : undefined;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return [];
  }
}

/** The providers with the scale that the environment adds. @throws HostformError as {@link moneyScaleOf} does. */
export function withMoneyScale(
  providers: ReadonlyMap<string, ProviderConfig>,
  env: Readonly<Record<string, string | undefined>>,
): ReadonlyMap<string, ProviderConfig> {
  const scaled = (config: ProviderConfig): ProviderConfig => {
    const moneyScale = moneyScaleOf(config, env);
    return moneyScale === undefined ? config : { ...config, moneyScale };
  };
  return new Map([...providers].map(([alias, config]) => [alias, scaled(config)]));
}
