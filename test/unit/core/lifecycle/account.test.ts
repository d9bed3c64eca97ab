// Reads of the account: the number of requests, and the response that decides whether an object is missing.
import { describe, expect, it } from "vitest";
import type { Reader } from "../../../../src/core/api/index.ts";
import type { Kind, Remote } from "../../../../src/core/kinds/kind.ts";
import { Account } from "../../../../src/core/lifecycle/index.ts";
import { type AccountStore, MemoryStore } from "../../../../src/core/local/index.ts";
import { ApiError, HostformError, isNotFound } from "../../../../src/core/model/index.ts";
import { START } from "../../../support/clock.ts";
import {
  type FakeAccount,
  failure,
  fakeAccount,
  kindOf,
  liveService,
  liveWebhook,
  notFound,
  remote,
} from "../../../support/subjects.ts";

const liveHook = (id: string) => ({ ...liveWebhook, id });
const hooks = (...ids: string[]) => ids.map((id) => remote(liveHook(id)));

const page = (status: number) =>
  new ApiError({ code: "api.malformed", summary: "a page", endpoint: "GET /x", reached: "answered", status });

/** Creates a reader that counts its calls and returns the responses of the test. */
function readerOf() {
  const asked: string[] = [];
  const answers: Record<string, (names: readonly string[]) => unknown> = {};
  const clock = { now: 42 };
  const all = (name: string) => ({
    list: () => ({
      all: async () => {
        asked.push(name);
        return answers[name]?.([]) ?? [];
      },
      async *[Symbol.asyncIterator]() {
        asked.push(name);
        yield* (answers[name]?.([]) ?? []) as unknown[];
      },
    }),
  });
  const check = async (names: readonly string[]) => (answers.check?.(names) ?? []) as never;
  const reader = {
    plans: all("plans"),
    invoices: all("invoices"),
    services: all("services"),
    domains: { check },
    hostNow: () => clock.now,
  };
  return { clock, account: new Account(reader as unknown as Reader, { statusWords: { odd: "live" } }), asked, answers };
}

describe("a collection", () => {
  it("that failed is read again at the next request, also for a second read", async () => {
    const fake = fakeAccount(kindOf("hosting_webhook"), ...hooks("1"));
    fake.broken = true;
    await expect(fake.account.list(fake.kind)).rejects.toBeInstanceOf(HostformError);
    await expect(fake.account.recheck(fake.kind)).rejects.toBeInstanceOf(HostformError);
    await expect(fake.account.isMissing(notFound(), fake.kind, "1")).rejects.toBeInstanceOf(HostformError);
    fake.broken = false;
    expect((await fake.account.list(fake.kind)).size).toBe(1);
    expect((await fake.account.recheck(fake.kind)).size).toBe(1);
    await expect(fake.account.isMissing(notFound(), fake.kind, "2")).resolves.toBe(true);
  });
});

describe("an object that is missing", () => {
  it("is searched in the list, then by its id", async () => {
    const { account, kind, asked } = fakeAccount(kindOf("hosting_service"), remote(liveService));
    expect(await account.find(kind, "1001")).toMatchObject({ id: "1001" });
    expect(asked).toEqual(["list"]);
    expect(await account.find(kind, "9")).toBeUndefined();
    expect(asked, "the list was without it already").toEqual(["list", "get 9"]);
  });

  it.each<[string, unknown, readonly Remote[], boolean | "error"]>([
    ["by the API's word, when the list shows that it has ended", notFound(), [remote(liveHook("1"), "gone")], true],
  ])("is missing %s", async (_, error, live, expected) => {
    const { account, kind } = fakeAccount(kindOf("hosting_webhook"), ...live);
    const found = account.isMissing(error, kind, "1");
    if (expected !== "error") return expect(await found).toBe(expected);
    await expect(found).rejects.toMatchObject({
      diagnostics: [
        {
          code: "api.malformed",
          summary: "The API returned 404 for webhook 1, but lists the webhook",
          detail: (error as Error).message,
        },
      ],
    });
  });

  it("is missing by the API's response alone if no list exists, but never by a page of a proxy", async () => {
    const { account } = fakeAccount(kindOf("hosting_domain"));
    expect(await account.isMissing(notFound(), kindOf("hosting_domain"), "1")).toBe(true);
    expect(await account.isMissing(page(404), kindOf("hosting_domain"), "1")).toBe(false);
  });

  it("is not another object that a cache returns", async () => {
    const { account, kind } = fakeAccount(kindOf("hosting_service"));
    const mixedUp: Kind = { ...kind, get: async () => remote(liveService) };
    await expect(account.get(mixedUp, "1")).rejects.toMatchObject({
      diagnostics: [{ code: "api.malformed", summary: "The API returned 1001 in response to a request for service 1" }],
    });
  });

  it("is not requested if the API has no GET for it", async () => {
    const { account, kind, asked } = fakeAccount(kindOf("hosting_domain"));
    expect(await account.get(kind, "1")).toBeUndefined();
    expect(await account.find(kind, "1")).toBeUndefined();
    expect(asked).toEqual([]);
  });

  it("is missing by the API's own error code, and not by any 404", () => {
    expect(isNotFound(notFound())).toBe(true);
    expect(isNotFound(page(404))).toBe(false);
    expect(isNotFound(new Error("not found"))).toBe(false);
  });
});

