import {
  attempt,
  type Diagnostic,
  HostformError,
  type OutputState,
  type ResourceState,
  type State,
} from "../model/index.ts";
import type { History } from "./history.ts";
import type { HeldLock } from "./lock.ts";
import type { Opened } from "./opening.ts";
import type { Recorder } from "./recorder.ts";
import {
  changesBetween,
  describeChanges,
  type Move,
  moveResources,
  Revision,
  rearrangeResources,
  withOutputs,
  withResourcesOf,
} from "./revise.ts";
import { type StateDocument, taintedAddresses, unmanagedAddresses } from "./state-document.ts";
import { refuseWrite, withDetail } from "./state-file.ts";

/** Public part of a session. Tests have their own. */
export type OpenState = Pick<StateSession, keyof StateSession>;

/** Returns true if the only unrecorded change is the mark of a request. Such a request was not sent. */
const isUnsent = ({ private: now }: ResourceState, recorded: ResourceState | undefined): boolean =>
  (["pending", "attempt"] as const).some(
    (request) => now[request] !== undefined && recorded?.private[request] === undefined,
  );

/** Lock and recorder of a session that may write. */
interface Writing {
  readonly lock: HeldLock;
  readonly recorder: Recorder;
}

/**
 * A state during a command. Each change is durable when its promise resolves. Simultaneous changes share one write. A call that
 * changes nothing writes nothing.
 */
export class StateSession {
  /**
   * Addresses in the journal of an interrupted run. That journal stays unchanged until the first change.
   */
  readonly recovered: readonly string[];
  /** Warnings about the storage of the state. */
  readonly warnings: readonly Diagnostic[];
  /** History of the state. Undefined if the backend has no place for a history. */
  readonly history: History | undefined;
  readonly #name: string;
  readonly #writing: Writing | undefined;
  readonly #onResource: (resource: ResourceState) => void;
  readonly #revision: Revision;
  /** Addresses that changed after the beginning of the last write, and may differ from the durable revision. */
  #touched = new Set<string>();
  /** Number of changes so far. `#written`: number of durable changes. */
  #version = 0;
  #written = 0;
  /** Last version that a journal cannot contain: a move, or changed outputs. */
  #wholeOnly = 0;
  #write: { readonly version: number; readonly done: Promise<void> } | undefined;
  #closed = false;

  /**
   * @param name place of the state, for messages.
   * @param onResource receives each resource of the state, and each new resource before its write.
   */
  constructor(
    { durable, recovered, warnings, history }: Opened & { readonly history?: History | undefined },
    name: string,
    writing: Writing | undefined,
    onResource: (resource: ResourceState) => void,
  ) {
    this.#revision = new Revision(durable);
    this.recovered = recovered;
    this.warnings = warnings;
    this.history = history;
    this.#name = name;
    this.#writing = writing;
    this.#onResource = onResource;
    for (const resource of durable.state.resources.values()) onResource(resource);
  }

  /**
   * Current state: an immutable value, a new one after each change. `lineage` is "" before the first write. `serial` is the
   * serial of the stored state. With a journal, it increases when the session closes.
   */
  get state(): State {
    return this.#revision.document.state;
  }

  /** Addresses that Terraform tainted. hostform keeps this mark until another object replaces the tainted object. */
  get tainted(): readonly string[] {
    return taintedAddresses(this.#revision.document);
  }

  /** Addresses in the file that hostform keeps but does not manage (modules, data sources, other providers). */
  get unmanaged(): readonly string[] {
    return unmanagedAddresses(this.#revision.document);
  }

  /**
   * Adds or replaces a resource.
   * @throws HostformError `state.unwritable`, `state.lost_lock`; both name the unrecorded changes. The change stays in memory, and
   * the next successful write contains it.
   */
  async put(resource: ResourceState): Promise<void> {
    this.#onResource(resource);
    await this.#change((revision) => (revision.put(resource) ? [resource.address] : undefined));
  }

  /** Document of the state, with the fields of Terraform. */
  get document(): StateDocument {
    return this.#revision.document;
  }

  /** Adds resources of another state, with their fields of Terraform. Throws as `put` does. */
  async receive(document: StateDocument, addresses: readonly string[]): Promise<void> {
    if (addresses.length === 0) return;
    for (const [address, resource] of document.state.resources)
      if (addresses.includes(address)) this.#onResource(resource);
    await this.#change((revision) => {
      revision.document = withResourcesOf(revision.document, document, addresses);
      return addresses;
    }, true);
  }

