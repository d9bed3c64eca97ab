/** The orders of a month before and after each order of a run, and the entry of the run. The journeys test the commands. */
import { describe, expect, it } from "vitest";
import type { InvoiceRecord } from "../../../src/core/api/index.ts";
import type { Order } from "../../../src/core/engine/guards.ts";
import type { Limits } from "../../../src/core/engine/index.ts";
import { MemoryStore, type Note } from "../../../src/core/local/index.ts";
import {
  type ApplyResult,
  type Change,
  errorOf,
  type HistoryEntry,
  type HistoryOrder,
  HostformError,
  type PastOrder,
} from "../../../src/core/model/index.ts";
import {
  budgetOf,
  entriesIn,
  entryOf,
  firstInvoice,
  orderKey,
  quotesIn,
  remember,
  spendOf,
} from "../../../src/project/history.ts";
import { START, testClock } from "../../support/clock.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { change, liveService, order, plan, reason, update } from "../report/builders.ts";

const PLACE = "hosting.tfstate.history";
const MONTH = Date.parse("2026-11-01");
const LIST = "orders account 2026-11";
const A = "hosting_service.a";
const USD = { maxSpendMonth: { USD: 5_000 } };
const key = (address: string, generation?: number, place = PLACE) =>
  orderKey(place, { address, ...(generation !== undefined && { generation }) });
const iso = (at: number) => new Date(at).toISOString();
const made = (over: Partial<HistoryOrder> = {}): HistoryOrder => ({
  key: key(A),
  id: "7",
  provider: "default",
  type: "hosting_service",
  currency: "USD",
  quote: 450,
  invoice: null,
  ...over,
});
const entry = (at: number, ...orders: readonly HistoryOrder[]): HistoryEntry => ({
  at: iso(at),
  command: "apply",
  commit: null,
  plan: null,
  orders,
  requests: 1,
  errors: [],
  details: null,
});
const bill = (over: Partial<InvoiceRecord>) =>
  ({ id: "9", currency: "USD", total: 400, ...over }) as unknown as InvoiceRecord;

interface World {
  readonly changes?: readonly Change[];
  readonly limits?: Limits;
  readonly entries?: readonly HistoryEntry[];
  readonly broken?: number;
  readonly read?: () => Promise<never>;
  readonly prove?: () => Promise<void>;
  /** Creation time of each service of the account, by id. */
  readonly services?: Readonly<Record<string, string | null>>;
  readonly invoices?: Readonly<Record<string, InvoiceRecord[]>>;
  readonly why?: string;
  readonly list?: () => Promise<never>;
  readonly noHistory?: true;
}

/** A project with its history, and an account that other projects share. */
function world(of: World = {}) {
  const clock = testClock(START);
  const store = new MemoryStore({ account: "account", clock });
  let proofs = 0;
  const history = {
    name: PLACE,
    read: of.read ?? (async () => ({ name: PLACE, entries: of.entries ?? [], broken: of.broken })),
    prove: of.prove ?? (async () => void proofs++),
  };
  const services = Object.entries(of.services ?? {}).map(([id, created_at]) => [
    id,
    { id, attributes: { created_at } },
  ]);
  const account = {
    store,
    list: of.list ?? (async () => new Map(services as [])),
    invoices: {
      of: async (ids: readonly string[]) => ({
        invoices: new Map(Object.entries(of.invoices ?? {}).filter(([id]) => ids.includes(id))),
        why: of.why,
      }),
    },
  };
  const acting = {
    plan: plan(of.changes ?? [order({ address: A })]),
    desired: { providers: new Map() },
    store: { history: of.noHistory ? undefined : history },
    providers: { get: (alias: string) => ({ alias, account }) },
    interrupts: { stop: new AbortController().signal },
    limits: of.limits ?? USD,
    project: { host: { clock } },
  } as unknown as Parameters<typeof budgetOf>[0];
  const reservations = async () => (await store.notes(LIST)).map(({ name, value }) => ({ name, ...(value as object) }));
  const reserve = async ({ id: _, ...one }: PastOrder, name: string, place = PLACE) =>
    void (await store.note([{ list: LIST, name, value: { ...one, place } as unknown as Note["value"] }]));
  /** Each write takes a turn of the event loop from now on. */
  const slow = () => {
    const write = store.note.bind(store);
    store.note = (...args) => new Promise(setImmediate).then(() => write(...args));
  };
  return { clock, acting, reservations, reserve, slow, proofs: () => proofs };
}

