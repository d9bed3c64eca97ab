/**
 * The objects that Terraform's state holds, as far as this machine knows them. Terraform shows a provider one instance after the other
 * and no address: this process knows what it was shown, and the store of the account knows what earlier processes were shown.
 */
import type { Kind, Remote } from "../../../core/kinds/kind.ts";
import { parentOf, withHolders } from "../../../core/lifecycle/index.ts";
import type { AccountStore, Held, HeldObject, Holding, Place } from "../../../core/local/index.ts";
import {
  type Clock,
  type Diagnostic,
  HostformError,
  type JsonObject,
  type PrivateMark,
  type ValueObject,
  warningOf,
} from "../../../core/model/index.ts";
import { problem } from "../messages.ts";
import { Arrivals } from "./activity.ts";
import { named } from "./attribute-mapping.ts";

interface HoldingsOptions {
  readonly store: Pick<AccountStore, "see" | "release" | "endRun" | "holdings">;
  /** The state that Terraform works on. */
  readonly place: Place;
  /** Id of this run: one process of the provider, which serves one walk of Terraform. */
  readonly run: string;
  readonly clock: Clock;
  /** Called once if the store cannot be used. */
  readonly onWarning: (warning: Diagnostic) => void;
}

/** An object that Terraform has shown to this process. */
interface Shown {
  /** Instances that were read, and instances that were planned. */
  reads: number;
  plans: number;
  /** The plan of an instance: it gives up the object, or keeps it. Absent: not planned yet, or tainted. */
  plan?: "leaves" | "stays";
  /** The natural key. */
  name?: string | undefined;
  /** The last recorded form. */
  holding?: Holding;
}

/** The instance that holds an object, as far as it is known. */
export interface Holder {
  /** This process was shown the instance. False: an earlier one was. */
  readonly isShown: boolean;
  readonly plan?: Shown["plan"];
  /** Number of instances that hold the object. */
  readonly instances: number;
  /** Milliseconds since the epoch. */
  readonly lastSeen: number;
  /** Id of the intent that created the object, until a later run sees the object in the state. */
  readonly intent?: string | undefined;
}

/** Holdings are written together: Terraform shows ten instances at a time. */
const BATCH_MS = 5;

