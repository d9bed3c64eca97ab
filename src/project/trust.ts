import path from "node:path";
import { type Bounds, bounded, isInside, PathRefused, realPath, requireReplaceable } from "../core/files/index.ts";
import { kindAt } from "../core/kinds/index.ts";
import { LIVES, phaseOfWord } from "../core/kinds/life.ts";
import { attributesOf, sensitiveNames } from "../core/lifecycle/index.ts";
import {
  attempt,
  type Backend,
  type Desired,
  type DesiredResource,
  type Diagnostic,
  type EvalScope,
  HostformError,
  isObject,
  type Json,
  openVariables,
  type ProviderConfig,
  parseAddress,
  type Schema,
  UNKNOWN,
  type Value,
} from "../core/model/index.ts";
import { filesOfState } from "../core/record/index.ts";
import type { Declaration } from "../fronts/source/index.ts";
import { problem, raise } from "./messages.ts";
import { onOwn, refuseDetour } from "./own-files.ts";
import type { ProjectSource } from "./source.ts";
import type { StackSource } from "./stacks/stack.ts";

/**
 * Restricts an untrusted declaration. It cannot set URLs, credentials, commands, backends or programs, reads no file outside
 * the project, and gets only the variables in HOSTFORM_ENV_ALLOW. Each check rejects everything that is not known to be
 * harmless.
 */

/**
 * Rejects a command for an untrusted project before any of its files is read.
 * @param work Name of the command for messages.
 * @param isReading True if the command changes nothing.
 * @throws HostformError `usage`, `trust.file`.
 */
export async function refuseUntrusted(
  source: ProjectSource,
  work: string,
  isReading: boolean,
  stacks?: StackSource,
): Promise<void> {
  if (source.untrusted !== true) return;
  if (!isReading) raise("usage/untrusted", { work });
  if (stacks?.app !== undefined) raise("usage/untrusted_app", {});
  for (const named of [source.dir, stacks?.path]) if (named !== undefined) refuseDetour(source.cwd, named);
}

/** Returns the function that decides which environment variables to withhold. Undefined for a trusted declaration. */
export function variableGate(source: ProjectSource): ((name: string) => boolean) | undefined {
  if (source.untrusted !== true && source.isProposed !== true) return undefined;
  const isOpen = openVariables(source.env);
  return (name) => !isOpen(name);
}

/** Returns the environment variables for the declaration. Only this function filters them. */
export function declaredEnvironment(source: ProjectSource): ProjectSource["env"] {
  const refuses = variableGate(source);
  const { env } = source;
  return refuses === undefined ? env : Object.fromEntries(Object.entries(env).filter(([name]) => !refuses(name)));
}

/** Returns the bounds of files that the user names. Undefined: any readable file. */
export function namedFiles(source: ProjectSource): Bounds | undefined {
  return source.untrusted === true ? { roots: rootsOf(source), links: false } : undefined;
}

/**
 * Returns the path of an output file that the user names. Follows no link of an untrusted project.
 * @throws HostformError `trust.file`; errors of Node.
 */
export function writtenPlace({ untrusted, cwd, dir }: ProjectSource, file: string): string {
  const named = path.resolve(cwd, file);
  if (untrusted !== true) return realPath(named);
  const root = [cwd, dir].find((one) => isInside(one, named)) ?? path.dirname(named);
  return onOwn({ shown: file, roots: [root], links: false }, (bounds) => bounded(named, bounds));
}

/** Returns true if a path is inside these folders, both as text and on disk. */
const liesIn = (roots: readonly string[], place: string): boolean =>
  attempt(
    () => bounded(place, { roots }) !== "",
    (error) => {
      if (error instanceof PathRefused) return false;
      throw error;
    },
  );

/** Returns true if a path is inside these folders after links are resolved. False for a cycle of links. */
const endsIn = (roots: readonly string[], place: string): boolean =>
  attempt(
    () => roots.map((root) => realPath(root)).some((root) => isInside(root, realPath(place))),
    () => false,
  );