/** Returns the reservation of an order. */
const reserved = (name: string, amount: number) => ({
  name,
  key: name,
  at: START,
  currency: "USD",
  amount,
  place: PLACE,
});
const past = (over: Partial<PastOrder> = {}): PastOrder => ({
  key: key(A),
  id: null,
  at: START,
  currency: "USD",
  amount: 450,
  ...over,
});

async function pastOf(of: World): Promise<readonly PastOrder[] | undefined> {
  const { limits, diagnostics } = await budgetOf(world(of).acting, false);
  expect(diagnostics).toEqual([]);
  return limits.budget?.past;
}

describe("the orders of a month", () => {
  const unreadable = () => Promise.reject(new Error("the disk is broken"));

  it.each<[reason: string, of: World]>([
    ["without a limit of a month or a day", { limits: { maxSpend: { USD: 1 } }, noHistory: true }],
    ["without an order", { changes: [change()] }],
  ])("are not read %s", async (_, of) => {
    const { acting } = world({ ...of, read: unreadable });
    expect(await budgetOf(acting, true)).toEqual({ limits: acting.limits, diagnostics: [] });
  });

  it.each<[reason: string, of: World, code: string, summary: RegExp]>([
    ["has no place", { noHistory: true }, "state.history", /./],
    ["cannot be read", { read: unreadable }, "state.history", /./],
    [
      "has no key",
      { read: () => Promise.reject(new HostformError([errorOf("state.key", "No key")])) },
      "state.key",
      /^No key$/,
    ],
    ["is broken", { broken: 3 }, "state.history", /3/],
    ["cannot be written", { prove: unreadable }, "state.history", /./],
  ])("are an error if the history %s", async (_, of, code, summary) => {
    const { acting } = world(of);
    const { diagnostics, limits } = await budgetOf(acting, true);
    expect(diagnostics).toMatchObject([{ code, severity: "error", summary: expect.stringMatching(summary) }]);
    expect(limits.budget).toBeUndefined();
  });

  it("prove before an apply, and not before a plan, that the history can be written", async () => {
    const { acting, proofs } = world({ limits: { maxOrdersDay: 5 } });
    await budgetOf(acting, false);
    expect(proofs()).toBe(0);
    await budgetOf(acting, true);
    expect(proofs()).toBe(1);
  });

  it("begin with the month (UTC), in the history and in the account", async () => {
    const quote = { address: "b", quote: 450 };
    const entries = [entry(MONTH - 1, made({ id: "1" })), entry(MONTH, made({ ...quote, id: "2" }))];
    const services = { 3: iso(MONTH - 1), 4: iso(MONTH), 5: iso(MONTH), 6: "unreadable", 7: null };
    const invoices = { 3: [bill({})], 4: [bill({ total: 400 })], 6: [bill({})], 7: [bill({})] };
    expect(await pastOf({ entries, services, invoices })).toEqual([
      past({ key: key(A), id: "default hosting_service 2", at: MONTH }),
      past({ key: "default hosting_service 4", id: "default hosting_service 4", at: MONTH, amount: 400 }),
    ]);
  });

  it.each<[reason: string, of: World, source: string]>([
    ["all sources", {}, "Sources: history, invoices and reservations."],
    [
      "an account without readable invoices",
      { services: { 4: iso(MONTH) }, why: "No billing" },
      "Sources: history and reservations. No billing.",
    ],
    [
      "an account that does not respond",
      { list: () => Promise.reject(new HostformError([errorOf("api.server", "The API failed (500)")])) },
      "Sources: history and reservations. The API failed (500).",
    ],
  ])("name their sources: %s", async (_, of, source) => {
    const { acting, reserve } = world(of);
    expect((await budgetOf(acting, false)).limits.budget?.source).toBe(source);
    await reserve(past(), key(A));
    expect((await budgetOf(acting, false)).limits.budget?.source).toBe(source);
    await reserve(past({ key: "other" }), "other", "another history");
    const { limits } = await budgetOf(acting, false);
    expect(limits.budget?.source).toBe(`${source} 1 order of this month by this token in other projects.`);
    expect(limits.budget).toMatchObject({ day: Date.parse("2026-11-21"), past: [{ key: key(A) }, { key: "other" }] });
  });

  it("are no answer to a bug", async () => {
    const { acting } = world({ list: () => Promise.reject(new TypeError("a bug")) });
    await expect(budgetOf(acting, false)).rejects.toThrow("a bug");
  });

  it("are checked with the plan", async () => {
    const { acting } = world({ entries: [entry(START, made({ key: "b", id: "1", quote: 3_201 }))] });
    expect((await budgetOf(acting, false)).diagnostics).toMatchObject([{ code: "guard.month", severity: "error" }]);
  });
});

