import path from "node:path";
import { type Bounds, bounded, isInside, PathRefused, realPath, requireReplaceable } from "../core/files/index.ts";
import { kinds } from "../core/kinds/index.ts";
import { LIVES, phaseOfWord } from "../core/kinds/life.ts";
import { attributesOf, sensitiveNames } from "../core/lifecycle/index.ts";
import {
  attempt,
  type Backend,
  type Desired,
  type DesiredResource,
  type Diagnostic,
  type EvalScope,
  fail,
  HostformError,
  isObject,
  type Json,
  located,
  openVariables,
  type ProviderConfig,
  parseAddress,
  type Schema,
  UNKNOWN,
  type Value,
} from "../core/model/index.ts";
import { filesOfState } from "../core/record/index.ts";
import type { Declaration } from "../fronts/source/index.ts";
import { onOwn, refuseDetour } from "./own-files.ts";
import type { ProjectSource } from "./source.ts";
import type { StackSource } from "./stacks/stack.ts";

/**
 * What `--untrusted` means: the declaration may come from a stranger. It names no address, credential, command, backend or program,
 * reads no file outside the project, and of the environment it sees what HOSTFORM_ENV_ALLOW names. Everything here fails closed: what
 * is not known to be harmless is refused.
 */

/** Commands that change nothing; the others are refused. */
const COMMANDS = ["validate", "plan", "version", "completion", "sandbox"];

const FIX =
  "Remove it from the declaration, and set it in the environment or on the command line. If you trust the author, leave out `--untrusted` (HOSTFORM_UNTRUSTED).";

/**
 * Refuses a command line that an untrusted project may not be worked on with, before anything of the project is read.
 * @throws HostformError `usage`, `trust.file`.
 */
export async function refuseUntrustedCommand(
  source: ProjectSource,
  command: string,
  stacks?: StackSource,
): Promise<void> {
  if (source.untrusted !== true) return;
  if (!COMMANDS.includes(command)) {
    fail("usage", `\`hostform ${command}\` is not for untrusted declarations`, {
      detail: "With --untrusted (HOSTFORM_UNTRUSTED) only `validate` and `plan` run, which change nothing.",
      remedies: ["Run it where the declaration is trusted."],
    });
  }
  if (stacks?.app !== undefined) {
    fail("usage", "--app runs a program of the project, which --untrusted forbids", {
      remedies: ["Synthesize where there are no credentials, and pass what was written: `--stack cdktf.out`."],
    });
  }
  for (const named of [source.dir, stacks?.path]) {
    if (named !== undefined) refuseDetour(source.cwd, named);
  }
}

/** Whether a variable of the environment is kept from the declaration. Undefined where it is trusted. */
export function variableGate(source: ProjectSource): ((name: string) => boolean) | undefined {
  if (source.untrusted !== true) return undefined;
  const isOpen = openVariables(source.env);
  return (name) => !isOpen(name);
}

/** The environment as the declaration sees it: the one place where it is filtered. */
export function declaredEnvironment(source: ProjectSource): ProjectSource["env"] {
  const refuses = variableGate(source);
  const { env } = source;
  return refuses === undefined ? env : Object.fromEntries(Object.entries(env).filter(([name]) => !refuses(name)));
}

/** What a file that the command line names must be; undefined: anything that can be read. */
export function namedFiles(source: ProjectSource): Bounds | undefined {
  return source.untrusted === true ? { roots: rootsOf(source), links: false } : undefined;
}

/**
 * The place that a file is written to which the command line names. What a stranger's project brings along may not lead it
 * elsewhere: no link is followed below the working folder and the project.
 * @throws HostformError `trust.file`; Node's errors.
 */
export function writtenPlace({ untrusted, cwd, dir }: ProjectSource, file: string): string {
  const named = path.resolve(cwd, file);
  if (untrusted !== true) return realPath(named);
  const root = [cwd, dir].find((one) => isInside(one, named)) ?? path.dirname(named);
  return onOwn({ shown: file, roots: [root], links: false }, (bounds) => bounded(named, bounds));
}

/** Returns true for a path that stays in these folders. Its text decides before anything is looked at. */
const liesIn = (roots: readonly string[], place: string): boolean =>
  attempt(
    () => bounded(place, { roots }) !== "",
    (error) => {
      if (error instanceof PathRefused) return false;
      throw error;
    },
  );

