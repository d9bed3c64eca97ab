/**
 * Converts a synthesized stack in Terraform's JSON syntax to the desired state in four steps: source texts (`json`), blocks
 * (`blocks`, `module`, `draft`), names (`references`, `expressions`, `variables`, `names`, `stack-context`, `remote-states`), and
 * the desired state (`desired`, `refactoring`, `settings`). `stack` runs these steps. In: the files of one stack, the kinds and
 * Terraform's schemas (as parameters), values of variables, outputs of other stacks. Out: the same `Declaration` as for YAML.
 * Must not: read files or other states, show a secret, evaluate anything differently from Terraform, or throw for the content of
 * a file.
 */
export { JSON_LIMITS, readValuesFile } from "./json.ts";
export { type RemoteState, remoteStatesOf } from "./remote-states.ts";
export { parseStack, type StackOptions } from "./stack.ts";
export type { GivenVariable } from "./variables.ts";
