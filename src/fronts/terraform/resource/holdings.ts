/**
 * Objects in Terraform's state, as far as this machine knows them. Terraform sends one instance at a time and no address. This process
 * knows the instances of its own calls, and the store of the account contains the instances of earlier processes.
 */
import type { Kind, Remote } from "../../../core/kinds/kind.ts";
import { parentOf, withHolders } from "../../../core/lifecycle/index.ts";
import type { AccountStore, Held, HeldObject, Holding, Place } from "../../../core/local/index.ts";
import {
  type Clock,
  type Diagnostic,
  HostformError,
  type Json,
  type JsonObject,
  type PrivateMark,
  type ValueObject,
  warningOf,
} from "../../../core/model/index.ts";
import { problem } from "../messages.ts";
import { Arrivals } from "./activity.ts";
import { named } from "./attribute-mapping.ts";

interface HoldingsOptions {
  readonly store: Pick<AccountStore, "see" | "release" | "endRun" | "holdings" | "note" | "notes" | "forget">;
  /** State that Terraform uses. */
  readonly place: Place;
  /** Id of this run: one process of the provider for one walk of Terraform. */
  readonly run: string;
  readonly clock: Clock;
  /** Called once if the store is unusable. */
  readonly onWarning: (warning: Diagnostic) => void;
}

/** An object that Terraform has sent to this process. */
interface Shown {
  /** Number of read instances. `plans`: number of planned instances. */
  reads: number;
  plans: number;
  /** Plan of the instance: `leaves` releases the object, `stays` keeps it. Absent: the instance is tainted, or not planned yet. */
  plan?: "leaves" | "stays";
  /** Natural key. */
  name?: string | undefined;
  /** Last recorded attributes. */
  holding?: Holding;
}

/** Known instance of an object. */
export interface Holder {
  /** True if this process received the instance. False: an earlier process received it. */
  readonly isShown: boolean;
  readonly plan?: Shown["plan"];
  /** Number of instances that contain the object. */
  readonly instances: number;
  /** Milliseconds since the epoch. */
  readonly lastSeen: number;
  /** Id of the intent that created the object, until a later run finds the object in the state. */
  readonly intent?: string | undefined;
}

/** Delay of a write, in milliseconds. Terraform sends ten instances at a time, so their holdings are written together. */
const BATCH_MS = 5;

/** Time for which a plan waits for another instance, in milliseconds. */
const SHOWN_MS = 500;

export class Holdings {
  readonly run: string;
  readonly place: Place;
  readonly #options: HoldingsOptions;
  readonly #begun: number;
  readonly #shown = new Map<string, Shown>();
  /** Intents of the objects that this process created. */
  readonly #intents = new Map<string, string>();
  readonly #arrivals = new Arrivals();
  /** Unwritten holdings, by object. */
  #unwritten = new Map<string, Holding>();
  #writing: Promise<void> | undefined;
  #stored: Promise<ReadonlyMap<string, Held>> | undefined;
  #elsewhere: Promise<ReadonlyMap<string, Held>> | undefined;
  #isPlanned = false;
  #isApply = false;
  /** Objects with fewer instances than an earlier run counted. */
  readonly #recounted = new Set<string>();
  /** Objects that this run imports. */
  readonly #imported = new Set<string>();
  #isImport = false;
  #hasEnded = false;
  #hasWarned = false;

  constructor(options: HoldingsOptions) {
    this.#options = options;
    this.run = options.run;
    this.place = options.place;
    // A holding written in the present millisecond belongs to an earlier process.
    this.#begun = options.clock.now() + 1;
  }

  /** Registers an instance that Terraform sent from its state. */
  show(kind: Kind, attributes: JsonObject): void {
    const object = objectOf(kind, attributes);
    if (object === undefined) return;
    this.#shownOf(object).name = kind.naturalKey(attributes);
    this.#arrivals.add(keyOf(object));
  }

  /** Registers an object that was read and exists in the account. */
  read(kind: Kind, attributes: JsonObject, mark: PrivateMark): void {
    const object = objectOf(kind, attributes);
    if (object === undefined) return;
    const shown = this.#shownOf(object);
    shown.reads++;
    this.#see(kind, object, attributes, mark, countOf(shown));
  }

