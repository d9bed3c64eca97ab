/**
 * A small model of Terraform core. It holds a state and calls the provider in the order of Terraform 1.11: one process
 * plans, another process applies. It checks the responses by the rules of Terraform. Instances do not depend on each
 * other. The model runs in memory with the test's clock, so that tests can combine each kind with each failure.
 */
import { type JsonObject, PENDING_CREATE, type ValueObject } from "../../src/core/model/index.ts";
import type { Deferred_Reason } from "../../src/fronts/terraform/wire/tfplugin6.gen.ts";
import { Applying, type Entry } from "./terraform-core-apply.ts";
import { inParallel, Planning } from "./terraform-core-plan.ts";
import { CommandKilled, Life, type Machine } from "./terraform-core-process.ts";
import { about, CoreWire, isRefusal, type MoveSource, NOTHING, refuse, type Said } from "./terraform-core-wire.ts";

/** State of one instance. */
export interface Instance {
  readonly type: string;
  readonly attributes: JsonObject;
  readonly private: Uint8Array;
  readonly tainted: boolean;
  /** Undefined for a pending create, and in the state of an older provider. */
  readonly identity?: JsonObject | undefined;
}

/** A resource block. */
export interface Declaration {
  readonly type: string;
  readonly config: ValueObject;
  readonly createBeforeDestroy?: boolean;
}

export type Declarations = Readonly<Record<string, Declaration>>;

export type Action = "no-op" | "create" | "update" | "delete" | "delete-create" | "create-delete";

export interface PlannedChange {
  readonly address: string;
  readonly type: string;
  readonly action: Action;
  readonly before: JsonObject | null;
  readonly after: ValueObject | null;
  readonly mark: Uint8Array;
  readonly identity: JsonObject | undefined;
  /** True for an object that a replacement deposed. */
  readonly deposed?: true;
}

export interface Plan {
  readonly changes: readonly PlannedChange[];
  readonly said: readonly Said[];
  /** Deferred instances, with their reasons. */
  readonly deferred: Readonly<Record<string, Deferred_Reason>>;
  /** State after the refresh. */
  readonly refreshed: CoreState;
}

export interface CoreState {
  readonly current: ReadonlyMap<string, Instance>;
  readonly deposed: ReadonlyMap<string, Instance>;
}

export interface RunOptions {
  readonly life?: Life;
  /** Addresses of `-replace`. */
  readonly replace?: readonly string[];
  /** True for `terraform destroy`. */
  readonly destroy?: boolean;
  /** Addresses of `-target`. Default: all. */
  readonly target?: readonly string[];
  /** `-parallelism`; default: 10. */
  readonly parallelism?: number;
  /** False for `-refresh=false`. */
  readonly refresh?: boolean;
  /** True for `-allow-deferral`. */
  readonly deferral?: boolean;
  /** Declarations during the apply, when their values are known. */
  readonly known?: Declarations;
}

/** Result of a command. */
export interface Outcome {
  readonly said: readonly Said[];
  readonly errors: readonly Said[];
  readonly warnings: readonly Said[];
  /** Planned actions, by address. Empty if the plan failed. */
  readonly actions: Readonly<Record<string, Action>>;
  readonly killed: boolean;
}

/**
 * Returns the tainted instances, which Terraform would replace. Omits pending creates, which have no object. Their
 * replacement resolves them.
 */
export const taintedObjects = ({ current }: CoreState): Instance[] =>
  [...current.values()].filter(({ tainted, attributes: { id } }) => tainted && id !== PENDING_CREATE);

export class TerraformCore {
  readonly machine: Machine;
  #current: ReadonlyMap<string, Instance> = new Map();
  #deposed: ReadonlyMap<string, Instance> = new Map();

  constructor(machine: Machine) {
    this.machine = machine;
  }