describe("a reservation", () => {
  const one = { address: A, type: "hosting_service", provider: "default", generation: 1, currency: "USD", most: 1_800 };

  /** Reserves an order in a run. @returns the orders that the run counted, and the end of the reservation. */
  async function reserving(acting: ReturnType<typeof world>["acting"], over: Partial<Order> = {}) {
    let counted: readonly PastOrder[] = [];
    const { limits } = await budgetOf(acting, true);
    const settle = await limits.budget?.reserve({ ...one, ...over } as Order, (all) => {
      counted = all;
    });
    return { counted, settle, limits };
  }

  it("lasts until the response, and then has the id and the amount of the invoice", async () => {
    const { acting, reservations, clock, slow } = world();
    const { settle, limits } = await reserving(acting);
    slow();
    expect(await reservations()).toEqual([reserved(key(A), 1_800)]);
    clock.advance(5);
    settle?.({ id: "7", amount: 1_500, currency: "EUR" });
    // The next reservation of the run waits for the written amount.
    let counted: readonly PastOrder[] = [];
    await limits.budget?.reserve({ ...one, address: "hosting_service.b" } as Order, (all) => {
      counted = all;
    });
    const known = { key: key(A), at: START + 5, amount: 1_500, currency: "EUR" };
    expect(counted).toEqual([{ ...known, id: "default hosting_service 7", place: PLACE }]);
    expect(await reservations()).toMatchObject([
      { name: key("hosting_service.b"), amount: 1_800 },
      { name: "hosting_service 7", ...known },
    ]);
  });

  it("keeps its amount if the response has no id and no invoice", async () => {
    const { acting, reservations } = world();
    (await reserving(acting)).settle?.({ id: null, amount: null, currency: null });
    await reserving(acting, { address: "hosting_service.b" });
    expect(await reservations()).toContainEqual(reserved(key(A), 1_800));
  });

  it("ends if nothing was ordered, and an earlier attempt without a response keeps its amount", async () => {
    const { acting, reservations, reserve } = world();
    (await reserving(acting)).settle?.(undefined);
    await reserving(acting, { address: "hosting_service.b" });
    expect((await reservations()).map(({ name }) => name)).toEqual([key("hosting_service.b")]);
    await reserve(past({ amount: 900 }), key(A));
    await reserve(past({ amount: 800 }), "hosting_service 6");
    (await reserving(acting)).settle?.(undefined);
    await reserving(acting, { address: "hosting_service.b" });
    expect(await reservations()).toContainEqual(expect.objectContaining(reserved(key(A), 900)));
  });

  it("is not written if the order would exceed a limit", async () => {
    const { acting, reservations } = world({ entries: [entry(START, made({ key: "b", id: "1" }))] });
    const { limits } = await budgetOf(acting, true);
    const refused = limits.budget?.reserve(one as Order, (all) => {
      expect(all).toHaveLength(1);
      throw new Error("too much");
    });
    await expect(refused).rejects.toThrow("too much");
    expect(await reservations()).toEqual([]);
  });

  it("gets the name of the object that the plan found after a lost response", async () => {
    const found = (address: string, generation?: number) =>
      change({ address, importing: { id: "7" }, private: generation === undefined ? {} : { generation } } as never);
    for (const generation of [undefined, 2]) {
      const { acting, reservations, reserve } = world({ changes: [found("hosting_service.b"), found(A, generation)] });
      const lost = past({ key: key(A, generation) });
      await reserve(lost, lost.key);
      await budgetOf(acting, false);
      expect(await reservations()).toMatchObject([{ name: lost.key }]);
      await budgetOf(acting, true);
      expect(await reservations()).toEqual([{ ...reserved(lost.key, 450), name: "hosting_service 7" }]);
    }
  });
});

