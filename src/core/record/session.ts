import {
  attempt,
  type Diagnostic,
  HostformError,
  type OutputState,
  type ResourceState,
  type State,
} from "../model/index.ts";
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
} from "./revise.ts";
import { taintedAddresses, unmanagedAddresses } from "./state-document.ts";
import { refuseWrite, withDetail } from "./state-file.ts";

/** Public part of a session. Tests have their own. */
export type OpenState = Pick<StateSession, keyof StateSession>;

/** Returns true if only a request that was about to leave is not recorded: it did not leave. */
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
 * A state while a command works with it. Every change is durable when its promise resolves. Changes made side by side
 * share writes; a change that changes nothing writes nothing.
 */
export class StateSession {
  /**
   * Addresses whose record, or removal, came from the journal of an earlier run that was stopped. That journal stays
   * as it is until something changes.
   */
  readonly recovered: readonly string[];
  /** Warnings about the way the state is kept. */
  readonly warnings: readonly Diagnostic[];
  readonly #name: string;
  readonly #writing: Writing | undefined;
  readonly #onResource: (resource: ResourceState) => void;
  readonly #revision: Revision;
  /** The addresses at which it may differ from what is durable, those under way left out. */
  #touched = new Set<string>();
  /** Grows with every change; `#written` is the version whose content is durable. */
  #version = 0;
  #written = 0;
  /** The last version that only a whole state can hold: a move, or other outputs. */
  #wholeOnly = 0;
  #write: { readonly version: number; readonly done: Promise<void> } | undefined;
  #closed = false;

  /**
   * @param name where the state is, for messages.
   * @param onResource is called with each recorded resource, and with each before it is recorded.
   */
  constructor(
    { durable, recovered, warnings }: Opened,
    name: string,
    writing: Writing | undefined,
    onResource: (resource: ResourceState) => void,
  ) {
    this.#revision = new Revision(durable);
    this.recovered = recovered;
    this.warnings = warnings;
    this.#name = name;
    this.#writing = writing;
    this.#onResource = onResource;
    for (const resource of durable.state.resources.values()) onResource(resource);
  }

  /**
   * The state as it is now: an immutable value, a new one after each change. `lineage` is "" before the first write.
   * `serial` is that of the stored state: with a journal it grows when the session closes.
   */
  get state(): State {
    return this.#revision.document.state;
  }

  /** Addresses that Terraform marked as damaged; hostform keeps the mark for as long as the object stays the same. */
  get tainted(): readonly string[] {
    return taintedAddresses(this.#revision.document);
  }

  /** Addresses in the file that hostform keeps but does not manage (modules, data sources, other providers). */
  get unmanaged(): readonly string[] {
    return unmanagedAddresses(this.#revision.document);
  }

  /**
   * Adds or replaces a resource.
   * @throws HostformError `state.unwritable`, `state.lost_lock`; both say what is not recorded. The change stays in
   * memory and goes out with the next write that succeeds.
   */
  async put(resource: ResourceState): Promise<void> {
    this.#onResource(resource);
    await this.#change((revision) => (revision.put(resource) ? [resource.address] : undefined));
  }

  /** Removes resources by exact address; unknown ones are ignored. Throws as `put` does. */
  async remove(...addresses: string[]): Promise<void> {
    await this.#change((revision) => {
      const removed = addresses.filter((address) => revision.remove(address));
      return removed.length > 0 ? removed : undefined;
    });
  }

  /** Moves resources, or all instances of them, one after the other: all of them or none. Throws as `put` and `moveResources` do. */
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

  /** Moves resources all at once, so that two can exchange their addresses: one durable record. Throws as `put` does. */
  async rearrange(moves: Move["moved"]): Promise<void> {
    if (moves.length === 0) return;
    await this.#change((revision) => {
      revision.document = rearrangeResources(revision.document, moves);
      return moves.flatMap(({ from, to }) => [from, to]);
    }, true);
  }

  /**
   * Records these outputs in place of those that there are; one whose value is null is none, as for Terraform. The journal
   * has no word for them: the whole state is written, so this is for the end of a run. Throws as `put` does.
   */
  async setOutputs(outputs: ReadonlyMap<string, OutputState>): Promise<void> {
    await this.#change((revision) => {
      const before = revision.document;
      revision.document = withOutputs(before, outputs);
      return revision.document === before ? undefined : [];
    }, true);
  }

  /** Folds what an earlier run left in the journal into the state, as a first change does. Throws as `put` does. */
  async settle(): Promise<void> {
    await this.#change(() => undefined);
  }

  /**
   * Asks the backend whether this process still holds the lock.
   * @throws HostformError `state.lost_lock`, with what is not recorded; `state.backend` if the server does not answer.
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

  /** Returns the same failure, if it shows without a question to a server. */
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
   * Writes what an earlier failure left unwritten, folds the journal into the state, asks a server whether it has what it
   * took, and frees the lock, whatever happens. Closing twice is no error. Throws as `put` does; what was recorded before stays recorded in the journal.
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

  /** @param change returns the addresses that it touched; undefined when nothing differs. */
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
   * Resolves once a version is on disk. One write runs at a time; the next takes everything that came meanwhile, and what else
   * comes in the turn of the event loop in which it could begin.
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
        // The failure of an earlier write says nothing of a later version.
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
    // The new holder of the lock decides about a create that is still recorded, although it did not leave.
    const isOpen = (address: string) => durable.get(address)?.private.pending !== undefined;
    const [withdrawn, removed] = [remove.filter(isOpen), remove.filter((address) => !isOpen(address))];
    const unmade = withdrawn.map((address) => `${address} (not created)`);
    const lost = [...describeChanges([{ remove: removed, put: made }]), ...unmade, ...outputs];
    const left = recorder.journalName;
    // The new holder of the lock may have folded the journal into the state by now.
    const isTaken = error instanceof HostformError && error.diagnostics.some(({ code }) => code === "state.lost_lock");
    const kept = isTaken ? "kept" : `in ${left}`;
    const consequence = [
      lost.length > 0 && `Not recorded: ${lost.join(", ")}.`,
      left !== undefined && `What was recorded before is ${kept}, and the next run goes on from there.`,
    ]
      .filter(Boolean)
      .join("\n");
    if (error instanceof HostformError) throw withDetail(error, consequence);
    return refuseWrite(this.#name, error, consequence);
  }
}
