import type { JsonObject } from "../model/index.ts";

/** Encrypts and decrypts texts, each bound to what it belongs to, so that it cannot be put in another's place. */
export interface Seal {
  /** What is needed beside the key to open what was sealed; stands in the clear beside it. */
  readonly header: JsonObject;
  /** @param bound what the text belongs to (lineage, serial …). @returns one line of base64. */
  seal(text: string, bound: string): string;
  /** @throws HostformError `state.key` when the key or the place is another. */
  open(sealed: string, bound: string): string;
}

/** Whether and how a state and its journal are encrypted. */
export interface Sealing {
  /** The seal of new texts; undefined while the state is not encrypted. Known once the state was read. */
  current(): Seal | undefined;
  /** The seal that made something, by its header. @throws HostformError `state.key`. */
  from(header: JsonObject): Seal;
}
