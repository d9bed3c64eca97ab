/**
 * Stacks of cdktf and cdktn (and any folder of `*.tf.json`) in place of a declaration in YAML: which there are, in which order, with
 * which variables, and where their states are. In: the options `--app`, `--stack`, `--only`, `--var`, `--var-file`, the
 * environment, the manifest. Out: one invocation for each stack, in its folder and with its state, on which every command
 * works as on a project in YAML; and its declaration (`read`).
 * Must not: understand what stands in a stack (`fronts/stacks` does), ask anything of the account, write a state.
 */
export { runOnStacks, type Scope } from "./each.ts";
export { readStack } from "./read.ts";
