import type { Diagnostic, JsonObject } from "../model/index.ts";
import type { Encryption } from "./encryption.ts";
import type { StateText } from "./file.ts";
import { openState, parseSealed, sealState } from "./sealed-file.ts";
import type { Seal, Sealing } from "./sealing.ts";

/**
 * A state that is encrypted at its place and in the clear for whoever reads it here. What it finds decides: an
 * encrypted state stays encrypted, one in the clear stays in the clear, and a state that does not exist yet is
 * encrypted from its first write on when there is a key.
 */
export class SealedText implements StateText, Sealing {
  /** The text as it is stored. */
  readonly stored: StateText;
  readonly #encryption: Encryption;
  /** Gives the seal of what is written; not there before the first read. Derives a key only when asked. */
  #seal: (() => Promise<Seal | undefined>) | undefined;
  #clear = false;

  constructor(stored: StateText, encryption: Encryption) {
    this.stored = stored;
    this.#encryption = encryption;
  }

  get name(): string {
    return this.stored.name;
  }

  /** What the reader of the state should know: that there is a key and the state is in the clear all the same. */
  get warnings(): readonly Diagnostic[] {
    const { key } = this.#encryption;
    if (key === undefined || !this.#clear) return [];
    return [
      {
        severity: "warning",
        code: "state.key",
        summary: `${key.variable} is set, but the state is not encrypted`,
        detail: `${this.name} was written without a key, and stays in the clear.`,
        fix: "Encrypt it: `hostform state encrypt`. Or unset the variable.",
      },
    ];
  }

  sweep(): Promise<void> {
    return this.stored.sweep();
  }

  nextRun(): void {
    this.stored.nextRun?.();
  }

  /** @throws HostformError as the place does; `state.key`; `state.unreadable` for what was changed since. */
  async read(): Promise<string | undefined> {
    const text = await this.stored.read();
    // What takes the place of a sealed state that is damaged is sealed, too, or not written.
    this.#seal = once(() => this.#encryption.fresh());
    this.#clear = false;
    const sealed = text === undefined ? undefined : parseSealed(text, this.name);
    if (sealed !== undefined) {
      const seal = once(() => this.#encryption.from(sealed.key));
      this.#seal = seal;
      return openState(sealed, await seal(), this.name);
    }
    const { key } = this.#encryption;
    this.#clear = text !== undefined && (key === undefined || isJson(text));
    if (key === undefined || this.#clear) this.#seal = async () => undefined;
    return text;
  }

  async write(text: string, verify: () => void | Promise<void>): Promise<void> {
    const seal = await this.current();
    await this.stored.write(seal === undefined ? text : sealState(text, seal), verify);
  }

  async current(): Promise<Seal | undefined> {
    if (this.#seal === undefined) await this.read();
    return this.#seal?.();
  }

  from(header: JsonObject): Promise<Seal> {
    return this.#encryption.from(header);
  }
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
