// Records of a run: which address owns which object, from the state or from this run's creates.
import { describe, expect, it } from "vitest";
import { type Recorder, Records } from "../../../../src/core/engine/run-records.ts";
import { kinds } from "../../../../src/core/kinds/index.ts";
import {
  type Change,
  fail,
  HostformError,
  type PrivateMark,
  type ResourceState,
} from "../../../../src/core/model/index.ts";
import { kindOf, liveService, liveWebhook, recorded, remote, stateOf } from "../../../support/subjects.ts";

const service = (name: string, domain: string, id: string | null = null, over: Partial<ResourceState> = {}) =>
  recorded(`hosting_service.${name}`, { id, domain }, over);
const change = (name: string, over: Partial<Change> = {}) =>
  ({ address: `hosting_service.${name}`, provider: "default", actions: ["create"], ...over }) as Change;

function recordsOf(resources: readonly ResourceState[] = [], changes: readonly Change[] = []) {
  const log: string[] = [];
  const recorder: Recorder = {
    put: async ({ address }) => void log.push(`put ${address}`),
    remove: async (address) => void log.push(`remove ${address}`),
  };
  return { records: new Records(recorder, kinds, stateOf(...resources), changes), log, recorder };
}
const kind = kindOf("hosting_service");
const pending = { pending: { since: "2026-11-21T10:00:00Z", operation: "createService" } } as PrivateMark;

describe("a natural key", () => {
  const claim = (records: Records, name: string, domain: string | null, over: Partial<Change> = {}) =>
    records.contextOf(change(name, over)).claim?.(kind, { domain });

  it("in the state belongs to its address", () => {
    const { records } = recordsOf([service("a", "x.example")]);
    expect(claim(records, "b", "x.example")).toBe("hosting_service.a");
    expect(claim(records, "a", "x.example")).toBeUndefined();
    expect(claim(records, "b", "y.example")).toBeUndefined();
    expect(claim(records, "b", "x.example", { provider: "beta" })).toBeUndefined();
  });

  it("belongs to the address that recorded it first, and is free after its removal", async () => {
    const { records, log } = recordsOf();
    await records.put(service("a", "x.example"));
    await records.put(service("b", "x.example"));
    await records.put(service("c", "z.example"));
    expect(claim(records, "c", "x.example")).toBe("hosting_service.a");
    await records.remove("hosting_service.a");
    expect(claim(records, "d", "x.example")).toBeUndefined();
    expect(claim(records, "d", "z.example"), "that of another stays").toBe("hosting_service.c");
    expect(log).toEqual([
      "put hosting_service.a",
      "put hosting_service.b",
      "put hosting_service.c",
      "remove hosting_service.a",
    ]);
  });
});

describe("an object", () => {
  const object = (id: string) => remote({ ...liveService, id });

  it("in the state is held against all other addresses", async () => {
    const { records } = recordsOf([service("a", "x.example", "1001")]);
    const holder = (name: string, over: Partial<Change> = {}) =>
      records.contextOf(change(name, over)).ownerOf?.(kind, object("1001"));
    expect(holder("b")).toBe("hosting_service.a");
    expect(holder("a")).toBeUndefined();
    expect(holder("b", { provider: "beta" })).toBeUndefined();
    expect(records.contextOf(change("b")).ownerOf?.(kind, object("1002"))).toBeUndefined();
    await records.put(service("c", "x.example", "1001"));
    await records.put(service("a", "x.example", "1002"));
    expect(holder("b"), "the one that has it now").toBe("hosting_service.c");
    expect(records.contextOf(change("b")).ownerOf?.(kind, object("1002"))).toBe("hosting_service.a");
    await records.remove("hosting_service.c");
    expect(holder("b")).toBeUndefined();
  });

  it("of one parent differs from an object of another parent", () => {
    const { records } = recordsOf([recorded("hosting_grant.a", { id: "301", service_id: "1001" })]);
    const grants = kindOf("hosting_grant");
    const holder = (service_id: string) =>
      records.contextOf(change("b")).ownerOf?.(grants, remote({ id: "301", service_id }));
    expect(holder("1001")).toBe("hosting_grant.a");
    expect(holder("1002")).toBeUndefined();
    const taken = (service_id: string, name: string) =>
      records.contextOf(change(name)).claimId?.(grants, "302", { service_id });
    expect([taken("1001", "x"), taken("1001", "y"), taken("1002", "y")]).toEqual([
      undefined,
      "hosting_service.x",
      undefined,
    ]);
  });
});

