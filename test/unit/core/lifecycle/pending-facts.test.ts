// Facts about a pending create: attempts, objects, owners and siblings, and the objects that a decision names.
import { describe, expect, it } from "vitest";
import type { Kind, Remote } from "../../../../src/core/kinds/kind.ts";
import type { foresee } from "../../../../src/core/lifecycle/decide.ts";
import type { PendingCreate } from "../../../../src/core/lifecycle/index.ts";
import { attemptsOf, decidePending, type Listed } from "../../../../src/core/lifecycle/pending-facts.ts";
import type { Intent, JsonObject } from "../../../../src/core/model/index.ts";
import { kindOf, liveService, liveWebhook, recorded, remote } from "../../../support/subjects.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");
const MINUTE = 60_000;
const at = (ms: number) => new Date(NOW + ms).toISOString();
const webhook = kindOf("hosting_webhook");
const service = kindOf("hosting_service");

/** Returns a one-hour-old intent. */
const intent = (over: Partial<Intent> = {}): Intent => ({
  since: at(-60 * MINUTE),
  operation: "create",
  knowsAll: true,
  ...over,
});
const hook = (id: string, url = "https://hooks.acme.example", phase: Remote["phase"] = "live") =>
  remote({ ...liveWebhook, id, url, created_at: at(-60 * MINUTE) }, phase);

interface Options extends Omit<Partial<Parameters<typeof decidePending>[0]>, "listed"> {
  readonly held?: Listed["known"];
  readonly isResettable?: boolean;
  readonly habits?: Listed["habits"];
  readonly pending?: Partial<Intent>;
  readonly attributes?: JsonObject;
}

const decided = (
  objects: readonly Remote[],
  { pending, attributes, held = [], isResettable = false, habits, ...over }: Options = {},
  by?: typeof foresee,
) =>
  decidePending(
    {
      kind: webhook,
      sent: { attributes: attributes ?? { ...liveWebhook, secret: "s" }, private: { pending: intent(pending) } },
      listed: { objects, plans: [], readAt: NOW, known: held, isResettable, ...(habits && { habits }) },
      now: NOW,
      ...over,
    },
    by,
  );

const pendingHook = (url: string, known: string[] = []) =>
  recorded("hosting_webhook.b", { ...liveWebhook, url }, { private: { pending: intent({ known }) } }) as PendingCreate;

describe("the attempts of an intent", () => {
  const walls = (one: Intent, by?: number) => attemptsOf(one, by).map(({ leavesBy }) => leavesBy.wall);

  it("were sent within ten minutes after their records, or before a given moment", () => {
    const one = intent({ resent: at(-MINUTE) });
    expect(walls(one)).toEqual([NOW - 50 * MINUTE, NOW + 9 * MINUTE]);
    expect(walls(one, NOW)).toEqual([NOW - 50 * MINUTE, NOW]);
    expect(attemptsOf(one).map(({ recordedAt }) => recordedAt.wall)).toEqual([NOW - 60 * MINUTE, NOW - MINUTE]);
  });

  it("were sent within five seconds after their records, if each has a fence", () => {
    const one = intent({ resent: at(-MINUTE), fenced: true });
    expect(walls(one)).toEqual([NOW - 60 * MINUTE + 5_000, NOW - MINUTE + 5_000]);
    expect(walls(one, NOW - MINUTE)).toEqual([NOW - 60 * MINUTE + 5_000, NOW - MINUTE]);
  });

  it("are open, and the last one is accepted if the API accepted it", () => {
    const outcomes = (one: Intent) => attemptsOf(one).map(({ outcome }) => outcome);
    expect(outcomes(intent({ resent: at(0) }))).toEqual(["open", "open"]);
    expect(outcomes(intent({ resent: at(0), accepted: true }))).toEqual(["open", "accepted"]);
    expect(outcomes(intent({ accepted: true }))).toEqual(["accepted"]);
  });
});

