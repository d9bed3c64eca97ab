/**
 * Reads the base of a plan: the declaration at a commit. git only reads stored objects: it runs no program of the repository
 * (hook, filter, `fsmonitor`), fetches nothing, and receives no credential.
 */
import path from "node:path";
import { dependentsOf } from "../core/engine/index.ts";
import {
  type Desired,
  type DesiredResource,
  equal,
  failWith,
  ifExplained,
  isError,
  type Json,
  type State,
} from "../core/model/index.ts";
import type { DeclarationFiles } from "../fronts/yaml/index.ts";
import { isInRepository } from "./git-tracked.ts";
import { raise } from "./messages.ts";
import type { Project } from "./project.ts";
import type { PlanRequest } from "./saved-plan.ts";
import type { Host, ProjectSource } from "./source.ts";

/** A declaration at a commit. */
export interface Base {
  /** Commit as the user wrote it. */
  readonly ref: string;
  /** Commit hash in hexadecimal. */
  readonly commit: string;
  /** Undefined if the commit has no declaration. */
  readonly desired: Desired | undefined;
}

/** Rejects a base together with targets or a destroy. @throws HostformError `usage` */
export function checkBase(base: string | undefined, { targets, mode }: PlanRequest): void {
  if (base === undefined) return;
  if (targets.length > 0) raise("usage/base_alone", { other: "targets" });
  if (mode === "destroy") raise("usage/base_alone", { other: "the removal of everything" });
}

const GIT_MS = 30_000;
/** Maximum output of git, in bytes. Larger than any valid declaration. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Environment variables for git: needed to start, and to trust a repository. */
const KEPT = /^(?:PATH|Path|HOME|USERPROFILE|SystemRoot|XDG_CONFIG_HOME|TMPDIR|TEMP|GIT_CONFIG_.*)$/;

/** Options of every git command. Ignores a bare repository inside the project. */
const SAFE = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.bareRepository=explicit"];

/** Reads the repository of a project. */
function repositoryOf(host: Host, source: ProjectSource, ref: string) {
  const refuseBase = (why: string, fix: string): never => raise("usage/base", { ref, why, fix });

  /** Runs git. @returns its output, undefined if it fails. @throws HostformError `usage` if git cannot start. */
  async function ask(...args: readonly string[]): Promise<string | undefined> {
    const kept = Object.entries(source.env).filter(([name]) => KEPT.test(name));
    const { failure, stdout } = await host.capture(
      ["git", "--no-pager", "--no-replace-objects", "--literal-pathspecs", ...SAFE, ...args],
      {
        cwd: source.dir,
        env: {
          ...Object.fromEntries(kept),
          GIT_ALLOW_PROTOCOL: "none",
          GIT_NO_LAZY_FETCH: "1",
          GIT_OPTIONAL_LOCKS: "0",
          GIT_TERMINAL_PROMPT: "0",
          LC_ALL: "C",
        },
        input: "",
        timeoutMs: GIT_MS,
        mostBytes: MOST_BYTES,
      },
    );
    if (failure === undefined) return stdout;
    if (/^ended with/.test(failure)) return undefined;
    return refuseBase(`cannot be read: git ${failure}`, "Install git, and put it on the PATH.");
  }

  async function commit(): Promise<string> {
    // Reject names that git would read as an option ("-") or a file (":").
    if (!/^[^-:\s\p{Cc}][^:\s\p{Cc}]*$/u.test(ref))
      refuseBase("is not the name of a commit", "Name a branch, a tag or a commit, such as origin/main.");
    const name = (await ask("rev-parse", "--verify", "--quiet", `${ref}^{commit}`))?.trim();
    if (name !== undefined && /^[0-9a-f]{40,64}$/.test(name)) return name;
    if ((await ask("rev-parse", "--git-dir")) === undefined)
      refuseBase("cannot be read: git finds no repository in the project's folder", "See `git status` there.");
    if ((await ask("rev-parse", "--is-shallow-repository"))?.trim() !== "true")
      refuseBase("is not a commit of this repository", "See `git branch --all`.");
    return refuseBase(
      "is not in this repository, which is a shallow clone",
      "Fetch it: `git fetch --depth=1 origin REF`, or clone with the whole history.",
    );
  }

  /** Reads the files of a commit, with the paths of the working folder. */
  async function filesAt(commit: string): Promise<DeclarationFiles> {
    const prefix = ((await ask("rev-parse", "--show-prefix")) ?? "").replace(/\n$/, "");
    const inside = (place: string) => {
      const near = path.relative(source.dir, path.resolve(source.cwd, place)).split(path.sep).join("/");
      const at = path.posix.join("/", prefix || ".", near).slice(1);
      const escapes = path.posix.normalize(path.posix.join(prefix || ".", near)).startsWith("..");
      return escapes ? refuseBase(`lacks ${place}, which lies outside the repository`, "Name files inside.") : at;
    };
    const entries = async (folder: string) => {
      const text = await ask("ls-tree", "-z", "--full-tree", `${commit}:${folder}`);
      const rows = (text ?? "").split("\0").flatMap((row) => {
        const [, mode, name] = /^(\d+) [^\t]*\t([\s\S]*)$/.exec(row) ?? [];
        return mode === undefined || name === undefined ? [] : [[name, mode] as const];
      });
      return new Map(rows);
    };
    return {
      list: async (folder) => [...(await entries(inside(folder))).keys()],
      read: async (file, limit) => {
        const at = inside(file);
        const mode = (await entries(at.includes("/") ? path.posix.dirname(at) : "")).get(path.posix.basename(at));
        // The error of a missing file in a file system.
        if (mode === undefined) throw Object.assign(new Error(`${file} does not exist`), { code: "ENOENT" });
        if (!mode.startsWith("100")) return refuseBase(`has no regular file ${file}`, "Name another commit.");
        const text = await ask("cat-file", "blob", `${commit}:${at}`);
        if (text === undefined)
          return refuseBase(`has ${file}, which this clone lacks`, "Fetch the commit with its files.");
        return new TextEncoder().encode(text).subarray(0, limit);
      },
    };
  }

  return { ask, commit, filesAt, refuseBase };
}