describe("a list before an order", () => {
  it("is read once more for the whole run, and the earlier result is kept", async () => {
    const { account, kind, asked, objects } = fakeAccount(kindOf("hosting_service"), remote(liveService));
    await account.list(kind);
    objects.clear();
    objects.set("1002", remote({ ...liveService, id: "1002" }));
    expect([...(await account.recheck(kind)).keys()].sort()).toEqual(["1001", "1002"]);
    expect([...(await account.recheck(kind)).keys()].sort()).toEqual(["1001", "1002"]);
    expect(asked).toEqual(["list", "list"]);
  });

  it.each<[string, boolean, (fake: FakeAccount) => unknown, number]>([
    ["no second time when it was read a moment ago, certainly whole", true, () => undefined, 1],
    ["again when that is longer ago", true, (fake) => Object.assign(fake, { now: () => START + 15_000 }), 2],
    ["again when a person was waited for", true, ({ account }) => account.refresh(), 2],
    ["again when it is out of date", true, ({ account, kind }) => account.outdate(kind), 2],
  ])("it is read %s", async (_, isWhole, then, times) => {
    const fake = fakeAccount(kindOf("hosting_service"), remote(liveService));
    fake.isWhole = isWhole;
    await fake.account.list(fake.kind);
    then(fake);
    for (let orders = 0; orders < 2; orders++)
      expect([...(await fake.account.recheck(fake.kind)).keys()]).toEqual(["1001"]);
    expect(fake.asked).toHaveLength(times);
  });

  it("keeps the result from before a pause", async () => {
    const { account, kind, objects } = fakeAccount(kindOf("hosting_service"), remote(liveService));
    await account.list(kind);
    account.refresh();
    objects.clear();
    expect([...(await account.recheck(kind)).keys()]).toEqual(["1001"]);
  });

  it("is read again if a collection is outdated by then", async () => {
    const { account, kind, asked } = fakeAccount(kindOf("hosting_service"));
    await account.recheck(kind);
    account.outdate(kind);
    await account.recheck(kind);
    expect(asked).toEqual(["list", "list"]);
  });
});

describe("after a pause", () => {
  it("every list is read again when it is needed", async () => {
    const { account, kind, asked } = fakeAccount(kindOf("hosting_webhook"), ...hooks("1"));
    await account.list(kind);
    await account.isMissing(notFound(), kind, "2");
    account.refresh();
    await account.list(kind);
    await account.isMissing(notFound(), kind, "2");
    expect(asked).toHaveLength(4);
  });

  it("a changed collection may lag again", async () => {
    const { account, kind, asked } = fakeAccount(kindOf("hosting_webhook"));
    await account.isMissing(notFound(), kind, "2");
    account.forget(kind);
    await account.isMissing(notFound(), kind, "2");
    expect(asked).toHaveLength(2);
  });
});

