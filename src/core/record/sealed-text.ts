// A state that is encrypted where it is stored: its form there, and a text that seals what it writes and opens what it reads.
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
  /** A sealed state that is damaged is given as it is stored, and one in the clear with it: for a caller that replaces it. */
  readonly damage?: boolean;
  /** A state or a journal in the clear although there is a key. */
  readonly clear?: boolean;
}

/**
 * A state that is encrypted at its place and in the clear for those who read it here. An encrypted state stays encrypted,
 * and a state that does not exist yet is encrypted from its first write on when there is a key. One in the clear is
 * refused when there is a key; where it is accepted, it stays in the clear.
 */
export class SealedText implements StateText {
  readonly stored: StateText;
  readonly name: string;
  readonly earlier?: string;
  readonly #encryption: Encryption;
  readonly #accept: Acceptance;
  /** Gives the seal of what is written; not there before the first read. Derives a key only when asked. */
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

  /** @throws HostformError as the place does; `state.key`, `state.unencrypted`; `state.unreadable` for what was changed since. */
  async read(): Promise<string | undefined> {
    const text = await this.stored.read();
    // The replacement of a damaged sealed state is sealed or not written.
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
    // The reader refuses a text that is not JSON.
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
   * Refuses a journal in the clear where nothing proves that it is ours: beside an encrypted state, or with a key. The
   * state was read before.
   * @param journal where it is. @param held what it holds, for the message.
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
   * The seal of new texts; undefined while the state is not encrypted. Reads the state first if nothing did yet. A key
   * is derived from a passphrase once (about a quarter of a second), so calling this again costs nothing.
   * @throws HostformError `state.key`.
   */
  async current(): Promise<Seal | undefined> {
    if (this.#seal === undefined) await this.read();
    return this.#seal?.();
  }

  /** The seal that made something, by its header. Throws as {@link Encryption.from} does. */
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

/** The text of a state, which may be sealed. @param source what it came from, for messages. @throws as `SealedText.read`. */
export async function unsealed(text: string, source: string, encryption: Encryption): Promise<string> {
  const sealed = parseSealed(text, source);
  return sealed === undefined ? text : openState(sealed, await encryption.from(sealed.key), source);
}

/** The newest form of an encrypted state that is understood here. */
const FORM = 1;

const file = z.strictObject({
  hostform_encryption: z.literal(FORM),
  /** In the clear, for programs that compare them; authenticated, so that they cannot be changed. */
  lineage: z.string(),
  serial: z.int().min(0),
  key: z.record(z.string(), z.json()),
  data: z.string(),
});

type SealedFile = z.infer<typeof file>;

/** Seals the text of a state file and prints what is stored in its place. */
export function sealState(text: string, seal: Seal): string {
  const { lineage, serial } = JSON.parse(text) as { lineage: string; serial: number };
  const data = seal.seal(text, boundTo(lineage, serial));
  return `${JSON.stringify({ hostform_encryption: FORM, lineage, serial, key: seal.header, data }, null, 2)}\n`;
}

/**
 * The inverse of {@link sealState}.
 * @param source what it came from, for messages.
 * @throws HostformError `state.unreadable` when it was changed.
 */
export function openState({ lineage, serial, data }: SealedFile, seal: Seal, source: string): string {
  return attempt(
    () => seal.open(data, boundTo(lineage, serial)),
    ifExplained(() => refuse(source, "The key is correct, but the content, lineage or serial was changed")),
  );
}

/**
 * Parses an encrypted state; undefined for what is none.
 * @param source what the text came from, for messages.
 * @throws HostformError `state.unreadable` when it is one, but damaged; `state.newer`.
 */
export function parseSealed(text: string, source: string): SealedFile | undefined {
  // A state in the clear may be large: it is not parsed only to find that it is one.
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

/** Journal lines are bound to something else, so that neither can stand in the place of the other. */
function boundTo(lineage: string, serial: number): string {
  return JSON.stringify(["state", lineage, serial]);
}

function refuse(source: string, why: string): never {
  raise("state.unreadable/sealed", { source: `state in ${source}`, why });
}

/** The variable that lets a state in the clear be used although there is a key. */
export const ALLOW_UNENCRYPTED = "HOSTFORM_STATE_ALLOW_UNENCRYPTED";
