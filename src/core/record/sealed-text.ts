import type { Diagnostic, JsonObject } from "../model/index.ts";
import { HostformError } from "../model/index.ts";
import type { Encryption } from "./encryption.ts";
import type { StateText } from "./file.ts";
import { withEarlier } from "./file.ts";
import type { StatePlace } from "./opening.ts";
import type { SealedFile } from "./sealed-file.ts";
import { openState, parseSealed, sealState } from "./sealed-file.ts";
import type { Seal, Sealing } from "./sealing.ts";
import { ALLOW_UNENCRYPTED, refuseClearJournal, refuseClearState } from "./unencrypted.ts";

/** What a reader takes that is not as it should be. */
export interface Acceptance {
  /** A sealed state that is damaged is given as it is stored, and one in the clear with it: for who is about to replace it. */
  readonly damage?: boolean;
  /** A state or a journal in the clear although there is a key. */
  readonly clear?: boolean;
}

/**
 * A state that is encrypted at its place and in the clear for those who read it here. An encrypted state stays encrypted,
 * and a state that does not exist yet is encrypted from its first write on when there is a key. One in the clear is
 * refused when there is a key; where it is accepted, it stays in the clear.
 */
export class SealedText implements StateText, Sealing {
  /** The text as it is stored. */
  readonly stored: StateText;
  readonly #encryption: Encryption;
  readonly #accept: Acceptance;
  /** Gives the seal of what is written; not there before the first read. Derives a key only when asked. */
  #seal: (() => Promise<Seal | undefined>) | undefined;
  #found: "sealed" | "clear" | "nothing" = "nothing";

  constructor(stored: StateText, encryption: Encryption, accept: Acceptance = {}) {
    this.stored = stored;
    this.#encryption = encryption;
    this.#accept = { clear: encryption.acceptsClear, ...accept };
  }

  get name(): string {
    return this.stored.name;
  }

  get earlier(): string | undefined {
    return this.stored.earlier;
  }

  /** What the reader of the state should know: that there is a key and the state is in the clear all the same. */
  get warnings(): readonly Diagnostic[] {
    const { key } = this.#encryption;
    if (key === undefined || this.#found !== "clear") return [];
    return [
      {
        severity: "warning",
        code: "state.key",
        summary: `${key.variable} is set, but the state is not encrypted`,
        detail: `${this.name} stays in the clear, as ${ALLOW_UNENCRYPTED} allows: nothing proves that it is yours.`,
        fix: `Encrypt it: \`hostform state encrypt\`. Then unset ${ALLOW_UNENCRYPTED}.`,
      },
    ];
  }

  sweep(): Promise<void> {
    return this.stored.sweep();
  }

  nextRun(): void {
    this.stored.nextRun?.();
  }

  /** @throws HostformError as the place does; `state.key`, `state.unencrypted`; `state.unreadable` for what was changed since. */
  async read(): Promise<string | undefined> {
    const text = await this.stored.read();
    // What takes the place of a sealed state that is damaged is sealed, too, or not written.
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
    // What is no JSON is no state either: its reader says so.
    const isClear = text !== undefined && (key === undefined || isJson(text));
    if (isClear && key !== undefined && !this.#accept.clear) {
      return this.#accept.damage ? text : refuseClearState(key, this.name);
    }
    if (isClear) this.#found = "clear";
    if (key === undefined || isClear) this.#seal = async () => undefined;
    return text;
  }

  checkClear(journal: string, held: string): void {
    const { key } = this.#encryption;
    if (this.#found === "sealed") refuseClearJournal(undefined, journal, held);
    if (key !== undefined && !this.#accept.clear) refuseClearJournal(key, journal, held);
  }

  async write(text: string, verify: () => void | Promise<void>): Promise<void> {
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

  async current(): Promise<Seal | undefined> {
    if (this.#seal === undefined) await this.read();
    return this.#seal?.();
  }

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

/** The place with its state, and the journal of it, encrypted as `encryption` can. */
export function sealPlace<P extends StatePlace>(place: P, encryption: Encryption, accept: Acceptance = {}) {
  const text = new SealedText(place.text, encryption, accept);
  return { ...place, text, sealing: text };
}

/** The text of a state, which may be sealed. @param source what it came from, for messages. @throws as `SealedText.read`. */
export async function unsealed(text: string, source: string, encryption: Encryption): Promise<string> {
  const sealed = parseSealed(text, source);
  return sealed === undefined ? text : openState(sealed, await encryption.from(sealed.key), source);
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
