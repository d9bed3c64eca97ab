/**
 * Constructs for CDKTF (`cdktf`) and CDK Terrain (`cdktn`), published as `hostform/cdktf` and `hostform/cdktn`.
 *
 * The bindings, one class for each resource, data source and the provider, are generated into `bindings/` at the top of the
 * project. Here is what stands on them:
 *
 * - `sites/`: one source for both libraries, written against `cdktf`, and compiled a second time with the names of `cdktn` by
 *   `scripts/build-constructs.ts`.
 * - `clear-text.ts`: the warning about secrets that would stand in a synthesized file.
 * - `names.ts`: the refusal of two blocks that would be one in a synthesized file.
 *
 * In: what a program of the user's says about its sites. Out: Terraform JSON, by way of the user's own `cdktf` or `cdktn`,
 * which are optional peers of this package.
 *
 * Must not: import anything of the rest of `src`, as it is compiled apart, to CommonJS; reach for the network, the clock or
 * the environment; put a secret into what is synthesized.
 */
export { type ConstructLibrary, warnOfClearText } from "./clear-text.ts";
export { type StackLibrary, watchNames } from "./names.ts";
