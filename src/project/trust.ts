import { lstat, readlink, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { phaseOfWord } from "../core/kinds/service/words.ts";
import {
  type Backend,
  type Desired,
  type DesiredResource,
  type Diagnostic,
  errnoOf,
  fail,
  HostformError,
  isObject,
  type Json,
  located,
  type ProviderConfig,
  type Schema,
} from "../core/model/index.ts";
import { filesOfState, isInside } from "../core/record/index.ts";
import type { Declaration } from "../fronts/source/index.ts";
import type { ProjectSource } from "./source.ts";
import type { StackSource } from "./stacks/stack.ts";
import { type DataSecrets, withoutSecrets } from "./withheld.ts";

/**
 * What `--untrusted` means: the declaration may come from a stranger. It names no address, credential, command, backend or program,
 * reads no file outside the project, and of the environment it sees what HOSTFORM_ENV_ALLOW names. Everything here fails closed: what
 * is not known to be harmless is refused.
 */

/** Commands that change nothing; the others are refused. */
const COMMANDS = ["validate", "plan", "version", "completion", "sandbox"];

const FIX =
  "Remove it from the declaration; what is needed comes from outside, from the environment or the command line. If you trust its author, leave out `--untrusted` (HOSTFORM_UNTRUSTED).";

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
      detail: "With --untrusted (HOSTFORM_UNTRUSTED), `validate` and `plan` run, which change nothing.",
      remedies: ["Run it where the declaration is trusted."],
    });
  }
  if (stacks?.app !== undefined) {
    fail("usage", "--app runs a program of the project, which --untrusted forbids", {
      remedies: ["Synthesize where there are no credentials, and pass what was written: `--stack cdktf.out`."],
    });
  }
  for (const named of [source.dir, stacks?.path]) {
    if (named !== undefined) await refuseDetour(source.cwd, named);
  }
}

/** Refuses a path below the working folder that a link of the project leads out of it. @throws HostformError `trust.file`. */
export async function refuseDetour(cwd: string, named: string): Promise<void> {
  if (!isInside(cwd, named) || isInside(await realPlace(cwd), await realPlace(named))) return;
  fail("trust.file", `${path.relative(cwd, named)} leads outside the project through a link`, {
    remedies: ["Name the place itself on the command line."],
  });
}

/** Whether a variable of the environment is kept from the declaration. Undefined where it is trusted. */
export function variableGate(source: ProjectSource): ((name: string) => boolean) | undefined {
  if (source.untrusted !== true) return undefined;
  const allowed = (source.env.HOSTFORM_ENV_ALLOW ?? "").split(/[\s,]+/);
  return (name) => !allowed.includes(name);
}

/** The environment as the declaration sees it: the one place where it is filtered. */
export function declaredEnvironment(source: ProjectSource): ProjectSource["env"] {
  const refuses = variableGate(source);
  const { env } = source;
  return refuses === undefined ? env : Object.fromEntries(Object.entries(env).filter(([name]) => !refuses(name)));
}

/** What a file that the command line names must be; undefined: anything that can be read. */
export function namedFiles(source: ProjectSource): Ownership | undefined {
  return source.untrusted === true ? { roots: rootsOf(source), links: false } : undefined;
}

/** The folders of the project. */
function rootsOf(source: ProjectSource): string[] {
  return source.stack === undefined
    ? [source.dir]
    : [source.stack.run.project ?? source.stack.folder, source.stack.root ?? source.stack.folder];
}

/** Refuses the state of this run where a project leads it elsewhere; `--state` may name any place. @throws HostformError `trust.file`. */
export async function requireOwnState(source: ProjectSource, file: string): Promise<void> {
  if (source.untrusted !== true) return;
  const isNamed = source.stateNamed === true;
  await requireStateIn(isNamed ? [path.dirname(file)] : rootsOf(source), source, file);
}

/** The file and what lies beside it are regular files in these folders, or not there. @param file absolute. */
async function requireStateIn(roots: readonly string[], source: ProjectSource, file: string): Promise<void> {
  const near = (one: string) => path.relative(source.cwd, one);
  if (!(await liesIn(roots, path.dirname(file)))) {
    fail("trust.file", `The state ${near(file)} lies outside the project`, { remedies: [FIX] });
  }
  for (const one of Object.values(filesOfState(file))) await requireOwnFile(one, near(one), { roots, links: false });
}

