/** Entries of the account store for objects that may be missing in Terraform's state. */
import { createHmac } from "node:crypto";
import { decrypt, encrypt } from "../../core/files/index.ts";
import { type Kind, kinds } from "../../core/kinds/index.ts";
import { isPendingCreate, type PendingCreate } from "../../core/lifecycle/index.ts";
import { type AccountStore, MemoryStore, type Note, type Place } from "../../core/local/index.ts";
import {
  attempt,
  type Diagnostic,
  formatAddress,
  HostformError,
  ifExplained,
  type Json,
  type JsonObject,
  type ResourceState,
} from "../../core/model/index.ts";

import { problem } from "./messages.ts";

/** Part of a plan that concerns one object of the state, for which the plan has a matching create. */
export interface Passing {
  /** Mark of Terraform's process. */
  readonly owner: string;
  /** Moment of the plan, in milliseconds since the epoch. */
  readonly noted: number;
  /** True if the plan transfers the object to another address. */
  readonly is: boolean;
  /** True if Terraform sent the present instance of the object during the plan. */
  readonly isShown: boolean;
}

/**
 * The result of a create. A kill between the provider's response and Terraform's write of the state loses the response. Therefore, the
 * store keeps the entry until Terraform's state contains the object.
 */
export interface Entry extends ResourceState {
  /** Digest of folder, workspace and backend of Terraform. */
  readonly place?: string;
  /** Mark of the process that wrote the entry. */
  readonly owner?: string;
  /** Set if Terraform ended the process normally after the response, and therefore recorded the object. */
  readonly answered?: true;
  /** Set if a destroy kept the object for the create of another address. No state contains the object until that create. */
  readonly handed?: true;
  /** Plans with a create for this object of the state, by id. */
  readonly passes?: Readonly<Record<string, Passing>>;
  /** Encrypted sensitive attributes of an entry with `passes`: a plan writes no secret in clear text. */
  readonly sealed?: string;
  /** Plans that know the pending create, by id: true if one of their creates has its name. */
  readonly plans?: Readonly<Record<string, boolean>>;
  /** Set if the last refresh found the pending create in the state. */
  readonly inState?: true;
  /** Decision of `hostform resolve` for the next apply. `absent`: the create failed. `adopted`: the create produced the object of this entry. */
  readonly resolved?: "absent" | "adopted";
  /** One-time values that Terraform had recorded before a change. */
  readonly base?: JsonObject;
}

interface WriteOptions {
  readonly isDurable?: boolean;
}

interface EntriesOptions {
  readonly store: AccountStore;
  readonly project: string | undefined;
  /** Token of the API, from which the key of sealed entries is derived. The store contains no token. */
  readonly token?: string;
  /** True with HOSTFORM_STORE=memory: a kill may lose a create. */
  readonly mayForget?: boolean;
  /** Called once if entries cannot be written, and once if they cannot be read. The warning contains no value of a resource. */
  readonly onWarning: (warning: Diagnostic) => void;
}

/** The entries of an account and project. If the store is unusable, this process keeps its entries in memory. */
export class Entries {
  readonly #options: EntriesOptions;
  /** Entries that this process wrote since the last call of {@link answered}. */
  readonly #own = new Map<string, Note>();
  /** Entries that the store rejected. */
  readonly #unwritten = new MemoryStore();
  readonly #warned = new Set<string>();

  constructor(options: EntriesOptions) {
    this.#options = options;
  }

  /**
   * @param name distinguishes the object from others of its type: the reference of a service, otherwise the natural key. Every entry
   *   has a name.
   */
  async get(type: string, name: string | undefined): Promise<Entry | undefined> {
    return name === undefined ? undefined : (await this.all(type, name)).get(name);
  }

