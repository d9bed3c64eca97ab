/** Creates of two runs on one machine: the second run's reads, its rejections and its requests. */
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Mutation, Reader } from "../../../../src/core/api/index.ts";
import type { Kind } from "../../../../src/core/kinds/kind.ts";
import { Account } from "../../../../src/core/lifecycle/index.ts";
import { type LeavingCreate, SqliteStore, type Turn } from "../../../../src/core/local/index.ts";
import {
  ApiError,
  type Change,
  type Diagnostic,
  type JsonObject,
  type PrivateMark,
  type ResourceState,
} from "../../../../src/core/model/index.ts";
import { changeOf, fakeRun, outcomeOf } from "../../../support/changes.ts";
import { START, type TestClock, testClock } from "../../../support/clock.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { saying } from "../../../support/remedies.ts";
import {
  failure,
  fakeAccount,
  fakeWriter,
  freeTicket,
  kindOf,
  liveGrant,
  liveService,
  liveWebhook,
  recorded,
  remote,
} from "../../../support/subjects.ts";

const HOOK = { url: "https://hooks.acme.example", events: ["invoice.paid"] };
const DOMAIN = {
  domain: "acme.example",
  years: 1,
  currency: "USD",
  nameserver_mode: "default",
  registrant_contact: {},
};

const GRANT = { service_id: "1001", email: "dev@acme.example", permission: "view" };
const SERVER = { plan_id: 31, currency: "USD" };
const BIGGER = { plan_id: 32 };
const CONFIGS: Readonly<Record<string, JsonObject>> = {
  hosting_domain: DOMAIN,
  hosting_grant: GRANT,
  hosting_service: SERVER,
  hosting_webhook: HOOK,
};

interface RunOptions {
  /** Name of the run's state. */
  readonly owner?: string;
  readonly project?: string;
  readonly stop?: AbortSignal;
  readonly address?: string;
  /** Attributes that replace declared attributes. */
  readonly config?: JsonObject;
  readonly anyway?: true;
  readonly mark?: PrivateMark;
  /** Record before the change. */
  readonly prior?: ResourceState;
  /** Fields that replace fields of the create change. */
  readonly change?: Partial<Change>;
  /** Maximum wait for the create lock, in milliseconds. */
  readonly turnTimeoutMs?: number;
  /** Called after each wait. */
  readonly meanwhile?: (why?: Diagnostic) => Promise<unknown>;
  /** Returns the host's response. Default: the host creates the requested object. */
  readonly answer?: (mutation: Mutation, nth: number, leave: () => void) => unknown;
}

/** Opens the store as another process. */
function storeOn(file: string, clock: TestClock, isResettable = false): SqliteStore {
  const onCreatingAlone = (reason: unknown) => expect.fail(String(reason));
  const store = new SqliteStore(() => file, { account: "a", clock, isResettable, onCreatingAlone });
  onTestFinished(() => store.close());
  return store;
}

/**
 * Simulates a machine whose runs share one store file and one account.
 * @param over Fields that replace fields of the kind.
 */