describe("objects that other processes of this machine created", () => {
  /** Creates an account whose store counts the creates. Returns the counts that the account passes to its create lock. */
  const withTurns = (changed: boolean) => {
    const { kind, asked } = fakeAccount(kindOf("hosting_service"), remote(liveService));
    const state = { count: 3 };
    const since: number[] = [];
    const store: AccountStore = Object.assign(new MemoryStore(), { count: async () => state.count });
    const isNewerThan = (count: number) => {
      since.push(count);
      return changed;
    };
    const account = new Account({ hostNow: () => START } as unknown as Reader, { statusWords: {} }, undefined, store);
    return { account, kind, asked, state, since, turn: { epoch: 1, isNewerThan } };
  };

  it.each([
    ["makes what was read out of date, and what was read once more", true, ["list", "list", "list", "list"]],
    ["changes nothing when they made nothing", false, ["list", "list"]],
  ])("%s", async (_, changed, expected) => {
    const { account, kind, asked, turn } = withTurns(changed);
    const readAll = async () => {
      await account.list(kind);
      await account.recheck(kind);
    };
    await readAll();
    await account.catchUp(turn);
    await readAll();
    expect(asked).toEqual(expected);
  });

  it("are counted from the last complete read", async () => {
    const { account, state, since, turn } = withTurns(true);
    await account.catchUp(turn);
    state.count = 7;
    account.refresh();
    state.count = 9;
    await account.catchUp(turn);
    await account.catchUp(turn);
    expect([await account.countAtStart, ...since]).toEqual([3, 3, 7, 9]);
  });

  it("are counted from zero without a store", async () => {
    const { since, turn } = withTurns(true);
    const { account } = readerOf();
    account.refresh();
    await account.catchUp(turn);
    expect(since).toEqual([0]);
  });
});

describe("the list of hosting plans", () => {
  it("is read once, and again if prices may have changed", async () => {
    const { account, asked, answers, clock } = readerOf();
    answers.plans = () => [{ plan_id: asked.length }];
    expect(await account.freshPlans()).toEqual([{ plan_id: 1 }]);
    expect(await account.plans()).toEqual([{ plan_id: 1 }]);
    clock.now += 14_999;
    expect(await account.freshPlans()).toEqual([{ plan_id: 1 }]);
    clock.now += 1;
    expect(await account.freshPlans()).toEqual([{ plan_id: 2 }]);
    account.refresh();
    expect(await account.plans()).toEqual([{ plan_id: 2 }]);
    expect(await account.freshPlans()).toEqual([{ plan_id: 3 }]);
    expect(await account.knownPlans()).toEqual([{ plan_id: 3 }]);
  });

  it.each([
    [403, "none, and are not asked for again", 1],
    [500, "an error, and are asked for again", 2],
  ])("that may not be read (%i) is %s", async (status, _, requests) => {
    const { account, asked, answers } = readerOf();
    answers.plans = () => {
      throw failure("answered", status);
    };
    const known = () => account.knownPlans().catch((error: ApiError) => error.status);
    const expected = status === 403 ? [] : status;
    expect([await known(), await known()]).toEqual([expected, expected]);
    expect(asked).toHaveLength(requests);
  });
});

describe("the invoices", () => {
  it("are read once, until a request may have created one", async () => {
    const { account, asked } = readerOf();
    const twice = async (between: () => void) => {
      const before = asked.length;
      await account.invoices.all();
      between();
      await account.invoices.all();
      return asked.length - before;
    };
    expect(await twice(() => {})).toBe(1);
    expect(await twice(() => account.noteNew("1"))).toBe(1);
    expect(await twice(() => account.forget(kindOf("hosting_webhook")))).toBe(1);
    expect(await twice(() => account.refresh())).toBe(1);
  });

  it("that failed are read again, and a failure does not discard a result in the meantime", async () => {
    const { account, answers, asked } = readerOf();
    answers.invoices = () => {
      throw failure("answered");
    };
    await expect(account.invoices.all()).rejects.toBeInstanceOf(ApiError);
    answers.invoices = () => [{ id: "1" }];
    expect(await account.invoices.all()).toEqual([{ id: "1" }]);
    await account.invoices.all();
    expect(asked).toHaveLength(2);
  });

  it("that fail when they are already outdated do not discard a result in the meantime", async () => {
    const { account, answers, asked } = readerOf();
    let fail: (error: unknown) => void = () => undefined;
    answers.invoices = () =>
      new Promise((_, reject) => {
        fail = reject;
      });
    const first = account.invoices.all();
    account.noteNew("1");
    answers.invoices = () => [];
    await account.invoices.all();
    fail(failure("answered"));
    await expect(first).rejects.toBeInstanceOf(ApiError);
    await account.invoices.all();
    expect(asked).toHaveLength(2);
  });
});

describe("other data of the account", () => {
  it.each([
    [[{ available: true }], true],
    [[], null],
  ])("include for a domain whether it can be registered: %j", async (answer, expected) => {
    const { account, answers } = readerOf();
    answers.check = (names) => (names.join() === "acme.example" ? answer : []);
    expect(await account.isAvailable("acme.example")).toBe(expected);
  });
});
