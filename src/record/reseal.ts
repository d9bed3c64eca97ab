import { HostformError, fail } from "../model/index.ts";
import type { Encryption } from "./encryption.ts";
import type { StateText } from "./file.ts";
import { parseStateFile } from "./schema.ts";
import { openState, parseSealed, sealState } from "./sealed-file.ts";
import type { Seal } from "./sealing.ts";

/** How a state is to be kept from now on. */
export type Resealing =
  | { readonly to: "sealed" }
  | { readonly to: "clear" }
  /** Sealed with the key of another encryption. */
  | { readonly to: "key"; readonly encryption: Encryption };

/**
 * Changes how a state is kept, and its backup with it: encrypts, decrypts, or takes another key. The content stays, its
 * serial too. Whoever stops half way leaves a state and a backup that each are whole, in the old form or the new one.
 * What is there already in the form that is wanted is left as it is, so a second call finishes what a first one began.
 * @param text as it is stored. @param verify of the lock.
 * @returns whether anything was changed.
 * @throws HostformError `state.key`, `state.unreadable`, `state.unwritable`, `state.lost_lock`.
 */
export async function reseal(
  text: StateText,
  encryption: Encryption,
  wanted: Resealing,
  verify: () => void | Promise<void>,
): Promise<boolean> {
  let changed = false;
  let seal: Promise<Seal> | undefined;
  /** One salt for the state and its backup, so that one key is derived. */
  const newSeal = () => (seal ??= (wanted.to === "key" ? wanted.encryption : encryption).fresh());

  const convert = async (old: string, name: string): Promise<string> => {
  };
}
