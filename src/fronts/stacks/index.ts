/**
 * Converts a synthesized stack in Terraform's JSON syntax to a declaration in four steps: source texts (`json`), blocks
 * (`blocks`, `module`, `draft`), names (`references`, `expressions`, `variables`, `names`, `stack-context`, `remote-states`),
 * and the declaration (`desired`, `refactoring`, `settings`). `stack` runs these steps. In: the files of one stack, the kinds
 * and Terraform's schemas (as parameters), values of variables, outputs of other stacks. Out: the same `Declaration` as for
 * YAML. Must not: read files or other states, print a secret, compute another value than Terraform, or throw because of the
 * content of a file.
 */
export { JSON_LIMITS, readValuesFile } from "./json.ts";
export { type RemoteState, remoteStatesOf } from "./remote-states.ts";
export { parseStack, type StackOptions } from "./stack.ts";
export type { GivenVariable } from "./variables.ts";
