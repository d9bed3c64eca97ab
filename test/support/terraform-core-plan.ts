/** Models how Terraform core refreshes the state and plans. */
import type { JsonObject, ValueObject } from "../../src/core/model/index.ts";
import { equal } from "../../src/core/model/index.ts";
import type {
  Action,
  CoreState,
  Declaration,
  Declarations,
  Instance,
  Plan,
  PlannedChange,
  RunOptions,
} from "./terraform-core.ts";
import { compatibilityProblems, planProblems, valueAt, writeOnlyProblems } from "./terraform-core-rules.ts";
import {
  about,
  type CoreWire,
  completeConfig,
  type Held,
  isRefusal,
  NOTHING,
  refuse,
  type Said,
  schemaNamed,
} from "./terraform-core-wire.ts";

/** Default number of instances in parallel. */
const PARALLEL = 10;

/**
 * Runs the work with this parallelism.
 * @param width `-parallelism`.
 */
export async function inParallel(work: readonly (() => Promise<void>)[], width = PARALLEL): Promise<void> {
  const queue = [...work];
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await next();
  };
  await Promise.all(Array.from({ length: width }, worker));
}

interface Question {
  readonly address: string;
  readonly declaration: Declaration;
  readonly prior: JsonObject | null;
  readonly mark: Uint8Array;
  readonly identity: JsonObject | undefined;
  readonly forceReplace: boolean;
}

/** Plans one declared instance. Interprets the provider's response like Terraform. */
export async function planInstance(
  wire: CoreWire,
  { address, declaration: { type, config, createBeforeDestroy }, prior, mark, identity, forceReplace }: Question,
): Promise<{ change: PlannedChange; said: readonly Said[] }> {
  const { attributes } = schemaNamed(type);
  const complete = completeConfig(type, config);
  const first = await wire.plan(type, { prior, config: complete, mark, identity });
  const said = [...first.said];
  const change = (action: Action, answer: Pick<Held, "value" | "private" | "identity">): PlannedChange => ({
    address,
    type,
    action,
    before: prior,
    after: answer.value,
    mark: answer.private,
    identity: answer.identity,
  });
  const unchanged = change("no-op", { value: prior, private: mark, identity });
  if (said.some(isRefusal)) return { change: unchanged, said };
  const check = (from: JsonObject | null, planned: ValueObject | null) =>
    refuse(`plan of ${address}`, [
      ...planProblems(attributes, { config: complete, prior: from, planned }),
      ...writeOnlyProblems(attributes, planned),
    ]);
  check(prior, first.value);
  if (prior === null) return { change: change("create", first), said };
  // A `requiresReplace` attribute replaces the object only if its value changes.
  const changed = first.requiresReplace.some((path) => !equal(valueAt(prior, path), valueAt(first.value, path)));
  if (!changed && !forceReplace) {
    const action = equal(first.value, prior) ? "no-op" : "update";
    return { change: change(action, first), said };
  }
  // Terraform plans the create of a replacement separately. The provider receives the private data of its first
  // response.
  const { private: planned, identity: other } = first;
  const second = await wire.plan(type, { prior: null, config: complete, mark: planned, identity: other });
  said.push(
    ...second.said.filter(
      ({ severity, summary }) => severity === "error" || !said.some((one) => one.summary === summary),
    ),
  );
  if (said.some(isRefusal)) return { change: unchanged, said };
  check(null, second.value);
  return {
    change: change(createBeforeDestroy ? "create-delete" : "delete-create", second),
    said,
  };
}

/** Plans the removal of an object. */
export async function planRemoval(
  wire: CoreWire,
  address: string,
  { type, attributes: prior, private: mark, identity }: Instance,
): Promise<{ change: PlannedChange; said: readonly Said[] }> {
  const planned = await wire.plan(type, { prior, config: null, mark, identity });
  const refused = planned.said.some(isRefusal);
  if (!refused) refuse(`plan to destroy ${address}`, planProblems({}, { config: null, prior, planned: planned.value }));
  const action = refused ? "no-op" : "delete";
  const { private: next, identity: left, said } = planned;
  return { change: { address, type, action, before: prior, after: null, mark: next, identity: left }, said };
}

export class Planning {
  readonly #wire: CoreWire;
  readonly #state: CoreState;
  readonly #declared: Declarations;
  readonly #options: RunOptions;
  readonly #current = new Map<string, Instance>();
  readonly #deposed = new Map<string, Instance>();
  readonly #changes: PlannedChange[] = [];
  readonly #said: Said[] = [];

