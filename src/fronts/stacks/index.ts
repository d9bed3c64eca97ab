/**
 * A synthesized stack: Terraform's JSON syntax -> desired state. Four steps, a few files each: texts (`json`), blocks (`blocks`,
 * `module`, `draft`), names (`references`, `expressions`, `variables`, `names`, `stack-context`, `remote-states`), and
 * what is desired (`desired`, `refactoring`, `settings`); `stack` goes through them. In: the files of one stack, the kinds and
 * Terraform's schemas (as parameters), values of variables, outputs of other stacks. Out: the same `Declaration` as YAML gives.
 * Must not: read files or other states, show a secret, evaluate anything otherwise than Terraform, or throw for what stands in a file.
 */
export { JSON_LIMITS, readValuesFile } from "./json.ts";
export type { StackCatalogue } from "./module.ts";
export { type RemoteState, remoteStatesOf } from "./remote-states.ts";
export { parseStack, type StackOptions } from "./stack.ts";
export type { GivenVariable } from "./variables.ts";
