/**
 * What the resources of one provider configuration share while the process lives: who has which object and which name, what is
 * listed, and which jobs are waited for.
 */
import type { Kind, Remote } from "../../../core/kinds/kind.ts";
import { type Account, JobWatch } from "../../../core/lifecycle/index.ts";
import type { JsonObject, ValueObject } from "../../../core/model/index.ts";
import type { DataSession, ProviderSession } from "../index.ts";
import { keyOf, labelOf, nameOf } from "./attribute-mapping.ts";

/** How long queued jobs are waited for unless `timeouts` says otherwise, in milliseconds. */
const JOB_MS = 300_000;

/** What the resources of one provider configuration share while the process lives. */
export class ProviderScope {
  readonly session: ProviderSession;
  readonly collections: Collections;
  readonly jobs: JobWatch;
  /** Things that are made, or are being made, in this process: type and name -> what it is called. */
  readonly #claimed = new Map<string, string>();
  /** Objects that Terraform let go of in this process: a create may take their place. */
  readonly #released = new Set<string>();
  readonly #held = new Map<string, string>();
  /** What the state holds, and what was imported: type and id. */
  readonly #ids = new Set<string>();
  readonly #imported = new Set<string>();
  readonly #made = new Set<string>();
  /** Names of what the state holds without an id. */
  readonly #pending = new Set<string>();
  /** Objects that Terraform has tainted because their secret is lost: type and name -> id. */
  readonly #lost = new Map<string, string>();
  readonly #said = new Set<string>();

  /** @param coalesce false: every object is read on its own (for comparison). */
  constructor(session: ProviderSession, coalesce = true) {
    this.session = session;
    this.collections = beginCollections(session, coalesce);
    this.jobs = new JobWatch({ clock: session.clock, timeoutMs: JOB_MS, stop: session.stop });
  }

  get account(): Account {
    return this.session.account;
  }

