/** Creates of two runs on one machine: what the second one reads again, what it refuses, and what it costs. */
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { SharedCreateTurns } from "../../../src/api/create-turns.ts";
import type { Mutation, Reader } from "../../../src/api/index.ts";
import type { Kind } from "../../../src/kinds/kind.ts";
import { Account } from "../../../src/lifecycle/index.ts";
import type { Intent, JsonObject } from "../../../src/model/index.ts";
import { changeOf, fakeRun, outcomeOf } from "../../support/changes.ts";
import { testClock } from "../../support/clock.ts";
import { temporaryFolder } from "../../support/ledgers.ts";
import { failure, fakeAccount, fakeWriter, kindOf, liveWebhook, remote } from "../../support/subjects.ts";

const HOOK = { url: "https://hooks.acme.example", events: ["invoice.paid"] };
const DOMAIN = {
  domain: "acme.example",
  years: 1,
  currency: "USD",
  nameserver_mode: "default",
  registrant_contact: {},
};

interface RunOptions {
  /** The state that the run has. */
  readonly owner?: string;
  readonly stop?: AbortSignal;
  readonly anyway?: true;
  readonly pending?: Intent;
  /** What the host answers; default: it makes a webhook, or registers the domain. */
  readonly answer?: (mutation: Mutation, nth: number) => unknown;
}

/** A machine on which runs share a folder, and an account that they share. */
function machine(type: string, isResettable = false) {
  const file = path.join(temporaryFolder(), "token.creates");
  const clock = testClock();
  const fake = fakeAccount(kindOf(type));
  /** How long a list is without a new object. */
  let lagMs = 0;
  const born = new Map<string, number>();
  const kind: Kind = {
    ...fake.kind,
    ...(fake.kind.list && {
      async *list(context, parent) {
        for await (const one of fake.kind.list?.(context, parent) ?? [])
          if (clock.now() - (born.get(one.id) ?? 0) >= lagMs) yield one;
      },
    }),
  };
  let made = 0;
  const make = ({ endpoint }: Mutation) => {
    made += 1;
    if (endpoint === "registerDomain")
      return { id: `70${made}`, status: "pending", invoice: null, raw: { domain: "acme.example" } };
    const record = { ...liveWebhook, id: `20${made}`, url: HOOK.url, events: HOOK.events };
    fake.objects.set(record.id, remote(record));
    born.set(record.id, clock.now());
    return { ...record, raw: {}, secret: "whsec" };
  };

  /** A run that has begun: it has its account, and may have read it. */
  const begin = ({ owner, stop, anyway, pending, answer = make }: RunOptions = {}) => {
    const turns = new SharedCreateTurns(file, {
      clock,
      isResettable,
      onAlone: (reason) => expect.fail(String(reason)),
    });
    onTestFinished(() => turns.close());
    const account = new Account({ hostNow: clock.now } as Reader, { statusWords: {} }, undefined, turns);
    const writer = fakeWriter(answer);
    const { context, records } = fakeRun(account, writer, {
      pause: (ms) => clock.sleep(ms),
      owner: () => owner,
      ...(stop && { stop }),
    });
    const config: JsonObject = type === "hosting_domain" ? DOMAIN : HOOK;
    const end = async () => {
      const change = changeOf(type, config, { ...(anyway && { anyway }), private: pending ? { pending } : {} });
      const said = (await outcomeOf(kind, change, context)).diagnostics;
      return { sent: writer.sent.length, codes: said.map(({ code }) => code), said, records };
    };
    return { account, end, read: () => account.list(kind), recheck: () => account.recheck(kind) };
  };
  const lag = (ms: number) => {
    lagMs = ms;
  };
  return { begin, clock, asked: fake.asked, made: () => made, lag, file };
}

