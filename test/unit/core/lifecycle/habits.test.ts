// Habits of a host: the evidence for and against each habit, and the store that keeps it.
import { describe, expect, it } from "vitest";
import {
  habitsOf,
  learnAlone,
  learnFromAnswer,
  learnFromRow,
  learnFromUser,
} from "../../../../src/core/lifecycle/habits.ts";
import { Account } from "../../../../src/core/lifecycle/index.ts";
import { type AccountStore, MemoryStore, MemoryTables } from "../../../../src/core/local/index.ts";
import type { JsonObject } from "../../../../src/core/model/index.ts";
import { START } from "../../../support/clock.ts";
import { kindOf, remote } from "../../../support/subjects.ts";

const HOUR = 3_600_000;
const kind = kindOf("hosting_client_account");
const at = (ms: number) => new Date(START + ms).toISOString();

/** Simulates a run against a host. */
function run(store?: AccountStore, now = START) {
  const reader = { hostNow: () => now } as never;
  const account = new Account(reader, { statusWords: {} }, undefined, store);
  const row = (nth: number, shown: JsonObject = {}, created: string | undefined = at(0), name = `Client ${nth}`) =>
    learnFromRow(
      account,
      kind,
      { name },
      created === undefined ? {} : { created },
      remote({ id: `${nth}`, name, ...shown }),
    );
  return {
    row,
    rows: async (count: number, shown?: JsonObject, created?: string, name?: string) => {
      for (let nth = 0; nth < count; nth++) await row(nth, shown, created, name && `${name} ${nth}`);
    },
    answer: (shown: JsonObject, since = START) =>
      learnFromAnswer(account, kind, { name: "Alpha" }, { id: "99", attributes: { name: "Alpha", ...shown } }, since),
    user: (name: string) => learnFromUser(account, kind, { name: "Alpha" }, remote({ id: "98", name })),
    habits: (name = "Alpha") => habitsOf(account, kind, { name }),
  };
}

const shared = (tables: MemoryTables) => new MemoryStore({ tables });

describe("the habit of a host that returns names unchanged", () => {
  it("is proved by ten objects, however often each is read", async () => {
    const one = run();
    await one.rows(9);
    await one.rows(9);
    expect(await one.habits()).toMatchObject({ rewritesKey: "unknown" });
    await one.row(10);
    expect(await one.habits()).toMatchObject({ rewritesKey: "never" });
  });

  it("is not proved by responses, which may repeat the request", async () => {
    const one = run();
    for (let nth = 0; nth < 12; nth++) await one.answer({});
    expect(await one.habits()).toMatchObject({ rewritesKey: "unknown" });
  });

  it("is not proved by objects that no response named, because an adoption compares names", async () => {
    const one = run();
    for (let nth = 0; nth < 12; nth++) await one.row(nth, {}, undefined as never);
    const account = new Account({ hostNow: () => START } as never, { statusWords: {} });
    for (let nth = 0; nth < 12; nth++)
      await learnFromRow(account, kind, { name: "A" }, {}, remote({ id: `${nth}`, name: "A" }));
    expect(await habitsOf(account, kind, { name: "Alpha" })).toMatchObject({ rewritesKey: "unknown" });
  });

  it("is not proved by names in another form, although hostform treats them as equal", async () => {
    const one = run();
    for (let nth = 0; nth < 12; nth++) await one.row(nth, { name: `CLIENT ${nth}` });
    expect(await one.habits()).toMatchObject({ rewritesKey: "unknown" });
  });

  it("is proved for letters beyond ASCII only by names with such letters", async () => {
    const one = run();
    await one.rows(10);
    expect(await one.habits("Müller")).toMatchObject({ rewritesKey: "unknown" });
    await one.rows(10, {}, at(0), "Bäckerei");
    expect(await one.habits("Müller")).toMatchObject({ rewritesKey: "never" });
  });

  it.each<[string, (one: ReturnType<typeof run>) => Promise<void>]>([
    ["an answer", (one) => one.answer({ name: "Alpha Ltd" })],
    ["a fresh object", (one) => one.row(50, { name: "Client Fifty" })],
    ["a user who names the result of a create", (one) => one.user("Alpha Ltd")],
  ])("is refuted for good by %s with another name", async (_, refute) => {
    const one = run();
    await refute(one);
    await one.rows(12);
    expect(await one.habits()).toMatchObject({ rewritesKey: "seen" });
  });

  it("is not refuted by an object that got another name later, because a person may have renamed it", async () => {
    const one = run(undefined, START + 2 * HOUR);
    await one.rows(12);
    await one.row(50, { name: "Client Fifty" });
    expect(await one.habits()).toMatchObject({ rewritesKey: "never" });
  });

  it("compares a domain with its notation in the request, and events in any order", async () => {
    const account = new Account({ hostNow: () => START } as never, { statusWords: {} });
    const mark = { created: at(0) };
    const [service, webhook] = [kindOf("hosting_service"), kindOf("hosting_webhook")];
    for (let nth = 0; nth < 10; nth++) {
      const sent = { plan_id: 11, currency: "USD", domain: `bücher${nth}.example` };
      const shown = { domain: service.create(sent, "k").body?.domain ?? null };
      await learnFromRow(account, service, sent, mark, remote({ id: `${nth}`, ...shown }));
      const url = `https://a.example/${nth}`;
      const events = ["invoice.paid", "invoice.created"];
      await learnFromRow(
        account,
        webhook,
        { url, events },
        mark,
        remote({ id: `${nth}`, url, events: events.toReversed() }),
      );
    }
    expect(await habitsOf(account, service, { domain: "a.example" })).toMatchObject({ rewritesKey: "never" });
    const hook = { url: "https://b.example/", events: ["invoice.paid"] };
    expect(await habitsOf(account, webhook, hook)).toMatchObject({ rewritesKey: "never" });
  });
});

