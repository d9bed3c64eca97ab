// A create that no list shows is not sent while an earlier create is pending, whatever the plan contains.
import { describe, expect, it } from "vitest";
import { type Change, HostformError, type JsonObject } from "../../../../src/core/model/index.ts";
import { changeOf, fakeRun, outcomeOf } from "../../../support/changes.ts";
import { failure, fakeAccount, fakeWriter, kindOf } from "../../../support/subjects.ts";

const PLANNED: JsonObject = {
  domain: "acme.example",
  years: 1,
  currency: "USD",
  nameserver_mode: "default",
  registrant_contact: {},
};
const MADE = { id: "701", status: "pending", invoice: null, raw: { domain: "acme.example" } };

/** Runs a create. Returns all events in order, and the outcome. */
async function run(answer: () => unknown, change: Partial<Change> = {}, over: Partial<ReturnType<typeof kindOf>> = {}) {
  const kind = { ...kindOf("hosting_domain"), ...over } as ReturnType<typeof kindOf>;
  const { account } = fakeAccount(kind);
  const happened: string[] = [];
  const writer = fakeWriter(async (mutation) => {
    happened.push(`sent ${mutation.endpoint}`);
    return answer();
  });
  const { context } = fakeRun(account, writer, {
    save: async ({ private: { pending } }) => void (pending && happened.push(`marked ${pending.operation}`)),
    drop: async () => void happened.push("unmarked"),
  });
  const one = changeOf("hosting_domain", PLANNED, change);
  const outcome = await outcomeOf(kind, one, context);
  const ended =
    outcome instanceof HostformError
      ? outcome.diagnostics.map(({ severity, code }) => `${severity} ${code}`)
      : outcome.attributes?.id;
  return { happened, ended };
}

const SENT = ["marked registerDomain", "sent registerDomain"];
const STOPPED = "error plan.pending";

describe("a create that no list shows", () => {
  it("is recorded first, then sent, and identified by its response", async () => {
    expect(await run(() => MADE)).toEqual({ happened: SENT, ended: expect.any(String) });
  });

  it("is never sent while an earlier one is pending, whatever plans it", async () => {
    const pending = { since: "2020-01-01T00:00:00Z", operation: "registerDomain" } as const;
    expect(await run(() => MADE, { private: { pending } } as Partial<Change>)).toEqual({
      happened: [],
      ended: [STOPPED],
    });
  });

  it.each<[string, () => unknown, string[], unknown]>([
    [
      "a refusal takes the mark back",
      () => {
        throw failure("answered", 422);
      },
      [...SENT, "unmarked"],
      ["error api.server"],
    ],
    [
      "and so does a request that never left",
      () => {
        throw failure("no");
      },
      [...SENT, "unmarked"],
      ["error api.server"],
    ],
    [
      "a lost answer leaves it, and says why",
      () => {
        throw failure("maybe");
      },
      SENT,
      ["error api.server", STOPPED],
    ],
    [
      "so does a failure of ours",
      () => {
        throw new Error("a mistake");
      },
      SENT,
      [STOPPED],
    ],
  ])("%s", async (_, answer, happened, ended) => {
    expect(await run(answer)).toEqual({ happened, ended });
  });

  it("whose response contains no id may have failed, so it stays pending", async () => {
    const created = () => ({ id: null, attributes: {}, invoice: null, unclear: true as const });
    expect(await run(() => ({}), {}, { created })).toEqual({ happened: SENT, ended: [STOPPED] });
  });
});