function machine(type: string, isResettable = false, over: Partial<Kind> = {}) {
  const file = path.join(temporaryFolder(), "origin.store");
  const clock = testClock();
  const fake = fakeAccount(kindOf(type));
  fake.isWhole = true;
  /** Time for which lists lack a new object, in milliseconds. */
  let lagMs = 0;
  const born = new Map<string, number>();
  const kind: Kind = {
    ...fake.kind,
    ...(fake.kind.list && {
      async *list(context, parent) {
        for await (const one of fake.kind.list?.(context, parent) ?? [])
          if (clock.now() - (born.get(one.id) ?? 0) >= lagMs) yield one;
      },
    }),
    ...over,
  };
  let made = 0;
  const make = ({ endpoint, body }: Mutation) => {
    made += 1;
    const id = `20${made}`;
    const created_at = new Date(clock.now()).toISOString();
    const show = (record: JsonObject) => {
      fake.objects.set(id, remote(record));
      born.set(id, clock.now());
      return { ...record, raw: {} };
    };
    if (endpoint === "registerDomain") return { id, status: "pending", invoice: null, raw: { domain: "acme.example" } };
    if (endpoint === "createGrant") return show({ ...liveGrant, ...body, id });
    if (endpoint === "createService")
      return { service: show({ ...liveService, domain: null, ...body, id, created_at }), invoice: null };
    return { ...show({ ...liveWebhook, ...body, id }), secret: "whsec" };
  };

  const reader = { hostNow: clock.now, plans: { list: () => ({ all: async () => [] }) } } as unknown as Reader;

  /** Begins a run. The run opens its account and may read it before `end`. */
  const begin = ({
    owner,
    project = "acme",
    stop,
    address,
    config: more,
    anyway,
    mark,
    prior,
    change: over,
    meanwhile,
    turnTimeoutMs,
    answer = make,
  }: RunOptions = {}) => {
    const account = new Account(reader, { statusWords: {} }, undefined, storeOn(file, clock, isResettable));
    const writer = fakeWriter(answer);
    const { context, records } = fakeRun(account, writer, {
      project,
      turnTimeoutMs,
      pause: async (ms, why) => {
        expect(ms, "nothing to wait for is not waited for").toBeGreaterThan(0);
        await clock.sleep(ms);
        await meanwhile?.(why instanceof ApiError ? undefined : why);
      },
      owner: () => owner,
      ...(prior && { prior }),
      ...(stop && { stop }),
    });
    const config = { ...CONFIGS[type], ...more };
    /** Applies the change. @param at Another address in the same declaration. */
    const end = async (at = address) => {
      const own = { ...(at && { address: at }), ...(anyway && { anyway }), ...(mark && { private: mark }), ...over };
      const change = changeOf(type, config, own);
      const said = (await outcomeOf(kind, change, context)).diagnostics;
      return { sent: writer.sent.length, codes: said.map(({ code }) => code), said, records };
    };
    return { account, writer, end, read: () => account.list(kind), recheck: () => account.recheck(kind) };
  };
  const lag = (ms: number) => {
    lagMs = ms;
  };
  return { begin, clock, asked: fake.asked, make, made: () => made, lag, file };
}

const lost = () => {
  throw failure("maybe");
};
const refused = () => {
  throw failure("answered", 422);
};

describe("a full minute of requests", () => {
  it("blocks no other run: the create lock is released, and the create waits without it", async () => {
    const { begin, made } = machine("hosting_webhook");
    const waits: unknown[] = [];
    const one = begin({ owner: "one", config: { url: "https://one.example" } });
    one.writer.reserve = async (_, { withinMs } = {}) => {
      waits.push(withinMs);
      if (withinMs !== undefined) return undefined;
      // While this run waits, another run holds the create lock.
      expect(await begin({ owner: "two" }).end()).toMatchObject({ sent: 1, codes: [] });
      return freeTicket();
    };
    expect(await one.end()).toMatchObject({ sent: 1, codes: [] });
    expect([made(), waits]).toEqual([2, [5_000, undefined]]);
  });

  it("does not send a new create if another run created the same object in the meantime", async () => {
    const { begin, made } = machine("hosting_webhook");
    const one = begin({ owner: "one" });
    one.writer.reserve = async (_, { withinMs } = {}) => {
      if (withinMs !== undefined) return undefined;
      expect(await begin({ owner: "two" }).end()).toMatchObject({ sent: 1, codes: [] });
      return freeTicket();
    };
    expect(await one.end()).toMatchObject({ sent: 0, codes: ["plan.exists"] });
    expect(made()).toBe(1);
  });

  it("causes no second read of the list for a repeated create", async () => {
    const { begin, asked } = machine("hosting_webhook");
    const pending = { since: new Date(START - 3_600_000).toISOString(), operation: "createWebhook" };
    const one = begin({ mark: { pending } });
    one.writer.reserve = async (_, { withinMs } = {}) => (withinMs === undefined ? freeTicket() : undefined);
    expect(await one.end()).toMatchObject({ sent: 1, codes: [] });
    expect(asked).toEqual(["list"]);
  });

  it.each([
    ["never sends again what another run created meanwhile", false],
    ["does not either if another create of this run had a turn first", true],
  ])("%s", async (_, isCaughtUp) => {
    const { begin, made, clock } = machine("hosting_webhook");
    const pending = { since: new Date(START - 3_600_000).toISOString(), operation: "createWebhook" };
    const one = begin({ owner: "one", mark: { pending } });
    one.writer.reserve = async (_, { withinMs } = {}) => {
      if (withinMs !== undefined) return undefined;
      await begin({ owner: "two" }).end();
      const turn = { project: "acme", place: "one" };
      if (isCaughtUp) await one.account.store?.withTurn(turn, (of) => one.account.catchUp(of));
      clock.advance(600_000);
      return freeTicket();
    };
    await one.end();
    expect(made()).toBe(1);
  });
});

