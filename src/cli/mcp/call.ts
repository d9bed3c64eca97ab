/** A call of a tool, and the state that all clients of a server share. */
import { type LoadedProject, loadProject } from "../../project/library.ts";
import type { Project } from "../../project/project.ts";
import type { Data } from "./answer.ts";

export interface Context {
  readonly project: Project;
  /** Folder of the saved plans. */
  readonly plans: string;
  /** Aborted at the second Ctrl-C. */
  readonly now: AbortSignal;
  /** Latest data by tool. */
  readonly latest: Map<string, Data>;
  readonly calls: Set<Promise<unknown>>;
  isApplying: boolean;
}

/** One call of a tool. */
export interface Call {
  readonly context: Context;
  readonly project: Project;
  /** True if the result replaces the latest one. An apply sets it with its first change. */
  isKept: boolean;
  load(): Promise<LoadedProject>;
  readonly work: { readonly signal: AbortSignal; readonly now: AbortSignal; readonly onProgress: () => void };
}

/** Reads the declaration, as a program that uses the library does. */
export function load({ project: { source } }: Context): Promise<LoadedProject> {
  const { dir: directory, cwd, environment, files, policy, insecureHttp, lockTimeoutMs, env, isProposed } = source;
  const state = source.stateNamed ? source.state : undefined;
  return loadProject({
    ...{
      directory,
      cwd,
      environment: environment?.name,
      files,
      policy,
      insecureHttp,
      lockTimeoutMs,
      env,
      isProposed,
      state,
    },
  });
}
