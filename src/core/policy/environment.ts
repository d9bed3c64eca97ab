import path from "node:path";
import { problem } from "../messages/index.ts";
import { type EnvVars, HostformError } from "../model/index.ts";

/**
 * Files that HOSTFORM_POLICY names, separated as in PATH.
 * @throws HostformError `policy.invalid` where it is set and names none: a value that was lost would lift the policy.
 */
export function policyFiles({ HOSTFORM_POLICY: named }: EnvVars): readonly string[] {
  if (named === undefined) return [];
  const files = named.split(path.delimiter).filter((file) => file.trim() !== "");
  if (files.length > 0) return files;
  throw new HostformError([problem("policy.invalid/unset", {})]);
}

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
