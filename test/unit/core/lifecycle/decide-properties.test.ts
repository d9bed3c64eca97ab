/** Rules for every decision about a pending create, with random intents, accounts and hosts. */
import { describe, expect, it } from "vitest";
import {
  type Attempt,
  type Decision,
  decide,
  decideBy,
  excluded,
  FILTERS,
  type HostFacts,
  type IntentFacts,
  type ObservedFacts,
  type Row,
  table,
} from "../../../../src/core/lifecycle/decide.ts";
import fc, { runs } from "../../../support/fc.ts";
import { attempt, host, intent, LAG, observed, PROOF, row, SENT } from "../../../support/pending-facts.ts";

interface Facts {
  readonly intent: IntentFacts;
  readonly observed: ObservedFacts;
  readonly host: HostFacts;
}

const HOUR = 3_600_000;
const decided = ({ intent, observed, host }: Facts, by = decide): Decision => by(intent, observed, host);

const some = <T>(...values: readonly T[]) => fc.constantFrom(...values);
/** Ages near each bound of the table, in milliseconds. */
const ages = some(0, 4_000, 5_000, 36_000, PROOF - 1, PROOF, 300_000, 540_000, 601_000, HOUR, 24 * HOUR);

const COPIED = { name: "another state", intent: "intent-1", isOtherState: true } as const;

const rows = (least = 0): fc.Arbitrary<Row[]> =>
  fc.uniqueArray(
    fc.record({
      id: some("old", "201", "202", "203"),
      key: some<Row["key"]>("same", "near", "other", "hidden", "similar"),
      differs: some(undefined, undefined, "plan_id"),
      ended: some(false, false, true),
      created: some<Row["created"]>(undefined, [SENT, SENT], [SENT - HOUR, SENT - HOUR], [SENT - HOUR, SENT + HOUR]),
      holder: some<Row["holder"]>(undefined, undefined, { name: "x.b" }, { name: "x.a", intent: "intent-1" }, COPIED),
      sibling: some(undefined, undefined, "x.c"),
    }),
    { selector: ({ id }) => id, minLength: least, maxLength: 4 },
  );

const attempts: fc.Arbitrary<Attempt[]> = fc.array(
  fc
    .record({
      age: some(0, 0, 90_000),
      ofThisRun: fc.boolean(),
      outcome: some<Attempt["outcome"]>("open", "open", "open", "accepted", "refused", "not-sent"),
    })
    .map(({ age, ...over }) => attempt(over, age)),
  { minLength: 1, maxLength: 3 },
);

const intents: fc.Arbitrary<IntentFacts> = fc.record({
  id: fc.constant("intent-1"),
  creation: some<IntentFacts["creation"]>("keyed", "listable", "listable", "blind"),
  naturalKey: some("alpha", "alpha", undefined),
  attempts,
  before: fc.record({ ids: some(new Set<string>(), new Set(["old"])), complete: fc.boolean() }),
  secretLost: fc.boolean(),
  deletable: fc.boolean(),
  want: some<IntentFacts["want"]>("it", "it", "nothing"),
});

const hosts: fc.Arbitrary<HostFacts> = fc.record({
  keyRetentionMs: some(undefined, undefined, 60_000, 600_000),
  rewritesKey: some<HostFacts["rewritesKey"]>("never", "seen", "unknown"),
  createdTimes: some<HostFacts["createdTimes"]>("exact", "unknown"),
  listLagMs: fc.constant(LAG),
});

const accounts = (least = 0): fc.Arbitrary<ObservedFacts> =>
  fc
    .record({
      age: ages,
      rows: rows(least),
      gap: some(false, false, false, false, true),
      lock: some<ObservedFacts["lock"]>("unknown", "held", "held", "lost"),
      list: some<ObservedFacts["list"]>("whole", "whole", "whole", "partial", "none"),
    })
    .map(({ age, rows: seen, ...over }) => observed(age, seen, over));

const facts: fc.Arbitrary<Facts> = fc.record({ intent: intents, observed: accounts(), host: hosts });

const idsOf = (decision: Decision) => (decision.do === "ask" ? decision.candidates.map(({ id }) => id) : []);

