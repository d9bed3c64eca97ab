import { realpathSync } from "node:fs";
import path from "node:path";
import { type Diagnostic, errnoOf } from "../core/model/index.ts";
import { filesOfState, type StateStore, withMembers } from "../core/record/index.ts";
import { trackedFiles } from "./git-index.ts";

/**
 * The same store, which warns of a state, journal or backup that git tracks: a pull request can hold another one.
 * @param file the path of the state; undefined when it is in no file. Asked once it is open.
 */
export function warningOfTracked(store: StateStore, file: () => string | undefined): StateStore {
  return {
    ...store,
    open: async (request) => {
      const open = await store.open(request);
      const state = file();
      const warnings = state === undefined ? [] : trackedWarnings(state);
      return warnings.length === 0 ? open : withMembers(open, { warnings: [...open.warnings, ...warnings] });
    },
  };
}

function trackedWarnings(state: string): Diagnostic[] {
  const at = real(state);
  if (at === undefined) return [];
  const { state: text, backup, journal } = filesOfState(at);
  const tracked = trackedFiles(
    path.dirname(at),
    [text, backup, journal].map((file) => path.basename(file)),
  );
  if (tracked.length === 0) return [];
  const list = tracked.join(", ");
  return [
    {
      severity: "warning",
      code: "state.tracked",
      summary: `git tracks ${list}`,
      detail:
        "A pull request or another branch can put another state in its place, an older one even where it is encrypted. In the clear, everyone who can read the repository reads its secrets.",
      fix: `\`git rm --cached ${tracked.join(" ")}\`, add it to .gitignore, and keep it elsewhere: a backend, or a branch of its own.`,
    },
  ];
}

/** The file with links followed, or where it will be; undefined where nothing can be said. */
function real(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") return undefined;
  }
  try {
    return path.join(realpathSync(path.dirname(file)), path.basename(file));
  } catch {
    return undefined;
  }
}
