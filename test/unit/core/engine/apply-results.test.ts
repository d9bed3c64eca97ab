// Records of an apply besides its changes, and the report of each change.
import { describe, expect, it } from "vitest";
import type { Mutation } from "../../../../src/core/api/index.ts";
import { type ApplyOptions, apply } from "../../../../src/core/engine/index.ts";
import { kinds } from "../../../../src/core/kinds/index.ts";
import {
  type ApplyEvent,
  type Change,
  type DesiredData,
  type DesiredOutput,
  type EvalScope,
  fail,
  isFulfilled,
  type JsonObject,
  type Plan,
  type PrivateMark,
  type ResourceState,
} from "../../../../src/core/model/index.ts";
import { START, testClock } from "../../../support/clock.ts";
import {
  complete,
  declared,
  desiredOf,
  failure,
  fakeAccountWith,
  fakeWriter,
  kindOf,
  liveService,
  liveWebhook,
  recorded,
  remote,
  stateOf,
} from "../../../support/subjects.ts";

const hook = (over: JsonObject = {}) => complete(kindOf("hosting_webhook"), { ...liveWebhook, ...over });
const change = (address: string, over: Partial<Change>): Change =>
  ({
    address,
    type: address.split(".")[0],
    words: { noun: "service", plural: "services", name: "domain", site: "domain" },
    provider: "default",
    actions: ["no-op"],
    before: null,
    after: null,
    after_unknown: {},
    sensitive: [],
    config: {},
    reasons: [],
    deferred: [],
    private: {},
    dependsOn: [],
    requests: 0,
    ...over,
  }) as Change;

const service = kindOf("hosting_service");

interface RunOptions extends Partial<Omit<ApplyOptions, "state">> {
  readonly state?: readonly ResourceState[];
  readonly answer?: (mutation: Mutation) => unknown;
  readonly config?: Readonly<Record<string, JsonObject>>;
}

async function run(changes: readonly Change[], options: RunOptions = {}) {
  const { state = [], answer = () => undefined, config = {}, ...over } = options;
  const fake = fakeAccountWith({}, kindOf("hosting_webhook"));
  Object.assign(fake.account, {
    invoices: {
      forget: () => undefined,
      all: async () => [],
      of: async () => ({ invoices: new Map(), isWhole: true }),
    },
  });
  const puts: ResourceState[] = [];
  const events: ApplyEvent[] = [];
  const clock = testClock();
  const writer = fakeWriter(async (mutation) => {
    await clock.sleep(2_000);
    return answer(mutation);
  });
  const removed: string[] = [];
  const resources = Object.entries(config).map(([address, values]) => declared(address, values));
  const result = await apply({
    plan: { project: "acme", changes, diagnostics: [] } as unknown as Plan,
    desired: desiredOf(...resources),
    state: stateOf(...state),
    kinds: new Map([...kinds, ["hosting_webhook", fake.kind], ["hosting_service", { ...service, async *list() {} }]]),
    env: {},
    accounts: () => ({ account: fake.account, writer }),
    recorder: { put: async (one) => void puts.push(one), remove: async (address) => void removed.push(address) },
    clock,
    concurrency: 10,
    waitMs: 0,
    stop: new AbortController().signal,
    onEvent: (event) => void events.push(event),
    requests: () => 5 + writer.sent.length,
    ...over,
  });
  return { result, puts, events, removed };
}

describe("a resource without a change", () => {
  const attempt = { since: new Date(START).toISOString(), operation: "deleteWebhook" } as NonNullable<
    PrivateMark["attempt"]
  >;
  const job = { since: new Date(START).toISOString(), toward: "suspended", before: "active" } as const;
  const A = "hosting_webhook.a";
  const was = (mark: PrivateMark = {}) => recorded(A, hook(), { private: mark, dependencies: ["hosting_service.s"] });
  const kept = (over: Partial<Change> = {}) => change(A, { before: hook(), ...over });

  it.each<[string, ResourceState[], Change, object[]]>([
    ["is not written again when it is as recorded", [was()], kept(), []],
    [
      "is recorded as it is observed",
      [was({ generation: 2 })],
      kept({ before: hook({ url: "https://other.example" }) }),
      [
        {
          address: A,
          attributes: { url: "https://other.example" },
          private: { generation: 2 },
          dependencies: ["hosting_service.s"],
        },
      ],
    ],
    [
      "is without the request that an earlier run began",
      [was({ attempt, generation: 2 } as PrivateMark)],
      kept(),
      [{ address: A, private: { generation: 2 } }],
    ],
    ["is without the job that has ended", [was({ job })], kept(), [{ address: A, private: {} }]],
    [
      "keeps the job with what is observed",
      [was({ job })],
      kept({ private: { job }, before: hook({ url: "https://o.example" }) }),
      [{ private: { job } }],
    ],
    ["is without the create that is settled", [was({ pending: attempt })], kept(), [{ address: A, private: {} }]],
    ["is not recorded for the first time by that", [], kept(), []],
    ["has nothing to record when it is not there", [was({ attempt } as PrivateMark)], kept({ before: null }), []],
  ])("%s", async (_, state, one, expected) => {
    const { puts, result } = await run([one], { state });
    expect(puts).toMatchObject(expected);
    expect(puts).toHaveLength(expected.length);
    for (const [at, put] of puts.entries())
      expect(put.private).toStrictEqual((expected[at] as { private?: unknown } | undefined)?.private ?? put.private);
    expect(result.outcomes).toEqual([]);
  });

  it("is not recorded separately if its change runs", async () => {
    const one = kept({
      actions: ["delete"],
      removal: "delete",
      before: hook({ url: "https://o.example" }),
      config: null,
    });
    const { puts, removed } = await run([one], { state: [was()] });
    expect(puts.every(({ private: mark }) => mark.attempt !== undefined)).toBe(true);
    expect(removed).toEqual([A]);
  });
});

