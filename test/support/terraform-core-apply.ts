/** Models how Terraform core applies a plan. */
import type { JsonObject } from "../../src/core/model/index.ts";
import type { CoreState, Declaration, Declarations, Instance, PlannedChange } from "./terraform-core.ts";
import { planInstance, planRemoval, refuseOtherPlan } from "./terraform-core-plan.ts";
import { compatibilityProblems } from "./terraform-core-rules.ts";
import {
  type CoreWire,
  completeConfig,
  type Held,
  isRefusal,
  NOTHING,
  refuse,
  type Said,
} from "./terraform-core-wire.ts";

/** A new entry of the state. Without an instance, the entry is removed. */
export type Entry = readonly [part: "current" | "deposed", address: string, instance: Instance | undefined];

/** State during an apply. Each record is written before the next operation. */
export interface Records {
  state(): CoreState;
  /** Writes several entries at once. */
  record(...entries: readonly Entry[]): void;
}

export class Applying {
  readonly #wire: CoreWire;
  readonly #records: Records;
  readonly #declared: Declarations;

  constructor(wire: CoreWire, records: Records, declared: Declarations) {
    this.#wire = wire;
    this.#records = records;
    this.#declared = declared;
  }

  /**
   * Applies one change.
   * @returns The diagnostics. Other changes continue after an error.
   */
  async run(change: PlannedChange): Promise<readonly Said[]> {
    switch (change.action) {
      case "no-op":
        return [];
      case "delete":
        return this.#delete(change);
      case "delete-create": {
        const deleted = await this.#delete(change);
        return deleted.some(isRefusal) ? deleted : [...deleted, ...(await this.#create(change))];
      }
      case "create-delete":
        return this.#createFirst(change);
      case "create":
        return this.#create(change);
      case "update":
        return this.#update(change);
    }
  }

  async #delete({ address, type, mark, identity, deposed }: PlannedChange): Promise<readonly Said[]> {
    const part = deposed ? "deposed" : "current";
    const recorded = this.#recorded(part, address);
    const { value: prior, said: refused } = await this.#wire.upgrade(type, recorded.attributes);
    if (refused.some(isRefusal)) return refused;
    return this.#destroy(part, address, { ...recorded, attributes: prior }, { mark, identity });
  }

  async #destroy(
    part: "current" | "deposed",
    address: string,
    instance: Instance,
    planned: Pick<PlannedChange, "mark" | "identity">,
  ): Promise<readonly Said[]> {
    const { type, attributes: prior } = instance;
    const answer = await this.#wire.apply(type, { prior, planned: null, config: null, ...planned });
    const failed = answer.said.some(isRefusal);
    if (!failed) refuse(`destroy of ${address}`, answer.value === null ? [] : ["it is still there"]);
    if (answer.value !== null) {
      const { private: mark, identity } = answer;
      const left = { ...instance, attributes: answer.value as JsonObject, private: mark, identity };
      this.#records.record([part, address, left]);
    } else if (!failed) this.#records.record([part, address, undefined]);
    return answer.said;
  }

  /** Deposes the old object in the same write that records the new object, then deletes the old object. */
  async #createFirst(change: PlannedChange): Promise<readonly Said[]> {
    const { address } = change;
    const old = this.#recorded("current", address);
    const aside = this.#aside(address);
    const made = await this.#create(change, ["deposed", aside, old]);
    if (made.some(isRefusal)) return made;
    const { change: removal, said } = await planRemoval(this.#wire, address, old);
    if (said.some(isRefusal)) return [...made, ...said];
    return [...made, ...said, ...(await this.#destroy("deposed", aside, old, removal))];
  }

  /**
   * Creates an object. The state has no object at this address now, and Terraform does not name to the provider the
   * replaced object.
   */
  async #create(change: PlannedChange, ...aside: readonly Entry[]): Promise<readonly Said[]> {
    const { address, type } = change;
    const declaration = this.#declaration(address);
    const question = { address, declaration, prior: null, mark: NOTHING, identity: undefined, forceReplace: false };
    const again = await planInstance(this.#wire, question);
    if (again.said.some(isRefusal)) return again.said;
    refuseOtherPlan({ ...change, action: "create" }, again.change);
    const answer = await this.#apply(again.change, null, declaration);
    // The create failed, so the deposed object returns to its address unchanged.
    if (answer.value === null) return answer.said;
    const tainted = answer.said.some(isRefusal);
    const { value, private: mark, identity } = answer;
    const made = { type, attributes: value, private: mark, tainted, identity };
    this.#records.record(["current", address, made], ...aside);
    return answer.said;
  }

  async #update(change: PlannedChange): Promise<readonly Said[]> {
    const { address, type } = change;
    const recorded = this.#recorded("current", address);
    const { value: prior, said: refused } = await this.#wire.upgrade(type, recorded.attributes);
    if (refused.some(isRefusal)) return refused;
    const declaration = this.#declaration(address);
    const { private: recordedMark, identity: before } = recorded;
    const question = { address, declaration, prior, mark: recordedMark, identity: before, forceReplace: false };
    const again = await planInstance(this.#wire, question);
    if (again.said.some(isRefusal)) return again.said;
    refuseOtherPlan(change, again.change);
    if (again.change.action === "no-op") return [];
    const answer = await this.#apply(again.change, prior, declaration);
    if (answer.value === null) return answer.said;
    const { value, private: mark, identity } = answer;
    this.#records.record(["current", address, { ...recorded, attributes: value, private: mark, identity }]);
    return answer.said;
  }

  async #apply(
    { address, type, after, mark, identity }: PlannedChange,
    prior: JsonObject | null,
    { config }: Declaration,
  ): Promise<Held<JsonObject | null>> {
    const complete = completeConfig(type, config);
    const answer = await this.#wire.apply(type, { prior, planned: after, config: complete, mark, identity });
    if (!answer.said.some(isRefusal)) refuse(`apply of ${address}`, compatibilityProblems(after, answer.value));
    return { ...answer, value: answer.value as JsonObject | null };
  }

  /** Returns a free key for a deposed object. Earlier deposed objects may still exist. */
  #aside(address: string): string {
    const { deposed } = this.#records.state();
    for (let nth = 1; ; nth++) {
      const name = `${address} (deposed ${nth})`;
      if (!deposed.has(name)) return name;
    }
  }

  #declaration(address: string): Declaration {
    const declared = this.#declared[address];
    if (declared === undefined) throw new Error(`${address} is not declared`);
    return declared;
  }

  #recorded(part: "current" | "deposed", address: string): Instance {
    const recorded = this.#records.state()[part].get(address);
    if (recorded === undefined) throw new Error(`${address} is not in the state`);
    return recorded;
  }
}