describe("the entry of a run", () => {
  const invoice = { id: "9", number: "INV-9", total: 1_800, currency: "USD", status: "unpaid" };
  const outcome = (address: string, over: object = {}) => ({ address, result: "done", diagnostics: [], ...over });
  const failed = { result: "failed", diagnostics: [errorOf("api.server", "The API failed (500)")] };
  const at = (name: string) => order({ address: `hosting_service.${name}` });
  const resources = new Map([[A, { attributes: { id: "7" } }]]);
  const recorded = (outcomes: readonly object[], over: object = {}, changes = ["a", "b", "c", "d"].map(at)) =>
    entryOf(
      {
        plan: plan(changes),
        command: "apply",
        store: { state: { resources }, history: { name: PLACE } },
        project: { redaction: { redactValue: (value: unknown) => value } },
      } as unknown as Parameters<typeof entryOf>[0],
      { outcomes, diagnostics: [], pending: [], requests: 4, ...over } as unknown as ApplyResult,
    );

  it("has each order that was sent, with its invoice and its id", () => {
    const { orders } = recorded(
      [
        outcome(A, { invoice }),
        outcome("hosting_service.b", { ...failed, unknown: true }),
        outcome("hosting_service.c", failed),
        outcome("hosting_service.d", failed),
      ],
      { pending: ["hosting_service.d"] },
    );
    const { status: _, ...billed } = invoice;
    const quoted = { provider: "default", type: "hosting_service", currency: "USD", quote: 1_800 };
    expect(orders).toEqual([
      { ...quoted, key: key(A), id: "7", invoice: billed },
      { ...quoted, key: key("hosting_service.b"), id: null, invoice: null },
      { ...quoted, key: key("hosting_service.d"), id: null, invoice: null },
    ]);
    expect(recorded([outcome("hosting_service.c")]).orders).toMatchObject([{ invoice: null }]);
    const late = recorded([outcome("hosting_service.c", { ...failed, invoice: {} })]).orders;
    const empty = { id: null, number: null, total: null, currency: null };
    expect(late).toMatchObject([{ key: key("hosting_service.c"), invoice: empty }]);
  });

  it("has the effects of changes that began, and the end of a failed one", () => {
    const { effects } = recorded([
      outcome(A),
      outcome("hosting_service.b", failed),
      outcome("hosting_service.c", { result: "skipped" }),
    ]);
    expect(effects).toMatchObject([
      { address: A, order: key(A), domain: "www.acme.example", text: expect.not.stringMatching(/^(?:done|failed)/) },
      { address: "hosting_service.b", order: key("hosting_service.b"), text: expect.stringMatching(/^failed: /) },
    ]);
    const changed = recorded([outcome(A)], {}, [update({ suspended: true }, { address: A })]).effects;
    expect(changed.length).toBeGreaterThan(0);
    for (const one of changed) expect(one).not.toHaveProperty("order");
    const gone = change({ address: A, actions: ["forget"], before: liveService, reasons: [reason("gone", "404")] });
    const text = expect.stringMatching(/^\w.*removed from the state/);
    expect(recorded([], {}, [gone]).effects).toMatchObject([{ address: A, text }]);
  });

  it("has the codes of all errors, the requests and the digest of the plan", () => {
    const more = {
      diagnostics: [errorOf("state.unwritable", "The state"), { ...errorOf("api.server", "A"), severity: "warning" }],
    };
    const { errors, requests, plan: digest, command } = recorded([outcome(A, failed)], more);
    expect({ errors, requests, command }).toEqual({
      errors: ["api.server", "state.unwritable"],
      requests: 4,
      command: "apply",
    });
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(recorded([], {}, [at("a")]).plan).not.toBe(digest);
  });
});

