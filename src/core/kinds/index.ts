/**
 * The resource kinds. One file (or folder) per kind, each a plain object that fills the contract in `kind.ts`; `registry.gen.ts`
 * lists them and is generated. In: records and attributes. Out: attributes and requests as values. Must not: send
 * anything that changes the account, import another kind.
 */
export * from "./attribute.ts";
export * from "./kind.ts";
export { kinds } from "./registry.gen.ts";