describe("a decision", () => {
  it("exists for all facts, and some facts reach each row of the table", () => {
    const reached = new Set<string>();
    fc.assert(
      fc.property(facts, (one) => {
        reached.add(decided(one).row);
      }),
      { numRuns: runs(20_000) },
    );
    expect([...reached].sort()).toEqual(
      table()
        .map(([name]) => name)
        .sort(),
    );
  });

  it("is the same for rows in any order and with other ids", () => {
    fc.assert(
      fc.property(facts, fc.integer(), (one, by) => {
        const renamed = (id: string) => `renamed ${id}`;
        const turned = one.observed.rows.toSorted(
          (a, b) => ((a.id.charCodeAt(2) * by) % 7) - ((b.id.charCodeAt(2) * by) % 7),
        );
        const again = decided({
          ...one,
          intent: {
            ...one.intent,
            before: { ...one.intent.before, ids: new Set([...one.intent.before.ids].map(renamed)) },
          },
          observed: { ...one.observed, rows: turned.map((each) => ({ ...each, id: renamed(each.id) })) },
        });
        const first = decided(one);
        expect([again.row, again.do]).toEqual([first.row, first.do]);
        expect(idsOf(again).sort()).toEqual(idsOf(first).map(renamed).sort());
        if (first.do === "adopt") expect(again).toMatchObject({ id: renamed(first.id), next: first.next });
      }),
    );
  });

  it("has no additional candidates with more holders, siblings or earlier ids", () => {
    const more = fc.record({
      facts: fc.record({ intent: intents, observed: accounts(1), host: hosts }),
      at: fc.nat(),
      what: fc.nat(2),
    });
    fc.assert(
      fc.property(more, ({ facts: one, at, what }) => {
        const { rows: all } = one.observed;
        const chosen = all[at % all.length]?.id ?? "";
        const change = (each: Row): Row =>
          each.id !== chosen ? each : what === 0 ? { ...each, holder: { name: "x.z" } } : { ...each, sibling: "x.z" };
        const ids = new Set([...one.intent.before.ids, chosen]);
        const known: Facts =
          what === 2
            ? { ...one, intent: { ...one.intent, before: { ...one.intent.before, ids } } }
            : { ...one, observed: { ...one.observed, rows: all.map(change) } };
        const [before, after] = [decided(one), decided(known)];
        // With fewer near candidates, listed objects with another key can become candidates, so only equal rows are
        // compared.
        if (before.row === after.row) expect(idsOf(before)).toEqual(expect.arrayContaining(idsOf(after)));
        if (after.do === "adopt") expect(after.id === chosen && what !== 1 && before.do !== "adopt").toBe(false);
      }),
    );
  });

  it("keeps every candidate with a similar key, whatever the host's habits and the dates", () => {
    const habits: readonly Partial<HostFacts>[] = [{ rewritesKey: "never" }, { createdTimes: "exact" }];
    fc.assert(
      fc.property(facts, some(...habits), (one, habit) => {
        const near = one.observed.rows.map((each): Row => (each.key === "other" ? { ...each, key: "near" } : each));
        const drawn = { ...one, observed: { ...one.observed, rows: near } };
        const unknown = { ...drawn, host: { ...one.host, rewritesKey: "unknown", createdTimes: "unknown" } as const };
        const proved = { ...unknown, host: { ...unknown.host, ...habit } };
        expect(decided(proved)).toEqual(decided(unknown));
      }),
    );
  });

  it("repeats an order across runs only within the retention and without a candidate", () => {
    fc.assert(
      fc.property(facts, (one) => {
        const { intent: of, observed: seen, host: at } = one;
        if (decided(one).row !== "replay" || of.attempts.every(({ ofThisRun }) => ofThisRun)) return;
        const first = of.attempts.find(({ outcome }) => outcome === "open")?.recordedAt.wall ?? Number.NaN;
        expect(seen.now.wall - first).toBeLessThan(at.keyRetentionMs ?? 0);
        expect(seen.list).toBe("whole");
        const excludes = new Set(excluded({ ...of, ...seen, ...at }).map(([{ id }]) => id));
        expect(seen.rows.filter(({ id }) => !of.before.ids.has(id) && !excludes.has(id))).toEqual([]);
        expect(of.attempts.at(-1)?.outcome).not.toBe("refused");
      }),
      { numRuns: runs(5_000) },
    );
  });

  it("is never a wait after `again`, and never a retry after an adoption, when time passes", () => {
    fc.assert(
      fc.property(facts, fc.integer({ min: 0, max: 48 * HOUR }), (one, ms) => {
        const later = (at: { readonly wall: number }) => ({ wall: at.wall + ms });
        const seen = { ...one.observed, now: later(one.observed.now), readAt: later(one.observed.readAt) };
        const [before, after] = [decided(one), decided({ ...one, observed: seen })];
        if (before.row === "again") expect(after.do).toBe("resend");
        if (before.do === "adopt") expect(after.do).not.toBe("resend");
      }),
    );
  });

  it("does not count a step of the wall clock within one boot as passed time", () => {
    const steps = fc.integer({ min: -48 * HOUR, max: 48 * HOUR });
    fc.assert(
      fc.property(facts, steps, (one, ms) => {
        const mono = (wall: number, step = 0) => ({ wall: wall + step, boot: "b", mono: wall - SENT });
        const within = (step: number): Facts => ({
          ...one,
          intent: {
            ...one.intent,
            attempts: one.intent.attempts.map((each) => ({
              ...each,
              recordedAt: mono(each.recordedAt.wall),
              leavesBy: mono(each.leavesBy.wall),
            })),
          },
          observed: {
            ...one.observed,
            now: mono(one.observed.now.wall, step),
            readAt: mono(one.observed.readAt.wall, step),
          },
        });
        const [still, stepped] = [decided(within(0)), decided(within(ms))];
        if (stepped.row === "replay") expect(still.row).toBe("replay");
        const needsAbsence = NEEDS_ABSENCE.has(stepped.row);
        // An object without a creation time is judged by the wall clock, and then the user decides.
        if (needsAbsence && still.row !== "replay") expect(NEEDS_ABSENCE.has(still.row)).toBe(true);
      }),
    );
  });
});

