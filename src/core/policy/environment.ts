import path from "node:path";
import type { EnvVars } from "../model/index.ts";

/** Files that HOSTFORM_POLICY names, separated as in PATH. */
export const policyFiles = ({ HOSTFORM_POLICY: named = "" }: EnvVars): readonly string[] =>
  named.split(path.delimiter).filter((file) => file.trim() !== "");

/** Variables with the account that started a run, by the variable that marks the CI. Names in commits are anybody's to choose. */
const AUTHORS = [
  ["GITHUB_ACTIONS", "GITHUB_ACTOR"],
  ["GITLAB_CI", "GITLAB_USER_LOGIN"],
  ["TF_BUILD", "BUILD_REQUESTEDFOREMAIL"],
  ["BITBUCKET_BUILD_NUMBER", "BITBUCKET_STEP_TRIGGERER_UUID"],
] as const;

/** The author of a run: HOSTFORM_AUTHOR, or the account that the CI names; null if nothing names one. */
export function authorOf(env: EnvVars): string | null {
  const [, name] = AUTHORS.find(([mark]) => Boolean(env[mark])) ?? [];
  return env.HOSTFORM_AUTHOR || (name === undefined ? undefined : env[name]) || null;
}
