/**
 * Constructs for CDKTF (`cdktf`) and CDK Terrain (`cdktn`), published as `hostform/cdktf` and `hostform/cdktn`.
 *
 * The bindings, one class for each resource, data source and the provider, are generated into `bindings/` at the top of the
 * project. Here is what stands on them:
 *
 * - `sites/`: one source for both libraries, written against `cdktf`, and compiled a second time with the names of `cdktn` by
 *   `scripts/build/constructs.ts`.
 * - `binding-checks.ts`: what the bindings call, a warning about secrets in clear text and a refusal of duplicate names.
 *
 * In: the sites of a user's program. Out: Terraform JSON, through the user's `cdktf` or `cdktn`, which are optional peers of
 * this package.
 *
 * Must not: import anything of the rest of `src`, as it is compiled apart, to CommonJS; reach for the network, the clock or
 * the environment; put a secret into what is synthesized.
 */
export { type ConstructLibrary, type StackLibrary, warnOfClearText, watchNames } from "./binding-checks.ts";
