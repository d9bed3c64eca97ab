// Format of an encrypted state, a text that encrypts each write and decrypts each read, and its new encryption.
import * as z from "zod";
import { problem, raise } from "../messages/index.ts";
import {
  attempt,
  type Diagnostic,
  HostformError,
  ifExplained,
  isObject,
  type JsonObject,
  parsedJson,
  type State,
} from "../model/index.ts";
import type { Encryption, Seal } from "./encryption.ts";
import { encodeEnvelope, envelope, VERSION } from "./opentofu.ts";
import { type StateText, type Verify, withEarlier } from "./state-file.ts";
import { parseStateFile } from "./state-json.ts";
import { once } from "./state-key.ts";

/** Exceptions that a reader accepts. */
export interface Acceptance {
  /** Returns the stored text of a corrupted or clear-text state, for a caller that replaces it. */
  readonly damage?: boolean;
  /** Accepts a clear-text state or journal although a key is set. */
  readonly clear?: boolean;
}

/**
 * State text that is encrypted in its place, and clear text for the caller. An encrypted state stays encrypted. With a key, a
 * new state is encrypted from its first write on, and a clear-text state is rejected. An accepted clear-text state stays in clear
 * text until `reseal`.
 */
export class SealedText implements StateText {
  readonly stored: StateText;
  readonly name: string;
  readonly earlier?: string;
  readonly #encryption: Encryption;
  readonly #accept: Acceptance;
  /** Returns the seal of writes, and derives its key at the first call. Undefined before the first read. */
  #seal: (() => Promise<Seal | undefined>) | undefined;
  #found: "sealed" | "clear" | "nothing" = "nothing";

  constructor(stored: StateText, encryption: Encryption, accept: Acceptance = {}) {
    this.stored = stored;
    this.name = stored.name;
    if (stored.earlier !== undefined) this.earlier = stored.earlier;
    this.#encryption = encryption;
    this.#accept = { clear: encryption.acceptsClear !== false, ...accept };
  }