describe("creation times of a host", () => {
  it("are exact if the times of ten objects are within a minute of the responses that named them", async () => {
    const one = run();
    await one.rows(9, { created_at: at(-30_000) });
    expect(await one.habits()).toMatchObject({ createdTimes: "unknown" });
    await one.row(10, { created_at: at(1_000) });
    expect(await one.habits()).toMatchObject({ createdTimes: "exact" });
  });

  it.each([
    ["in local time", "2026-11-21T14:00:00"],
    ["a day", "2026-11-21"],
    ["four hours off", at(4 * HOUR)],
  ])("prove nothing if they are %s", async (_, created_at) => {
    const one = run();
    await one.rows(12, { created_at });
    expect(await one.habits()).toMatchObject({ createdTimes: "unknown" });
  });

  it("are refuted by one response with a time outside of its request", async () => {
    const one = run();
    await one.rows(12, { created_at: at(0) });
    await one.answer({ created_at: at(-5 * 60_000) }, START - 5 * 60_000);
    expect(await one.habits(), "repeated for five minutes").toMatchObject({ createdTimes: "exact" });
    await one.answer({ created_at: at(-5 * 60_000) });
    expect(await one.habits()).toMatchObject({ createdTimes: "unknown" });
  });
});

describe("a habit that a run recorded", () => {
  it("is used by later runs and other projects through the store", async () => {
    const tables = new MemoryTables();
    await run(shared(tables)).rows(6);
    const other = run(shared(tables));
    await other.rows(10);
    expect(await run(shared(tables)).habits()).toMatchObject({ rewritesKey: "never" });
    await run(shared(tables)).answer({ name: "Alpha Ltd" });
    expect(await other.habits()).toMatchObject({ rewritesKey: "seen" });
  });

  it("is used by the run alone without a list in the store", async () => {
    const tables = new MemoryTables();
    const alone = () => Object.assign(shared(tables), { habits: undefined });
    const one = run(alone());
    await one.rows(10);
    expect(await one.habits()).toMatchObject({ rewritesKey: "never" });
    expect(tables.notes.size).toBe(0);
    expect(await run(alone()).habits()).toMatchObject({ rewritesKey: "unknown" });
  });

  it("is used by the run alone if a stranger may have changed its state", async () => {
    const tables = new MemoryTables();
    const account = new Account({ hostNow: () => START } as never, { statusWords: {} }, undefined, shared(tables));
    learnAlone(account);
    const name = "A";
    for (let nth = 0; nth < 10; nth++)
      await learnFromRow(account, kind, { name }, { created: at(0) }, remote({ id: `${nth}`, name }));
    expect(tables.notes.size).toBe(0);
  });

  it("has at most ten notes for each proof", async () => {
    const tables = new MemoryTables();
    await run(shared(tables)).rows(40, { created_at: at(0) });
    expect(tables.notes.size).toBe(20);
  });
});