/** Refuses a place of a state that is not a file of the project. @throws HostformError `trust.untrusted`, `trust.file`. */
export async function requireOwnBackend(source: ProjectSource, { type, range }: Backend, file: string): Promise<void> {
  if (source.untrusted !== true) return;
  if (type === "local") return requireStateIn(rootsOf(source), source, file);
  throw new HostformError([refusal(`names a state in the backend ${type}`, { range })]);
}

/**
 * What was read, with an error for everything that only a trusted declaration may have. Nothing of it is planned from then, and
 * a backend is not opened. Its expressions are given no secret.
 */
export async function withoutTrust(source: ProjectSource, read: Declaration): Promise<Declaration> {
  if (source.untrusted !== true) return read;
  const { declaration, unused } = withNamedState(source, read);
  const { backend } = declaration;
  const readable = declaration.desired ?? declaration.partial;
  const data = await dataSecrets(source);
  const blind = (one: Desired | undefined) => one && withoutSecrets(one, data);
  const found = [
    ...(typeof backend === "object"
      ? [refusal(`names the backend ${backend.type}`, { range: backend.range }, STATE)]
      : []),
    ...(readable === undefined ? [] : await refusalsIn(source, readable)),
  ];
  return {
    ...declaration,
    desired: found.length > 0 ? undefined : blind(declaration.desired),
    partial: blind(declaration.partial),
    backend: typeof backend === "object" ? "unclear" : backend,
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
  const without = (one: Desired | undefined) => {
    const { backend: _, ...rest } = one ?? {};
    return one && (rest as Desired);
  };
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

async function refusalsIn(source: ProjectSource, { providers, resources }: Desired): Promise<Diagnostic[]> {
  const outputs = await Promise.all(resources.map((resource) => outputRefusals(source, resource)));
  return [
    ...[...providers.values()].flatMap((provider) => providerRefusals(provider, source)),
    ...resources.flatMap(sourceRefusals),
    ...outputs.flat(),
  ];
}

/** Settings of a provider that change what is planned, which the plan shows, and nothing of where the account is or who asks. */
const HARMLESS: readonly string[] = [
  "alias",
  "range",
  "requestsPerMinute",
  "keyLifetimeMs",
  "listLagMs",
] satisfies (keyof ProviderConfig)[];

const SETTINGS: Readonly<Record<string, string>> = {
  baseUrl: "an address (base_url)",
  tokenEnv: "a credential (token_env)",
  tokenFile: "a credential (token_file)",
};

const SCALE =
  "Remove it, and set HOSTING_MONEY_SCALE beside HOSTING_BASE_URL: the plan shows amounts by that. The same number in both is accepted.";
const WORDS =
  "Keep the words that hostform does not know. If this host means something else by the others, leave out `--untrusted` (HOSTFORM_UNTRUSTED).";

/** Decision 0031 has a reason for each setting. */
function providerRefusals(
  { alias, range, moneyScale, statusWords = {}, ...settings }: ProviderConfig,
  source: ProjectSource,
): Diagnostic[] {
  const given = Object.entries(settings).filter(([name, value]) => {
    // What a stack's provider has by default, too.
    if (source.stack !== undefined && name === "tokenEnv" && value === "HOSTING_TOKEN") return false;
    return value !== undefined && !HARMLESS.includes(name);
  });
  const refused = given.map(([name]) =>
    refusal(`names ${SETTINGS[name] ?? name} for the provider ${alias}`, { range }),
  );
  if (moneyScale !== undefined && String(moneyScale) !== source.env.HOSTING_MONEY_SCALE)
    refused.push(refusal(`says how amounts are written (money_scale) for the provider ${alias}`, { range }, SCALE));
  const others = Object.entries(statusWords).filter(([word, phase]) => {
    const usual = phaseOfWord(word, { statusWords: {} });
    return usual !== "unknown" && usual !== phase;
  });
  for (const [word] of others)
    refused.push(
      refusal(
        `gives a known status another meaning (status_words: ${word}) for the provider ${alias}`,
        { range },
        WORDS,
      ),
    );
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
async function outputRefusals(
  source: ProjectSource,
  { address, config, locate }: DesiredResource,
): Promise<Diagnostic[]> {
  const { secret_output: output } = config;
  if (output === undefined || output === null) return [];
  const place = { address, attribute: ["secret_output"], range: locate(["secret_output"]) };
  const paths = pathsOf(output);
  if (paths === undefined)
    return [refusal("names a command, or a place that is not written out (secret_output)", place)];
  const { dir } = source;
  const inside = await Promise.all(paths.map((one) => liesIn([dir], path.resolve(dir, one))));
  return inside.every(Boolean) ? [] : [refusal("names a file outside the project (secret_output)", place)];
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
  return located(
    {
      severity: "error",
      code: "trust.untrusted",
      summary: `The untrusted declaration ${what}`,
      remedies: [fix],
      ...place,
    },
    range,
  );
}

/** Whether a place, which need not be there yet, lies in one of these folders, links followed. */
async function liesIn(folders: readonly string[], place: string): Promise<boolean> {
  const real = await realPlace(place);
  const roots = await Promise.all(folders.map(realPlace));
  return roots.some((root) => isInside(root, real));
}

/** More links than the system follows. */
const MOST_LINKS = 40;

/** The real path of a place; of one that is not there, where it would be made: what stands in its place may be a link to nothing yet. */
async function realPlace(place: string, depth = 0): Promise<string> {
  const real = await found(() => realpath(place));
  if (real !== undefined) return real;
  const above = path.dirname(place);
  if (above === place) return place;
  const own = path.join(await realPlace(above, depth), path.basename(place));
  const target = depth < MOST_LINKS ? await found(() => readlink(own)) : undefined;
  return target === undefined ? own : realPlace(path.resolve(path.dirname(own), target), depth + 1);
}

/** What a file that a project brings along must be. */
export interface Ownership {
  /** The folders that it may lie in, absolute. */
  readonly roots: readonly string[];
  /** Whether it may be a link, to a file inside them. Default: true. */
  readonly links?: boolean;
}

/**
 * Refuses a file that a project only seems to have: by its real path it must lie inside, and be a regular file. A repository can
 * hold a link to any file, and a pipe that never ends. A file that is not there is left to the one who reads it; a link to nothing is
 * refused where links are, as what is written there would be written elsewhere.
 * @param at absolute. @param shown its path as people know it.
 * @throws HostformError `trust.file`, before anything of the file is read.
 */
export async function requireOwnFile(at: string, shown: string, { roots, links = true }: Ownership): Promise<void> {
  const real = await found(() => realpath(at));
  if (real === undefined) {
    if (links || !(await found(() => lstat(at)))?.isSymbolicLink()) return;
    fail("trust.file", `${shown} is a link to nothing`, {
      remedies: ["Put a regular file there, or remove the link."],
    });
  }
  const inside = await Promise.all(roots.map((root) => found(() => realpath(root))));
  if (!inside.some((root) => root !== undefined && isInside(root, real))) {
    fail("trust.file", `${shown} leads to a file outside the project, and is not read`, {
      remedies: [
        links
          ? "Put the file itself there. If it is meant, name it on the command line: `-f` for a declaration, `--var-file` for values."
          : "Put the file itself into the project.",
      ],
    });
  }
  if (!(await found(() => stat(real)))?.isFile()) {
    fail("trust.file", `${shown} is not a regular file`, { remedies: ["Put a regular file there."] });
  }
  if (!links && (await found(() => lstat(at)))?.isSymbolicLink()) {
    fail("trust.file", `${shown} is a link, which an untrusted project may not have in place of a file`, {
      remedies: ["Put the file itself there."],
    });
  }
}

/** The same of a folder, before its names are read. @param root absolute. @throws HostformError `trust.file`. */
export async function requireOwnFolder(at: string, shown: string, root: string): Promise<void> {
  const real = await found(() => realpath(at));
  const within = await found(() => realpath(root));
  if (real === undefined || within === undefined || isInside(within, real)) return;
  fail("trust.file", `${shown} leads to a folder outside the project, and is not read`, {
    remedies: ["Put the folder itself there."],
  });
}

async function found<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