  /** Registers a planned instance. */
  plan(kind: Kind, attributes: JsonObject, mark: PrivateMark, plan: NonNullable<Shown["plan"]>): void {
    this.#isPlanned = true;
    const object = objectOf(kind, attributes);
    if (object === undefined) return;
    const shown = this.#shownOf(object);
    shown.plans++;
    if (shown.plan !== "leaves") shown.plan = plan;
    // A plan without refresh reads no object. After the apply, the state contains an imported object.
    if (shown.reads === 0 && !this.#imported.has(keyOf(object)))
      this.#see(kind, object, attributes, mark, countOf(shown));
    this.#arrivals.add(keyOf(object));
  }

  /** Registers an intended replacement: the instance releases the object. */
  leaves(kind: Kind, attributes: JsonObject): void {
    const object = objectOf(kind, attributes);
    if (object !== undefined) this.#shownOf(object).plan = "leaves";
  }

  /** Registers a planned create. A run that plans creates has read the whole state. */
  planned(): void {
    this.#isPlanned = true;
  }

  /** Registers that this process changes the account. */
  applies(): void {
    this.#isApply = true;
  }

  get isApply(): boolean {
    return this.#isApply;
  }

  /** Registers an instance of the state that contains an object. */
  add(kind: Kind, attributes: JsonObject, mark: PrivateMark): void {
    const object = objectOf(kind, attributes);
    if (object !== undefined) this.#see(kind, object, attributes, mark, 1);
  }

  /** Registers a created object. @param intent id of the create's intent. */
  made(kind: Kind, attributes: JsonObject, intent: string): void {
    const object = objectOf(kind, attributes);
    if (object !== undefined) this.#intents.set(keyOf(object), intent);
  }

  /** Registers that one of several instances released an object. @param instances number of the remaining instances. */
  left(kind: Kind, attributes: JsonObject, mark: PrivateMark, instances: number): void {
    const object = objectOf(kind, attributes);
    if (object === undefined) return;
    this.#recounted.add(keyOf(object));
    this.#see(kind, object, attributes, mark, instances);
  }

  /** Registers that no instance of the state contains the object. */
  async remove(kind: Kind, attributes: JsonObject): Promise<void> {
    const object = objectOf(kind, attributes);
    if (object === undefined) return;
    this.#unwritten.delete(keyOf(object));
    this.#shown.delete(keyOf(object));
    await this.#use((store) => store.release(this.place.mark, [object]));
  }

  /** Writes a fact of this state, for all tokens of the host. */
  async note(list: string, name: string, value: Json): Promise<void> {
    await this.#use((store) => store.note([{ list: this.#listOf(list), name, value }]));
  }

  async noted(list: string, name: string): Promise<Json | undefined> {
    return (await this.#use((store) => store.notes(this.#listOf(list), name)))?.[0]?.value;
  }

  async forget(list: string, name: string): Promise<void> {
    await this.#use((store) => store.forget([{ list: this.#listOf(list), name }]));
  }

  #listOf(list: string): string {
    return `${this.place.mark}.${list}`;
  }

  /** Loads the holdings of the store for {@link holderOf}. */
  async load(): Promise<void> {
    this.#known = await this.#load();
  }

  #known: ReadonlyMap<string, Held> = new Map();

  /** Returns the known holder of an object. */
  holderOf(kind: Kind, { id, attributes }: Pick<Remote, "id" | "attributes">): Holder | undefined {
    const object = objectOf(kind, { ...attributes, id });
    if (object === undefined) return undefined;
    const shown = this.#shown.get(keyOf(object));
    const held = this.#known.get(keyOf(object));
    if (shown !== undefined) {
      const { plan } = shown;
      // An apply receives only changed instances, and its plan may have used -target: an earlier run may have counted more instances.
      const counted = countOf(shown);
      const isPart = this.#isApply || counted === 0 || plan === "leaves";
      const instances = isPart ? Math.max(counted, held?.isFirm ? held.instances : 1) : counted;
      return { isShown: true, ...(plan && { plan }), instances, lastSeen: this.#options.clock.now() };
    }
    if (held === undefined || !held.isFirm) return undefined;
    const { instances, firstSeen, lastSeen } = held;
    return { isShown: false, instances, lastSeen, ...(firstSeen === lastSeen && { intent: held.intent }) };
  }

  /**
   * Returns the holder of an imported object. Terraform sends no address that left the configuration, so such an address may still contain
   * the object: only a plan ends a holding.
   */
  async holderOfImported(kind: Kind, attributes: JsonObject): Promise<Holder | undefined> {
    this.#isImport = true;
    const object = objectOf(kind, attributes);
    if (object !== undefined) this.#imported.add(keyOf(object));
    await this.load();
    const id = (kind.creation === "blind" && object && this.#namesake(kind, object, attributes)) || attributes.id;
    return this.holderOf(kind, { id: String(id), attributes });
  }

  /** Returns the recorded id of the object with the same natural key, for kinds that the API does not identify by id. */
  #namesake(kind: Kind, object: HeldObject, attributes: JsonObject): string | undefined {
    const name = kind.naturalKey(attributes) ?? kind.naturalKey({ ...attributes, [kind.words.name]: object.id });
    if (name === undefined || this.#shown.has(keyOf(object))) return undefined;
    const isSame = (key: string, one: { readonly name?: string | undefined }) =>
      one.name === name && (JSON.parse(key) as string[])[0] === kind.type;
    const firm = [...this.#known].filter(([, { isFirm }]) => isFirm);
    const [key] = [...this.#shown, ...firm].find(([of, one]) => isSame(of, one)) ?? [];
    return key === undefined ? undefined : (JSON.parse(key) as string[])[2];
  }

  /** Returns the holder of an object. Waits a short time for another instance, so that its plan is known. */
  async findHolder(kind: Kind, remote: Pick<Remote, "id" | "attributes">): Promise<Holder | undefined> {
    await this.load();
    const object = objectOf(kind, { ...remote.attributes, id: remote.id });
    const known = this.holderOf(kind, remote);
    // An apply plans creates again, and receives no plan of another instance.
    if (known?.isShown || object === undefined || this.#isApply) return known;
    await this.#arrivals.wait(keyOf(object), this.#options.clock, SHOWN_MS);
    return this.holderOf(kind, remote);
  }

  /**
   * Returns another state that contains the object. Ignores a state that no run has used since this state received the object, because the
   * object has moved from there, unless this run imports the object.
   */
  async elsewhere(kind: Kind, attributes: JsonObject): Promise<Held | undefined> {
    const object = objectOf(kind, attributes);
    if (object === undefined) return undefined;
    const key = keyOf(object);
    this.#elsewhere ??= this.#query({ notOf: this.place.mark });
    const [found, own] = [(await this.#elsewhere).get(key), (await this.#load()).get(key)];
    const since = this.#imported.has(key) ? 0 : (own?.firstSeen ?? Number.POSITIVE_INFINITY);
    return found?.isFirm && !found.isRemoved && found.lastSeen > since ? found : undefined;
  }

  /** Returns true if a state that this machine knows contains the object. */
  async isManaged(kind: Kind, { id, attributes }: Pick<Remote, "id" | "attributes">): Promise<boolean> {
    const object = objectOf(kind, { ...attributes, id });
    if (object === undefined) return false;
    this.#elsewhere ??= this.#query({ notOf: this.place.mark });
    const [own, other] = [await this.#load(), await this.#elsewhere].map((held) => held.get(keyOf(object)));
    return own?.isFirm === true || (other?.isFirm === true && !other.isRemoved);
  }

  /** Adds the other states of the objects to errors. Skips an object that this state may also contain. */
  async withHolders(kind: Kind, diagnostics: readonly Diagnostic[]): Promise<readonly Diagnostic[]> {
    if (!diagnostics.some(({ code }) => code === "plan.exists")) return diagnostics;
    this.#elsewhere ??= this.#query({ notOf: this.place.mark });
    const [others, own] = [await this.#elsewhere, await this.#load()];
    const only = [...others].filter(([key]) => !this.#shown.has(key) && own.get(key)?.isFirm !== true);
    return withHolders(
      diagnostics,
      only.map(([, held]) => held),
      kind,
    );
  }

  /** Ends the run. After a plan, the holdings of instances that Terraform did not send are no longer certain. */
  async end(): Promise<void> {
    await this.flush();
    if (this.#isApply || this.#hasEnded) return;
    this.#hasEnded = true;
    const isRead = [...this.#shown.values()].some(({ reads }) => reads > 0);
    // `terraform import` reads only declared resources. An apply that fails before its first change plans without a read.
    const isPlan = this.#isPlanned ? isRead || this.#shown.size === 0 : isRead && !this.#isImport;
    if (!isPlan) return;
    await this.#recount();
    await this.#use((store) => store.endRun(this.place.mark, this.run, this.#begun));
  }

  /**
   * Records that fewer instances contain an object than an earlier run counted. A partial plan cannot prove that, and neither can a plan
   * that destroys the object: the destroy would be wrong if another instance existed.
   */
  async #recount(): Promise<void> {
    const stored = await this.#load();
    const isWhole = !this.#isPlanned || [...stored].every(([key, { isFirm }]) => !isFirm || this.#shown.has(key));
    if (!isWhole) return;
    for (const [key, shown] of this.#shown) {
      const isKept = shown.plan === "stays" || (!this.#isPlanned && shown.reads > 0);
      if (!isKept || shown.holding === undefined || countOf(shown) >= (stored.get(key)?.instances ?? 1)) continue;
      this.#recounted.add(key);
      this.#unwritten.set(key, { ...shown.holding, instances: countOf(shown) });
    }
    await this.flush();
  }

  /** Writes all unwritten holdings. */
  async flush(): Promise<void> {
    while (this.#writing !== undefined || this.#unwritten.size > 0) await (this.#writing ?? this.#write());
  }

  #shownOf(object: HeldObject): Shown {
    const key = keyOf(object);
    const shown = this.#shown.get(key) ?? { reads: 0, plans: 0 };
    this.#shown.set(key, shown);
    return shown;
  }

  #see(kind: Kind, object: HeldObject, attributes: JsonObject, { generation }: PrivateMark, instances: number): void {
    const name = kind.naturalKey(attributes);
    const intent = this.#intents.get(keyOf(object));
    const known = { ...(name !== undefined && { name }), ...(generation && { generation }), intent };
    const holding = { ...object, ...known, instances };
    this.#unwritten.set(keyOf(object), holding);
    const shown = this.#shown.get(keyOf(object));
    if (shown !== undefined) shown.holding = holding;
    this.#writing ??= this.#options.clock.sleep(BATCH_MS).then(() => this.#write());
  }

  async #write(): Promise<void> {
    const stored = await this.#load();
    const holdings = [...this.#unwritten].map(([key, holding]) => {
      const known = this.#recounted.has(key) ? undefined : stored.get(key);
      return { ...holding, instances: Math.max(holding.instances, known?.isFirm ? known.instances : 1) };
    });
    this.#unwritten = new Map();
    await this.#use((store) => store.see(this.place, this.run, holdings));
    this.#writing = this.#unwritten.size > 0 ? this.#write() : undefined;
  }

  #load(): Promise<ReadonlyMap<string, Held>> {
    this.#stored ??= this.#query({ place: this.place.mark });
    return this.#stored;
  }

  async #query(of: Parameters<AccountStore["holdings"]>[0]): Promise<ReadonlyMap<string, Held>> {
    const found = await this.#use((store) => store.holdings(of));
    // The map keeps the last holding of each key, so sort the certain and most recent holding last.
    const byTime = (found ?? []).toSorted((a, b) => Number(a.isFirm) - Number(b.isFirm) || a.lastSeen - b.lastSeen);
    return new Map(byTime.map((held) => [keyOf(held), held]));
  }

  /** Runs work on the store. If the store is unusable, warns once, and the process uses only its own calls. */
  async #use<T>(work: (store: HoldingsOptions["store"]) => Promise<T>): Promise<T | undefined> {
    try {
      return await work(this.#options.store);
    } catch (error) {
      if (!(error instanceof HostformError)) throw error;
      const [first] = error.diagnostics;
      const { code = "provider.journal", summary = "", detail = "", remedies = [] } = first ?? {};
      if (!this.#hasWarned) this.#options.onWarning(warningOf(code, summary, { detail, remedies }));
      this.#hasWarned = true;
      return undefined;
    }
  }
}

/** Returns for example `2026-11-21T10:00:00Z`. */
export const seconds = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");

/** Reports several instances with one object, because the destroy of one instance would delete the object of all. */
export const heldTwice = (kind: Kind, attributes: JsonObject, instances: number, severity: Diagnostic["severity"]) =>
  problem("state.duplicate", { what: named(kind, attributes), noun: kind.noun, instances, severity });

/** Reports two addresses that manage one object. */
export const twoAddresses = ({ noun }: Kind, { id }: JsonObject) =>
  problem("plan.exists/two_addresses", { noun, id: String(id) });

const countOf = ({ reads, plans }: Shown) => Math.max(reads, plans);

/** Returns the name of an object in the store. Undefined if its id or parent is unknown. */
export function objectOf(kind: Kind, attributes: ValueObject): HeldObject | undefined {
  const { id } = attributes;
  const parent = kind.parent === undefined ? "" : parentOf(kind, attributes);
  return typeof id === "string" && typeof parent === "string" ? { type: kind.type, parent, id } : undefined;
}

const keyOf = ({ type, parent, id }: HeldObject): string => JSON.stringify([type, parent, id]);
