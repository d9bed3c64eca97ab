/** Environments of a project in YAML: `environments/NAME.yaml`. */
import path from "node:path";
import { attempt, type Diagnostic, didYouMean, escapeLine, fail, ifErrno, shorten } from "../core/model/index.ts";
import { problem, raise } from "./messages.ts";
import { listOwn, type OwnPath, readOwn } from "./own-files.ts";
import type { ProjectSource } from "./source.ts";

const FOLDER = "environments";
const ENDING = ".yaml";

interface Folder extends OwnPath {
  /** Absolute path. */
  readonly path: string;
}

/**
 * Returns the folder of the environments. Undefined for an untrusted project, unless the environment variable names the
 * folder.
 */
function folderOf(source: ProjectSource): Folder | undefined {
  const { HOSTFORM_ENVIRONMENTS: named } = source.env;
  if (named) return { path: path.resolve(source.cwd, named), shown: named };
  return source.untrusted === true ? undefined : ownFolder(source);
}

const ownFolder = ({ dir, cwd }: ProjectSource): Folder => {
  const own = path.join(dir, FOLDER);
  return { path: own, shown: path.relative(cwd, own), roots: [dir] };
};

/** Returns the sorted names of the environments in a folder. */
async function namesIn({ path: folder, ...own }: Folder): Promise<readonly string[]> {
  const names = await listOwn(folder, own).catch(ifErrno(() => []));
  return names.flatMap((name) => (/^[^.].*\.yaml$/.test(name) ? [name.slice(0, -ENDING.length)] : [])).toSorted();
}

/** Returns the sorted names of the environments of a project. */
export async function environmentNames(source: ProjectSource): Promise<readonly string[]> {
  const folder = folderOf(source);
  return folder === undefined ? [] : namesIn(folder);
}

/**
 * Returns the project in an environment. The state file is `hosting.NAME.tfstate`, unless the environment or the user names
 * another file.
 * @throws HostformError `usage` for a name without a file, or together with a stack; `trust.file` for a file outside the
 * project.
 */
export async function inEnvironment(source: ProjectSource, name: string, hasStack: boolean): Promise<ProjectSource> {
  if (hasStack)
    fail("usage", "An environment cannot be combined with a stack", {
      detail: "Only a declaration in YAML has environments.",
      remedies: ["Give the stack its own variables and backend."],
    });
  const near = (file: string) => path.relative(source.cwd, file) || ".";
  const shown = escapeLine(shorten(name, 100));
  const folder = folderOf(source);
  if (folder === undefined)
    return fail("usage", `The untrusted project cannot bring its own environment "${shown}"`, {
      remedies: ["Set HOSTFORM_ENVIRONMENTS to the folder `environments` of the main branch."],
    });
  const names = await namesIn(folder);
  if (!names.includes(name)) {
    const example = near(path.join(folder.path, `NAME${ENDING}`));
    return fail("usage", `There is no environment "${shown}".${didYouMean(name, names)}`, {
      detail: names.length === 0 ? `${near(folder.path)} has none.` : `The environments are ${names.join(", ")}.`,
      remedies: [names.length === 0 ? `Create ${example}.` : `Choose one of them, or create ${example}.`],
    });
  }
  const { declarationText, environmentState, OWN_LIMITS } = await import("../fronts/yaml/index.ts");
  const at = path.join(folder.path, name + ENDING);
  const unreadable = (reason: string) =>
    fail("config.unreadable", `${near(at)} cannot be read: ${reason}`, { remedies: ["Check its permissions."] });
  const reading = { shown: near(at), limit: OWN_LIMITS.bytes, ...(folder.roots && { roots: folder.roots }) };
  const bytes = await readOwn(at, reading).catch(ifErrno(unreadable));
  const file = { path: near(at), text: declarationText(near(at), bytes) };
  const stateOf = (of: string, named: string | undefined) => path.resolve(source.dir, named ?? `hosting.${of}.tfstate`);
  const state = stateOf(name, environmentState(file));
  for (const other of names) {
    if (other === name || source.stateNamed === true) continue;
    const theirs = path.join(folder.path, other + ENDING);
    const shown = near(theirs);
    const read = await readOwn(theirs, { ...reading, shown }).catch(() => Buffer.alloc(0));
    // Ignore mistakes in other environments. They are reported when those environments are used.
    const named = attempt(
      () => environmentState({ path: shown, text: declarationText(shown, read) }),
      () => undefined,
    );
    if (stateOf(other, named) === state)
      fail("usage", `The environments ${name} and ${other} use the same state: ${near(state)}`, {
        detail: "Each apply would change the account to what the other environment declares.",
        remedies: ["Name another file as `state` in one of them."],
      });
  }
  return { ...source, environment: { name, file }, ...(source.stateNamed !== true && { state }) };
}

/** Rejects a run without an environment if the project has environments. @returns a warning if the project is untrusted. */
export async function checkEnvironment(source: ProjectSource): Promise<readonly Diagnostic[]> {
  const own = ownFolder(source);
  const folder = folderOf(source);
  const names = folder === undefined || source.environment !== undefined ? [] : await namesIn(folder);
  if (names.length > 0) raise("usage/environments", { names });
  if (source.untrusted !== true || folder?.path === own.path || (await namesIn(own)).length === 0) return [];
  return [problem("trust.untrusted/environments", { folder: own.shown, isSet: folder !== undefined })];
}