  /** Warning about a clear-text state although a key is set. */
  get warnings(): readonly Diagnostic[] {
    const { key } = this.#encryption;
    if (key === undefined || this.#found !== "clear") return [];
    return [problem("state.key/clear", { variable: key.variable, place: this.name, allow: ALLOW_UNENCRYPTED })];
  }

  async prepare(): Promise<void> {
    await this.stored.prepare?.();
  }

  nextRun(): void {
    this.stored.nextRun?.();
  }

  /** Reads and decrypts the text. @throws errors of the storage; HostformError `state.key`, `state.unencrypted`, `state.unreadable`. */
  async read(): Promise<string | undefined> {
    const text = await this.stored.read();
    // The replacement of a corrupted encrypted state is always encrypted.
    this.#seal = once(() => this.#encryption.fresh());
    this.#found = "nothing";
    try {
      const sealed = text === undefined ? undefined : parseSealed(text, this.name);
      if (sealed !== undefined) return await this.#open(sealed);
    } catch (error) {
      const damaged = error instanceof HostformError && error.diagnostics[0]?.code === "state.unreadable";
      if (damaged && this.#accept.damage) return text;
      throw withEarlier(error, this);
    }
    const { key } = this.#encryption;
    // The reader rejects a text that is not JSON.
    const isClear = text !== undefined && (key === undefined || parsedJson(text) !== undefined);
    if (isClear && key !== undefined && !this.#accept.clear) {
      if (this.#accept.damage) return text;
      raise("state.unencrypted", {
        variable: key.variable,
        place: this.name,
        held: undefined,
        allow: ALLOW_UNENCRYPTED,
      });
    }
    if (isClear) this.#found = "clear";
    if (key === undefined || isClear) this.#seal = async () => undefined;
    return text;
  }

  /**
   * Rejects a clear-text journal of an encrypted state, or with a key. Requires an earlier read of the state.
   * @param journal its place. @param held its content, for the message.
   * @throws HostformError `state.unencrypted`.
   */
  checkClear(journal: string, held: string): void {
    const { key } = this.#encryption;
    const isSealed = this.#found === "sealed";
    if (!isSealed && (key === undefined || this.#accept.clear)) return;
    const variable = isSealed ? undefined : key?.variable;
    raise("state.unencrypted", { variable, place: journal, held, allow: ALLOW_UNENCRYPTED });
  }

  async write(text: string, verify: Verify): Promise<void> {
    const seal = await this.current();
    await this.stored.write(seal === undefined ? text : sealState(text, seal), verify);
  }

  async confirm(): Promise<void> {
    await this.stored.confirm?.();
  }

  async keep(text: string): Promise<void> {
    const seal = await this.current();
    await this.stored.keep?.(seal === undefined ? text : sealState(text, seal));
  }

  /**
   * Returns the seal of new texts. Undefined while the state is not encrypted. Reads the state before the first call. A key is
   * derived from a passphrase only once (about 0.25 s).
   * @throws HostformError `state.key`.
   */
  async current(): Promise<Seal | undefined> {
    if (this.#seal === undefined) await this.read();
    return this.#seal?.();
  }

  /** Returns the seal of a header. Throws as {@link Encryption.from} does. */
  from(header: JsonObject): Promise<Seal> {
    return this.#encryption.from(header);
  }

  async #open(sealed: SealedFile): Promise<string> {
    this.#found = "sealed";
    const seal = once(() => this.#encryption.from(sealed.key));
    this.#seal = once(async () => {
      const found = await seal();
      return found.old ? this.#encryption.fresh(sealed.key) : found;
    });
    return openState(sealed, await seal(), this.name);
  }
}

/** Decrypts the text of a state if it is encrypted. @param source its origin, for messages. @throws as `SealedText.read`. */
export async function unsealed(text: string, source: string, encryption: Encryption): Promise<string> {
  const sealed = parseSealed(text, source);
  return sealed === undefined ? text : openState(sealed, await encryption.from(sealed.key), source);
}

/** Newest supported format of an encrypted state. */
const FORM = 1;

const file = z.strictObject({
  hostform_encryption: z.literal(FORM),
  /** Clear text, for programs that compare them. Authenticated with the data. */
  lineage: z.string(),
  serial: z.int().min(0),
  key: z.record(z.string(), z.json()),
  data: z.string(),
});

interface SealedFile {
  readonly lineage: string;
  readonly serial: number;
  readonly key: JsonObject;
  readonly data: string;
}

/** Encrypts the text of a state file. */
export function sealState(text: string, { header, seal }: Seal): string {
  const { lineage, serial } = JSON.parse(text) as { lineage: string; serial: number };
  const data = seal(text, boundOf({ lineage, serial, key: header }));
  if (header.from === "opentofu") {
    return encodeEnvelope({ serial, lineage, meta: header.meta as Record<string, string>, encrypted_data: data });
  }
  return `${JSON.stringify({ hostform_encryption: FORM, lineage, serial, key: header, data }, null, 2)}\n`;
}

/**
 * The inverse of {@link sealState}.
 * @param source its origin, for messages.
 * @throws HostformError `state.unreadable` if it was changed.
 */
export function openState(sealed: SealedFile, seal: Seal, source: string): string {
  const changed = () => refuse(source, "The key is correct, but the content, lineage or serial was changed");
  const text = attempt(() => seal.open(sealed.data, boundOf(sealed)), ifExplained(changed));
  if (sealed.key.from !== "opentofu") return text;
  const inner = parsedJson(text);
  const isSame = isObject(inner) && inner.lineage === sealed.lineage && inner.serial === sealed.serial;
  return isSame ? text : changed();
}

/**
 * Parses an encrypted state. Undefined for another text.
 * @param source origin of the text, for messages.
 * @throws HostformError `state.unreadable` if the encrypted state is corrupted; `state.newer`.
 */
export function parseSealed(text: string, source: string): SealedFile | undefined {
  // Avoids parsing a large clear-text state.
  if (!/"hostform_encryption"|"encrypt(?:ed_data|ion_version)"/.test(text)) return undefined;
  const json = parsedJson(text);
  if (json === undefined && /^\s*\{\s*("hostform_encryption"|"serial":[^{]*"meta":)/.test(text))
    return refuse(source, "It was cut off, or is no longer JSON");
  if (!isObject(json)) return undefined;
  if ("encrypted_data" in json || "encryption_version" in json) {
    const { encryption_version: format } = json;
    if (typeof format === "string" && format !== VERSION)
      raise("state.newer", { source: `encrypted state in ${source}`, format, newest: VERSION });
    const { data: of } = envelope.safeParse(json);
    if (of === undefined) return refuse(source, "A field is missing, malformed or unknown");
    const { meta, encrypted_data: data, lineage, serial } = of;
    return { lineage, serial, key: { from: "opentofu", meta, data }, data };
  }
  if (!("hostform_encryption" in json)) return undefined;
  const { hostform_encryption: form } = json;
  if (Number(form) > FORM) {
    raise("state.newer", { source: `encrypted state in ${source}`, format: form, newest: FORM });
  }
  const checked = file.safeParse(json);
  return checked.success ? checked.data : refuse(source, "A field is missing, malformed or unknown");
}

/** Binds a state to its lineage and serial. The prefix differs from journal lines. OpenTofu's envelope is not bound. */
function boundOf({ lineage, serial, key }: Omit<SealedFile, "data">): string {
  return key.from === "opentofu" ? "" : JSON.stringify(["state", lineage, serial]);
}

function refuse(source: string, why: string): never {
  raise("state.unreadable/sealed", { source: `state in ${source}`, why });
}

/** Variable that accepts a clear-text state although a key is set. */
export const ALLOW_UNENCRYPTED = "HOSTFORM_STATE_ALLOW_UNENCRYPTED";

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
  let like: JsonObject | undefined;
  const newSeal = once(() => (wanted.to === "key" ? wanted.encryption : encryption).fresh(like));
  const convert = async (old: string, place: string): Promise<Converted> => {
    const sealed = parseSealed(old, place);
    if (sealed === undefined) {
      if (wanted.to === "clear") return { plain: old, next: old };
      if (wanted.to === "key" && place === name) raise("state.key/none", { place: name });
      parseStateFile(old, place);
      return { plain: old, next: sealState(old, await newSeal()) };
    }
    like ??= sealed.key;
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