describe("a stopped run", () => {
  it("reports the result of a create in progress", async () => {
    const { begin } = machine("hosting_webhook");
    const stop = new AbortController();
    const answer = () => {
      stop.abort();
      return refused();
    };
    expect(await begin({ stop: stop.signal, answer }).end()).toMatchObject({ sent: 1, codes: ["api.server"] });
  });

  it("reports the stop only if the stop is why it has no create lock", async () => {
    const { begin } = machine("hosting_webhook");
    const run = begin({ stop: new AbortController().signal });
    Object.assign(run.account.store ?? {}, { withTurn: () => Promise.reject(new Error("no turns")) });
    await expect(run.end()).rejects.toThrow("no turns");
  });

  it("sends nothing and records nothing while it waits for the create lock, and reports the wait", async () => {
    const { begin, clock, file } = machine("hosting_webhook");
    const other = storeOn(file, clock);
    const stop = new AbortController();
    const run = begin({ stop: stop.signal });
    await other.withTurn({ project: "", place: "" }, async () => {
      const ending = run.end();
      stop.abort();
      expect(await ending).toMatchObject({ sent: 0, codes: ["interrupted"], records: [] });
    });
  });
});

describe("another process", () => {
  it("that keeps the create lock is named after the time limit; nothing was sent or recorded", async () => {
    const { begin, clock, file } = machine("hosting_webhook");
    const other = storeOn(file, clock);
    const run = begin({ turnTimeoutMs: 20_000 });
    await other.withTurn({ project: "shop", place: "" }, async () => {
      const ended = await run.end();
      expect(ended).toMatchObject({ sent: 0, codes: ["store.turn"], records: [] });
      expect(ended.said[0]?.summary).toContain(`Process ${process.pid} (project shop) has held the create lock since`);
    });
  });

  it("that is frozen with the create lock may have executed its create: the object is searched before any request", async () => {
    const { begin, clock, file, make, made } = machine("hosting_webhook");
    const never = () => new Promise<never>(() => {});
    const frozen = storeOn(file, { ...clock, sleep: never });
    const { promise: hasLeft, resolve: left } = Promise.withResolvers<void>();
    void frozen.withTurn({ project: "shop", place: "two" }, async (turn) => {
      await frozen.leave(turn, { id: "9", thing: "hook", place: "two", at: clock.now() });
      left();
      await never();
    });
    await hasLeft;
    const waits: number[] = [];
    const meanwhile = async (why?: Diagnostic) => {
      expect(why, "the wait is explained").toMatchObject({ code: "store.waiting", severity: "warning" });
      waits.push(clock.monotonic());
      make({ endpoint: "createWebhook", params: {}, body: HOOK } as Mutation);
    };
    expect(await begin({ owner: "one", meanwhile }).end()).toMatchObject({ sent: 0, codes: ["plan.exists"] });
    expect(waits[0], "the minute, and the time that lists may lag").toBeGreaterThan(60_000);
    expect(made()).toBe(1);
  });
});

describe("a create with a lost response whose retry was not sent", () => {
  it("stays in the store, so other runs learn that it may have been executed", async () => {
    const { begin, clock, file } = machine("hosting_webhook");
    const one = begin({ owner: "one", answer: lost });
    const { store } = one.account;
    const leave = store?.leave.bind(store);
    const turnLost = () => Promise.reject(failure("no", undefined, "store.turn_lost"));
    let attempts = 0;
    Object.assign(store ?? {}, {
      leave: (turn: Turn, intent: LeavingCreate) => (++attempts === 1 ? leave?.(turn, intent) : turnLost()),
    });
    await one.end();
    expect([attempts, one.writer.sent.length], "the repetition is tried eight times").toEqual([9, 1]);
    const other = storeOn(file, clock);
    await other.withTurn({ project: "", place: "two" }, async () =>
      expect(await other.newest({ state: "unknown" })).toBeDefined(),
    );
  });
});