describe("the report of an apply", () => {
  const ORDER = { plan_id: 11, currency: "USD", domain: "www.acme.example" };
  const A = "hosting_service.a";
  const order = change(A, { actions: ["create"], after: complete(kindOf("hosting_service"), ORDER), config: ORDER });
  const made = (status: string, invoice: unknown = null) => ({
    service: { ...liveService, status, raw: {}, plan_id: null, created_at: new Date(START).toISOString() },
    invoice,
  });
  const bill = { id: "31", raw: {}, status: "unpaid", total: 500, currency: "USD", paid_at: null };

  it("contains for each change its id, duration, invoice and wait", async () => {
    const { result, events } = await run([order], { config: { [A]: ORDER }, answer: () => made("pending", bill) });
    expect(result).toMatchObject({ requests: 1, seconds: 2, interrupted: false, pending: [], diagnostics: [] });
    const outcome = { address: A, result: "done", diagnostics: [], awaiting: "payment", invoice: { id: "31" } };
    expect(result.outcomes).toMatchObject([outcome]);
    expect(events).toMatchObject([
      { type: "start", address: A },
      { type: "complete", address: A, seconds: 2, id: "1001", outcome },
    ]);
    expect(events[0], "no id yet").not.toHaveProperty("id");
  });

  it("contains neither an invoice nor a wait if there is none", async () => {
    const { result } = await run([order], { config: { [A]: ORDER }, answer: () => made("active") });
    expect(result.outcomes).toStrictEqual([{ address: A, result: "done", diagnostics: [] }]);
  });

  it("names the object of a removal at its start, and no object at its end", async () => {
    const one = change("hosting_webhook.a", { actions: ["delete"], removal: "delete", before: hook(), config: null });
    const { events } = await run([one], { state: [recorded("hosting_webhook.a", hook())] });
    expect(events).toMatchObject([{ type: "start", id: "201" }, { type: "complete" }]);
    expect(events[1]).not.toHaveProperty("id");
  });

  it("contains the warnings of a change and its unknown words", async () => {
    const wanted = { ...ORDER, suspended: true };
    const one = { ...order, after: complete(kindOf("hosting_service"), wanted), config: wanted };
    const { result } = await run([one], {
      config: { [A]: wanted },
      answer: () => made("Odd", { ...bill, status: "paid", paid_at: "2026-11-21" }),
    });
    expect(result.outcomes).toMatchObject([{ result: "done", diagnostics: [{ code: "plan.unknown_status" }] }]);
  });

  it.each([[0, true]])("contains whether the run waits for jobs (%i ms)", async (waitMs, noWait) => {
    expect((await run([], { waitMs })).result).toMatchObject({ noWait, seconds: 0, requests: 0 });
  });

  it("contains the end of a wait, and an unknown status word", async () => {
    const wanted = { ...ORDER, suspended: true };
    const one = { ...order, after: complete(kindOf("hosting_service"), wanted), config: wanted };
    const odd = remote({ ...liveService, status: "SUSPENDED_BY_OWNER" }, "unknown");
    let listed = 0;
    const list = async function* () {
      listed += 1;
      if (listed > 1) yield odd;
    };
    const { result, events } = await run([one], {
      kinds: new Map([...kinds, ["hosting_service", { ...service, list, get: async () => odd }]]),
      config: { [A]: wanted },
      waitMs: 60_000,
      answer: ({ endpoint }) => (endpoint === "createService" ? made("active") : undefined),
    });
    expect(events[1]).toMatchObject({ type: "waiting", addresses: [A] });
    expect(JSON.stringify(result.outcomes[0]?.diagnostics)).toContain("SUSPENDED_BY_OWNER");
    expect(isFulfilled(result)).toBe(false);
  });

  it("rethrows a defect for a resource without a kind, and the first of several defects", async () => {
    await expect(run([change("other.a", { actions: ["create"], config: null })])).rejects.toThrow(
      "no kind for other.a",
    );
    const both = [
      change("other.a", { actions: ["create"], config: null }),
      change("other.b", { actions: ["create"], config: null }),
    ];
    await expect(run(both)).rejects.toThrow("no kind for other.a");
  });
});

