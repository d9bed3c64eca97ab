import path from "node:path";
import { raise } from "../messages/index.ts";
import type { EnvVars } from "../model/index.ts";

/**
 * Returns the files in HOSTFORM_POLICY, separated as in PATH.
 * @throws HostformError `policy.invalid` if the variable is set but empty. Otherwise a lost value would disable the policy.
 */
export function policyFiles({ HOSTFORM_POLICY: named }: EnvVars): readonly string[] {
  if (named === undefined) return [];
  const files = named.split(path.delimiter).filter((file) => file.trim() !== "");
  if (files.length > 0) return files;
  raise("policy.invalid/unset", {});
}

/**
 * Variables with the account that started a run, by the marker variable of the CI. Commit authors are not trusted, because
 * anybody can choose them.
 */
const AUTHORS = [
  ["GITHUB_ACTIONS", "GITHUB_ACTOR"],
  ["GITLAB_CI", "GITLAB_USER_LOGIN"],
  ["TF_BUILD", "BUILD_REQUESTEDFOREMAIL"],
  ["BITBUCKET_BUILD_NUMBER", "BITBUCKET_STEP_TRIGGERER_UUID"],
] as const;

/** Returns the author of a run: HOSTFORM_AUTHOR, or the account reported by the CI. Null if unknown. */
export function authorOf(env: EnvVars): string | null {
  const [, name] = AUTHORS.find(([mark]) => Boolean(env[mark])) ?? [];
  return env.HOSTFORM_AUTHOR || (name === undefined ? undefined : env[name]) || null;
}