/** Rows that require proof of absence. */
const NEEDS_ABSENCE = new Set(["rewritten", "accepted", "held", "unwanted", "refused-again", "often", "again"]);

/** A host that executed a create, and the content of its lists. */
interface World {
  readonly creation: "keyed" | "listable" | "blind";
  readonly hasKey: boolean;
  /** Time for which lists lack the object, in milliseconds. */
  readonly lag: number;
  /** Form of the natural key in the list. */
  readonly shows: Row["key"];
  readonly others: readonly Row[];
  readonly looks: readonly number[];
}

const worlds: fc.Arbitrary<World> = fc.record({
  creation: some("keyed", "listable", "blind"),
  hasKey: fc.boolean(),
  lag: fc.integer({ min: 0, max: LAG }),
  shows: some("same", "near", "other", "hidden", "similar"),
  others: rows().map((all) => all.filter(({ id }) => id !== "201")),
  looks: fc.array(fc.integer({ min: 0, max: 48 * HOUR }), { minLength: 1, maxLength: 6 }),
});

describe("an executed create", () => {
  it("is never sent again if lists show it within their lag", () => {
    fc.assert(
      fc.property(worlds, fc.boolean(), ({ creation, hasKey, lag, shows, others, looks }, accepted) => {
        const sent = attempt({ outcome: accepted ? "accepted" : "open" });
        const one = intent({ creation, naturalKey: hasKey ? "alpha" : undefined, attempts: [sent] });
        for (const age of looks.toSorted((a, b) => a - b)) {
          const listed = age >= lag ? [row({ key: shows }), ...others] : others;
          const decision = decide(one, observed(age, listed), host());
          expect(decision.do).not.toBe("resend");
          if (decision.do === "wait" || decision.do === "ask") continue;
          // The list contained another object with the same natural key first.
          if (decision.do === "adopt") expect(["201", ...others.map(({ id }) => id)]).toContain(decision.id);
          return;
        }
      }),
      { numRuns: runs(2_000) },
    );
  });

  it("of a domain is never sent again, with any facts", () => {
    fc.assert(
      fc.property(facts, (one) => {
        const blind = { ...one, intent: { ...one.intent, creation: "blind" as const } };
        expect(decided(blind).do).not.toBe("resend");
      }),
    );
  });
});

