/**
 * The resource kinds, one file or folder each. A kind is a plain object that implements `kind.ts`. The generated
 * `registry.gen.ts` lists all kinds. In: API objects and attributes. Out: attributes and requests as values. Must not: send
 * changing requests or import another kind.
 */
import { parseAddress } from "../model/index.ts";
import { kinds } from "./registry.gen.ts";

export * from "./attribute.ts";
export * from "./kind.ts";
export { kinds };

/** Returns the kind of an address. Undefined if this version has no such kind. */
export const kindAt = (address: string) => kinds.get(parseAddress(address)?.type ?? "");