  /** Returns the entries of a type, by name. */
  async all(type: string, name?: string): Promise<ReadonlyMap<string, Entry>> {
    const list = this.#listOf(type);
    const stored = await this.#options.store.notes(list, name).catch((error: unknown) => this.#warn("read", error));
    const notes = [...(stored ?? []), ...(await this.#unwritten.notes(list, name))];
    return new Map(notes.map((note) => [note.name, this.#opened(note)]));
  }

  /** Returns the reasons why no create can be recorded. */
  async refusals(): Promise<readonly Diagnostic[]> {
    const { store, mayForget } = this.#options;
    return mayForget
      ? []
      : store.note([]).then(
          () => [],
          ifExplained(({ diagnostics }) => diagnostics),
        );
  }

  /**
   * Writes an entry; only in memory if the store rejects it.
   * @param options `isDurable`: the store must accept the entry, otherwise an object might be unknown.
   * @throws HostformError `store.unwritable`, `store.busy` or `store.newer`, if it must be durable.
   */
  async put(type: string, name: string, entry: Entry, options?: WriteOptions): Promise<void> {
    await this.#write(type, name, entry, options);
  }

  /** Writes an entry if the name has none. @returns the existing entry; then nothing was written. @throws as {@link put}. */
  insert(type: string, name: string, entry: Entry, options?: WriteOptions): Promise<Entry | undefined> {
    return this.#write(type, name, entry, { ...options, when: "absent" });
  }

  /**
   * Removes an entry. No other run writes the entry during the removal, because the runs of a state exclude each other by its lock.
   * @param id removes the entry only if its object has this id.
   */
  async remove(type: string, name: string | undefined, id?: Json): Promise<void> {
    const entry = await this.get(type, name);
    // Most removals concern entries that do not exist, so check before writing.
    if (name === undefined || entry === undefined || (id !== undefined && entry.attributes.id !== id)) return;
    const note = { list: this.#listOf(type), name };
    this.#own.delete(keyOf(note));
    await this.#unwritten.forget([note]);
    await this.#options.store.forget([note]).catch((error: unknown) => this.#warn("write", error));
  }

  /** Marks the entries of this process as answered, because Terraform has received all responses. */
  async answered(): Promise<void> {
    const recorded = [...this.#own.values()].filter((note) => !entryIn(note).handed && !entryIn(note).passes);
    const notes = recorded.map((note) => ({ ...note, value: { ...entryIn(note), answered: true } }));
    this.#own.clear();
    if (notes.length === 0) return;
    await this.#options.store
      .note(notes as unknown as Note[], { when: "present" })
      .catch((error: unknown) => this.#warn("write", error));
  }

  async #write(
    type: string,
    name: string,
    entry: Entry,
    { isDurable, when }: WriteOptions & { readonly when?: "absent" } = {},
  ): Promise<Entry | undefined> {
    const note = { list: this.#listOf(type), name, value: this.#sealed(name, entry) as unknown as Json };
    const write = (store: AccountStore) => store.note([note], when && { when });
    let others: readonly Note[];
    try {
      others = await write(this.#options.store);
      await this.#unwritten.forget([note]);
    } catch (error) {
      if (isDurable && !this.#options.mayForget) throw error;
      this.#warn("write", error);
      others = await write(this.#unwritten);
    }
    if (others[0] !== undefined) return entryIn(others[0]);
    this.#own.set(keyOf(note), note);
    return undefined;
  }

  #sealed(name: string, entry: Entry): Entry {
    if (!entry.passes) return entry;
    const hidden = entry.sensitive.map((one) => [one, entry.attributes[one] ?? null] as const);
    const attributes = { ...entry.attributes, ...Object.fromEntries(hidden.map(([one]) => [one, null])) };
    return { ...entry, attributes, sealed: encrypt(this.#key(), JSON.stringify(Object.fromEntries(hidden)), name) };
  }

  /** Returns the entry of a note. An entry that another token sealed transfers nothing. */
  #opened(note: Note): Entry {
    const whole = entryIn(note);
    if (whole.sealed === undefined) return whole;
    const { sealed, ...entry } = whole;
    const { passes: _, ...closed } = entry;
    return attempt(
      () => ({ ...entry, attributes: { ...entry.attributes, ...JSON.parse(decrypt(this.#key(), sealed, note.name)) } }),
      ifExplained(() => closed),
    );
  }

  #key(): Buffer {
    return createHmac("sha256", this.#options.token ?? "")
      .update("hostform sealed entry")
      .digest();
  }

  #listOf(type: string): string {
    const { store, project = "" } = this.#options;
    return JSON.stringify(["entries", store.account, project, type]);
  }

  #warn(what: "read" | "write", error: unknown): undefined {
    if (!(error instanceof HostformError)) throw error;
    if (this.#warned.has(what)) return;
    this.#warned.add(what);
    const { summary = "", detail = "", remedies = [] } = error.diagnostics[0] ?? {};
    this.#options.onWarning(problem("provider.journal", { does: what, why: `${summary}. ${detail}`, remedies }));
  }
}

const entryIn = ({ value }: Note): Entry => value as unknown as Entry;

const keyOf = ({ list, name }: Pick<Note, "list" | "name">): string => `${list} ${name}`;

/** A pending create of the store. */
export interface StoredCreate {
  readonly create: PendingCreate;
  /** Writes the user's decision for the next apply of this machine. @param adopted undefined: the create failed. */
  settle(adopted?: ResourceState): Promise<void>;
  /** Removes the entry, because the state contains the user's decision. */
  forget(): Promise<void>;
}

/**
 * Returns the pending creates of one state, and in `left` the objects that an apply removed from their old address and no create
 * adopted. The store lacks Terraform's addresses, so each create has the name `_`, and the name of its entry as the key.
 * @param projects possible project names of the provider; the store has a list for each.
 */
export async function storedCreates(
  store: AccountStore,
  place: Place,
  projects: readonly (string | undefined)[],
): Promise<{ readonly creates: readonly StoredCreate[]; readonly left: readonly (readonly [Kind, Entry])[] }> {
  const creates: StoredCreate[] = [];
  const left: (readonly [Kind, Entry])[] = [];
  for (const project of new Set(projects)) {
    const entries = new Entries({ store, project, onWarning: () => {} });
    for (const kind of kinds.values()) {
      const { type } = kind;
      for (const [name, entry] of await entries.all(type)) {
        if (entry.handed && entry.place === place.mark) left.push([kind, entry]);
        if (entry.place !== place.mark || entry.resolved !== undefined || !isPendingCreate(entry)) continue;
        // Omit the process and its response, because the user made the decision.
        const { address, provider, schemaVersion, sensitive, dependencies } = entry;
        const own = { address, provider, schemaVersion, sensitive, dependencies, place: place.mark };
        const put = (resolved: Entry["resolved"], { attributes, private: mark }: ResourceState) =>
          entries.put(type, name, { ...own, attributes, private: mark, resolved }, { isDurable: true });
        creates.push({
          create: { ...entry, address: formatAddress({ type, name: "_", key: name }) },
          settle: (adopted) => (adopted === undefined ? put("absent", entry) : put("adopted", adopted)),
          forget: () => entries.remove(type, name),
        });
      }
    }
  }
  return { creates, left };
}