/** Returns the prior record of an address, as the address's change receives it. */
const priorOf = (records: Records, address: string) =>
  records.contextOf({ address, provider: "default", type: "hosting_service" } as Change).prior;

describe("a record", () => {
  it("is known from the moment that it is durable, not before", async () => {
    const { records, recorder } = recordsOf([service("a", "x.example")]);
    expect(priorOf(records, "hosting_service.a")?.attributes.domain).toBe("x.example");
    recorder.put = async () => {
      expect(priorOf(records, "hosting_service.b")).toBeUndefined();
    };
    const one = service("b", "y.example");
    await records.put(one);
    expect(priorOf(records, "hosting_service.b")).toBe(one);
    recorder.remove = async () => {
      expect(priorOf(records, "hosting_service.b")).toBe(one);
    };
    await records.remove("hosting_service.b");
    expect(priorOf(records, "hosting_service.b")).toBeUndefined();
  });

  it("may be a pending create", () => {
    const { records } = recordsOf([service("a", "x.example"), service("b", "y.example", null, { private: pending })]);
    expect(["a", "b", "c"].map((name) => records.isPending(`hosting_service.${name}`))).toEqual([false, true, false]);
  });

  it("of pending creates contains those of this run, and all", () => {
    const two = ["b", "c"].map((name) => service(name, `${name}.example`, null, { private: pending }));
    const { records } = recordsOf(two, [change("a"), change("b"), change("c", { actions: ["no-op"] })]);
    const siblings = (name: string, isThisRun?: boolean) =>
      records
        .contextOf(change(name))
        .siblings?.(kind, isThisRun)
        .map(({ address }) => address);
    expect(siblings("a")).toEqual(["hosting_service.b", "hosting_service.c"]);
    expect(siblings("a", true)).toEqual(["hosting_service.b"]);
    expect(siblings("b")).toEqual(["hosting_service.c"]);
    expect(siblings("b", true)).toEqual([]);
    expect(records.contextOf(change("a")).siblings?.(kindOf("hosting_webhook"))).toEqual([]);
    expect(liveWebhook.id).toBeDefined();
  });
});

describe("the lock of the state", () => {
  it("is lost once the recorder reports it, or cannot prove it", async () => {
    const lost = new HostformError([{ severity: "error", code: "state.lost_lock", summary: "lost", remedies: [] }]);
    const shown = recordsOf();
    let shows = false;
    Object.assign(shown.recorder, { lostLock: () => (shows ? lost : undefined) });
    const { lostLock, proveLock } = shown.records.contextOf(change("a"));
    expect([lostLock?.(), proveLock], "a recorder without a lock").toEqual([undefined, undefined]);
    shows = true;
    expect(lostLock?.()).toBe(lost);
    shows = false;
    expect(lostLock?.(), "it stays lost").toBe(lost);

    const proved = recordsOf();
    let holds = true;
    Object.assign(proved.recorder, { proveLock: async () => void (holds || fail("state.lost_lock", "lost")) });
    const context = proved.records.contextOf(change("a"));
    await context.proveLock?.();
    expect(context.lostLock?.()).toBeUndefined();
    holds = false;
    await expect(context.proveLock?.()).rejects.toMatchObject({ diagnostics: [{ code: "state.lost_lock" }] });
    expect(proved.records.contextOf(change("b")).lostLock?.(), "for all changes").toBeDefined();
  });

  it.each([["put", "state.unwritable", false]] as const)(
    "is lost after a %s that fails with %s: %s",
    async (call, code, isLost) => {
      const { records, recorder } = recordsOf();
      recorder[call] = async () => fail(code, "cannot be written");
      const { lostLock } = records.contextOf(change("a"));
      expect(lostLock?.()).toBeUndefined();
      const write = call === "put" ? records.put(service("a", "x.example")) : records.remove("hosting_service.a");
      await expect(write).rejects.toMatchObject({ diagnostics: [{ code }] });
      expect(lostLock?.() !== undefined).toBe(isLost);
    },
  );
});