describe("a create of another run on the machine in the meantime", () => {
  it("is found: the list is read again, and nothing is sent", async () => {
    const { begin, asked, made } = machine("hosting_webhook");
    const [one, two] = [begin(), begin()];
    await Promise.all([one.read(), two.read()]);
    expect(await one.end()).toMatchObject({ sent: 1, codes: [] });
    expect(await two.end()).toMatchObject({ sent: 0, codes: ["plan.exists"] });
    expect(asked).toEqual(["list", "list", "list"]);
    expect(made()).toBe(1);
  });

  it("causes no request if there was none: alone, after another run had ended, or after a rejection", async () => {
    const { begin, asked } = machine("hosting_webhook");
    const other = begin({ answer: refused });
    const alone = begin();
    await Promise.all([other.read(), alone.read()]);
    await other.end();
    expect(await alone.end()).toMatchObject({ sent: 1 });
    const later = begin();
    await later.read();
    expect(await later.end()).toMatchObject({ sent: 0, codes: ["plan.exists"] });
    expect(asked).toEqual(["list", "list", "list"]);
  });

  it("is waited for while lists may lag, and is not repeated", async () => {
    const { begin, clock, made, lag } = machine("hosting_webhook");
    lag(30_000);
    expect(await begin({ owner: "one" }).end()).toMatchObject({ sent: 1, codes: [] });
    const second = begin({ owner: "two" });
    await second.read();
    clock.advance(1_000);
    expect(await second.end()).toMatchObject({ sent: 0, codes: ["plan.exists"] });
    expect(made()).toBe(1);
    expect(clock.slept).toBeGreaterThanOrEqual(30_000);
  });

  it.each(
    ["hosting_webhook", "hosting_service"].flatMap((type) =>
      [1_000, 40_000, 79_999, 80_000, 200_000].map((turnMs) => ({ type, turnMs })),
    ),
  )(
    "is not made again by a run that read a lagging list and has its turn $turnMs ms later: $type",
    async ({ type, turnMs }) => {
      const { begin, clock, made, lag } = machine(type);
      lag(30_000);
      await begin({ owner: "one", project: "one" }).end();
      clock.advance(1_000);
      const second = begin({ owner: "two", project: "two" });
      await second.read();
      await second.recheck();
      clock.advance(turnMs);
      const code = type === "hosting_service" ? "plan.lookalike" : "plan.exists";
      expect(await second.end()).toMatchObject({ sent: 0, codes: [code] });
      expect(made()).toBe(1);
    },
  );

  it.each(["hosting_grant", "hosting_webhook"])(
    "is waited for also by a run whose own create had no answer long before: %s",
    async (type) => {
      const { begin, clock, made, lag } = machine(type);
      lag(30_000);
      const operation = type === "hosting_grant" ? "createGrant" : "createWebhook";
      const pending = { since: new Date(clock.now() - 3_600_000).toISOString(), operation };
      const second = begin({ owner: "two", mark: { pending } });
      await begin({ owner: "one" }).end();
      clock.advance(20_000);
      await second.end();
      expect(made()).toBe(1);
      expect(clock.slept).toBeGreaterThanOrEqual(30_000);
    },
  );

  it.each([
    ["its own if the state has moved here with the intent", true],
    ["not its own if the intent differs", false],
  ])("is %s", async (_, isOwn) => {
    const { begin, clock } = machine("hosting_webhook");
    const { records } = await begin({ owner: "yaml", answer: lost }).end();
    const [first] = records;
    if (first === undefined || first === "dropped" || first.private.pending === undefined) throw new Error("no intent");
    const pending = { ...first.private.pending, ...(!isOwn && { id: "another" }) };
    clock.advance(100_000);
    const moved = begin({ owner: "terraform", mark: { pending } });
    moved.account.noteNew("201");
    expect(await moved.end()).toMatchObject({ codes: [] });
    expect(moved.account.isNew("201")).toBe(isOwn);
  });

  it("is searched in a list that was read after the wait, although an earlier order had read it already", async () => {
    const { begin, clock, made, lag } = machine("hosting_webhook");
    lag(30_000);
    await begin({ owner: "one" }).end();
    const second = begin({ owner: "two" });
    await second.recheck();
    clock.advance(1_000);
    await second.end();
    expect([...(await second.recheck()).keys()]).toEqual(["201"]);
    expect(made()).toBe(1);
  });

  it("is not taken for a new one if the response contains the other run's order", async () => {
    const { begin, clock, lag } = machine("hosting_webhook");
    lag(Number.POSITIVE_INFINITY);
    await begin({ owner: "one" }).end();
    clock.advance(1_000);
    const second = begin({ owner: "two" });
    second.account.noteNew("202");
    await second.end();
    expect(second.account.isNew("202")).toBe(false);
  });

  it("of a sandbox that was reset is repeated at once, but a similar create is waited for", async () => {
    const { begin, clock, lag, made } = machine("hosting_webhook", true);
    lag(Number.POSITIVE_INFINITY);
    await begin({ owner: "one" }).end();
    const beside = begin({ owner: "two" });
    expect(await begin({ owner: "three" }).end()).toMatchObject({ sent: 1 });
    expect([made(), clock.slept]).toEqual([2, 0]);
    await beside.end();
    expect(clock.slept).toBe(80_000);
  });

  it("is repeated at once if its object was deleted, or by the state that owned it", async () => {
    const { begin, clock, made, lag } = machine("hosting_webhook");
    lag(0);
    await begin({ owner: "one" }).end();
    lag(Number.POSITIVE_INFINITY);
    expect(await begin({ owner: "one" }).end(), "its own, deleted since").toMatchObject({ sent: 1 });
    expect(clock.slept).toBe(0);
    clock.advance(600_000);
    expect(await begin({ owner: "two" }).end(), "long ago, deleted since").toMatchObject({ sent: 1 });
    expect(clock.slept).toBe(0);
    expect(made()).toBe(3);
  });

  it("is waited for if its response was lost, because it may still arrive", async () => {
    const { begin, clock, file, asked } = machine("hosting_webhook");
    const next = begin();
    await next.read();
    const other = storeOn(file, clock);
    await other.withTurn({ project: "", place: "" }, (turn) =>
      other.leave(turn, { id: "1", thing: "a grant", place: "", at: clock.now() }),
    );
    clock.advance(1_000);
    expect(await next.end()).toMatchObject({ sent: 1, codes: [] });
    // Lists may lack a new object for 80 s. One second has passed.
    expect(clock.slept).toBe(79_000);
    expect(asked).toEqual(["list", "list"]);
  });
});