  get state(): CoreState {
    return { current: this.#current, deposed: this.#deposed };
  }

  /**
   * Returns the recorded attributes of an address.
   * @throws Error if the state lacks the address.
   */
  attributes(address: string): JsonObject {
    const instance = this.#current.get(address);
    if (instance === undefined) throw new Error(`${address} is not in the state`);
    return instance.attributes;
  }

  /** Returns the provider's private data of an address. */
  private(address: string): unknown {
    const text = new TextDecoder().decode(this.#current.get(address)?.private ?? NOTHING);
    return text === "" ? {} : JSON.parse(text);
  }

  /** Restores an earlier state, for example a remote state that was not updated. */
  restore({ current, deposed }: CoreState): void {
    this.#current = current;
    this.#deposed = deposed;
  }

  /** Models `terraform untaint`. */
  untaint(address: string): void {
    this.#current = new Map(
      [...this.#current].map(([each, one]) => [each, each === address ? { ...one, tainted: false } : one]),
    );
  }

  /** Models a state that a provider without identities wrote. */
  dropIdentities(): void {
    this.#current = new Map([...this.#current].map(([each, { identity: _, ...one }]) => [each, one]));
  }

  /** Models `terraform state rm`. */
  forget(address: string): void {
    this.#current = new Map([...this.#current].filter(([each]) => each !== address));
  }

  /** Models `terraform plan`, which changes nothing. */
  async plan(declared: Declarations, options: RunOptions = {}): Promise<Plan> {
    const { life = new Life(), deferral = false } = options;
    const planning = (wire: CoreWire) => new Planning(wire, this.state, declared, options).run();
    const normal = await this.#process(life, planning, deferral);
    if (!options.destroy || normal.said.some(isRefusal)) return normal;
    // Another process plans a destroy, from the refreshed state of the first process.
    return this.#process(
      life,
      (wire) => new Planning(wire, normal.refreshed, {}, { ...options, refresh: false }).run(),
      deferral,
    );
  }

  /** Models `terraform apply` or `terraform destroy`: plans and applies. */
  async run(declared: Declarations, options: RunOptions = {}): Promise<Outcome> {
    const { life = new Life(), known = declared } = options;
    let said: readonly Said[] = [];
    let actions: Outcome["actions"] = {};
    try {
      const plan = await this.plan(declared, { ...options, life });
      said = plan.said;
      if (!said.some(isRefusal)) {
        actions = Object.fromEntries(plan.changes.map(({ address, action }) => [address, action]));
        said = [...said, ...(await this.apply(plan, known, life, options.parallelism))];
      }
    } catch (error) {
      if (!(error instanceof CommandKilled)) throw error;
    }
    const errors = said.filter(isRefusal);
    return { said, errors, warnings: said.filter((each) => !isRefusal(each)), actions, killed: life.over };
  }

  /**
   * Applies a plan.
   * @param known Declarations, including the values that were unknown in the plan.
   */
  async apply(plan: Plan, known: Declarations, life = new Life(), parallelism?: number): Promise<readonly Said[]> {
    this.restore(plan.refreshed);
    const record = (...entries: readonly Entry[]) => {
      life.pass(`Terraform records ${entries.map(([, address]) => address).join(", ")}`);
      const state = { current: new Map(this.#current), deposed: new Map(this.#deposed) };
      for (const [part, address, instance] of entries) {
        if (instance === undefined) state[part].delete(address);
        else state[part].set(address, instance);
      }
      this.restore(state);
    };
    const apply = async (wire: CoreWire) => {
      const said: Said[] = [];
      const applying = new Applying(wire, { state: () => this.state, record }, known);
      await inParallel(
        plan.changes.map((change) => async () => void said.push(...about(change.address, await applying.run(change)))),
        parallelism,
      );
      return said;
    };
    // Terraform allows deferrals in each apply.
    return this.#process(life, apply, true);
  }

  /** Models a `moved` block from a resource of another provider. The next plan refreshes the object. */
  async move(address: string, type: string, source: MoveSource): Promise<readonly Said[]> {
    const life = new Life();
    const moved = await new CoreWire(this.machine.unconfigured(), life.until, life.cancelled.signal, false).move(
      source,
      type,
    );
    if (moved.value === null) return moved.said;
    const instance = { type, attributes: moved.value, private: moved.private, tainted: false, identity: undefined };
    this.#current = new Map(this.#current).set(address, instance);
    return moved.said;
  }

  /** Models `terraform import`, and `import` blocks. @param by Id, or identity. */
  async import(address: string, type: string, by: string | JsonObject): Promise<readonly Said[]> {
    return this.#process(new Life(), async (wire) => {
      // Terraform also upgrades the other objects of the state. Twenty objects represent a large state.
      const others = [...this.#current.values()]
        .slice(0, 20)
        .map((other) => wire.upgrade(other.type, other.attributes));
      const [imported] = await Promise.all([wire.import(type, by), ...others]);
      if (imported.value === null) return imported.said;
      const read = await wire.read(type, imported.value, imported.private, imported.identity);
      if (read.said.some(isRefusal)) return read.said;
      refuse("import", read.value === null ? ["the object that was imported does not exist"] : []);
      const { private: mark, identity } = read;
      const instance = { type, attributes: read.value ?? {}, private: mark, tainted: false, identity };
      this.#current = new Map(this.#current).set(address, instance);
      return [...imported.said, ...read.said];
    });
  }

  /** Runs one walk in its own process of the provider. */
  async #process<T>(life: Life, walk: (wire: CoreWire) => Promise<T>, mayDefer = false): Promise<T> {
    const { connection, warnings } = await this.machine.start(life);
    const result = await walk(new CoreWire(connection, life.until, life.cancelled.signal, mayDefer));
    // Terraform asks the provider to end after it recorded the responses.
    const unheard = connection.stop.signal.aborted || life.cancelled.signal.aborted;
    if (!unheard) {
      await connection.session?.entries.answered();
      await connection.session?.holdings.end();
    }
    await connection.session?.close();
    refuse(
      "entries",
      warnings.map(({ summary, detail }) => `${summary}: ${detail}`),
    );
    return result;
  }
}
