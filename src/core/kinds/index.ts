/**
 * The resource kinds. One file (or folder) per kind, each a plain object that fills the contract in `kind.ts`; `registry.gen.ts`
 * lists them and is generated. In: records and attributes. Out: attributes and requests as values. Must not: send
 * anything that changes the account, import another kind.
 */
import { parseAddress } from "../model/index.ts";
import { kinds } from "./registry.gen.ts";

export * from "./attribute.ts";
export * from "./kind.ts";
export { kinds };

/** Returns the kind of an address, if this version has the kind. */
export const kindAt = (address: string) => kinds.get(parseAddress(address)?.type ?? "");