describe("the wait for another run", () => {
  const left: readonly (readonly [after: number, waits: number])[] = [
    [1_000, 79_000],
    [79_999, 1],
    [80_000, 0],
    [80_001, 0],
    [-1_000, 80_000],
  ];

  it.each(left)("that created the same object %d ms ago: %d ms, until lists are complete", async (after, waits) => {
    const { begin, clock, lag } = machine("hosting_webhook");
    lag(Number.POSITIVE_INFINITY);
    await begin({ owner: "one" }).end();
    clock.advance(after);
    await begin({ owner: "two" }).end();
    expect(clock.slept).toBe(waits);
  });

  it.each([
    ["made the same thing", "hosting_webhook", {}, (make: () => unknown) => make()],
    ["lost an answer", "hosting_domain", { domain: "another.example" }, lost],
  ] as const)("that %s: from the last attempt of its request, not from the first", async (_, type, config, end) => {
    const { begin, clock, lag, make } = machine(type);
    lag(Number.POSITIVE_INFINITY);
    // A rate limit delays the request: it waits for a minute, and is sent again.
    const answer: RunOptions["answer"] = (mutation, __, leave) => {
      clock.advance(60_000);
      leave();
      return end(() => make(mutation));
    };
    await begin({ owner: "one", answer }).end();
    clock.advance(1_000);
    await begin({ owner: "two", config }).end();
    expect(clock.slept).toBe(79_000);
  });

  it.each(left)("that lost any response %d ms ago: %d ms", async (after, waits) => {
    const { begin, clock } = machine("hosting_domain");
    await begin({ owner: "one", answer: lost }).end();
    clock.advance(after);
    const config = { domain: "another.example" };
    expect(await begin({ owner: "two", config }).end()).toMatchObject({ sent: 1, codes: [] });
    expect(clock.slept).toBe(waits);
  });

  it("of the same state: none, because the state knows its own lost responses", async () => {
    const { begin, clock } = machine("hosting_domain");
    await begin({ owner: "one", answer: lost }).end();
    await begin({ owner: "one", config: { domain: "another.example" } }).end();
    expect(clock.slept).toBe(0);
  });

  it.each<[string, string, RunOptions, RunOptions, boolean]>([
    ["a server of the same address", "hosting_service", {}, {}, true],
    ["another plan under the same key", "hosting_service", {}, { config: BIGGER }, true],
    ["another plan at another address", "hosting_service", {}, { config: BIGGER, address: "hosting_service.b" }, false],
    ["another plan in another project", "hosting_service", {}, { config: BIGGER, project: "other" }, false],
    [
      "another plan of the same reference at another address",
      "hosting_service",
      { config: { reference: "box" } },
      { config: { ...BIGGER, reference: "box" }, address: "hosting_service.b" },
      true,
    ],
    [
      "another plan of another reference",
      "hosting_service",
      { config: { reference: "box" } },
      { config: { ...BIGGER, reference: "cube" } },
      false,
    ],
    ["the first generation, said or not", "hosting_service", {}, { config: BIGGER, mark: { generation: 1 } }, true],
    [
      "another plan in another generation",
      "hosting_service",
      { mark: { generation: 2 } },
      { config: BIGGER, mark: { generation: 3 } },
      false,
    ],
    ["the same webhook at another address", "hosting_webhook", {}, { address: "hosting_webhook.b" }, true],
    ["another webhook", "hosting_webhook", {}, { config: { url: "https://b.example" } }, false],
    ["the same grant", "hosting_grant", {}, {}, true],
    ["the same grant of another service", "hosting_grant", {}, { config: { service_id: "1002" } }, false],
  ])("%s", async (_, type, first, second, waits) => {
    const { begin, clock, lag, made } = machine(type);
    lag(Number.POSITIVE_INFINITY);
    await begin({ owner: "one", ...first }).end();
    await begin({ owner: "two", ...second }).end();
    expect([made(), clock.slept]).toEqual([2, waits ? 80_000 : 0]);
  });

  it("excludes indistinguishable objects, because each may be the result", async () => {
    const { begin, clock, made } = machine("hosting_webhook", false, { naturalKey: () => undefined });
    await begin({ owner: "one" }).end();
    await begin({ owner: "two" }).end();
    expect([made(), clock.slept]).toEqual([2, 0]);
  });

  it.each<[string, number, (nth: number) => unknown]>([
    ["lost one answer, and was refused when lists were believed", 0, (nth) => (nth === 1 ? lost() : refused())],
    [
      "had one answer without the secret, and was refused when it made another",
      80_000,
      (nth) => (nth === 1 ? { ...liveWebhook, raw: {}, secret: null } : nth === 2 ? null : refused()),
    ],
  ])("that %s: %d ms", async (_, waits, answer) => {
    const { begin, clock, lag } = machine("hosting_webhook");
    lag(Number.POSITIVE_INFINITY);
    await begin({ owner: "one", answer: (_mutation, nth) => answer(nth) }).end();
    const before = clock.slept;
    await begin({ owner: "two" }).end();
    expect(clock.slept - before).toBe(waits);
  });
});