  /** Removes resources by exact address. Ignores unknown addresses. Throws as `put` does. */
  async remove(...addresses: string[]): Promise<void> {
    await this.#change((revision) => {
      const removed = addresses.filter((address) => revision.remove(address));
      return removed.length > 0 ? removed : undefined;
    });
  }

  /** Moves resources, or all their instances, in order. Moves all or none. Throws as `put` and `moveResources` do. */
  async move(steps: Move["moved"]): Promise<Move["moved"]> {
    let { document } = this.#revision;
    const moved = steps.flatMap(({ from, to }) => {
      const next = moveResources(document, from, to);
      document = next.document;
      return next.moved;
    });
    if (moved.length === 0) return moved;
    await this.#change((revision) => {
      revision.document = document;
      return moved.flatMap((step) => [step.from, step.to]);
    }, true);
    return moved;
  }

  /** Moves resources simultaneously in one write, so that two resources can exchange their addresses. Throws as `put` does. */
  async rearrange(moves: Move["moved"]): Promise<void> {
    if (moves.length === 0) return;
    await this.#change((revision) => {
      revision.document = rearrangeResources(revision.document, moves);
      return moves.flatMap(({ from, to }) => [from, to]);
    }, true);
  }

  /**
   * Replaces the outputs. Null outputs are dropped, as in Terraform. Call this at the end of a run, because it writes the whole
   * state. Throws as `put` does.
   */
  async setOutputs(outputs: ReadonlyMap<string, OutputState>): Promise<void> {
    await this.#change((revision) => {
      const before = revision.document;
      revision.document = withOutputs(before, outputs);
      return revision.document === before ? undefined : [];
    }, true);
  }

  /** Folds the journal of an earlier run into the state, like the first change. Throws as `put` does. */
  async settle(): Promise<void> {
    await this.#change(() => undefined);
  }

  /** Writes the whole state with the next serial, also without a change. Throws as `put` does. */
  async advance(): Promise<void> {
    await this.#change(() => [], true);
  }

  /**
   * Checks at the backend that this process still holds the lock.
   * @throws HostformError `state.lost_lock` with the unrecorded changes; `state.backend` if the server does not respond.
   */
  async proveLock(): Promise<void> {
    if (this.#writing === undefined) return;
    const { lock, recorder } = this.#writing;
    try {
      lock.verify();
      await lock.prove?.();
    } catch (error) {
      this.#explain(error, recorder);
    }
  }

  /** Returns the error of a lost lock that this machine knows without a request. */
  lostLock(): HostformError | undefined {
    if (this.#writing === undefined || this.#closed) return undefined;
    const { lock, recorder } = this.#writing;
    const explained = (error: unknown) =>
      attempt(
        () => this.#explain(error, recorder),
        (why) => (why instanceof HostformError ? why : undefined),
      );
    return attempt(() => lock.verify(), explained) ?? undefined;
  }

  /**
   * Writes unwritten changes, folds the journal into the state, and confirms the write at a server. Always frees the lock. A
   * second call does nothing. Throws as `put` does; earlier changes stay in the journal.
   */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#writing === undefined) return;
    const { lock, recorder } = this.#writing;
    try {
      await this.#durable(this.#version);
      await recorder.finish().catch((error) => this.#explain(error, recorder));
      this.#revision.place(recorder.durable);
      await recorder.confirm();
    } catch (error) {
      await recorder.keep(this.#revision.document);
      throw error;
    } finally {
      await lock.release();
    }
  }

  /** Applies a change, and waits until it is durable. @param change returns the changed addresses, or undefined without a change. */
  async #change(change: (revision: Revision) => readonly string[] | undefined, whole = false): Promise<void> {
    if (this.#closed) throw new TypeError("the state is closed");
    if (this.#writing === undefined) throw new TypeError("the state was opened for reading only");
    const touched = change(this.#revision);
    if (touched !== undefined) {
      for (const address of touched) this.#touched.add(address);
      this.#version++;
      if (whole) this.#wholeOnly = this.#version;
    } else if (this.#writing.recorder.isUnsettled) {
      // The journal of a killed run may never have reached the disk: write it again before reporting it durable.
      this.#version++;
    }
    await this.#durable(this.#version);
  }

  /**
   * Resolves when a version is on disk. Only one write runs at a time. The next write contains all changes up to the turn of the
   * event loop in which it begins.
   */
  async #durable(version: number): Promise<void> {
    while (this.#written < version && this.#writing !== undefined) {
      const { recorder } = this.#writing;
      this.#write ??= { version: this.#version, done: this.#save(recorder).finally(() => (this.#write = undefined)) };
      const { done, version: covered } = this.#write;
      try {
        await done;
        if (this.#written < version) await new Promise(setImmediate);
      } catch (error) {
        // The failed write did not contain this version.
        if (covered >= version) throw error;
      }
    }
  }

  async #save(recorder: Recorder): Promise<void> {
    const version = this.#version;
    const touched = this.#touched;
    this.#touched = new Set();
    try {
      await recorder.record(this.#revision, touched, this.#wholeOnly > this.#written);
    } catch (error) {
      for (const address of touched) this.#touched.add(address);
      this.#explain(error, recorder);
    }
    this.#written = version;
    this.#revision.place(recorder.durable);
  }

  #explain(error: unknown, recorder: Recorder): never {
    const { durable } = recorder;
    const outputs = durable.document.state.outputs === this.#revision.document.state.outputs ? [] : ["the outputs"];
    const { remove, put } = changesBetween(durable, this.#revision, this.#touched);
    const made = put.filter((resource) => !isUnsent(resource, durable.get(resource.address)));
    // The request of such a create was not sent. The new holder of the lock decides about it.
    const isOpen = (address: string) => durable.get(address)?.private.pending !== undefined;
    const [withdrawn, removed] = [remove.filter(isOpen), remove.filter((address) => !isOpen(address))];
    const unmade = withdrawn.map((address) => `${address} (not created)`);
    const lost = [...describeChanges([{ remove: removed, put: made }]), ...unmade, ...outputs];
    const left = recorder.journalName;
    // The new holder of the lock may already have folded the journal into the state.
    const isTaken = error instanceof HostformError && error.diagnostics.some(({ code }) => code === "state.lost_lock");
    const place = isTaken ? "the journal or in the state" : left;
    const consequence = [
      lost.length > 0 && `Not in the state: ${lost.join(", ")}.`,
      left !== undefined && `Earlier changes are in ${place}. The next run continues from there.`,
    ]
      .filter(Boolean)
      .join("\n");
    if (error instanceof HostformError) throw withDetail(error, consequence);
    return refuseWrite(this.#name, error, consequence);
  }
}