describe("objects in the states of this machine", () => {
  const state = { name: "hosting.tfstate in /srv/shop" };
  const seen = (firstSeen: number, holder?: object) => [
    { id: "1", firstSeen, lastSeen: NOW, ...(holder && { holder: { ...state, ...holder } }) },
  ];
  const OTHER = hook("1", "https://b.example");

  it("are no candidates while another state owns them, unless the same intent created them", () => {
    expect(decided([hook("1")], { held: seen(NOW) })).toMatchObject({ do: "adopt", objects: [{ id: "1" }] });
    expect(decided([hook("1")], { held: seen(NOW, {}) })).toMatchObject({
      do: "refused",
      why: "held",
      holder: state.name,
    });
    expect(decided([OTHER], { held: seen(NOW, {}) }), "no question about the other one").toMatchObject({
      do: "resend",
    });
    const mine = { held: seen(NOW, { intent: "i1" }), pending: { id: "i1" } };
    expect(decided([hook("1")], mine), "the state moved").toMatchObject({ do: "adopt" });
    expect(decided([hook("1")], { ...mine, pending: { id: "i2" } })).toMatchObject({ do: "refused" });
    const original = { ...mine, held: seen(NOW, { intent: "i1", isOtherState: true }) };
    expect(decided([hook("1")], original), "a copy of the state").toMatchObject({ do: "refused", holder: state.name });
  });

  it("existed before the create if a run read them before its first attempt, beyond the difference of clocks", () => {
    expect(decided([OTHER], { held: seen(NOW - 71 * MINUTE) })).toMatchObject({ do: "resend" });
    expect(decided([OTHER], { held: seen(NOW - 69 * MINUTE) })).toMatchObject({ do: "ask", row: "rewritten" });
  });

  it("of a server that a reset may have emptied count only if a run read them after the create", () => {
    const earlier = seen(NOW - 71 * MINUTE, {}).map((one) => ({ ...one, lastSeen: one.firstSeen }));
    expect(decided([hook("1")], { held: earlier }), "another server").toMatchObject({ do: "resend" });
    const ofSandbox = { held: earlier, isResettable: true };
    expect(decided([hook("1")], ofSandbox)).toMatchObject({ do: "adopt", objects: [{ id: "1" }] });
    expect(decided([OTHER], ofSandbox)).toMatchObject({ do: "ask", row: "rewritten" });
    expect(decided([hook("1")], { ...ofSandbox, held: seen(NOW, {}) })).toMatchObject({ do: "refused", why: "held" });
  });
});

describe("an object with another natural key", () => {
  const account = kindOf("hosting_client_account");
  const HABITS = { rewritesKey: "never", createdTimes: "unknown" } as const;
  const named = (name: string, over: JsonObject = {}) =>
    remote({ id: "1", name, created_at: at(-60 * MINUTE), ...over });
  const about = (name: string, shown: Remote, more: Partial<Listed> = {}) =>
    decidePending({
      kind: account,
      sent: { attributes: { name }, private: { pending: intent() } },
      listed: { objects: [shown], plans: [], readAt: NOW, ...more },
      now: NOW,
    });

  it.each([
    ["Alpha", "ALPHA"],
    ["Alpha & Sons", "Alpha Sons"],
    ["Alpha Holding International", "Alpha Holding"],
  ])("is a candidate for %j at any host if it is %j", (name, shown) => {
    const decision = about(name, named(shown), { habits: HABITS });
    expect(decision.objects.map(({ id }) => id)).toEqual(["1"]);
    expect(decision.do).not.toBe("resend");
  });

  it("is excluded if the host returns names unchanged", () => {
    expect(about("Alpha", named("Omega"))).toMatchObject({ row: "rewritten" });
    const decision = about("Alpha", named("Omega"), { habits: HABITS });
    expect(decision).toMatchObject({ row: "again", ruledOut: [{ why: "otherKey", remote: { id: "1" } }] });
    expect(about("Alpha", named("Omega"), { habits: { ...HABITS, rewritesKey: "seen" } }).row).toBe("rewritten");
  });

  it("is excluded if it was created before the request, at a host with exact creation times", () => {
    const habits = { rewritesKey: "unknown", createdTimes: "exact" } as const;
    const before = named("Omega", { created_at: at(-71 * MINUTE) });
    expect(about("Alpha", before).row).toBe("rewritten");
    expect(about("Alpha", before, { habits })).toMatchObject({ row: "again", ruledOut: [{ why: "older" }] });
    expect(about("Alpha", named("Omega", { created_at: at(-69 * MINUTE) }), { habits }).row).toBe("rewritten");
    expect(about("Alpha", named("Omega", { created_at: null }), { habits }).row).toBe("rewritten");
  });

  it("is excluded if another process of this machine requested it, unless the keys are similar", () => {
    const requested = new Set(["1"]);
    expect(about("Alpha", named("Omega"), { requested })).toMatchObject({
      row: "again",
      ruledOut: [{ why: "siblings", by: "another project" }],
    });
    expect(about("Alpha", named("Alpha Ltd"), { requested }).row).toBe("rewritten");
  });

  it("of a webhook is near if the host drops an event, but not at another URL", () => {
    const sent = { url: "https://a.example/in", events: ["invoice.paid", "service.expiring"] };
    const shown = (over: JsonObject) =>
      decided([remote({ ...liveWebhook, ...sent, ...over, id: "1", created_at: at(-60 * MINUTE) })], {
        attributes: { ...liveWebhook, ...sent, secret: "s" },
        habits: HABITS,
      }).row;
    expect(shown({ events: ["invoice.paid"] })).toBe("rewritten");
    expect(shown({ events: ["invoice.created"] })).toBe("again");
    expect(shown({ url: "https://b.example/in" })).toBe("again");
  });
});

