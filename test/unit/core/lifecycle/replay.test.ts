// Order with a lost response, in a later run, at a host that announces how long it keeps Idempotency-Keys.
import { describe, expect, it } from "vitest";
import { create } from "../../../../src/core/lifecycle/create.ts";
import { withoutRequests } from "../../../../src/core/lifecycle/pending-create.ts";
import { HostformError, type Intent, type JsonObject } from "../../../../src/core/model/index.ts";
import { changeOf, fakeRun } from "../../../support/changes.ts";
import { START } from "../../../support/clock.ts";
import { failure, fakeAccountWith, fakeWriter, kindOf, liveService, remote } from "../../../support/subjects.ts";

const PLANNED: JsonObject = { plan_id: 11, currency: "USD", domain: "www.acme.example" };
const MINUTE = 60_000;
const at = (ms: number) => new Date(START + ms).toISOString();

interface Situation {
  /** Age of the first attempt, in milliseconds. */
  readonly age: number;
  readonly retention?: number;
  readonly others?: readonly JsonObject[];
  readonly fails?: () => never;
}

async function orderAgain({ age, retention = 24 * 60 * MINUTE, others = [], fails }: Situation) {
  const objects = others.map((over, nth) => remote({ ...liveService, id: `${nth + 1}`, created_at: at(0), ...over }));
  const fake = fakeAccountWith({ keyLifetimeMs: retention }, kindOf("hosting_service"), ...objects);
  fake.isWhole = true;
  let now = START;
  fake.now = () => now;
  const pending: Intent = {
    id: "i",
    since: at(-age),
    operation: "createService",
    idempotencyKey: "key-1",
    body: { ...PLANNED },
    knowsAll: true,
  };
  const writer = fakeWriter(() => {
    fails?.();
    return { service: { ...liveService, raw: {}, plan_id: null, created_at: at(0) }, invoice: null };
  });
  const waits: number[] = [];
  const { context } = fakeRun(fake.account, writer, {
    pause: async (ms) => {
      waits.push(ms);
      now += ms;
    },
  });
  const change = changeOf("hosting_service", PLANNED, { private: { pending } });
  const progress = {
    kind: fake.kind,
    change,
    config: PLANNED,
    context,
    diagnostics: [],
    attributes: {},
    mark: withoutRequests(change.private),
  };
  const ended = await create(progress, async () => {}).catch((error: unknown) => {
    if (error instanceof HostformError) return error.diagnostics.map(({ summary }) => summary);
    throw error;
  });
  return { ended, waits, keys: writer.sent.map(({ idempotencyKey }) => idempotencyKey) };
}

describe("an order of an earlier run with a lost response", () => {
  it("is repeated with its key at once, within the retention", async () => {
    const { ended, waits, keys } = await orderAgain({ age: 1_000 });
    expect(ended).toMatchObject({ id: "1001" });
    expect({ waits, keys }).toEqual({ waits: [], keys: ["key-1"] });
  });

  it("waits for proof of absence beside an object that it may have created", async () => {
    const { waits, keys } = await orderAgain({ age: 1_000, others: [{ domain: "omega.example" }] });
    expect(waits.length).toBeGreaterThan(0);
    expect(keys).toEqual([]);
  });

  it("is adopted if the list shows it, and not repeated", async () => {
    const { ended, keys } = await orderAgain({ age: 1_000, others: [{ domain: "www.acme.example" }] });
    expect(ended).toMatchObject({ id: "1" });
    expect(keys).toEqual([]);
  });

  it("is not repeated at once when the host may have forgotten the key", async () => {
    const { waits } = await orderAgain({ age: 10 * MINUTE, retention: 10 * MINUTE });
    expect(waits.length).toBeGreaterThan(0);
  });

  it("is decided again by a list if the replay was rejected, and the error names the fix", async () => {
    const refuse = () => {
      throw failure("answered", 422, "api.invalid" as never, "There is no plan");
    };
    const { ended, keys } = await orderAgain({ age: 1_000, fails: refuse });
    expect(keys).toEqual(["key-1"]);
    expect(ended).toContain("The API rejected the repeated request for hosting_service.acme");
  });
});