  /** Whether what there is to say of something is said for the first time in this process. */
  isFirst(thing: string): boolean {
    if (this.#said.has(thing)) return false;
    this.#said.add(thing);
    return true;
  }

  /** Takes the name of a thing that is to be made. @returns what has it already. */
  claim(kind: Kind, name: string | undefined, label: string): string | undefined {
    if (name === undefined) return undefined;
    const key = `${kind.type} ${name}`;
    const other = this.#claimed.get(key);
    if (other === undefined) this.#claimed.set(key, label);
    return other;
  }

  /** Takes a name for a create that is planned. @returns what has it already. */
  plan(kind: Kind, name: string, label: string): string | undefined {
    return this.claim(kind, `planned ${name}`, label);
  }

  /** The name is free again: nothing was made, or it was removed. */
  unclaim(kind: Kind, name: string | undefined): void {
    this.#claimed.delete(`${kind.type} ${name ?? ""}`);
  }

  /** Terraform's state holds an object that was ordered under a name. */
  hold(kind: Kind, attributes: JsonObject): void {
    const { id } = attributes;
    const name = nameOf(kind, attributes);
    if (typeof id !== "string") {
      if (name !== undefined) this.#pending.add(`${kind.type} ${name}`);
      return;
    }
    this.#ids.add(`${kind.type} ${id}`);
    if (name !== undefined) this.#held.set(`${kind.type} ${name}`, id);
  }

  /** Whether the state is not known to hold anything of a kind: Terraform shows one instance after the other. */
  holdsNone(kind: Kind): boolean {
    return ![...this.#ids].some((id) => id.startsWith(`${kind.type} `));
  }

  /** An object was made in this process: it belongs to another resource than those that are made beside it. */
  noteMade(kind: Kind, id: unknown): void {
    this.#made.add(`${kind.type} ${String(id)}`);
  }

  /** Whether an object is known to belong to a resource of the state. */
  isOurs(kind: Kind, { id }: Pick<Remote, "id">): boolean {
    return this.holds(kind, id) || this.#made.has(`${kind.type} ${id}`);
  }

  /** Whether the state is known to hold an object. */
  holds(kind: Kind, id: string): boolean {
    return this.#ids.has(`${kind.type} ${id}`);
  }

  /** Whether the state has, under this name, something of which it is not known whether it was made. */
  hasPending(kind: Kind, name: string | undefined): boolean {
    return name !== undefined && this.#pending.has(`${kind.type} ${name}`);
  }

  /** The secret of a recorded object is lost: of what is tainted, Terraform plans nothing but a create. */
  losing(kind: Kind, attributes: JsonObject): void {
    this.#lost.set(`${kind.type} ${nameOf(kind, attributes)}`, String(attributes.id));
  }

  /** The recorded object of this name whose secret is lost. */
  lostAs(kind: Kind, name: string | undefined): string | undefined {
    return this.#lost.get(`${kind.type} ${name}`);
  }

  /** An object was imported in this process. */
  importing(kind: Kind, id: unknown): void {
    this.#imported.add(`${kind.type} ${String(id)}`);
  }

  isImported(kind: Kind, id: unknown): boolean {
    return this.#imported.has(`${kind.type} ${String(id)}`);
  }

  /** Whether an object is imported although another address of this state has it. */
  isDouble(kind: Kind, id: unknown): boolean {
    return this.isImported(kind, id) && this.#ids.has(`${kind.type} ${String(id)}`);
  }

  /** The object that Terraform's state is known to hold under a name. */
  heldAs(kind: Kind, name: string): string | undefined {
    return this.#held.get(`${kind.type} ${name}`);
  }

  /** Terraform let go of an object in this process. */
  release(kind: Kind, id: unknown): void {
    this.#released.add(`${kind.type} ${String(id)}`);
  }

  isReleased(kind: Kind, { id }: Pick<Remote, "id">): boolean {
    return this.#released.has(`${kind.type} ${id}`);
  }

  /** Takes an object that an answer has named. @returns whose it is, when it is not to be taken. */
  take(kind: Kind, id: string, label: string): string | undefined {
    if (this.isReleased(kind, { id })) return "what was to make room for it";
    return this.#ids.has(`${kind.type} ${id}`) ? "another resource of this state" : this.claim(kind, `id ${id}`, label);
  }
}

/** Takes the name of a thing that is to be created, and what distinguishes it from others. @returns what has either already. */
export function claimOf(
  kind: Kind,
  name: string | undefined,
  planned: ValueObject,
  scope: ProviderScope,
): string | undefined {
  const label = labelOf(kind, planned);
  const taken = scope.claim(kind, name, label);
  if (taken !== undefined) return taken;
  const key = keyOf(kind, planned);
  const other = key === name ? undefined : scope.claim(kind, key, label);
  if (other !== undefined) scope.unclaim(kind, name);
  return other;
}

/** Both are free again: nothing was made, or it was removed. */
export function unclaim(kind: Kind, name: string | undefined, attributes: ValueObject, scope: ProviderScope): void {
  scope.unclaim(kind, name);
  scope.unclaim(kind, keyOf(kind, attributes));
}

const scopes = new WeakMap<ProviderSession, ProviderScope>();

/** The scope of a session. With HOSTFORM_TERRAFORM_COALESCE=0 every object is read on its own, for comparison. */
export function scopeOf(
  session: ProviderSession,
  env: Readonly<Record<string, string | undefined>> = process.env,
): ProviderScope {
  const known = scopes.get(session);
  if (known !== undefined) return known;
  const scope = new ProviderScope(session, env.HOSTFORM_TERRAFORM_COALESCE !== "0");
  scopes.set(session, scope);
  return scope;
}

/** How long the first readers of a collection wait for others, in milliseconds. Terraform asks for ten at a time. */
const GATHER_MS = 25;

/** Up to so many objects of a collection are read one by one: a listing may be many pages. */
const FEW = 2;

/** The collections of an account, as those who read them side by side share them. */
class Collections {
  readonly #session: Pick<DataSession, "account" | "clock">;
  readonly #coalesce: boolean;
  readonly #stale = new Set<string>();
  readonly #asked = new Map<string, number>();

  /** @param coalesce false: every object is read on its own (for comparison). */
  constructor(session: Pick<DataSession, "account" | "clock">, coalesce = true) {
    this.#session = session;
    this.#coalesce = coalesce;
  }

  /**
   * Whether an object is one of so few that are asked for that it is cheaper to read it on its own. Waits a moment for
   * others: Terraform reads many instances side by side.
   */
  async isAlone(kind: Kind, parent: string | undefined): Promise<boolean> {
    if (!this.#coalesce) return true;
    const key = collectionKey(kind, parent);
    this.#asked.set(key, (this.#asked.get(key) ?? 0) + 1);
    if (kind.get === undefined) return false;
    await this.#session.clock.sleep(GATHER_MS);
    return (this.#asked.get(key) ?? 0) <= FEW;
  }

  /** A collection was changed here. What was listed of it is still good for resources: what they made is claimed. */
  changed(kind: Kind, parent: string | undefined): void {
    this.#stale.add(collectionKey(kind, parent));
  }

  /** For callers that show a collection as it is (data sources, after what they depend on): lists it again if it was changed. */
  upToDate(kind: Kind, parent: string | undefined): void {
    if (this.#stale.delete(collectionKey(kind, parent))) this.#session.account.forget(kind, parent);
  }
}

const collectionKey = (kind: Kind, parent: string | undefined) => `${kind.type} ${parent ?? ""}`;

const known = new WeakMap<object, Collections>();

/** New collections for a session: anyone who asks for them from now on gets these. */
function beginCollections(session: Pick<DataSession, "account" | "clock">, coalesce: boolean): Collections {
  const collections = new Collections(session, coalesce);
  known.set(session, collections);
  return collections;
}

/** The collections of a session. With HOSTFORM_TERRAFORM_COALESCE=0 every object is read on its own, for comparison. */
export function collectionsOf(session: Pick<DataSession, "account" | "clock">): Collections {
  return known.get(session) ?? beginCollections(session, process.env.HOSTFORM_TERRAFORM_COALESCE !== "0");
}