describe("a server without a domain: two servers of one plan look equal", () => {
  const second = { owner: "two", project: "other", address: "hosting_service.b" };

  it.each<[what: string, first: RunOptions, second: RunOptions, waits: boolean]>([
    ["of the same plan, by another state", {}, {}, true],
    ["of the same plan, by a run that has no state yet", {}, { owner: undefined }, true],
    ["of the same plan, whose answer was lost there", { answer: lost }, {}, true],
    ["of another plan", {}, { config: BIGGER }, false],
    ["of the same plan, by the same state", { owner: "two" }, {}, false],
    ["of the same plan, on purpose", {}, { anyway: true }, false],
    ["of the same plan, with a domain of its own", {}, { config: { domain: "b.example" } }, false],
    ["of the same plan, beside one with a domain", { config: { domain: "b.example" } }, {}, false],
    ["of the same plan, where the other was refused by the API", { answer: refused }, {}, false],
  ])("%s, is waited for, or not", async (_, first, more, waits) => {
    const { begin, clock, lag } = machine("hosting_service");
    lag(Number.POSITIVE_INFINITY);
    await begin({ owner: "one", ...first }).end();
    clock.advance(1_000);
    const before = clock.slept;
    expect(await begin({ ...second, ...more }).end()).toMatchObject({ sent: 1, codes: [] });
    expect(clock.slept - before).toBe(waits ? 79_000 : 0);
  });

  it("is not ordered twice if lists lag: the run waits, reads the list again, and the user decides", async () => {
    const { begin, clock, made, lag } = machine("hosting_service");
    lag(15_000);
    const two = begin(second);
    await Promise.all([begin({ owner: "one" }).end(), two.read()]);
    clock.advance(100);
    expect(await two.end()).toMatchObject({ sent: 0, codes: ["plan.lookalike"], records: [] });
    expect([made(), clock.slept]).toEqual([1, 79_900]);
    expect(await begin({ ...second, anyway: true }).end(), "the user insists").toMatchObject({ sent: 1 });
  });

  it("is rejected at once if the list shows it", async () => {
    const { begin, clock, asked } = machine("hosting_service");
    const two = begin(second);
    await begin({ owner: "one" }).end();
    asked.length = 0;
    expect(await two.end()).toMatchObject({ sent: 0, codes: ["plan.lookalike"] });
    expect([asked, clock.slept]).toEqual([["list"], 0]);
  });

  it("is ordered as often as one run declares it", async () => {
    const { begin, clock, made, lag } = machine("hosting_service");
    lag(Number.POSITIVE_INFINITY);
    const run = begin({ owner: "one" });
    await Promise.all([run.end(), run.end("hosting_service.b")]);
    expect(await run.end("hosting_service.c")).toMatchObject({ codes: [] });
    expect([made(), clock.slept]).toEqual([3, 0]);
  });

  it("releases the create lock while the run waits, and the run waits again if another run orders one too", async () => {
    const { begin, clock, made, lag } = machine("hosting_service");
    lag(Number.POSITIVE_INFINITY);
    const one = begin({ owner: "one" });
    await one.end();
    const meanwhile = async () => {
      if (made() === 1) expect(await one.end("hosting_service.c")).toMatchObject({ sent: 2, codes: [] });
    };
    expect(await begin({ ...second, meanwhile }).end()).toMatchObject({ sent: 1, codes: [] });
    expect([made(), clock.slept]).toEqual([3, 160_000]);
  });

  it("causes one wait on the machine if the clock is set back", async () => {
    const { begin, clock, lag } = machine("hosting_service");
    lag(Number.POSITIVE_INFINITY);
    await begin({ owner: "one" }).end();
    clock.advance(-3_600_000);
    expect(await begin(second).end()).toMatchObject({ sent: 1 });
    clock.advance(80_000);
    expect(await begin({ owner: "three", address: "hosting_service.c" }).end()).toMatchObject({ sent: 1 });
    expect(clock.slept).toBe(80_000);
  });

  it("of a state that ordered one since is waited for", async () => {
    const { begin, clock, lag } = machine("hosting_service");
    lag(Number.POSITIVE_INFINITY);
    await begin({ owner: "one" }).end();
    await begin({ ...second, anyway: true }).end();
    await begin({ ...second, address: "hosting_service.c" }).end();
    expect(clock.slept).toBe(80_000);
  });

  it("is not rejected because of an object that may be its own after a lost response: the user decides", async () => {
    const { begin } = machine("hosting_service");
    await begin({ owner: "one" }).end();
    const pending = { since: new Date(START).toISOString(), operation: "createService", body: SERVER };
    expect(await begin({ ...second, mark: { pending } }).end()).toMatchObject({ sent: 0, codes: ["plan.pending"] });
  });

  it("of a sandbox that was reset is ordered at once, but a similar order is waited for", async () => {
    const { begin, clock, lag } = machine("hosting_service", true);
    lag(Number.POSITIVE_INFINITY);
    await begin({ owner: "one" }).end();
    const beside = begin(second);
    expect(await begin({ owner: "three", address: "hosting_service.c" }).end()).toMatchObject({ sent: 1 });
    expect(clock.slept).toBe(0);
    await beside.end();
    expect(clock.slept).toBe(80_000);
  });

  it("ends its wait when the run stops: nothing is sent or recorded", async () => {
    const { begin, made, lag } = machine("hosting_service");
    lag(Number.POSITIVE_INFINITY);
    await begin({ owner: "one" }).end();
    const stop = new AbortController();
    const meanwhile = async () => stop.abort();
    const two = begin({ ...second, stop: stop.signal, meanwhile });
    expect(await two.end()).toMatchObject({ sent: 0, codes: ["interrupted"], records: [] });
    expect(made()).toBe(1);
  });
});