describe("remembering a run", () => {
  const run = { command: "apply", plan: null, orders: [], requests: 1, errors: [], effects: [] };

  async function remembered(env: Readonly<Record<string, string>>, open: object = {}) {
    const written: HistoryEntry[] = [];
    const history = { name: PLACE, append: async (one: HistoryEntry) => void written.push(one) };
    const project = {
      source: { env, dir: temporaryFolder() },
      host: { clock: testClock(START) },
      redaction: { redactValue: (value: unknown) => value },
    } as unknown as Parameters<typeof remember>[0];
    const warnings = await remember(project, { history, ...open } as never, run);
    return { written, warnings };
  }
  const GITHUB = { GITHUB_SERVER_URL: "https://github.example", GITHUB_REPOSITORY: "acme/web", GITHUB_RUN_ID: "5" };

  it.each<[reason: string, env: Record<string, string>, url: string | null]>([
    ["no CI", {}, null],
    ["GitHub", GITHUB, "https://github.example/acme/web/actions/runs/5"],
    ["Jenkins", { BUILD_URL: "https://jenkins.example/5", ...GITHUB }, "https://jenkins.example/5"],
    ["GitLab", { CI_JOB_URL: "https://gitlab.example/5", BUILD_URL: "x" }, "https://gitlab.example/5"],
  ])("writes its time, its author and its run: %s", async (_, env, url) => {
    const { written, warnings } = await remembered({ ...env, HOSTFORM_AUTHOR: "ann" });
    expect(warnings).toEqual([]);
    const { effects, ...rest } = run;
    const details = { salt: expect.stringMatching(/^[0-9a-f-]{36}$/), who: "ann", run: url, effects };
    expect(written).toEqual([{ at: iso(START), commit: null, ...rest, details }]);
  });

  it.each<[reason: string, open: object]>([
    [
      "the history",
      { history: { name: PLACE, append: () => Promise.reject(new HostformError([errorOf("state.key", "No")])) } },
    ],
    ["a lost lock", { proveLock: () => Promise.reject(new Error("lost")) }],
  ])("warns of a failure and keeps the result of the run: %s", async (_, open) => {
    const { written, warnings } = await remembered({}, open);
    expect([written, warnings]).toMatchObject([[], [{ code: "state.history", severity: "warning" }]]);
  });

  it("writes nothing without a history", async () => {
    expect((await remembered({}, { history: undefined })).warnings).toEqual([]);
  });
});

describe("the entries of a history", () => {
  async function entriesOf(read?: () => Promise<unknown>) {
    const warnings: unknown[] = [];
    const log = { warn: (...all: unknown[]) => void warnings.push(...all) } as never;
    const entries = await entriesIn({ log }, (read && { name: PLACE, read }) as never);
    return { entries, warnings };
  }

  it("are none, with a warning, if the history is broken or unreadable", async () => {
    const entries = [entry(START)];
    expect(await entriesOf(async () => ({ entries }))).toEqual({ entries, warnings: [] });
    expect(await entriesOf()).toEqual({ entries: [], warnings: [] });
    const warned = { entries: [], warnings: [{ code: "state.history", severity: "warning" }] };
    expect(await entriesOf(async () => ({ entries, broken: 2 }))).toMatchObject(warned);
    expect(await entriesOf(() => Promise.reject(new Error("the disk")))).toMatchObject(warned);
  });

  it("have the quote of each order by its id, also of an order that a resolve found", () => {
    const lost = made({ key: "lost", id: null, quote: 900 });
    const entries = [
      entry(START, made({ id: "7" }), lost, made({ key: "other", id: null, quote: null })),
      entry(START, made({ key: "lost", id: "8", quote: null }), made({ key: "none", id: "9", quote: null })),
      entry(START, made({ id: "10", quote: 500 })),
    ];
    expect([...quotesIn(entries)].map(([id, { quote, key }]) => [id, key, quote])).toEqual([
      ["default 7", key(A), 450],
      ["default 8", "lost", 900],
      ["default 9", "none", null],
      ["default 10", key(A), 500],
    ]);
  });

  it("have the cost of the month by currency, and 0 for a currency of earlier months", () => {
    const invoice = { id: "9", number: null, total: 400, currency: "USD" };
    const entries = [
      entry(MONTH - 1, made({ key: "old", id: "1", currency: "EUR" }), made({ key: "usd", id: "2" })),
      entry(MONTH, made({ key: "b", id: "3", invoice }), made({ key: "c", id: "4", quote: 50 })),
      entry(START, made({ key: "d", id: "5", quote: null }), made({ key: "e", id: "6", currency: null as never })),
    ];
    expect([...spendOf(entries, START)]).toEqual([
      ["EUR", 0],
      ["USD", 450],
    ]);
  });

  it("name the invoice with the earliest due date as the first one", () => {
    const due = (id: string, due_date: string | null) => bill({ id, due_date } as never);
    const all = [due("1", null), due("2", "2026-12-01"), due("3", "2026-11-01"), due("4", null)];
    for (const turned of [all, all.toReversed()]) expect(firstInvoice(turned)?.id).toBe("3");
    expect(firstInvoice([])).toBeUndefined();
  });
});
