import { describe, expect, it } from "vitest";
import type { Mutation } from "../../../../src/core/api/index.ts";
import { type ApplyOptions, apply, plan } from "../../../../src/core/engine/index.ts";
import { kinds } from "../../../../src/core/kinds/index.ts";
import type { Observation } from "../../../../src/core/lifecycle/index.ts";
import {
  ApiError,
  type ApplyEvent,
  type DesiredResource,
  HostformError,
  type ResourceState,
  type State,
} from "../../../../src/core/model/index.ts";
import { START, testClock } from "../../../support/clock.ts";
import { declared, desiredOf, failure, fakeAccount, fakeWriter, kindOf, stateOf } from "../../../support/subjects.ts";

const hook = (name: string, dependsOn: readonly string[] = []) =>
  declared(`hosting_webhook.${name}`, { url: `https://${name}.example`, events: ["invoice.paid"] }, { dependsOn });

/** Applies the creation of these webhooks. `answer` returns each response, or throws. */
async function run(
  resources: readonly DesiredResource[],
  answer: (name: string, mutation: Mutation) => unknown = () => undefined,
  over: Partial<ApplyOptions> & { state?: State; failPut?: (address: string) => boolean } = {},
) {
  const { account } = fakeAccount({ ...kindOf("hosting_webhook"), list: async function* () {} });
  const emptied = { ...kindOf("hosting_webhook"), list: async function* () {} };
  const desired = desiredOf(...resources);
  const state = over.state ?? stateOf();
  const observations = new Map<string, Observation>(
    resources.map(({ address }) => [address, { status: "absent", matches: [] }]),
  );
  const made = plan({
    desired,
    state,
    observed: { observations, plans: new Map() },
    kinds,
    env: {},
    mode: "apply",
    reorder: new Set(),
    now: START,
    readRequests: 0,
  });
  let open = 0;
  let most = 0;
  let last = 200;
  const writer = fakeWriter(async (mutation) => {
    open += 1;
    most = Math.max(most, open);
    await new Promise(setImmediate);
    open -= 1;
    const body = mutation.body as { url: string };
    const given = answer(body.url.replace(/^https:\/\/|\.example$/g, ""), mutation);
    if (given !== undefined) return given;
    last += 1;
    return { id: String(last), raw: {}, created_at: null, secret: "whsec", ...body };
  });
  const events: ApplyEvent[] = [];
  const records = new Map<string, ResourceState>();
  const result = await apply({
    plan: made,
    desired,
    state,
    kinds: new Map([...kinds, ["hosting_webhook", emptied]]),
    env: {},
    accounts: () => ({ account, writer }),
    recorder: {
      put: async (resource) => {
        if (over.failPut?.(resource.address)) {
          throw new HostformError([{ severity: "error", code: "state.unwritable", summary: "the disk is full" }]);
        }
        records.set(resource.address, resource);
      },
      remove: async (address) => void records.delete(address),
    },
    clock: testClock(),
    concurrency: 10,
    waitMs: 0,
    stop: new AbortController().signal,
    onEvent: (event) => void events.push(event),
    requests: () => writer.sent.length,
    ...over,
  });
  const order = writer.sent.map(({ body }) => (body as { url: string }).url.replace(/^https:\/\/|\.example$/g, ""));
  const outcomes = Object.fromEntries(result.outcomes.map(({ address, result: end }) => [address.split(".")[1], end]));
  return { result, outcomes, order, most, events, records };
}

