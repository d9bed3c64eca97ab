import type { Diagnostic, ResourceState, State } from "../model/index.ts";
import { HostformError } from "../model/index.ts";
import type { StateText } from "./file.ts";
import { unwritable } from "./file.ts";
import type { StateDocument } from "./format.ts";
import { encodeState, taintedAddresses, unmanagedAddresses } from "./format.ts";
import type { HeldLock } from "./lock.ts";
import type { Move } from "./revise.ts";
import { moveResources, withoutResources, withResource } from "./revise.ts";

/**
 * A state while a command works with it. Every change is durable when its promise resolves. Changes made side by side
 * share writes; a change that changes nothing writes nothing.
 */
export interface OpenState {
  /** The state as it is now: an immutable value, a new one after each change. `lineage` is "" before the first write. */
  readonly state: State;
  /** Addresses that Terraform marked as damaged; hostform keeps the mark for as long as the object stays the same. */
  readonly tainted: readonly string[];
  /** Addresses in the file that hostform keeps but does not manage (modules, data sources, other providers). */
  readonly unmanaged: readonly string[];
  /**
   * Adds or replaces a resource.
   * @throws HostformError `state.unwritable`, `state.lost_lock`; both say what is not recorded. The change stays in
   * memory and goes out with the next write that succeeds.
   */
  put(resource: ResourceState): Promise<void>;
  /** Removes resources by exact address; unknown ones are ignored. Throws as `put` does. */
  remove(...addresses: string[]): Promise<void>;
  /** Moves a resource, or all instances of one, to another address. Throws as `put` and `moveResources` do. */
  move(from: string, to: string): Promise<Move["moved"]>;
  /** Writes what an earlier failure left unwritten and frees the lock, whatever happens. Closing twice is no error. */
  close(): Promise<void>;
}

/** What a session works on. Without a lock it may only read. */
export interface SessionParts {
  readonly document: StateDocument;
  readonly text: StateText;
  readonly lock: HeldLock | undefined;
  readonly uuid: () => string;
}

export class Session implements OpenState {
  readonly #text: StateText;
  readonly #lock: HeldLock | undefined;
  readonly #uuid: () => string;
  #document: StateDocument;
  /** Grows with every change; `#written` is the version whose content is durable. */
  #version = 0;
  #written = 0;
  #recorded: State["resources"];
  #write: { readonly version: number; readonly done: Promise<void> } | undefined;
  #closed = false;

  constructor({ document, text, lock, uuid }: SessionParts) {
    this.#document = document;
    this.#recorded = document.state.resources;
    this.#text = text;
    this.#lock = lock;
    this.#uuid = uuid;
  }

  get state(): State {
    return this.#document.state;
  }

  get tainted(): readonly string[] {
    return taintedAddresses(this.#document);
  }

  get unmanaged(): readonly string[] {
    return unmanagedAddresses(this.#document);
  }

  async put(resource: ResourceState): Promise<void> {
    await this.#change(withResource(this.#document, resource));
  }

  async remove(...addresses: string[]): Promise<void> {
    await this.#change(withoutResources(this.#document, addresses));
  }

  async move(from: string, to: string): Promise<Move["moved"]> {
    const { document, moved } = moveResources(this.#document, from, to);
    await this.#change(document);
    return moved;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    try {
      await this.#durable(this.#version);
    } finally {
      await this.#lock?.release();
    }
  }

  async #change(document: StateDocument): Promise<void> {
    if (this.#closed) throw new TypeError("the state is closed");
    if (this.#lock === undefined) throw new TypeError("the state was opened for reading only");
    if (document !== this.#document) {
      this.#document = document;
      this.#version++;
    }
    await this.#durable(this.#version);
  }

  /** Resolves once a version is on disk. One write runs at a time; the next takes everything that came meanwhile. */
  async #durable(version: number): Promise<void> {
    while (this.#written < version) {
      this.#write ??= { version: this.#version, done: this.#save().finally(() => (this.#write = undefined)) };
      const { done, version: covered } = this.#write;
      try {
        await done;
      } catch (error) {
        // The failure of an earlier write says nothing of a later version.
        if (covered >= version) throw error;
      }
    }
  }

  async #save(): Promise<void> {
    const version = this.#version;
    const { state, remainder } = this.#document;
    const lineage = state.lineage === "" ? this.#uuid() : state.lineage;
    const serial = state.serial + 1;
    try {
      const text = encodeState({ state: { ...state, lineage, serial }, remainder });
      await this.#text.write(text, () => this.#lock?.verify());
    } catch (error) {
      throw this.#explain(error);
    }
    this.#written = version;
    this.#recorded = state.resources;
    this.#document = { ...this.#document, state: { ...this.#document.state, lineage, serial } };
  }

  #explain(error: unknown): HostformError {
    const lost = `Not recorded: ${this.#unrecorded().join(", ")}.`;
    if (error instanceof HostformError) {
      const detailed = (diagnostic: Diagnostic): Diagnostic => ({
        ...diagnostic,
        detail: [diagnostic.detail, lost].filter(Boolean).join("\n"),
      });
      return new HostformError(error.diagnostics.map(detailed), { cause: error });
    }
    return new HostformError([unwritable(this.#text.name, error, lost)], { cause: error });
  }

  #unrecorded(): string[] {
    const now = this.#document.state.resources;
    const changed = [...now.values()].filter((resource) => this.#recorded.get(resource.address) !== resource);
    const removed = [...this.#recorded.keys()].filter((address) => !now.has(address));
    const named = ({ address, attributes: { id } }: ResourceState) =>
      typeof id === "string" || typeof id === "number" ? `${address} (id ${id})` : address;
    return [...changed.map(named), ...removed.map((address) => `the removal of ${address}`)];
  }
}
