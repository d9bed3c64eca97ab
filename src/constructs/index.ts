/**
 * Constructs for CDKTF (`cdktf`) and CDK Terrain (`cdktn`), published as `hostform/cdktf` and `hostform/cdktn`.
 *
 * The bindings have one class for each resource, each data source and the provider. They are generated into `bindings/` at
 * the top of the project. This folder contains the code above the bindings:
 *
 * - `sites/`: constructs for both libraries. The source uses `cdktf`, and `scripts/build/constructs.ts` compiles it a second
 *   time for `cdktn`.
 * - `binding-checks.ts`: functions that the bindings call: a warning about unencrypted secrets, and a check for duplicate
 *   names.
 *
 * In: the sites of a user's program. Out: Terraform JSON, through the user's `cdktf` or `cdktn`, which are optional peer
 * dependencies of this package.
 *
 * Must not: import other parts of `src`, because this folder is compiled separately to CommonJS; use the network, the clock
 * or the environment; put a secret into the synthesized output.
 */
export { type ConstructLibrary, type StackLibrary, warnOfClearText, watchNames } from "./binding-checks.ts";
