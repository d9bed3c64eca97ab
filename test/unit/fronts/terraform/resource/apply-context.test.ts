// Limits of an apply: when it stops, how long it waits, and which objects a create may replace.
import { describe, expect, it } from "vitest";
import type { CallOptions, HostingClient, Mutation } from "../../../../../src/core/api/index.ts";
import { idempotencyKey } from "../../../../../src/core/lifecycle/intents.ts";
import { ApiError, type JsonObject } from "../../../../../src/core/model/index.ts";
import { noteReplacing } from "../../../../../src/fronts/terraform/resource/replacement.ts";
import { START } from "../../../../support/clock.ts";
import { failure, liveService, liveWebhook, remote } from "../../../../support/subjects.ts";
import { type Asked, ask, HOOK, hookMade, ORDER, ordered } from "./apply-cases.ts";
import { codesOf, type FakeScope } from "./fake-scope.ts";

const LIVE = { ...liveService, plan_id: 11 };

it("the Idempotency-Key of an order is derived from its name and the project", async () => {
  const { mutations } = await ask("hosting_service", ORDER, { answer: ordered() });
  expect(mutations).toMatchObject([{ idempotencyKey: idempotencyKey("acme", "www.acme.example", 1) }]);
});

describe("an apply sends no further request", () => {
  it.each<[string, Asked]>([
    ["when Terraform gives up the call", { cancelled: AbortSignal.abort() }],
    ["when Terraform is stopped", { session: { stop: AbortSignal.abort() }, cancelled: new AbortController().signal }],
  ])("%s", async (_, asked) => {
    const { answer, sent, entries } = await ask("hosting_service", ORDER, asked);
    expect(sent).toEqual([]);
    expect(answer.state).toBeNull();
    expect(codesOf(answer.diagnostics)).toEqual(["error interrupted"]);
    expect(await entries.get("hosting_service", ORDER.domain)).toBeUndefined();
  });
});

describe("a create that is not sent within five seconds after its entry", () => {
  const late = (times: number) => {
    let nth = 0;
    return () => {
      if (++nth <= times) throw failure("no", undefined, "api.late");
      return hookMade();
    };
  };
  const counting = (inserts: string[]) => (place: FakeScope) => {
    const insert = place.entries.insert.bind(place.entries);
    Object.assign(place.entries, {
      insert: (...given: Parameters<typeof insert>) => {
        inserts.push(given[1]);
        return insert(...given);
      },
    });
  };

  it("is sent under a new entry, unless another process has written an entry", async () => {
    const inserts: string[] = [];
    const { sent, answer } = await ask("hosting_webhook", HOOK, { answer: late(1), prepare: counting(inserts) });
    expect([sent.length, inserts.length, codesOf(answer.diagnostics)]).toEqual([2, 2, []]);
    expect(answer.state).toMatchObject({ id: liveWebhook.id });
  });

  it("is rejected after the last attempt, without an entry and without a tainted resource", async () => {
    const { sent, answer, entries } = await ask("hosting_webhook", HOOK, { answer: late(8) });
    expect([sent.length, codesOf(answer.diagnostics), answer.state]).toEqual([8, ["error api.late"], null]);
    expect((await entries.all("hosting_webhook")).size).toBe(0);
  });
});

describe("timeouts", () => {
  it("end the wait for the request budget, and the message names the timeout", async () => {
    const moments: (number | undefined)[] = [];
    const client = {
      reserve: async (_: Mutation, options: CallOptions) => {
        moments.push(options.notAfter);
        throw new ApiError({ code: "api.too_late", summary: "late", endpoint: "createService", reached: "no" });
      },
    } as unknown as HostingClient;
    const config = { ...ORDER, timeouts: { create: "2m" } };
    const { answer } = await ask("hosting_service", config, { session: { client } });
    expect(moments).toEqual([START + 120_000]);
    expect(answer.state).toBeNull();
    expect(answer.diagnostics[0]?.summary).toContain("`timeouts.create` ran out");
  });

  it.each([
    ["1m", 60_000],
    [null, 300_000],
  ])("of %j let a job be waited for %j ms", async (update, ms) => {
    const { clock, answer } = await ask(
      "hosting_service",
      { ...ORDER, suspended: true, timeouts: { update } },
      { prior: LIVE, objects: [remote(LIVE)], answer: () => ({}) },
    );
    expect(codesOf(answer.diagnostics)).toContain("warning apply.waiting");
    expect(clock.now() - START).toBeGreaterThan(ms - 20_000);
    expect(clock.now() - START).toBeLessThanOrEqual(ms + 20_000);
  });
});

describe("an order with its own name, beside a service of the same domain,", () => {
  const old = remote({ ...LIVE, id: "900" });
  const config = { ...ORDER, reference: "second" };

  it.each<[string, JsonObject, Asked["prepare"], string[]]>([
    ["is refused", {}, () => undefined, []],
    [
      "is placed when Terraform released that one in this process",
      {},
      ({ front, kind }) => front.markReleased(kind, { id: "900" }),
      ["createService"],
    ],
    [
      "is placed when this run of Terraform planned it in the place of that one",
      {},
      ({ kind, session }) => noteReplacing(kind, "second", { replacing: { id: "900", name: "first" } }, session),
      ["createService"],
    ],
    [
      "is refused when it was planned in the place of another one",
      {},
      ({ kind, session }) => noteReplacing(kind, "second", { replacing: { id: "901", name: "first" } }, session),
      [],
    ],
  ])("%s", async (_, more, prepare, expected) => {
    const { answer, sent } = await ask(
      "hosting_service",
      { ...config, ...more },
      { objects: [old], answer: ordered(), ...(prepare && { prepare }) },
    );
    expect(sent).toEqual(expected);
    expect(codesOf(answer.diagnostics)).toEqual(expected.length === 0 ? ["error plan.exists"] : []);
  });
});