/**
 * Rejects a policy file that belongs to an untrusted project, even through a link.
 * @throws HostformError `trust.file`.
 */
export function refuseOwnPolicy(source: ProjectSource, file: string): void {
  const roots = rootsOf(source);
  if (source.untrusted !== true || !(liesIn(roots, file) || endsIn(roots, file))) return;
  raise("trust.file/policy", { file: path.relative(source.cwd, file) });
}

function rootsOf(source: ProjectSource): string[] {
  return source.stack === undefined
    ? [source.dir]
    : [source.stack.run.project, source.stack.root ?? source.stack.folder];
}

/** Rejects a state outside the project, unless the user named it. @throws HostformError `trust.file`. */
export function requireOwnState(source: ProjectSource, file: string): void {
  if (source.stateNamed !== true) requireProposed(source, file);
  if (source.untrusted !== true) return;
  requireStateIn(source.stateNamed ? [path.dirname(file)] : rootsOf(source), source, file);
}

/** Rejects a file outside the project that the declaration of an agent names. @throws HostformError `trust.file`. */
export function requireProposed(source: ProjectSource, file: string): void {
  if (source.isProposed === true && !liesIn(rootsOf(source), file))
    raise("trust.file/proposed", { file: path.relative(source.cwd, file) });
}

/** Rejects a state whose files are outside of these folders or not regular files. @param file Absolute path. */
function requireStateIn(roots: readonly string[], source: ProjectSource, file: string): void {
  const near = (one: string) => path.relative(source.cwd, one);
  if (!liesIn(roots, path.dirname(file))) raise("trust.file/state", { file: near(file) });
  for (const one of Object.values(filesOfState(file)))
    onOwn({ shown: near(one), roots, links: false }, (bounds) => requireReplaceable(one, bounds));
}

/**
 * Rejects a declared state outside the project, unless the environment that the user chose declares it.
 * @throws HostformError `trust.untrusted`, `trust.file`.
 */
export function requireOwnBackend(source: ProjectSource, { type, range }: Backend, file: string): void {
  const isChosen = range !== undefined && range.file === source.environment?.file.path;
  if (source.untrusted !== true || isChosen) return;
  if (type !== "local") throw new HostformError([refusal(`names a state in the backend ${type}`, { range })]);
  requireStateIn(rootsOf(source), source, file);
}

/**
 * Adds an error for each setting that only a trusted declaration may contain. hostform neither plans such a declaration nor
 * opens its backend. Its expressions cannot read secrets.
 */
export async function withoutTrust(source: ProjectSource, read: Declaration): Promise<Declaration> {
  if (source.untrusted !== true && source.isProposed !== true) return read;
  if (source.untrusted !== true) return withoutDisguise(source, read);
  const declaration = withNamedState(source, read);
  const readable = declaration.desired ?? declaration.partial;
  const { resources = [] } = readable ?? {};
  // An environment is trusted, because it comes from outside.
  const { providers, backend } = declaration.own ?? { providers: readable?.providers, backend: declaration.backend };
  const data = await dataSecrets(source);
  const blind = (one: Desired | undefined) => one && withoutSecrets(one, data);
  const found = [
    ...(typeof backend === "object" ? [problem("trust.untrusted/backend", backend)] : []),
    ...[...(providers?.values() ?? [])].flatMap((provider) => providerRefusals(provider, source)),
    ...resources.flatMap(sourceRefusals),
    ...resources.flatMap((resource) => outputRefusals(source, resource)),
  ];
  return {
    ...declaration,
    desired: found.length > 0 ? undefined : blind(declaration.desired),
    partial: blind(declaration.partial),
    backend: typeof backend === "object" ? "unclear" : declaration.backend,
    diagnostics: [
      ...declaration.diagnostics,
      ...found,
      ...(readable?.notify ? [problem("trust.untrusted/channels")] : []),
    ],
  };
}

