/**
 * `--base REF`: what the declaration changes since a commit. git is only asked what it has recorded: it runs no program of the
 * repository's configuration (no hook, no filter, no `fsmonitor`), fetches nothing, and is given no credential.
 */
import path from "node:path";
import { dependentsOf } from "../core/engine/index.ts";
import {
  type Desired,
  type DesiredResource,
  equal,
  fail,
  HostformError,
  isError,
  type Json,
  type State,
} from "../core/model/index.ts";
import type { DeclarationFiles } from "../fronts/yaml/index.ts";
import type { Project } from "./project.ts";
import type { PlanRequest } from "./saved-plan.ts";
import type { Host, ProjectSource } from "./source.ts";

/** What was declared at a commit. */
export interface Base {
  /** As the user named it. */
  readonly ref: string;
  /** Its name in hexadecimal. */
  readonly commit: string;
  readonly desired: Desired | undefined;
}

/** What `--base` says. */
export interface BaseOptions {
  readonly base?: string;
}

/** @throws HostformError `usage` where something else says what is planned. */
export function checkBase({ base, targets, mode }: BaseOptions & Pick<PlanRequest, "targets" | "mode">): void {
  const other = targets.length > 0 ? "--target" : mode === "destroy" ? "the removal of everything" : undefined;
  if (base === undefined || other === undefined) return;
  fail("usage", `--base does not go with ${other}`, {
    detail: "What changed since the commit is what is planned.",
    remedies: ["Pass one of them."],
  });
}

const GIT_MS = 30_000;
/** More than a declaration may be. */
const MOST_BYTES = 64 * 1024 * 1024;

/** What git needs of the environment: to be found, and to know whose repositories it may read. */
const KEPT = /^(?:PATH|Path|HOME|USERPROFILE|SystemRoot|XDG_CONFIG_HOME|TMPDIR|TEMP|GIT_CONFIG_.*)$/;

/** In front of every command. A repository that only looks like one, in a folder of the project, is not used. */
const SAFE = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.bareRepository=explicit"];

/** Reads one repository, from the folder of a project. */
function repositoryOf(host: Pick<Host, "capture">, source: ProjectSource, ref: string) {
  function refuse(why: string, fix: string): never {
    return fail("usage", `--base ${ref}: ${why}`, { remedies: [fix, "Or plan without --base."] });
  }

  /** What a command writes; undefined when it fails. @throws HostformError `usage` when git cannot be run. */
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
    return refuse(`git ${failure}`, "Install git, and put it on the PATH.");
  }

  async function commit(): Promise<string> {
    // A word that begins with "-" would be an option; what has a colon names a file.
    if (!/^[^-:\s\p{Cc}][^:\s\p{Cc}]*$/u.test(ref))
      refuse("is not the name of a commit", "Name a branch, a tag or a commit, such as origin/main.");
    const name = (await ask("rev-parse", "--verify", "--quiet", `${ref}^{commit}`))?.trim();
    if (name !== undefined && /^[0-9a-f]{40,64}$/.test(name)) return name;
    if ((await ask("rev-parse", "--git-dir")) === undefined)
      refuse("the project's folder is in no git repository that git reads here", "See `git status` in that folder.");
    if ((await ask("rev-parse", "--is-shallow-repository"))?.trim() !== "true")
      refuse("is not a commit of this repository", "See `git branch --all`.");
    return refuse(
      "is not in this repository, which is a shallow clone",
      "Fetch it: `git fetch --depth=1 origin REF`, or clone with the whole history.",
    );
  }

  /** The files of a commit. Paths are as in the working folder. */
  async function filesAt(commit: string): Promise<DeclarationFiles> {
    const prefix = ((await ask("rev-parse", "--show-prefix")) ?? "").replace(/\n$/, "");
    const inside = (place: string) => {
      const near = path.relative(source.dir, path.resolve(source.cwd, place)).split(path.sep).join("/");
      const at = path.posix.join("/", prefix || ".", near).slice(1);
      const escapes = path.posix.normalize(path.posix.join(prefix || ".", near)).startsWith("..");
      return escapes ? refuse(`${place} lies outside the repository`, "Name files of the repository.") : at;
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
        // As the file system would say it.
        if (mode === undefined) throw Object.assign(new Error(`${file} does not exist`), { code: "ENOENT" });
        if (!mode.startsWith("100")) return refuse(`${file} is no regular file there`, "Compare with another commit.");
        const text = await ask("cat-file", "blob", `${commit}:${at}`);
        if (text === undefined) return refuse(`${file} is not in this clone`, "Fetch the commit with its files.");
        return new TextEncoder().encode(text).subarray(0, limit);
      },
    };
  }

  return { commit, filesAt, refuse };
}

/**
 * What was declared at a commit; nothing where there was no declaration yet.
 * @throws HostformError `usage`; `trust.untrusted` for a stranger's project.
 */
export async function readBase(
  { source, host, declaration }: Pick<Project, "source" | "host" | "declaration">,
  ref: string,
): Promise<Base> {
  if (source.untrusted === true)
    fail("trust.untrusted", "--base does not go with an untrusted declaration", {
      detail: "It runs git in the repository of the declaration.",
      remedies: ["Plan without --base. `--refresh=changed` reads only what the declaration changes against the state."],
    });
  if (source.stack !== undefined)
    fail("usage", "--base compares declarations in YAML, and this is a stack", {
      remedies: ["Plan without --base, or name a `--target`."],
    });
  const { refuse, ...repository } = repositoryOf(host, source, ref);
  const commit = await repository.commit();
  const { desired, diagnostics } = await declaration.readAt(await repository.filesAt(commit));
  const errors = diagnostics.filter(isError);
  // What git refused is among the mistakes of the files.
  const refused = errors.filter(({ code }) => code === "usage");
  if (refused.length > 0) throw new HostformError(refused);
  if (desired === undefined && errors.some(({ code }) => code !== "config.missing"))
    refuse("the declaration of that commit has mistakes", "Compare with a commit that `hostform validate` accepts.");
  return { ref, commit, desired };
}

/**
 * The addresses that a declaration changes since an earlier one, and all that refer to them: what is declared otherwise or in another
 * account, what is new, and what is recorded and no longer declared.
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

/** All that a plan is made from of one resource, without its place. */
function valueIn({ providers }: Desired, one: DesiredResource | undefined): Json {
  if (one === undefined) return null;
  const { config, provider, dependsOn, importId, lifecycle, client, sources } = one;
  const { range: _, ...account } = providers.get(provider) ?? { alias: provider };
  return JSON.parse(
    JSON.stringify({ config, account, dependsOn, importId, lifecycle, client, sources: [...(sources ?? [])] }),
  );
}
