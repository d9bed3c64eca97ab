/** Lists that lag: the state keeps an object's creation time as long as lists may lack the object. */
import { describe, expect, it } from "vitest";
import { Account, isJustCreated } from "../../../../src/core/lifecycle/index.ts";
import { ApiError, type Change, type JsonObject } from "../../../../src/core/model/index.ts";
import { changeOf, fakeRun, outcomeOf } from "../../../support/changes.ts";
import { START } from "../../../support/clock.ts";
import { complete, fakeAccount, fakeWriter, kindOf, liveService, liveWebhook } from "../../../support/subjects.ts";

const created = new Date(START).toISOString();

/**
 * Applies a change of an object that was created at START. The change runs `age` ms later, and the account's lists
 * are empty.
 */
async function run(type: string, live: JsonObject, age: number, over: Partial<Change>, answer: () => unknown) {
  const kind = kindOf(type);
  const fake = fakeAccount(kind);
  fake.now = () => START + age;
  const writer = fakeWriter(answer);
  const { context, records } = fakeRun(fake.account, writer);
  const before = complete(kind, live);
  const change = changeOf(type, {}, { actions: ["update"], before, after: before, private: { created }, ...over });
  await outcomeOf(fake.kind, change, context);
  return { records, sent: writer.sent.length };
}

describe("the time of creation", () => {
  it("is compared with the host's time in its newest response, which no clock of this machine changes", () => {
    const at = (answeredAt: number) =>
      new Account({ hostNow: () => START + 3_600_000, answeredAt: () => answeredAt } as never, { statusWords: {} });
    expect(isJustCreated({ created }, at(START + 59_999))).toBe(true);
    expect(isJustCreated({ created }, at(START + 60_000))).toBe(false);
  });

  it("is compared with the host's time in the list after a 404 of a DELETE, which does not show the host's time", async () => {
    const fake = fakeAccount(kindOf("hosting_webhook"));
    fake.now = () => START + (fake.asked.length > 0 ? 1_000 : 3_600_000);
    const code = "api.malformed";
    const page = new ApiError({ code, summary: "A page.", endpoint: "", reached: "answered", status: 404 });
    const writer = fakeWriter(() => {
      throw page;
    });
    const { context, records } = fakeRun(fake.account, writer);
    const before = complete(fake.kind, liveWebhook);
    const removed = { actions: ["delete"], removal: "delete", before, after: null, private: { created } } as const;
    expect(await outcomeOf(fake.kind, changeOf("hosting_webhook", {}, removed), context)).toBe(page);
    expect(records).not.toContain("dropped");
  });

  it("is kept by a change as long as lists may lag, and then dropped", async () => {
    const suspended = { after: complete(kindOf("hosting_service"), { ...liveService, suspended: true }) };
    const answer = () => null;
    const soon = await run("hosting_service", liveService, 59_999, suspended, answer);
    expect(soon.records.at(-1)).toMatchObject({ private: { created } });
    const replaced = { ...suspended, private: { created, generation: 2 } };
    const both = await run("hosting_service", liveService, 59_999, replaced, answer);
    expect(both.records.at(-1)).toMatchObject({ private: { created, generation: 2 } });
    const later = await run("hosting_service", liveService, 60_000, suspended, answer);
    expect(later.records.at(-1)).toMatchObject({ private: {} });
    expect(later.records.at(-1)).not.toMatchObject({ private: { created } });
  });
});