/** Adds an error for each setting by which an agent could change how an approver sees a plan. */
function withoutDisguise(source: ProjectSource, read: Declaration): Declaration {
  const { providers } = read.own ?? read.desired ?? read.partial ?? {};
  const isScaled = Boolean(source.env.HOSTING_MONEY_SCALE);
  const found = [...(providers?.values() ?? [])].flatMap(({ moneyScale, ...provider }) =>
    displayRefusals(isScaled ? { ...provider, moneyScale } : provider, source),
  );
  if (found.length === 0) return read;
  return { ...read, desired: undefined, diagnostics: [...read.diagnostics, ...found] };
}

/** Returns the secret attributes of data sources. Only stacks have data sources. */
async function dataSecrets({ stack }: ProjectSource): Promise<DataSecrets> {
  if (stack === undefined) return new Map();
  const { dataSources } = await import("../fronts/terraform/data/index.ts");
  const secret = (attributes: Schema["attributes"]) =>
    Object.keys(attributes).filter((name) => attributes[name]?.sensitive === true);
  return new Map(dataSources.map(({ name, schema }) => [name, secret(schema.attributes)]));
}

/** If the user named a state file, removes the backend of an untrusted declaration. */
function withNamedState(source: ProjectSource, read: Declaration): Declaration {
  const { backend, desired, partial } = read;
  if (typeof backend !== "object" || source.stateNamed !== true) return read;
  const without = (one: Desired | undefined) => one && { ...one, backend: undefined };
  return { ...read, backend: undefined, desired: without(desired), partial: without(partial) };
}

/** Provider settings that affect only the plan, where they are visible. */
const HARMLESS: readonly string[] = ["alias", "range", "keyLifetimeMs", "listLagMs"] satisfies (keyof ProviderConfig)[];

const SETTINGS: Readonly<Record<string, string>> = {
  baseUrl: "an address (base_url)",
  tokenEnv: "a credential (token_env)",
  tokenFile: "a credential (token_file)",
};

/** Returns errors about provider settings. Decision 0031 explains each setting. */
function providerRefusals(config: ProviderConfig, source: ProjectSource): Diagnostic[] {
  const { alias, range, moneyScale: _, statusWords: __, requestsPerMinute = 60, ...settings } = config;
  const given = Object.entries(settings).filter(([name, value]) => {
    // Every stack has this setting, because it is the default.
    if (source.stack !== undefined && name === "tokenEnv" && value === "HOSTING_TOKEN") return false;
    return value !== undefined && !HARMLESS.includes(name);
  });
  const refused = given.map(([name]) =>
    refusal(`names ${SETTINGS[name] ?? name} for the provider ${alias}`, { range }),
  );
  if (requestsPerMinute > 60) refused.push(problem("trust.untrusted/budget", { alias, range }));
  return [...refused, ...displayRefusals(config, source)];
}

/** Returns errors about settings that change how a plan looks. */
function displayRefusals(
  { alias, range, moneyScale, statusWords = {} }: ProviderConfig,
  { env }: ProjectSource,
): Diagnostic[] {
  const refused: Diagnostic[] = [];
  if (moneyScale !== undefined && String(moneyScale) !== env.HOSTING_MONEY_SCALE)
    refused.push(problem("trust.untrusted/scale", { alias, range }));
  for (const [word, phase] of Object.entries(statusWords)) {
    const usual = phaseOfWord(word, { statusWords: {} }, LIVES.webhooks.words);
    if (usual !== "unknown" && usual !== phase) refused.push(problem("trust.untrusted/words", { alias, word, range }));
  }
  return refused;
}

function sourceRefusals({ address, sources, locate }: DesiredResource): Diagnostic[] {
  return [...(sources ?? [])].map(([name, source]) => {
    const [form = ""] = Object.keys(source);
    const what = form === "command" ? "a command" : "a credential";
    return refusal(`names ${what} (${name}: ${form})`, { address, attribute: [name], range: locate([name]) });
  });
}