  constructor(wire: CoreWire, state: CoreState, declared: Declarations, options: RunOptions) {
    this.#wire = wire;
    this.#state = state;
    this.#declared = declared;
    this.#options = options;
  }

  async run(): Promise<Plan> {
    const { target, parallelism } = this.#options;
    const isMeant = (address: string) => target === undefined || target.includes(address);
    const undeclared = [...this.#state.current.keys()].filter(
      (address) => this.#declared[address] === undefined && isMeant(address),
    );
    // Instances outside of `-target` are neither sent to the provider nor changed.
    for (const [address, instance] of this.#state.current) if (!isMeant(address)) this.#current.set(address, instance);
    await inParallel(
      [
        ...[...this.#state.deposed].map(
          ([address, instance]) =>
            () =>
              this.#leftBehind(address, instance),
        ),
        ...undeclared.map((address) => () => this.#orphan(address)),
        ...Object.entries(this.#declared)
          .filter(([address]) => isMeant(address))
          .map(
            ([address, declaration]) =>
              () =>
                this.#one(address, declaration),
          ),
      ],
      parallelism,
    );
    return {
      changes: this.#changes,
      said: this.#said,
      refreshed: { current: this.#current, deposed: this.#deposed },
    };
  }

  async #one(address: string, declaration: Declaration): Promise<void> {
    const checked = await this.#wire.validate(declaration.type, completeConfig(declaration.type, declaration.config));
    if (this.#say(address, checked)) return;
    const recorded = this.#state.current.get(address);
    const read = recorded === undefined ? undefined : await this.#refresh(address, recorded);
    if (read === "refused") return;
    if (read !== undefined) this.#current.set(address, read);
    const tainted = read?.tainted ?? false;
    const question = { address, declaration, forceReplace: this.#options.replace?.includes(address) ?? false };
    const known = tainted ? undefined : read;
    const { change, said } = await planInstance(this.#wire, {
      ...question,
      prior: known?.attributes ?? null,
      mark: known?.private ?? NOTHING,
      identity: known?.identity,
    });
    if (this.#say(address, said)) return;
    // A tainted object was planned as a create. The old object is deleted first, unless `create_before_destroy` is
    // set.
    const replaces = declaration.createBeforeDestroy ? "create-delete" : "delete-create";
    this.#changes.push(tainted ? { ...change, action: replaces, before: read?.attributes ?? null } : change);
  }

  async #orphan(address: string): Promise<void> {
    const recorded = this.#state.current.get(address);
    const read = recorded && (await this.#refresh(address, recorded));
    if (read === "refused" || read === undefined) return;
    this.#current.set(address, read);
    const { change, said } = await planRemoval(this.#wire, address, read);
    if (!this.#say(address, said)) this.#changes.push(change);
  }

  async #leftBehind(address: string, recorded: Instance): Promise<void> {
    const read = await this.#refresh(address, recorded);
    if (read === "refused" || read === undefined) return;
    this.#deposed.set(address, read);
    const { change, said } = await planRemoval(this.#wire, address, read);
    if (!this.#say(address, said)) this.#changes.push({ ...change, deposed: true });
  }

  /** Reads the current object. Undefined if the object no longer exists. */
  async #refresh(address: string, recorded: Instance): Promise<Instance | undefined | "refused"> {
    const { type } = recorded;
    const upgraded = await this.#wire.upgrade(type, recorded.attributes);
    if (this.#say(address, upgraded.said)) return "refused";
    if (this.#options.refresh === false) return { ...recorded, attributes: upgraded.value };
    const read = await this.#wire.read(type, upgraded.value, recorded.private, recorded.identity);
    if (this.#say(address, read.said)) return "refused";
    const { value, private: mark, identity } = read;
    return value === null ? undefined : { ...recorded, attributes: value, private: mark, identity };
  }

  #say(address: string, said: readonly Said[]): boolean {
    this.#said.push(...about(address, said));
    return said.some(isRefusal);
  }
}

/** Fails if the final plan of the apply contradicts the first plan. */
export function refuseOtherPlan(first: PlannedChange, again: PlannedChange): void {
  const same = first.action === again.action || (first.action === "update" && again.action === "no-op");
  refuse(`final plan of ${first.address}`, [
    ...(same ? [] : [`the planned action changed from ${first.action} to ${again.action}`]),
    ...compatibilityProblems(first.after, again.after),
  ]);
}