describe("an order", () => {
  it("that no other run placed is new", async () => {
    const { begin } = machine("hosting_service");
    const { account, end } = begin({ owner: "one" });
    expect(await end()).toMatchObject({ sent: 1, codes: [] });
    expect(account.isNew("201")).toBe(true);
  });
});

describe("a domain, which no list shows", () => {
  it("whose own response was lost is resolved by the user, whatever other runs did", async () => {
    const { begin } = machine("hosting_domain");
    await begin({ owner: "one" }).end();
    const pending = { since: new Date(START).toISOString(), operation: "registerDomain" };
    expect(await begin({ owner: "two", mark: { pending } }).end()).toMatchObject({ sent: 0, codes: ["plan.pending"] });
  });

  it("is rejected for another state of this machine, whatever its result there", async () => {
    const { begin, made } = machine("hosting_domain");
    expect(await begin({ owner: "one" }).end()).toMatchObject({ sent: 1, codes: [] });
    for (const owner of ["two", undefined]) {
      const { sent, said, records } = await begin({ ...(owner && { owner }) }).end();
      expect(sent).toBe(0);
      expect(records).toEqual([]);
      expect(said).toMatchObject([
        {
          severity: "error",
          code: "plan.exists",
          summary: expect.stringContaining("A run with another state ordered domain acme.example"),
          remedies: saying(
            expect.stringContaining("`hostform import 'hosting_domain.acme' acme.example`"),
            "hosting_domain.acme",
          ),
        },
      ]);
    }
    expect(made()).toBe(1);
  });

  it("is rejected if its response was lost there", async () => {
    const { begin } = machine("hosting_domain");
    expect(await begin({ owner: "one", answer: lost }).end()).toMatchObject({
      sent: 1,
      codes: ["api.server", "plan.pending"],
    });
    const { sent, said } = await begin({ owner: "two" }).end();
    expect({ sent, summary: said[0]?.summary }).toEqual({
      sent: 0,
      summary: expect.stringContaining("and got no response"),
    });
  });

  it("is ordered if the API rejected the other order, or with the user's confirmation; not again by a state that lost the domain", async () => {
    const { begin, made } = machine("hosting_domain");
    await begin({ owner: "one", answer: refused }).end();
    expect(await begin({ owner: "two" }).end(), "the other was refused").toMatchObject({ sent: 1 });
    expect(await begin({ owner: "three", anyway: true }).end(), "the user insists").toMatchObject({ sent: 1 });
    const lost = await begin({ owner: "three" }).end();
    expect(lost, "a restored backup does not have the domain").toMatchObject({ sent: 0, codes: ["plan.exists"] });
    expect(made()).toBe(2);
  });

  it("is rejected for a copy of the state that was read before", async () => {
    const { begin } = machine("hosting_domain");
    const [one, two] = [begin({ owner: "same" }), begin({ owner: "same" })];
    expect(await one.end()).toMatchObject({ sent: 1 });
    expect(await two.end()).toMatchObject({ sent: 0, codes: ["plan.exists"] });
  });
});