/** Facts for each part of the decision. With these facts, only this part changes the result. */
const PARTS: Readonly<Record<string, (drawn: Facts) => Facts>> = {
  woken: (one) => ({ ...one, observed: { ...one.observed, gap: true } }),
  "lost-lock": (one) => ({ ...one, observed: { ...one.observed, gap: false, lock: "lost" } }),
  "not-sent": (one) => sentAs(one, "not-sent"),
  refused: (one) => sentAs(one, "refused"),
  copied: (one) => listable(one, { rows: [row({ holder: COPIED })] }),
  blind: (one) => ({ ...sentAs(one, "open"), intent: { ...sentAs(one, "open").intent, creation: "blind" } }),
  replay: (one) => ({
    intent: intent({ creation: "keyed", attempts: [attempt({ ofThisRun: true })] }),
    observed: { ...observed(10_000), list: one.observed.list === "none" ? "whole" : one.observed.list },
    host: { ...one.host, keyRetentionMs: 600_000 },
  }),
  partial: (one) => listable(one, { list: "partial" }),
  found: (one) => listable(one, { rows: [row()] }),
  twice: (one) => listable(one, { rows: [row(), row({ id: "202" })] }),
  young: (one) => ({ ...listable(one, {}), observed: observed(1_000) }),
  rewritten: (one) => ({ ...listable(one, { rows: [row({ key: "other" })] }), host: host() }),
  accepted: (one) => ({
    ...listable(one, {}),
    intent: intent({ attempts: [attempt({ outcome: "accepted" })], want: "nothing" }),
  }),
  held: (one) => listable(one, { rows: [row({ holder: { name: "x.b" } })] }),
  unwanted: (one) => ({ ...listable(one, {}), intent: intent({ want: "nothing" }) }),
  "refused-again": (one) => ({
    ...listable(one, {}),
    intent: intent({ attempts: [attempt(), attempt({ outcome: "refused" })] }),
  }),
  often: (one) => ({
    ...listable(one, {}),
    intent: intent({ attempts: [attempt({ ofThisRun: true }), attempt({ ofThisRun: true })] }),
  }),
  again: (one) => listable(one, {}),
  siblings: (one) => ({ ...listable(one, { rows: [row({ key: "other", sibling: "x.c" })] }), host: host() }),
  otherKey: (one) => ({
    ...listable(one, { rows: [row({ key: "other" })] }),
    host: host({ rewritesKey: "never" }),
  }),
  older: (one) => ({
    ...listable(one, { rows: [row({ key: "other", created: [0, 1] })] }),
    host: host({ createdTimes: "exact" }),
  }),
  ended: (one) => listable(one, { rows: [row({ ended: true })] }),
  "near otherKey": (one) => ({
    ...listable(one, { rows: [row({ key: "near" })] }),
    host: host({ rewritesKey: "never" }),
  }),
  "near older": (one) => ({
    ...listable(one, { rows: [row({ key: "near", created: [0, 1] })] }),
    host: host({ createdTimes: "exact" }),
  }),
};

const asOther = (each: Row): Row => ({ ...each, key: each.key === "near" ? "other" : each.key });

const calm = (one: Facts): Facts => ({ ...one, observed: { ...one.observed, gap: false, lock: "held" } });

function sentAs(one: Facts, outcome: Attempt["outcome"]): Facts {
  return { ...calm(one), intent: { ...one.intent, attempts: [attempt({ outcome })] } };
}

/** Returns facts about a one-hour-old create of another run, whose object a list can show. */
const listable = (one: Facts, over: Partial<ObservedFacts>): Facts => ({
  intent: intent({ secretLost: one.intent.secretLost }),
  observed: { ...observed(HOUR), lock: "held", ...over },
  host: { ...host(), keyRetentionMs: one.host.keyRetentionMs },
});

const MOST_SEEDS = 300;

/** Returns true if a decision without a part differs from the full decision for one of the first seeds. */
function isNoticed(part: string, by: typeof decide): boolean {
  const draw = PARTS[part] ?? calm;
  const whole = fc.sample(facts, { numRuns: MOST_SEEDS, seed: 1 });
  return whole.some((drawn) => {
    try {
      return JSON.stringify(decided(draw(drawn), by)) !== JSON.stringify(decided(draw(drawn)));
    } catch {
      return true;
    }
  });
}

describe("a decision without a part of the table", () => {
  it.each(table().map(([name]) => name))("differs within 300 seeds without the row %s", (name) => {
    const reached = fc
      .sample(facts, { numRuns: MOST_SEEDS, seed: 1 })
      .map((drawn) => decided((PARTS[name] ?? calm)(drawn)));
    expect(new Set(reached.map((each) => each.row))).toEqual(new Set([name]));
    expect(
      isNoticed(
        name,
        decideBy(() => table().filter(([row]) => row !== name), FILTERS),
      ),
    ).toBe(true);
  });

  it.each(["otherKey", "older"] as const)("differs within 300 seeds if %s excludes similar keys as well", (name) => {
    const filters = { ...FILTERS, [name]: (each: Row, all: never) => FILTERS[name](asOther(each), all) };
    expect(isNoticed(`near ${name}`, decideBy(table, filters))).toBe(true);
  });

  it.each(Object.keys(FILTERS))("differs within 300 seeds without the filter %s", (name) => {
    const rest = Object.fromEntries(Object.entries(FILTERS).filter(([filter]) => filter !== name));
    expect(isNoticed(name, decideBy(table, rest))).toBe(true);
  });
});