/** Returns true for a path that ends in these folders, its links followed, wherever they lie. One that has no end lies nowhere. */
const endsIn = (roots: readonly string[], place: string): boolean =>
  attempt(
    () => roots.map((root) => realPath(root)).some((root) => isInside(root, realPath(place))),
    () => false,
  );

/** Refuses a policy that an untrusted project brings along, also by a link from outside. @throws HostformError `trust.file`. */
export function refuseOwnPolicy(source: ProjectSource, file: string): void {
  const roots = rootsOf(source);
  if (source.untrusted !== true || !(liesIn(roots, file) || endsIn(roots, file))) return;
  fail("trust.file", `The policy ${path.relative(source.cwd, file)} lies in the untrusted project`, {
    remedies: ["Name the policy of the main branch, in another folder."],
  });
}

/** The folders of the project. */
function rootsOf(source: ProjectSource): string[] {
  return source.stack === undefined
    ? [source.dir]
    : [source.stack.run.project, source.stack.root ?? source.stack.folder];
}

/** Refuses the state of this run where a project leads it elsewhere; `--state` may name any place. @throws HostformError `trust.file`. */
export function requireOwnState(source: ProjectSource, file: string): void {
  if (source.untrusted !== true) return;
  const isNamed = source.stateNamed === true;
  requireStateIn(isNamed ? [path.dirname(file)] : rootsOf(source), source, file);
}

/** The file and what lies beside it are regular files in these folders, or not there. @param file absolute. */
function requireStateIn(roots: readonly string[], source: ProjectSource, file: string): void {
  const near = (one: string) => path.relative(source.cwd, one);
  if (!liesIn(roots, path.dirname(file))) {
    fail("trust.file", `The state ${near(file)} lies outside the project`, { remedies: [FIX] });
  }
  for (const one of Object.values(filesOfState(file)))
    onOwn({ shown: near(one), roots, links: false }, (bounds) => requireReplaceable(one, bounds));
}

/** Refuses a place of a state that is not a file of the project, unless the chosen environment names the place. @throws HostformError `trust.untrusted`, `trust.file`. */
export function requireOwnBackend(source: ProjectSource, { type, range }: Backend, file: string): void {
  const isChosen = range !== undefined && range.file === source.environment?.file.path;
  if (source.untrusted !== true || isChosen) return;
  if (type !== "local") throw new HostformError([refusal(`names a state in the backend ${type}`, { range })]);
  requireStateIn(rootsOf(source), source, file);
}

/**
 * What was read, with an error for everything that only a trusted declaration may have. Nothing of it is planned from then, and
 * a backend is not opened. Its expressions are given no secret.
 */
export async function withoutTrust(source: ProjectSource, read: Declaration): Promise<Declaration> {
  if (source.untrusted !== true) return read;
  const { declaration, unused } = withNamedState(source, read);
  const readable = declaration.desired ?? declaration.partial;
  const { resources = [] } = readable ?? {};
  // The settings of an environment are not the stranger's.
  const { providers, backend } = declaration.own ?? { providers: readable?.providers, backend: declaration.backend };
  const data = await dataSecrets(source);
  const blind = (one: Desired | undefined) => one && withoutSecrets(one, data);
  const found = [
    ...(typeof backend === "object"
      ? [refusal(`names the backend ${backend.type}`, { range: backend.range }, STATE)]
      : []),
    ...[...(providers?.values() ?? [])].flatMap((provider) => providerRefusals(provider, source)),
    ...resources.flatMap(sourceRefusals),
    ...resources.flatMap((resource) => outputRefusals(source, resource)),
  ];
  return {
    ...declaration,
    desired: found.length > 0 ? undefined : blind(declaration.desired),
    partial: blind(declaration.partial),
    backend: typeof backend === "object" ? "unclear" : declaration.backend,
    diagnostics: [...declaration.diagnostics, ...found, ...unused],
  };
}

/** Of what stacks alone can have. */
async function dataSecrets({ stack }: ProjectSource): Promise<DataSecrets> {
  if (stack === undefined) return new Map();
  const { dataSources } = await import("../fronts/terraform/data/index.ts");
  const secret = (attributes: Schema["attributes"]) =>
    Object.keys(attributes).filter((name) => attributes[name]?.sensitive === true);
  return new Map(dataSources.map(({ name, schema }) => [name, secret(schema.attributes)]));
}

const STATE =
  "Name a copy of the state on the command line, with `--state FILE`: the backend is not used then. `hostform state pull` makes one where the declaration is trusted.";

