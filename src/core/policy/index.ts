/**
 * The policy of a run: rules and functions from outside of the pull request. In: files that the runner names. Out: rules that
 * `core/model` evaluates, and diagnostics of the verdicts. Must not: know kinds, accounts or the state, read a declaration, or
 * run a function in the calling thread.
 */
export { authorOf, policyFiles } from "./environment.ts";
export { isFunctionFile, runFunction } from "./policy-functions.ts";
export { checkedYaml, readPolicies, readPolicyText } from "./rule-files.ts";
export { policySchema } from "./rule-schema.ts";
export { diagnosticOf, unsupported } from "./verdicts.ts";