describe("an apply", () => {
  it("that is stopped reports for each change whether a request was sent", async () => {
    const stop = new AbortController();
    const cancelled = (reached: "no" | "maybe") =>
      new ApiError({ code: "api.cancelled", summary: "was cancelled", endpoint: "POST /api/v1/webhooks", reached });
    const { result, records } = await run(
      [hook("answered"), hook("unsent"), hook("open"), hook("later", ["hosting_webhook.unsent"])],
      (name) => {
        stop.abort();
        if (name === "unsent") throw cancelled("no");
        if (name === "open") throw cancelled("maybe");
        return undefined;
      },
      { stop: stop.signal },
    );
    const ends = Object.fromEntries(result.outcomes.map(({ address, ...end }) => [address.split(".")[1], end]));
    expect(ends).toMatchObject({
      answered: { result: "done" },
      unsent: { result: "not-started", diagnostics: [] },
      open: { result: "failed", unknown: true },
      later: { result: "not-started" },
    });
    expect(result).toMatchObject({ interrupted: true, pending: ["hosting_webhook.open"] });
    expect([...records.keys()].sort()).toEqual(["hosting_webhook.answered", "hosting_webhook.open"]);
  });

  it("whose recording is cancelled ends with the known results", async () => {
    const [stop, abandon] = [new AbortController(), new AbortController()];
    const put = () => {
      stop.abort();
      abandon.abort();
      return new Promise<never>(() => undefined);
    };
    const { result } = await run([hook("a"), hook("b")], undefined, {
      stop: stop.signal,
      abandon: abandon.signal,
      recorder: { put, remove: put },
    });
    expect(result).toMatchObject({ interrupted: true });
    expect(result.outcomes.map(({ result: end }) => end)).toEqual(["not-started", "not-started"]);
  });

  it("executes each change after its dependencies, whatever the order of the declaration", async () => {
    const { order, outcomes } = await run([
      hook("c", ["hosting_webhook.b"]),
      hook("b", ["hosting_webhook.a"]),
      hook("a"),
    ]);
    expect(order).toEqual(["a", "b", "c"]);
    expect(outcomes).toEqual({ a: "done", b: "done", c: "done" });
  });

  it("passes on values that are known only during the apply", async () => {
    const second = declared("hosting_webhook.b", {
      url: "https://b-${hosting_webhook.a.id}.example",
      events: ["invoice.paid"],
    });
    const { order, records } = await run([second, hook("a")]);
    expect(order).toEqual(["a", "b-201"]);
    expect(records.get("hosting_webhook.b")?.attributes).toMatchObject({ url: "https://b-201.example", id: "202" });
  });

  it("executes independent changes concurrently, up to the limit", async () => {
    const many = Array.from({ length: 12 }, (_, at) => hook(`h${at}`));
    expect((await run(many, undefined, { concurrency: 4 })).most).toBe(4);
    expect((await run(many, undefined, { concurrency: 1 })).most).toBe(1);
  });

  it("skips changes that depend on a failure, at any distance, and continues with the rest", async () => {
    const resources = [hook("a"), hook("b", ["hosting_webhook.a"]), hook("c", ["hosting_webhook.b"]), hook("d")];
    const { outcomes, order, result, records } = await run(resources, (name) => {
      if (name === "a") throw failure("answered", 422);
    });
    expect(outcomes).toEqual({ a: "failed", b: "skipped", c: "skipped", d: "done" });
    expect(order.sort()).toEqual(["a", "d"]);
    expect([...records.keys()]).toEqual(["hosting_webhook.d"]);
    const skipped = result.outcomes.find(({ address }) => address.endsWith(".b"))?.diagnostics[0];
    expect(skipped).toMatchObject({ code: "apply.skipped", detail: expect.stringContaining("hosting_webhook.a") });
  });

  it("that is stopped completes changes in progress and starts no other change", async () => {
    const stop = new AbortController();
    const many = Array.from({ length: 6 }, (_, at) => hook(`h${at}`));
    const { outcomes, result, records } = await run(many, () => stop.abort(), { concurrency: 2, stop: stop.signal });
    expect(Object.values(outcomes).filter((end) => end === "done")).toHaveLength(2);
    expect(Object.values(outcomes).filter((end) => end === "not-started")).toHaveLength(4);
    expect(records.size).toBe(2);
    expect(result.interrupted).toBe(true);
  });

  it("fails a change whose result cannot be recorded, and the changes that depend on it", async () => {
    const { outcomes } = await run([hook("a"), hook("b", ["hosting_webhook.a"]), hook("c")], undefined, {
      failPut: (address) => address.endsWith(".a"),
    });
    expect(outcomes).toEqual({ a: "failed", b: "skipped", c: "done" });
  });

  it("reports the start and the end of each change, and counts its requests", async () => {
    const { events, result } = await run([hook("a"), hook("b")], (name) => {
      if (name === "b") throw failure("answered", 422);
    });
    expect(events.map(({ type, ...event }) => `${type} ${"address" in event ? event.address : ""}`).sort()).toEqual([
      "complete hosting_webhook.a",
      "errored hosting_webhook.b",
      "start hosting_webhook.a",
      "start hosting_webhook.b",
    ]);
    expect(result.requests).toBe(2);
  });

  it("rethrows a defect of hostform, after changes in progress are recorded", async () => {
    const recorded: string[] = [];
    const failPut = (address: string) => {
      recorded.push(address);
      return false;
    };
    const broken = run(
      [hook("a"), hook("b"), hook("c", ["hosting_webhook.b"])],
      (name) => {
        if (name === "a") throw new TypeError("a defect");
      },
      { failPut },
    );
    await expect(broken).rejects.toThrow("a defect");
    // The state records the start of a and b, and the result of b. The apply does not start the third create.
    expect(recorded).toEqual(["hosting_webhook.a", "hosting_webhook.b", "hosting_webhook.b"]);
  });
});