describe("a result that cannot be recorded", () => {
  const A = "hosting_webhook.a";
  const config = { url: "https://hooks.acme.example", events: ["invoice.paid"] };
  const deposed = hook({ id: "200" });
  const create = { actions: ["create"], after: hook({ ...config, id: null }), config } as const;
  const replace = { ...create, actions: ["delete", "create"], before: hook({ id: "200" }) } as const;
  const cases: [
    string,
    Partial<Change>,
    { fails?: (mark: PrivateMark) => boolean; drops?: boolean; refuses?: string },
    object,
  ][] = [
    [
      "an answer: it is not unknown what came of it",
      create,
      { fails: (mark) => !mark.pending },
      { unrecorded: true, did: ["create"] },
    ],
    ["that a create begins: nothing was sent", create, { fails: (mark) => Boolean(mark.pending) }, {}],
    [
      "that a second request begins: the answer to the first one is recorded",
      { ...create, private: { deposed } },
      { fails: (mark) => Boolean(mark.attempt) },
      { did: ["create"] },
    ],
    [
      "that a create begins, after a removal that is recorded",
      replace,
      { fails: (mark) => Boolean(mark.pending) },
      { did: ["delete"] },
    ],
  ];

  it.each(cases)("is %s", async (_, of, { fails = () => false, drops = false, refuses }, expected) => {
    const put = async ({ private: mark }: ResourceState) => {
      if (fails(mark)) fail("state.unwritable", "the disk is full");
    };
    const remove = async () => {
      if (drops) fail("state.unwritable", "the disk is full");
    };
    const { result } = await run([change(A, of)], {
      config: { [A]: config },
      recorder: { put, remove },
      answer: ({ endpoint }) => {
        if (endpoint === refuses) throw failure("answered", 403);
        return endpoint === "createWebhook" ? { ...liveWebhook, ...config, raw: {}, secret: "whsec" } : null;
      },
    });
    const [outcome] = result.outcomes;
    expect({ ...outcome, diagnostics: [] }).toEqual({ address: A, result: "failed", diagnostics: [], ...expected });
    expect(result.pending, "what is not recorded is not pending as well").toEqual([]);
  });
});

describe("a change that came too early", () => {
  const G = "hosting_grant.g";
  const B = "hosting_webhook.b";
  const config = { service_id: "1001", email: "dev@acme.example", permission: "view" };
  const hookConfig = { url: "https://hooks.acme.example", events: ["invoice.paid"] };
  const grant = change(G, { actions: ["create"], after: complete(kindOf("hosting_grant"), config), config });
  const later = change(B, { actions: ["create"], after: hook({ id: null }), config: hookConfig, dependsOn: [G] });
  const early = (status: string, phase: "pending" | "live", stop?: AbortController) => {
    const pending = { ...service, async *list() {}, get: async () => remote({ ...liveService, status }, phase) };
    const grants = { ...kindOf("hosting_grant"), async *list() {} };
    return run([grant, later], {
      config: { [G]: config, [B]: hookConfig },
      kinds: new Map([...kinds, ["hosting_service", pending], ["hosting_grant", grants]]),
      ...(stop && { stop: stop.signal }),
      answer: () => {
        stop?.abort();
        throw failure("answered", 409);
      },
    });
  };

  it("waits together with the resources that refer to it, and neither fails", async () => {
    const { result, events } = await early("pending", "pending");
    expect(result.outcomes).toMatchObject([
      { address: G, result: "waiting", diagnostics: [{ severity: "warning", code: "apply.waiting" }] },
      { address: B, result: "waiting", diagnostics: [{ address: B }] },
    ]);
    expect(events.filter(({ type }) => type !== "start")).toMatchObject([{ type: "complete", address: G, seconds: 2 }]);
  });
});

