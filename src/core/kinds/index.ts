/**
 * The resource kinds. One file (or folder) per kind. Each is a plain object that implements the contract in `kind.ts`. The
 * generated `registry.gen.ts` lists them. In: API objects and attributes. Out: attributes and requests as values. Must not:
 * send changing requests or import another kind.
 */
import { parseAddress } from "../model/index.ts";
import { kinds } from "./registry.gen.ts";

export * from "./attribute.ts";
export * from "./kind.ts";
export { kinds };

/** Returns the kind of an address. Undefined if this version lacks the kind. */
export const kindAt = (address: string) => kinds.get(parseAddress(address)?.type ?? "");