/** With `--state` the backend of an untrusted declaration is passed over: the state is where the command line says. */
function withNamedState(source: ProjectSource, read: Declaration) {
  const { backend, desired, partial } = read;
  if (typeof backend !== "object" || source.stateNamed !== true) return { declaration: read, unused: [] };
  const without = (one: Desired | undefined) => one && { ...one, backend: undefined };
  const unused: Diagnostic = {
    severity: "warning",
    code: "trust.untrusted",
    summary: `The backend ${backend.type} of the untrusted declaration is not used`,
    detail: "--state names the state.",
    ...(backend.range && { range: backend.range }),
  };
  const declaration = { ...read, backend: undefined, desired: without(desired), partial: without(partial) };
  return { declaration, unused: [unused] };
}

/** Settings of a provider that change what is planned, which the plan shows, and nothing of where the account is or who asks. */
const HARMLESS: readonly string[] = ["alias", "range", "keyLifetimeMs", "listLagMs"] satisfies (keyof ProviderConfig)[];

const SETTINGS: Readonly<Record<string, string>> = {
  baseUrl: "an address (base_url)",
  tokenEnv: "a credential (token_env)",
  tokenFile: "a credential (token_file)",
};

const SCALE =
  "Remove it, and set HOSTING_MONEY_SCALE beside HOSTING_BASE_URL: the plan shows amounts by that. The same number in both is accepted.";
const BUDGET = "Ask for 60 at most: more only makes the host refuse requests of others that use the token.";
const WORDS =
  "Keep the words that hostform does not know. If this host means something else by the others, leave out `--untrusted` (HOSTFORM_UNTRUSTED).";

/** Decision 0031 has a reason for each setting. */
function providerRefusals(
  { alias, range, moneyScale, statusWords = {}, requestsPerMinute = 60, ...settings }: ProviderConfig,
  source: ProjectSource,
): Diagnostic[] {
  const given = Object.entries(settings).filter(([name, value]) => {
    // What a stack's provider has by default, too.
    if (source.stack !== undefined && name === "tokenEnv" && value === "HOSTING_TOKEN") return false;
    return value !== undefined && !HARMLESS.includes(name);
  });
  const refused: Diagnostic[] = [];
  const refuse = (what: string, fix?: string) =>
    refused.push(refusal(`${what} for the provider ${alias}`, { range }, fix));
  for (const [name] of given) refuse(`names ${SETTINGS[name] ?? name}`);
  if (moneyScale !== undefined && String(moneyScale) !== source.env.HOSTING_MONEY_SCALE)
    refuse("sets the scale of amounts (money_scale)", SCALE);
  if (requestsPerMinute > 60) refuse("asks for more than 60 requests a minute", BUDGET);
  for (const [word, phase] of Object.entries(statusWords)) {
    const usual = phaseOfWord(word, { statusWords: {} }, LIVES.webhooks.words);
    if (usual !== "unknown" && usual !== phase)
      refuse(`gives a known status another meaning (status_words: ${word})`, WORDS);
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

/** A secret may go to a file of the project; to no command, and to no place that is not written out. */
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

/** The paths in a `secret_output` that is files and nothing else, written out. */
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

function refusal(
  what: string,
  { range, ...place }: Pick<Diagnostic, "range" | "address" | "attribute">,
  fix = FIX,
): Diagnostic {
  const summary = `The untrusted declaration ${what}`;
  return located({ severity: "error", code: "trust.untrusted", summary, remedies: [fix], ...place }, range);
}

/** The attributes of a data source that hold secrets, by its type. */
type DataSecrets = ReadonlyMap<string, readonly string[]>;

/**
 * A declaration whose expressions are given no secret: an attribute that holds one is unknown to them. What an expression makes of a
 * secret is not one to recognize (`upper`, a part, a number, whether a pattern fits it), so that hiding it afterwards cannot work.
 * What says that a value is secret stays, so that it is shown as one.
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

/** The scope with every secret attribute unknown. The same value stays the same object: what was made of it is kept by that. */
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
  const kind = kinds.get(parseAddress(address)?.type ?? "");
  if (kind === undefined) return [];
  // A stranger could compare a fingerprint with those of guessed secrets.
  const fingerprints = attributesOf(kind).flatMap(({ meta }) => meta.fingerprint ?? []);
  return [...sensitiveNames(kind), ...fingerprints];
}