describe("a create that another run on the machine made meanwhile", () => {
  it("is seen: the list is read again, and nothing is sent", async () => {
    const { begin, asked, made } = machine("hosting_webhook");
    const [one, two] = [begin(), begin()];
    await Promise.all([one.read(), two.read()]);
    expect(await one.end()).toMatchObject({ sent: 1, codes: [] });
    expect(await two.end()).toMatchObject({ sent: 0, codes: ["plan.exists"] });
    expect(asked).toEqual(["list", "list", "list"]);
    expect(made()).toBe(1);
  });

  it("costs no request when there was none: alone, after another run had ended, or when the other was refused", async () => {
    const { begin, asked } = machine("hosting_webhook");
    const refused = begin({
      answer: () => {
        throw failure("answered", 422);
      },
    });
    const alone = begin();
    await Promise.all([refused.read(), alone.read()]);
    await refused.end();
    expect(await alone.end()).toMatchObject({ sent: 1 });
    const later = begin();
    await later.read();
    expect(await later.end()).toMatchObject({ sent: 0, codes: ["plan.exists"] });
    expect(asked).toEqual(["list", "list", "list"]);
  });

  it("is waited for while lists may lag, and is not made a second time", async () => {
    const { begin, clock, made, lag } = machine("hosting_webhook");
    lag(30_000);
    expect(await begin({ owner: "one" }).end()).toMatchObject({ sent: 1, codes: [] });
    const second = begin({ owner: "two" });
    await second.read();
    clock.advance(1_000);
    expect(await second.end()).toMatchObject({ sent: 0, codes: ["plan.exists"] });
    expect(made()).toBe(1);
    expect(clock.slept).toBeGreaterThanOrEqual(30_000);
  });

  it("is looked for in a list that was read after the wait, although an order before had it read already", async () => {
    const { begin, clock, made, lag } = machine("hosting_webhook");
    lag(30_000);
    await begin({ owner: "one" }).end();
    const second = begin({ owner: "two" });
    await second.recheck();
    clock.advance(1_000);
    await second.end();
    expect([...(await second.recheck()).keys()]).toEqual(["201"]);
    expect(made()).toBe(1);
  });

  it("is not taken for new when the answer is that of the other run's order", async () => {
    const { begin, clock, lag } = machine("hosting_webhook");
    lag(Number.POSITIVE_INFINITY);
    await begin({ owner: "one" }).end();
    clock.advance(1_000);
    const second = begin({ owner: "two" });
    second.account.noteNew("202");
    await second.end();
    expect(second.account.isNew("202")).toBe(false);
  });

  it("of a sandbox that was reset since is made again at once, but what is made beside it is waited for", async () => {
    const { begin, clock, lag, made } = machine("hosting_webhook", true);
    lag(Number.POSITIVE_INFINITY);
    await begin({ owner: "one" }).end();
    const beside = begin({ owner: "two" });
    expect(await begin({ owner: "three" }).end()).toMatchObject({ sent: 1 });
    expect([made(), clock.slept]).toEqual([2, 0]);
    await beside.end();
    expect(clock.slept).toBe(80_000);
  });

  it("is made again at once when it has gone since, or by the state that had it", async () => {
    const { begin, clock, made, lag } = machine("hosting_webhook");
    lag(0);
    await begin({ owner: "one" }).end();
    lag(Number.POSITIVE_INFINITY);
    expect(await begin({ owner: "one" }).end(), "its own, deleted since").toMatchObject({ sent: 1 });
    expect(clock.slept).toBe(0);
    clock.advance(600_000);
    expect(await begin({ owner: "two" }).end(), "long ago, deleted since").toMatchObject({ sent: 1 });
    expect(clock.slept).toBe(0);
    expect(made()).toBe(3);
  });

  it("is waited for when its answer was lost: it may be on its way still", async () => {
    const { begin, clock, file, asked } = machine("hosting_webhook");
    const next = begin();
    await next.read();
    const other = new SharedCreateTurns(file, { clock, onAlone: (reason) => expect.fail(String(reason)) });
    onTestFinished(() => other.close());
    await other.run(async (turn) => turn.begin({ thing: "a grant", owner: "" }, clock.now()));
    clock.advance(1_000);
    expect(await next.end()).toMatchObject({ sent: 1, codes: [] });
    // So long lists may be without it: 80 s, of which one has passed.
    expect(clock.slept).toBe(79_000);
    expect(asked).toEqual(["list", "list"]);
  });
});

describe("a domain, which nothing shows", () => {
  it("is refused to another state of this machine, whatever became of it there", async () => {
    const { begin, made } = machine("hosting_domain");
    expect(await begin({ owner: "one" }).end()).toMatchObject({ sent: 1, codes: [] });
    for (const owner of ["two", undefined]) {
      const { sent, said, records } = await begin({ ...(owner && { owner }) }).end();
      expect(sent).toBe(0);
      expect(records).toEqual([]);
      expect(said).toMatchObject([
        {
          severity: "error",
          code: "plan.exists",
          summary: expect.stringContaining("Another run on this machine ordered the domain of hosting_domain.acme"),
          fix: expect.stringContaining("`hostform import 'hosting_domain.acme' acme.example`"),
        },
      ]);
    }
    expect(made()).toBe(1);
  });

  it("is refused when its answer was lost there", async () => {
    const { begin } = machine("hosting_domain");
    const lost = begin({
      owner: "one",
      answer: () => {
        throw failure("maybe");
      },
    });
    expect(await lost.end()).toMatchObject({ sent: 1, codes: ["api.server", "plan.pending"] });
    const { sent, said } = await begin({ owner: "two" }).end();
    expect({ sent, summary: said[0]?.summary }).toEqual({
      sent: 0,
      summary: expect.stringContaining("and its answer was lost"),
    });
  });

  it("is ordered when the other one was refused by the API, when the user insists, and by the state that had it before", async () => {
    const { begin, made } = machine("hosting_domain");
    const refused = begin({
      owner: "one",
      answer: () => {
        throw failure("answered", 422);
      },
    });
    await refused.end();
    expect(await begin({ owner: "two" }).end(), "the other was refused").toMatchObject({ sent: 1 });
    expect(await begin({ owner: "three", anyway: true }).end(), "the user insists").toMatchObject({ sent: 1 });
    expect(await begin({ owner: "three" }).end(), "its own, which it let go of").toMatchObject({ sent: 1 });
    expect(made()).toBe(3);
  });

  it("is refused to a copy of the state that was read before", async () => {
    const { begin } = machine("hosting_domain");
    const [one, two] = [begin({ owner: "same" }), begin({ owner: "same" })];
    expect(await one.end()).toMatchObject({ sent: 1 });
    expect(await two.end()).toMatchObject({ sent: 0, codes: ["plan.exists"] });
  });
});

describe("a run that is stopped while it waits for its turn", () => {
  it("sends nothing, records nothing, and says so", async () => {
    const { begin, clock, file } = machine("hosting_webhook");
    const other = new SharedCreateTurns(file, { clock, onAlone: (reason) => expect.fail(String(reason)) });
    onTestFinished(() => other.close());
    const stop = new AbortController();
    const run = begin({ stop: stop.signal });
    await other.run(async () => {
      const ending = run.end();
      stop.abort();
      expect(await ending).toMatchObject({ sent: 0, codes: ["interrupted"], records: [] });
    });
  });
});