describe("a create with a lost response in another state that a later run resolved", () => {
  const RECORDED: Partial<Change> = { actions: ["no-op"], before: { ...HOOK, id: "201" }, private: {} };
  const FORGOTTEN: Partial<Change> = { actions: ["forget"], before: { ...HOOK, id: null }, after: null, private: {} };

  /** Ends a run of the state "one" after its create request was sent. */
  async function killed(isMade: boolean) {
    const place = machine("hosting_webhook");
    const answer = (mutation: Mutation) => {
      if (isMade) place.make(mutation);
      throw new TypeError("killed");
    };
    const run = place.begin({ owner: "one", answer });
    await expect(run.end()).rejects.toThrow("killed");
    place.clock.advance(1_000);
    const other = () => place.begin({ owner: "two", config: { url: "https://two.example" } }).end();
    return { ...place, other };
  }

  const priorIn = (file: string, secret: string | null): ResourceState => {
    const database = new DatabaseSync(file);
    const [row] = database.prepare("SELECT id, at FROM intents").all();
    database.close();
    const pending = { id: String(row?.id), since: new Date(Number(row?.at)).toISOString(), operation: "createWebhook" };
    return { ...recorded("hosting_webhook.acme", { ...HOOK, id: null, secret }), private: { pending } };
  };

  it("is resolved without a retry if the apply finds the object after a full minute", async () => {
    const { begin, clock, file, make, other } = await killed(false);
    const prior = priorIn(file, "whsec");
    clock.advance(100_000);
    const run = begin({ owner: "one", prior, change: { private: prior.private } });
    run.writer.reserve = async (_, { withinMs } = {}) => {
      if (withinMs !== undefined) return undefined;
      make({ endpoint: "createWebhook", body: HOOK } as Mutation);
      await other();
      return freeTicket();
    };
    expect(await run.end()).toMatchObject({ sent: 0, codes: [] });
    await run.account.store?.close();
    const database = new DatabaseSync(file);
    onTestFinished(() => database.close());
    const rows = database.prepare("SELECT id, state FROM intents ORDER BY serial").all();
    expect(rows.map(({ state }) => state)).toEqual(["answered", "answered"]);
    expect(rows.map(({ id }) => id)).toContain(prior.private.pending?.id);
  });

  it("is waited for until it is resolved", async () => {
    const { other, clock } = await killed(true);
    expect(await other()).toMatchObject({ sent: 1 });
    expect(clock.slept).toBeGreaterThan(70_000);
  });

  it.each<[string, boolean, RunOptions["change"], number, secret?: string | null]>([
    ["the plan adopted its object", true, RECORDED, 0],
    ["the apply adopted its object", true, undefined, 0, "whsec"],
    ["the apply recreated its object", true, undefined, 2],
    ["the plan proved that it created nothing", false, { ...FORGOTTEN, removal: "forget" }, 0],
  ])("is not waited for: %s", async (_, isMade, change, sent, secret = null) => {
    const { other, clock, begin, file } = await killed(isMade);
    const prior = priorIn(file, secret);
    const run = begin({ owner: "one", prior, change: change ?? { private: prior.private } });
    expect(await run.end()).toMatchObject({ sent });
    await run.account.store?.close();
    const slept = clock.slept;
    expect(await other()).toMatchObject({ sent: 1, codes: [] });
    expect(clock.slept - slept).toBe(0);
  });
});