/** A plan waits this long for an instance that Terraform may be about to show, in milliseconds. */
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
  /** Holdings that are still to be written, by object. */
  #unwritten = new Map<string, Holding>();
  #writing: Promise<void> | undefined;
  #stored: Promise<ReadonlyMap<string, Held>> | undefined;
  #elsewhere: Promise<ReadonlyMap<string, Held>> | undefined;
  #isPlanned = false;
  #isApply = false;
  /** Objects of which fewer instances are left than an earlier run counted. */
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
    // A holding of this millisecond is that of an earlier process.
    this.#begun = options.clock.now() + 1;
  }

  /** Terraform has shown an instance of its state. */
  show(kind: Kind, attributes: JsonObject): void {
    const object = objectOf(kind, attributes);
    if (object === undefined) return;
    this.#shownOf(object).name = kind.naturalKey(attributes);
    this.#arrivals.add(keyOf(object));
  }

  /** The account has the object of an instance that was read. */
  read(kind: Kind, attributes: JsonObject, mark: PrivateMark): void {
    const object = objectOf(kind, attributes);
    if (object === undefined) return;
    const shown = this.#shownOf(object);
    shown.reads++;
    this.#see(kind, object, attributes, mark, countOf(shown));
  }

  /** An instance was planned. */
  plan(kind: Kind, attributes: JsonObject, mark: PrivateMark, plan: NonNullable<Shown["plan"]>): void {
    this.#isPlanned = true;
    const object = objectOf(kind, attributes);
    if (object === undefined) return;
    const shown = this.#shownOf(object);
    shown.plans++;
    if (shown.plan !== "leaves") shown.plan = plan;
    // A plan without refresh reads nothing. An imported object is in the state when the apply has ended.
    if (shown.reads === 0 && !this.#imported.has(keyOf(object)))
      this.#see(kind, object, attributes, mark, countOf(shown));
    this.#arrivals.add(keyOf(object));
  }

  /** The instance of an object is replaced on purpose: it gives up the object after all. */
  leaves(kind: Kind, attributes: JsonObject): void {
    const object = objectOf(kind, attributes);
    if (object !== undefined) this.#shownOf(object).plan = "leaves";
  }

  /** The plan has no instance yet: a run that plans creates saw the state, too. */
  planned(): void {
    this.#isPlanned = true;
  }

  /** This process changes the account. */
  applies(): void {
    this.#isApply = true;
  }

  get isApply(): boolean {
    return this.#isApply;
  }

  /** An instance of the state has an object from now on. */
  add(kind: Kind, attributes: JsonObject, mark: PrivateMark): void {
    const object = objectOf(kind, attributes);
    if (object !== undefined) this.#see(kind, object, attributes, mark, 1);
  }

  /** A create has made an object. @param intent its id. */
  made(kind: Kind, attributes: JsonObject, intent: string): void {
    const object = objectOf(kind, attributes);
    if (object !== undefined) this.#intents.set(keyOf(object), intent);
  }

  /** One of several instances gave up an object that the others keep. @param instances that are left. */
  left(kind: Kind, attributes: JsonObject, mark: PrivateMark, instances: number): void {
    const object = objectOf(kind, attributes);
    if (object === undefined) return;
    this.#recounted.add(keyOf(object));
    this.#see(kind, object, attributes, mark, instances);
  }

  /** No instance of the state has the object any more. */
  async remove(kind: Kind, attributes: JsonObject): Promise<void> {
    const object = objectOf(kind, attributes);
    if (object === undefined) return;
    this.#unwritten.delete(keyOf(object));
    this.#shown.delete(keyOf(object));
    await this.#use((store) => store.release(this.place.mark, [object]));
  }

  /** Loads what the store knows, so that {@link holderOf} can answer. */
  async load(): Promise<void> {
    this.#known = await this.#load();
  }

  #known: ReadonlyMap<string, Held> = new Map();

  /** The holder of an object, as far as it is known by now. */
  holderOf(kind: Kind, { id, attributes }: Pick<Remote, "id" | "attributes">): Holder | undefined {
    const object = objectOf(kind, { ...attributes, id });
    if (object === undefined) return undefined;
    const shown = this.#shown.get(keyOf(object));
    const held = this.#known.get(keyOf(object));
    if (shown !== undefined) {
      const { plan } = shown;
      // An apply is shown only what changes, and a destroy may be that of a plan with -target: an earlier run may have counted more.
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
   * The holder of an object that is imported. Terraform shows no address that left the configuration, so an address that is not shown may
   * still have it: only a plan ends a holding.
   */
  async holderOfImported(kind: Kind, attributes: JsonObject): Promise<Holder | undefined> {
    this.#isImport = true;
    const object = objectOf(kind, attributes);
    if (object !== undefined) this.#imported.add(keyOf(object));
    await this.load();
    const id = (kind.creation === "blind" && object && this.#namesake(kind, object, attributes)) || attributes.id;
    return this.holderOf(kind, { id: String(id), attributes });
  }

  /** The id under which the state has a thing, where the API cannot say that two ids are one object. */
  #namesake(kind: Kind, object: HeldObject, attributes: JsonObject): string | undefined {
    const name = kind.naturalKey(attributes) ?? kind.naturalKey({ ...attributes, [kind.words.name]: object.id });
    if (name === undefined || this.#shown.has(keyOf(object))) return undefined;
    const isSame = (key: string, one: { readonly name?: string | undefined }) =>
      one.name === name && (JSON.parse(key) as string[])[0] === kind.type;
    const firm = [...this.#known].filter(([, { isFirm }]) => isFirm);
    const [key] = [...this.#shown, ...firm].find(([of, one]) => isSame(of, one)) ?? [];
    return key === undefined ? undefined : (JSON.parse(key) as string[])[2];
  }

  /** The holder of an object. Waits a moment for an instance that Terraform may be about to show, so that its plan is known. */
  async findHolder(kind: Kind, remote: Pick<Remote, "id" | "attributes">): Promise<Holder | undefined> {
    await this.load();
    const object = objectOf(kind, { ...remote.attributes, id: remote.id });
    const known = this.holderOf(kind, remote);
    // An apply plans creates again, and shows no plan of another instance.
    if (known?.isShown || object === undefined || this.#isApply) return known;
    await this.#arrivals.wait(keyOf(object), this.#options.clock, SHOWN_MS);
    return this.holderOf(kind, remote);
  }

  /**
   * The other state that holds an object. If nobody has used that state since this one had the object, this state moved from there,
   * unless this run imports the object.
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

  /** Names the other states that hold the objects of errors. An object that this state may hold as well is left as it is. */
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

  /** Terraform has ended the process in order. What a plan was not shown is no longer certain. */
  async end(): Promise<void> {
    await this.flush();
    if (this.#isApply || this.#hasEnded) return;
    this.#hasEnded = true;
    const isRead = [...this.#shown.values()].some(({ reads }) => reads > 0);
    // `terraform import` reads only what is declared. An apply that fails before its first change plans without a read.
    const isPlan = this.#isPlanned ? isRead || this.#shown.size === 0 : isRead && !this.#isImport;
    if (!isPlan) return;
    await this.#recount();
    await this.#use((store) => store.endRun(this.place.mark, this.run, this.#begun));
  }

  /**
   * Records that fewer instances have an object than an earlier run counted. A plan of a part of the state does not show that, and no
   * plan that destroys the object: with another instance of it somewhere else, that would be the wrong one.
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

  /** Writes what is not written yet. */
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
    // The state that was used last counts.
    const byTime = (found ?? []).toSorted((a, b) => Number(a.isFirm) - Number(b.isFirm) || a.lastSeen - b.lastSeen);
    return new Map(byTime.map((held) => [keyOf(held), held]));
  }

  /** Without a store this process knows only what it is shown: that is no reason to fail. */
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

/** `2026-11-21T10:00:00Z`. */
export const seconds = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");

/** Two instances hold one object: a destroy of one would take it from the other. */
export const heldTwice = (kind: Kind, attributes: JsonObject, instances: number, severity: Diagnostic["severity"]) =>
  problem("state.duplicate", { what: named(kind, attributes), noun: kind.noun, instances, severity });

/** Two addresses must not manage one object. */
export const twoAddresses = ({ noun }: Kind, { id }: JsonObject) =>
  problem("plan.exists/two_addresses", { noun, id: String(id) });

const countOf = ({ reads, plans }: Shown) => Math.max(reads, plans);

/** An object as the store names it; undefined while it has no id, or its parent is not known. */
export function objectOf(kind: Kind, attributes: ValueObject): HeldObject | undefined {
  const { id } = attributes;
  const parent = kind.parent === undefined ? "" : parentOf(kind, attributes);
  return typeof id === "string" && typeof parent === "string" ? { type: kind.type, parent, id } : undefined;
}

const keyOf = ({ type, parent, id }: HeldObject): string => JSON.stringify([type, parent, id]);