describe("a declared retention of keys", () => {
  const alpha = { plan_id: 11, currency: "USD", domain: "alpha.example" };
  const order = (age: number, objects: readonly Remote[] = [], more: Partial<Intent> = {}) =>
    decidePending({
      kind: service,
      sent: { attributes: alpha, private: { pending: intent({ since: at(-age), ...more }) } },
      listed: { objects, plans: [], readAt: NOW },
      now: NOW,
      settings: { keyLifetimeMs: 24 * 60 * MINUTE },
    });

  it("adopts a listed order, and repeats no order beside a candidate or after an acceptance", () => {
    const shown = (domain: string) => remote({ ...liveService, id: "7", domain, created_at: at(0) });
    expect(order(1_000, [shown("alpha.example")])).toMatchObject({ do: "adopt", id: "7" });
    expect(order(1_000, [shown("www.alpha.example")])).toMatchObject({ do: "ask", row: "twice" });
    expect(order(1_000, [shown("omega.example")])).toMatchObject({ do: "wait" });
    expect(order(1_000, [], { accepted: true })).toMatchObject({ do: "wait", row: "young" });
  });
});

describe("the decision about a pending create", () => {
  it.each<[string, Remote[], Options, string, string[]]>([
    [
      "that object if another pending create requested it",
      [hook("1", "https://b.example"), hook("2", "https://c.example")],
      { siblings: [pendingHook("https://b.example")] },
      "rewritten",
      ["2"],
    ],
    [
      "that object if it existed before this order the other create",
      [hook("1", "https://b.example")],
      { siblings: [pendingHook("https://b.example", ["1"])] },
      "rewritten",
      ["1"],
    ],
    ["an object without a readable key", [remote({ ...liveWebhook, url: null, events: [] })], {}, "twice", ["201"]],
  ])("counts %s", (_, objects, options, row, ids) => {
    const decision = decided(objects, options);
    expect([decision.row, decision.objects.map(({ id }) => id)]).toEqual([row, ids]);
  });

  const order = { domain: "www.acme.example", plan_id: 11, currency: "USD" };
  const site = (over: JsonObject = {}, phase: Remote["phase"] = "live") =>
    remote({ ...liveService, created_at: at(-60 * MINUTE), ...over }, phase);

  it.each<[string, Remote[], JsonObject, string]>([
    ["its domain", [site()], order, "found"],
    ["its domain, and differs in what cannot change", [site({ currency: "EUR" })], order, "twice"],
  ])("of an order, beside a service that has %s", (_, objects, attributes, row) => {
    expect(decided(objects, { kind: service, attributes }).row).toBe(row);
  });

  it("waits for a list that the host does not show yet, and asks if no request lists the kind", () => {
    const { list: _, ...unlisted } = kindOf("hosting_domain");
    const question = { sent: { attributes: liveWebhook, private: { pending: intent() } }, listed: undefined, now: NOW };
    expect(decidePending({ ...question, kind: webhook }).row).toBe("partial");
    expect(decidePending({ ...question, kind: { ...unlisted, creation: "listable" } as Kind }).row).toBe("blind");
  });
});
