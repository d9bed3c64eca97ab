// List for a decision about a pending create, with the requests of other processes on the machine, and habits of the host.
import { describe, expect, it } from "vitest";
import { learnFromRow } from "../../../../src/core/lifecycle/habits.ts";
import { Account } from "../../../../src/core/lifecycle/index.ts";
import { thingName } from "../../../../src/core/lifecycle/intents.ts";
import { listAll } from "../../../../src/core/lifecycle/pending-list.ts";
import { MemoryStore, MemoryTables } from "../../../../src/core/local/index.ts";
import { START, testClock } from "../../../support/clock.ts";
import { fakeAccount, kindOf, remote } from "../../../support/subjects.ts";

const RUN = { project: "two", place: "state 2" };

/** Begins a create in another process. Without a response, the process crashes. */
async function requestedBy(tables: MemoryTables, name: string, isAnswered: boolean): Promise<void> {
  const store = new MemoryStore({ tables, clock: testClock(START), process: "two" });
  const thing = thingName(kindOf("hosting_client_account"), undefined, name);
  const intent = { id: `intent ${name}`, place: "state 2", thing, at: START };
  await store.withTurn(RUN, async (turn) => {
    await store.leave(turn, intent);
    if (isAnswered) await store.answer(intent);
  });
  // The next holder of the create lock detects that the other create ended without a response.
  await new MemoryStore({ tables, clock: testClock(START), process: "three" }).withTurn(RUN, async () => {});
}

async function listed(tables: MemoryTables, ...names: string[]) {
  const fake = fakeAccount(kindOf("hosting_client_account"));
  fake.isWhole = true;
  for (const [nth, name] of names.entries()) fake.objects.set(`${nth + 1}`, remote({ id: `${nth + 1}`, name }));
  const store = new MemoryStore({ tables, clock: testClock(START), process: "one" });
  const reader = { hostNow: () => START, plans: { list: () => ({ all: async () => [] }) } } as never;
  return listAll(new Account(reader, { statusWords: {} }, undefined, store), fake.kind, { name: "Alpha" });
}

describe("the objects of a list", () => {
  it.each([true])("are known if another process requested them (answered: %s)", async (isAnswered) => {
    const tables = new MemoryTables();
    await requestedBy(tables, "omega", isAnswered);
    expect((await listed(tables, "Omega", "Sigma")).requested).toEqual(new Set(["1"]));
  });

  it("are not explained by a request if two have its natural key, because it created one at most", async () => {
    const tables = new MemoryTables();
    await requestedBy(tables, "omega", true);
    expect((await listed(tables, "Omega", "OMEGA")).requested).toEqual(new Set());
  });

  it("include the habits of the host", async () => {
    const fake = fakeAccount(kindOf("hosting_client_account"));
    fake.isWhole = true;
    for (let nth = 0; nth < 10; nth++)
      await learnFromRow(
        fake.account,
        fake.kind,
        { name: `N${nth}` },
        { created: new Date(START).toISOString() },
        remote({ id: `${nth}`, name: `N${nth}`, created_at: new Date(START).toISOString() }),
      );
    expect((await listAll(fake.account, fake.kind, { name: "Alpha" })).habits).toEqual({
      rewritesKey: "never",
      createdTimes: "exact",
    });
  });
});
