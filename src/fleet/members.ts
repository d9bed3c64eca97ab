// The projects that the entries of a fleet select.
import path from "node:path";
import { list, listFiles } from "../core/files/index.ts";
import { type Diagnostic, type EnvVars, HostformError, ifErrno, isLike } from "../core/model/index.ts";
import { type LoadOptions, loadProject } from "../project/library.ts";
import type { Fleet, FleetEntry } from "./declaration.ts";
import { problem, raise } from "./messages.ts";
import { type Checkout, checkedOut } from "./repository.ts";

/** One project of a fleet. */
export interface Member {
  /** Unique name: the folder, with the repository and the environment. */
  readonly name: string;
  readonly options: LoadOptions;
  /** Commit of the project's repository. */
  readonly commit?: string | undefined;
}

/** Projects, and the errors about entries without a usable project. */
export interface Members {
  readonly found: readonly Member[];
  readonly failed: readonly { readonly name: string; readonly errors: readonly Diagnostic[] }[];
}

/** Place of a project in the list of a fleet, known without its repository if the path has no `*`. */
export interface Seat {
  readonly name: string;
  readonly entry: FleetEntry;
}

/** Result of a function for each entry. */
interface ByEntry<T> {
  readonly found: readonly T[];
  readonly failed: Members["failed"];
}

/** Finds the projects of a fleet, in the order of the entries, and fetches their repositories. */
export async function members(fleet: Fleet, env: EnvVars): Promise<Members> {
  const templates = await templatesOf(fleet, env);
  return byEntry(fleet, (entry, file) => membersOf(entry, fleet, { env, templates }, file));
}

/** Finds the names of the projects of a fleet. Fetches only repositories with a `*` in the path. */
export function seats(fleet: Fleet, env: EnvVars): Promise<ByEntry<Seat>> {
  return byEntry(fleet, async (entry, file) => {
    const { git, path: pattern = "." } = entry;
    if (git !== undefined && !pattern.includes("*")) return [{ name: patternOf(entry), entry }];
    return (await membersOf(entry, fleet, { env }, file)).map(({ name }) => ({ name, entry }));
  });
}

/** Returns the projects of these names or patterns. @throws HostformError `fleet.project` if there are none. */
export async function chosenSeats(fleet: Fleet, env: EnvVars, patterns: readonly string[]): Promise<Seat[]> {
  const { found } = await seats(fleet, env);
  const chosen = found.filter(({ name }) => patterns.some((pattern) => isLike(pattern, name)));
  if (chosen.length === 0) raise("fleet.project/unmatched", { names: found.map(({ name }) => name) });
  return chosen;
}

/** Fetches the repository of one project. @returns undefined if the project is no longer there. */
export async function memberAt({ name, entry }: Seat, fleet: Fleet, shared: LoadOptions): Promise<Member | undefined> {
  return (await membersOf(entry, fleet, shared, path.basename(fleet.file))).find((one) => one.name === name);
}

/** Calls a function for each entry, in order. A failed entry does not affect the others. A project of two entries without `*` fails. */
async function byEntry<T extends { readonly name: string }>(
  fleet: Fleet,
  work: (entry: FleetEntry, file: string) => Promise<readonly T[]>,
): Promise<ByEntry<T>> {
  const found = new Map<string, T>();
  /** Names of the entries without a `*`. They take precedence over patterns, even if they failed. */
  const named = new Set<string>();
  const twice = new Set<string>();
  const failed: { name: string; errors: readonly Diagnostic[] }[] = [];
  for (const [at, entry] of fleet.projects.entries()) {
    const name = patternOf(entry);
    const isPattern = name.includes("*");
    if (named.has(name)) twice.add(name);
    if (!isPattern) named.add(name);
    try {
      for (const one of await work(entry, `${path.basename(fleet.file)}: projects[${at}]`)) {
        if (!isPattern || !(found.has(one.name) || named.has(one.name))) found.set(one.name, one);
      }
    } catch (error) {
      if (!(error instanceof HostformError)) throw error;
      if (!isPattern) found.delete(name);
      failed.push({ name, errors: error.diagnostics });
    }
  }
  for (const name of twice) {
    found.delete(name);
    failed.push({ name, errors: [problem("fleet.project/twice", { file: path.basename(fleet.file), name })] });
  }
  return { found: [...found.values()], failed };
}

async function membersOf(entry: FleetEntry, fleet: Fleet, shared: LoadOptions, file: string): Promise<Member[]> {
  const root = path.dirname(fleet.file);
  const { path: pattern = ".", git: url, branch = "main", signers } = entry;
  const { environment, stack } = entry;
  const load = (dir: string) => ({ ...shared, environment, stack, directory: dir, notify: fleet.notify });
  const accept = async (dir: string) => {
    for (const folder of await foldersIn(dir, pattern)) await loadProject(load(path.join(dir, folder)));
  };
  const repository = { url: url ?? "", ref: branch, signers: signers && path.resolve(root, signers) };
  const { dir, commit }: Partial<Checkout> =
    url === undefined ? {} : await checkedOut(repository, shared.env ?? {}, accept);
  const folders = await foldersIn(dir ?? root, pattern);
  if (folders.length === 0) raise("fleet.project/none", { file, why: `no folder matches ${pattern}` });
  return folders.map((folder) => ({
    name: nameOf(entry, folder),
    options: load(path.join(dir ?? root, folder)),
    commit,
  }));
}

/** Returns the name of an entry's project, or the pattern of the names of its projects. */
export const patternOf = (entry: FleetEntry): string =>
  nameOf(entry, path.posix.join(entry.path ?? ".", ".").replace(/(?<=.)\/$/, ""));

/** Returns the name of a project: `acme-sites/customers/acme@production`. */
function nameOf({ git, environment }: FleetEntry, folder: string): string {
  const repository = git && path.posix.basename(git.replace(/\/$/, "").replace(/^.*:/, ""), ".git");
  const parts = [repository, folder === "." && repository ? undefined : folder].filter(Boolean);
  return [parts.join("/"), environment].filter(Boolean).join("@");
}

/** Returns the folders below `root` that match a pattern. `*` matches any part of a name that does not begin with a dot. */
async function foldersIn(root: string, pattern: string): Promise<string[]> {
  let found = ["."];
  for (const step of pattern.split("/").filter((one) => one !== "." && one !== "")) {
    const next = found.map(async (folder) => {
      const inside = path.join(root, folder);
      const [names, files] = await Promise.all([
        list(inside, { roots: [root] }),
        listFiles(inside, { roots: [root] }),
      ]).catch(ifErrno((): string[][] => [[], []]));
      return (names ?? [])
        .filter((name) => !files?.includes(name) && !name.startsWith(".") && isLike(step, name))
        .sort()
        .map((name) => path.join(folder, name));
    });
    found = (await Promise.all(next)).flat();
  }
  return found;
}

/** Returns the shared templates with their version. @throws HostformError as {@link checkedOut} does. */
export async function templatesOf({ templates, file }: Fleet, env: EnvVars): Promise<LoadOptions["templates"]> {
  if (templates === undefined) return undefined;
  const { path: at, git: url, commit: ref } = templates;
  if (url === undefined || ref === undefined) return { file: path.resolve(path.dirname(file), at), version: at };
  const { dir, commit } = await checkedOut({ url, ref }, env, async () => {});
  return { file: path.join(dir, at), version: `${at} at ${commit.slice(0, 12)}` };
}