/** Rejects a secret output unless it is a literal path in the project. */
function outputRefusals(source: ProjectSource, { address, config, locate }: DesiredResource): Diagnostic[] {
  const { secret_output: output } = config;
  if (output === undefined || output === null) return [];
  const place = { address, attribute: ["secret_output"], range: locate(["secret_output"]) };
  const paths = pathsOf(output);
  if (paths === undefined) return [refusal("names a command, or uses an expression (secret_output)", place)];
  const { dir } = source;
  return paths.every((one) => liesIn([dir], path.resolve(dir, one)))
    ? []
    : [refusal("names a file outside the project (secret_output)", place)];
}

/** Returns the literal file paths in a `secret_output`. Undefined in any other case. */
function pathsOf(output: Json): string[] | undefined {
  if (!isObject(output)) return undefined;
  const given = Object.entries(output).filter(([, value]) => value !== null);
  const paths = given.map(([form, value]) => {
    if (form === "file") return value;
    return form === "env_file" && isObject(value) ? value.path : undefined;
  });
  const plain = paths.filter((one): one is string => typeof one === "string" && !/[$%]\{/.test(one));
  return plain.length === given.length ? plain : undefined;
}

const refusal = (what: string, place: Pick<Diagnostic, "range" | "address" | "attribute">) =>
  problem("trust.untrusted/setting", { what, ...place });

/** Names of secret attributes, by type of data source. */
type DataSecrets = ReadonlyMap<string, readonly string[]>;

/**
 * Makes secret attributes unknown in expressions, because redaction cannot recognize values derived from a secret (`upper`, a
 * part, a number, a match). Secret marks stay.
 */
function withoutSecrets(desired: Desired, data: DataSecrets): Desired {
  const views = new WeakMap<EvalScope, EvalScope>();
  const view = (scope: EvalScope): EvalScope => {
    const known = views.get(scope) ?? withholding(scope, data);
    views.set(scope, known);
    return known;
  };
  return {
    ...desired,
    resources: desired.resources.map((one) => ({ ...one, ...expressions(one, view) })),
    ...(desired.data && { data: desired.data.map((one) => ({ ...one, ...expressions(one, view) })) }),
    ...(desired.outputs && {
      outputs: desired.outputs.map((one) => ({ ...one, evaluate: (scope) => one.evaluate(view(scope)) })),
    }),
  };
}

type Expressions = Pick<Desired["resources"][number], "evaluate" | "originOf">;

function expressions({ evaluate, originOf }: Expressions, view: (scope: EvalScope) => EvalScope): Expressions {
  return {
    evaluate: (attribute, scope) => evaluate(attribute, view(scope)),
    ...(originOf && { originOf: (attribute, scope) => originOf(attribute, view(scope)) }),
  };
}

/**
 * Returns a scope in which secret attributes are unknown. Returns the same object for the same value, because caches use it
 * as key.
 */
function withholding(scope: EvalScope, data: DataSecrets): EvalScope {
  const seen = new WeakMap<object, { readonly names: string; readonly value: Value }>();
  return {
    ...scope,
    resource(address) {
      const value = scope.resource(address);
      if (!isObject(value)) return value;
      const secret = [...secretsOfType(address, data), ...Object.keys(scope.origins?.(address) ?? {})];
      const names = secret.join();
      const known = seen.get(value);
      if (known?.names === names) return known.value;
      const withheld = secret.filter((name) => (value as Record<string, Value>)[name] != null);
      const shown = { ...value, ...Object.fromEntries(withheld.map((name) => [name, UNKNOWN])) } as Value;
      seen.set(value, { names, value: shown });
      return shown;
    },
  };
}

function secretsOfType(address: string, data: DataSecrets): readonly string[] {
  if (address.startsWith("data.")) return data.get(parseAddress(address.slice("data.".length))?.type ?? "") ?? [];
  const kind = kindAt(address);
  if (kind === undefined) return [];
  // A fingerprint would allow comparing guesses.
  const fingerprints = attributesOf(kind).flatMap(({ meta }) => meta.fingerprint ?? []);
  return [...sensitiveNames(kind), ...fingerprints];
}
