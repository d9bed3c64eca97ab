import type { JsonObject } from "../model/index.ts";

/** Encrypts and decrypts texts, each bound to what it belongs to, so that it cannot be put in another's place. */
export interface Seal {
  /** What is needed beside the key to open what was sealed; stands in the clear beside it. */
  readonly header: JsonObject;
  /** @param bound what the text belongs to (lineage, serial …). @returns one line of base64. */
  seal(text: string, bound: string): string;
  /**
   * The inverse of `seal`. The key is known to be the right one, so what does not open is not what was sealed.
   * @throws HostformError `state.unreadable` when a byte of it was changed, or it stands in another's place.
   */
  open(sealed: string, bound: string): string;
  /** Its key is one of earlier times: it opens, and nothing is sealed with it. */
  readonly old?: boolean;
}

/** Whether and how a state and its journal are encrypted. */
export interface Sealing {
  /**
   * The seal of new texts; undefined while the state is not encrypted. Reads the state first if nothing did yet. A key
   * is derived from a passphrase once (about a quarter of a second), so calling this again costs nothing.
   * @throws HostformError `state.key`.
   */
  current(): Promise<Seal | undefined>;
  /**
   * The seal that made something, by its header.
   * @throws HostformError `state.key` when the key is missing or another, `state.unreadable` for what is no header.
   */
  from(header: JsonObject): Promise<Seal>;
  /**
   * Refuses a journal in the clear where nobody proves that it is ours: beside an encrypted state, or with a key. The
   * state was read before.
   * @param name where the journal is. @param held what it holds, for the message.
   * @throws HostformError `state.unencrypted`.
   */
  checkClear(name: string, held: string): void;
}