describe("a reference in a change", () => {
  const config = { url: "https://${hosting_service.s.id}.example", events: ["invoice.paid"] };
  const one = change("hosting_webhook.a", { actions: ["create"], after: hook({ id: null }), config });
  const urlOf = async (state: ResourceState[], changes: readonly Change[] = []) => {
    const urls: unknown[] = [];
    const answer = ({ body }: Mutation) => {
      urls.push((body as { url: unknown }).url);
      return { ...liveWebhook, raw: {}, secret: "s" };
    };
    const waiting = { ...one, after: hook({ id: null, url: null }), after_unknown: { url: true } } as Change;
    const { result } = await run([...changes, waiting], { state, answer, config: { "hosting_webhook.a": config } });
    return urls.length > 0 ? urls : result.outcomes.flatMap(({ diagnostics }) => diagnostics.map(({ code }) => code));
  };
  const s = (id: string) => recorded("hosting_service.s", { ...liveService, id });

  it("is checked once its value is known, and an invalid value is not sent", async () => {
    const url = "${hosting_service.s.domain}";
    const waiting = {
      ...one,
      config: { ...config, url },
      after: hook({ id: null, url: null }),
      after_unknown: { url: true },
    };
    const sent: Mutation[] = [];
    const { result } = await run([waiting as Change], {
      state: [s("1001")],
      answer: (mutation) => void sent.push(mutation),
      config: { "hosting_webhook.a": { ...config, url } },
    });
    expect(sent).toEqual([]);
    expect(result.outcomes).toMatchObject([{ result: "failed", diagnostics: [{ attribute: ["url"] }] }]);
  });

  it("has the recorded value, or the value observed since", async () => {
    expect(await urlOf([s("1001")])).toEqual(["https://1001.example"]);
    const observed = change("hosting_service.s", { before: s("1002").attributes });
    expect(await urlOf([s("1001")], [observed])).toEqual(["https://1002.example"]);
    expect(await urlOf([s("1001")], [change("hosting_service.s", { before: null })])).toEqual(["https://1001.example"]);
  });
});

describe("data sources and outputs", () => {
  const DATA = "data.hosting_invoices.all";
  const A = "hosting_webhook.a";
  const config = { url: "https://unknown.example", events: ["invoice.paid"] };
  const at = (address: string) => ({
    references: [{ reference: { to: "resource" as const, address, path: [], text: address, offset: 0 }, path: [] }],
  });
  const source = {
    address: DATA,
    type: "hosting_invoices",
    provider: "default",
    config: { key: "k" },
    dependsOn: [],
    locate: () => undefined,
    references: [],
    evaluate: (_: string, { env }: EvalScope) => env("KEY") ?? "k",
    originOf: () => ({ from: ["env.KEY"] }),
  } as unknown as DesiredData;
  /** Returns an output that is the attribute of a resource. */
  const output = (name: string, address: string, attribute: string) =>
    ({
      name,
      sensitive: false,
      ...at(address),
      evaluate: ({ resource, origins }: EvalScope) => ({
        value: (resource(address) as JsonObject)[attribute],
        origin: origins?.(address)[attribute],
      }),
    }) as unknown as DesiredOutput;

  const both = async (over: RunOptions = {}) => {
    const read: string[] = [];
    const one = declared(A, config, {
      ...at(DATA),
      evaluate: (name, { resource }) => (name === "url" ? ((resource(DATA) as JsonObject).url ?? null) : config.events),
    });
    const outputs = [output("url", A, "url"), output("secret", A, "secret"), output("key", DATA, "key")];
    const create = change(A, {
      actions: ["create"],
      after: hook({ id: null, url: null }),
      after_unknown: { url: true },
      config,
      sensitive: ["secret"],
    });
    const written: Record<string, unknown>[] = [];
    const urls: unknown[] = [];
    const { result } = await run([create], {
      plan: { project: "acme", mode: "apply", changes: [create], outputs: [], diagnostics: [] } as unknown as Plan,
      desired: { ...desiredOf(one), data: [source], outputs },
      readData: async ({ address }) => {
        read.push(address);
        return { url: "https://read.example", key: "k" };
      },
      recorder: {
        put: async () => {},
        remove: async () => {},
        setOutputs: async (all) => {
          written.push(Object.fromEntries([...all].map(([name, { value }]) => [name, value])));
        },
      },
      answer: ({ body }: Mutation) => {
        urls.push((body as { url: unknown }).url);
        return { ...liveWebhook, url: "https://read.example", raw: {}, secret: "whsec" };
      },
      ...over,
    });
    return { result, read, written, urls };
  };

  it("are read before requests that refer to them; outputs have the final values, and show no secret", async () => {
    const { result, read, written, urls } = await both();
    expect([read, urls, written]).toEqual([[DATA], ["https://read.example"], [{ url: "https://read.example" }]]);
    expect(result.diagnostics).toMatchObject([
      { severity: "warning", code: "apply.skipped", summary: expect.stringContaining('output "secret"') },
      { severity: "warning", code: "apply.skipped", summary: expect.stringContaining('output "key"') },
    ]);
  });

  it("are not recorded if a change is cancelled, because its end is unknown", async () => {
    const gone = new AbortController();
    const { written, result } = await both({
      abandon: gone.signal,
      answer: () => {
        gone.abort();
        return new Promise(() => {});
      },
    });
    expect([written, result.outcomes.map((outcome) => outcome.result)]).toEqual([[], ["failed"]]);
  });
});
