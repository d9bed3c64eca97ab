/** One account on a simulated clock, without faults. Counts the requests and the time of each run. */
import type { ApplyResult, Plan } from "../../src/core/model/index.ts";
import type { Habits } from "./circumstances.ts";
import { type Declaration, type DeclaredService, serviceAddress } from "./declaration.ts";
import { Machine, type RunOptions } from "./machine.ts";
import { CALM } from "./network.ts";
import { PLANS, type Service } from "./records.ts";
import type { Sabotage } from "./sabotage.ts";
import { Server } from "./server.ts";
import { World } from "./world.ts";

/** Requests and time of one run. */
export interface Cost {
  /** Number of received requests, by method and path: `GET /services`. `:` replaces each id. */
  readonly requests: Readonly<Record<string, number>>;
  readonly total: number;
  readonly seconds: number;
  readonly plan: Plan;
  readonly result: ApplyResult;
}

const HABITS: Habits = {
  keyMemoryMs: 86_400_000,
  perMinute: 60,
  pageSize: 100,
  payMs: [0, 0],
  provisionMs: [0, 0],
  jobMs: [1_000, 1_000],
  slowOrders: 0,
  newestFirst: true,
  terse: false,
  aheadMs: 0,
  lagMs: 0,
  hidesTerminated: false,
};

const [SHARED] = PLANS as [(typeof PLANS)[number]];

/** Returns a declared service with shared hosting. */
export const declared = (name: string, domain = `${name}.example`): DeclaredService => ({
  name,
  plan: SHARED.plan_id,
  domain,
  policy: "prevent",
  grants: {},
});

/** An account with this number of services. One machine manages the account. */
export class CountedAccount {
  readonly world = new World(1);
  readonly server: Server;
  readonly services: readonly Service[];
  readonly #machine: Machine;
  readonly #counts = new Map<string, number>();

  constructor(services: number, habits: Partial<Habits> = {}, sabotage: Sabotage = {}) {
    this.server = new Server(
      this.world.chance,
      () => this.world.now,
      { ...HABITS, ...habits },
      () => undefined,
    );
    this.services = Array.from({ length: services }, (_, at) =>
      this.server.add({ plan: SHARED, domain: `site${at}.example`, term: 1, foreign: false, key: null }, 0),
    );
    this.#machine = new Machine(this.world, this.server, () => undefined, sabotage, new Map());
    const handle = this.server.handle.bind(this.server);
    this.server.handle = (arrival) => {
      const what = `${arrival.method} ${arrival.path.replaceAll(/\d+/g, ":")}`;
      this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
      return handle(arrival);
    };
  }

  /**
   * Runs an apply.
   * @param options `imports`: ids of services and grants, by address. `afterMs`: time since the last run. Default: one
   * day.
   */
  async apply(
    services: readonly DeclaredService[],
    { imports = new Map(), afterMs = 86_400_000, ...options }: Partial<RunOptions> & { readonly afterMs?: number } = {},
  ): Promise<Cost> {
    this.world.now += afterMs;
    this.#counts.clear();
    const started = this.world.now;
    const declaration: Declaration = { services, webhooks: [], accounts: [], migrations: [], domains: [] };
    const ended = await this.world.run(
      this.#machine.run({
        declaration,
        imports,
        replace: new Set(),
        reorder: new Set(),
        orderAnyway: new Set(),
        knowsNothing: false,
        planOnly: false,
        mishaps: CALM,
        diskFaults: 0,
        waitMs: 3_600_000,
        concurrency: 10,
        lockTimeoutMs: 0,
        pageSize: 100,
        ...options,
      }),
    );
    if (ended?.value.end !== "applied") throw new Error(`not applied: ${JSON.stringify(ended?.value)}`);
    const { plan, result } = ended.value;
    const unfinished = result.outcomes.filter((one) => one.result !== "done" || one.awaiting !== undefined);
    if (unfinished.length > 0) throw new Error(`not finished: ${JSON.stringify(unfinished)}`);
    return {
      requests: Object.fromEntries([...this.#counts].sort()),
      total: [...this.#counts.values()].reduce((sum, count) => sum + count, 0),
      seconds: (this.world.now - started) / 1000,
      plan,
      result,
    };
  }

  async adopt(count = this.services.length): Promise<void> {
    const ids = this.services.slice(0, count).map(({ id }, at) => [serviceAddress(`site${at}`), String(id)] as const);
    await this.apply(this.declared(count), { imports: new Map(ids) });
  }

  /** Returns the first `count` services as a declaration. */
  declared(count = this.services.length, rest: Partial<DeclaredService> = {}): DeclaredService[] {
    return this.services
      .slice(0, count)
      .map(({ domain }, at) => ({ ...declared(`site${at}`, String(domain)), ...rest }));
  }
}