/** Returns the last commit of the repository and its author. Runs git only inside a repository. */
export async function headOf(host: Host, source: ProjectSource): Promise<{ commit?: string; author?: string }> {
  if (source.value !== undefined || !isInRepository(source.dir)) return {};
  const ask = (...args: readonly string[]) =>
    repositoryOf(host, source, "HEAD")
      .ask(...args)
      .catch(ifExplained(() => undefined));
  const commit = (await ask("rev-parse", "--verify", "--quiet", "HEAD"))?.trim();
  if (commit === undefined) return {};
  const author = /^author (.*>)/m.exec((await ask("cat-file", "commit", commit)) ?? "")?.[1];
  return { commit, ...(author !== undefined && { author }) };
}

/** Reads the declaration at a commit. @throws HostformError `usage`; `trust.untrusted` for an untrusted project. */
export async function readBase({ source, host, declaration }: Project, ref: string): Promise<Base> {
  if (source.untrusted === true) raise("trust.untrusted/base", {});
  if (source.stack !== undefined) raise("usage/base_of_stack", {});
  const repository = repositoryOf(host, source, ref);
  const commit = await repository.commit();
  const { desired, diagnostics } = await declaration.readAt(await repository.filesAt(commit));
  const errors = diagnostics.filter(isError);
  // Report errors of git before mistakes in the files.
  const refused = errors.filter(({ code }) => code === "usage");
  failWith(refused);
  if (desired === undefined && errors.some(({ code }) => code !== "config.missing"))
    repository.refuseBase("has a declaration with mistakes", "Name a commit whose declaration is valid.");
  return { ref, commit, desired };
}

/**
 * Returns the addresses that changed since an earlier declaration, and their dependents. Includes new blocks, blocks in
 * another account, and resources of the state without a block.
 */
export function changedSince(before: Desired | undefined, now: Desired, { resources }: State): string[] {
  const then = new Map(before?.resources.map((one) => [one.address, one]));
  const declared = new Map(now.resources.map((one) => [one.address, one]));
  const isSame = ({ address }: DesiredResource) =>
    before?.project === now.project && equal(valueIn(before, then.get(address)), valueIn(now, declared.get(address)));
  const changed = now.resources.filter((one) => !isSame(one)).map(({ address }) => address);
  const left = [...then.keys()].filter((address) => !declared.has(address) && resources.has(address));
  const released = (now.removed ?? []).filter(({ from }) => !before?.removed?.some((one) => one.from === from));
  const forgotten = [...resources.keys()].filter(
    (address) =>
      !declared.has(address) && released.some(({ from }) => address === from || address.startsWith(`${from}[`)),
  );
  return [...new Set([...dependentsOf(now, changed), ...left, ...forgotten])];
}

/** Returns everything in a declaration that affects the plan of one resource. */
export function valueIn({ providers }: Desired, one: DesiredResource | undefined): Json {
  if (one === undefined) return null;
  const { config, provider, dependsOn, importId, lifecycle, client, sources } = one;
  const { range: _, ...account } = providers.get(provider) ?? { alias: provider };
  return JSON.parse(
    JSON.stringify({ config, account, dependsOn, importId, lifecycle, client, sources: [...(sources ?? [])] }),
  );
}
