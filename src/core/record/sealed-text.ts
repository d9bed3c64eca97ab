// Format of an encrypted state, and a text that encrypts each write and decrypts each read.
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
} from "../model/index.ts";
import type { Encryption, Seal } from "./encryption.ts";
import { type StateText, type Verify, withEarlier } from "./state-file.ts";
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
 * text.
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
    this.#accept = { clear: encryption.acceptsClear, ...accept };
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
      return found.old ? this.#encryption.fresh() : found;
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

type SealedFile = z.infer<typeof file>;

/** Encrypts the text of a state file. */
export function sealState(text: string, seal: Seal): string {
  const { lineage, serial } = JSON.parse(text) as { lineage: string; serial: number };
  const data = seal.seal(text, boundTo(lineage, serial));
  return `${JSON.stringify({ hostform_encryption: FORM, lineage, serial, key: seal.header, data }, null, 2)}\n`;
}

/**
 * The inverse of {@link sealState}.
 * @param source its origin, for messages.
 * @throws HostformError `state.unreadable` if it was changed.
 */
export function openState({ lineage, serial, data }: SealedFile, seal: Seal, source: string): string {
  return attempt(
    () => seal.open(data, boundTo(lineage, serial)),
    ifExplained(() => refuse(source, "The key is correct, but the content, lineage or serial was changed")),
  );
}

/**
 * Parses an encrypted state. Undefined for another text.
 * @param source origin of the text, for messages.
 * @throws HostformError `state.unreadable` if the encrypted state is corrupted; `state.newer`.
 */
export function parseSealed(text: string, source: string): SealedFile | undefined {
  // Avoids parsing a large clear-text state.
  if (!text.includes('"hostform_encryption"')) return undefined;
  const json = parsedJson(text);
  if (json === undefined && /^\s*\{\s*"hostform_encryption"/.test(text))
    return refuse(source, "It was cut off, or is no longer JSON");
  if (!isObject(json) || !("hostform_encryption" in json)) return undefined;
  const { hostform_encryption: form } = json;
  if (Number(form) > FORM) {
    raise("state.newer", { source: `encrypted state in ${source}`, format: form, newest: FORM });
  }
  const checked = file.safeParse(json);
  return checked.success ? checked.data : refuse(source, "A field is missing, malformed or unknown");
}

/** Binds a state to its lineage and serial. The prefix differs from journal lines. */
function boundTo(lineage: string, serial: number): string {
  return JSON.stringify(["state", lineage, serial]);
}

function refuse(source: string, why: string): never {
  raise("state.unreadable/sealed", { source: `state in ${source}`, why });
}

/** Variable that accepts a clear-text state although a key is set. */
export const ALLOW_UNENCRYPTED = "HOSTFORM_STATE_ALLOW_UNENCRYPTED";
