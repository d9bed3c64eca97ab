import { raise } from "../messages/index.ts";
import { ifExplained, type State } from "../model/index.ts";
import type { Encryption } from "./encryption.ts";
import { openState, parseSealed, sealState, unsealed } from "./sealed-text.ts";
import type { StateText, Verify } from "./state-file.ts";
import { parseStateFile } from "./state-json.ts";
import { once } from "./state-key.ts";

/** New encryption of a state. */
export type Resealing =
  | { readonly to: "sealed" }
  | { readonly to: "clear" }
  /** Uses the key of another encryption. */
  | { readonly to: "key"; readonly encryption: Encryption };

export interface Resealed {
  /** True if the project has a state. */
  readonly found: boolean;
  /** True if the state or its backup was converted. */
  readonly changed: boolean;
  /** True if a backup exists, and is encrypted or clear as requested. */
  readonly backup: boolean;
  readonly state: State;
}

/**
 * Encrypts or decrypts a state and its backup, or changes their key. The content and the serial stay. After an interruption, the
 * state and the backup are complete, each in the old or the new form. A second call converts only the file in the old form.
 * @param text the text in its stored form. @param verify checks the lock before each write.
 * @returns the result, after a comparison with the stored content.
 * @throws HostformError `state.key`, `state.unreadable`, `state.unwritable`, `state.lost_lock`.
 */
export async function reseal(
  text: StateText,
  encryption: Encryption,
  wanted: Resealing,
  verify: Verify,
): Promise<Pick<Resealed, "changed" | "backup">> {
  const convert = conversion(encryption, wanted, text.name);
  let changed = false;
  let backup = false;
  let content: string | undefined;
  const change = async (old: string, place: string) => {
    const { plain, next, left } = await convert(old, place);
    if (place === text.name) content = plain;
    else backup = left !== true;
    changed ||= next !== old;
    return next;
  };
  if (text.convert === undefined) {
    const old = await text.read();
    const next = old === undefined ? undefined : await change(old, text.name);
    if (next !== undefined && next !== old) await text.write(next, verify);
  } else await text.convert(change, verify);
  if (changed && content !== undefined)
    await proveReadable(text, wanted.to === "key" ? wanted.encryption : encryption, content);
  return { changed, backup };
}

interface Converted {
  readonly plain: string | undefined;
  readonly next: string;
  /** True if the file stays unchanged because its key is unknown. */
  readonly left?: boolean;
}

function conversion(encryption: Encryption, wanted: Resealing, name: string) {
  // The state and its backup share one salt, so only one key is derived.
  const newSeal = once(() => (wanted.to === "key" ? wanted.encryption : encryption).fresh());
  const convert = async (old: string, place: string): Promise<Converted> => {
    const sealed = parseSealed(old, place);
    if (sealed === undefined) {
      if (wanted.to === "clear") return { plain: old, next: old };
      if (wanted.to === "key" && place === name) raise("state.key/none", { place: name });
      parseStateFile(old, place);
      return { plain: old, next: sealState(old, await newSeal()) };
    }
    const seal = await encryption.from(sealed.key);
    if (wanted.to === "sealed" && !seal.old) return { plain: undefined, next: old };
    const plain = openState(sealed, seal, place);
    return { plain, next: wanted.to === "clear" ? plain : sealState(plain, await newSeal()) };
  };
  return (old: string, place: string) =>
    place === name ? convert(old, place) : convert(old, place).catch(ofCopy(old, place));
}

/** Skips a backup with an unknown key. @throws HostformError `state.unreadable` if the backup is not a state. */
const ofCopy = (old: string, place: string) =>
  ifExplained(({ diagnostics: [problem] }): Converted => {
    if (problem?.code === "state.key") return { plain: undefined, next: old, left: true };
    return raise("state.unreadable/backup", { place, why: problem?.summary ?? "" });
  });

async function proveReadable(text: StateText, encryption: Encryption, content: string): Promise<void> {
  if ((await unsealed((await text.read()) ?? "", text.name, encryption)) === content) return;
  raise("state.unwritable/lost", { place: text.name });
}
