/**
 * A synthesized stack: Terraform's JSON syntax -> desired state. Four steps, a few files each: texts (`json`, `source`), blocks
 * (`blocks`, `keys`, `module`, `draft`, `lifecycle`), names (`variables`, `references`, `graph`, `names`, `expand`, `roots`, `surroundings`),
 * and what is desired (`instance`, `outputs`, `imports`, `moves`, `providers`, `settings`). In: the files of one stack, the kinds and
 * Terraform's schemas (as parameters), values of variables, outputs of other stacks. Out: the same `Declaration` as YAML gives.
 * Must not: read files or other states, show a secret, evaluate anything otherwise than Terraform, or throw for what stands in a file.
 */
export { JSON_LIMITS } from "./json.ts";
export type { Catalogue, GivenVariable, StackOptions } from "./options.ts";
export { type RemoteState, remoteStatesOf } from "./remote-states.ts";
export { parseStack } from "./stack.ts";
export { readValuesFile } from "./values-file.ts";
