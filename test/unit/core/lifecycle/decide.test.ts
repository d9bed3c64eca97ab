import { describe, expect, it } from "vitest";
import {
  decide,
  foresee,
  type HostFacts,
  type IntentFacts,
  type ObservedFacts,
  repeatWithinMs,
  table,
} from "../../../../src/core/lifecycle/decide.ts";
import { attempt, host, intent, observed, PROOF, row, SENT } from "../../../support/pending-facts.ts";

const keyed = { creation: "keyed" } as const;
const DAY = 86_400_000;

type Case = readonly [
  row: string,
  why: string,
  facts: readonly [IntentFacts, ObservedFacts, HostFacts?],
  outcome: Readonly<Record<string, unknown>>,
];

const OWN = { ofThisRun: true } as const;
const other = row({ id: "301", key: "other" });

/** Cases for each row of the table: facts and outcome. Each row has at least one case. */
const CASES: readonly Case[] = [
  [
    "woken",
    "the process slept, although the object is listed",
    [intent(), observed(10_000, [row()], { gap: true })],
    { do: "wait", until: SENT + 10_000 },
  ],
  [
    "lost-lock",
    "another run has the lock, although the object is listed",
    [intent(), observed(10_000, [row()], { lock: "lost" })],
    { do: "wait", until: "next-run" },
  ],
  [
    "not-sent",
    "no attempt left",
    [intent({ attempts: [attempt({ outcome: "not-sent" })] }), observed(0)],
    { do: "refused", why: "not-sent" },
  ],
  [
    "refused",
    "one attempt did not leave, and the API refused the other",
    [intent({ attempts: [attempt({ outcome: "not-sent" }), attempt({ outcome: "refused" })] }), observed(0)],
    { do: "refused", why: "api" },
  ],
  [
    "blind",
    "a registration is unwanted and old",
    [intent({ creation: "blind", want: "nothing" }), observed(DAY)],
    { do: "ask", candidates: [] },
  ],
  [
    "copied",
    "a copied state has the create, the original has settled it, and the list is not whole",
    [
      intent({ secretLost: true }),
      observed(0, [row({ holder: { name: "the other state", intent: "intent-1", isOtherState: true } })], {
        list: "partial",
      }),
    ],
    { do: "refused", why: "held", id: "201", holder: "the other state" },
  ],
  ["blind", "no call lists the kind", [intent(), observed(DAY, [], { list: "none" })], { do: "ask" }],
  [
    "replay",
    "the host keeps the key and the list has no candidate",
    [intent(keyed), observed(10_000), host({ keyRetentionMs: 600_000 })],
    { do: "resend" },
  ],
  [
    "replay",
    "each attempt is of this run, whatever the list shows",
    [
      intent({ ...keyed, attempts: [attempt(OWN)] }),
      observed(10_000, [row()], { list: "partial" }),
      host({ keyRetentionMs: 600_000 }),
    ],
    { do: "resend" },
  ],
  ["partial", "the list is not whole", [intent(), observed(DAY, [row()], { list: "partial" })], { do: "wait" }],
  ["found", "one object is exactly as it was sent", [intent(), observed(0, [row()])], { do: "adopt", next: "keep" }],
  [
    "found",
    "the object shows no creation time and the request is new",
    [intent(), observed(9 * 60_000, [row({ created: undefined })])],
    { do: "adopt", id: "201" },
  ],
  [
    "found",
    "the secret was lost with the answer",
    [intent({ secretLost: true }), observed(0, [row()])],
    { do: "adopt", next: "recreate" },
  ],
  [
    "found",
    "an answer held the secret",
    [intent({ secretLost: false }), observed(0, [row()])],
    { do: "adopt", next: "keep" },
  ],
  [
    "found",
    "the secret of a paid object is lost",
    [intent({ ...keyed, deletable: false, secretLost: true }), observed(0, [row()])],
    { do: "adopt", next: "keep" },
  ],
  [
    "found",
    "nothing is wanted any more",
    [intent({ want: "nothing", secretLost: true }), observed(0, [row()])],
    { do: "adopt", next: "remove" },
  ],
  ["twice", "two objects have the natural key", [intent(), observed(DAY, [row(), row({ id: "202" })])], { do: "ask" }],
  ["twice", "the natural key is unreadable", [intent(), observed(0, [row({ key: "hidden" })])], { do: "ask" }],
  ["twice", "the object differs", [intent(), observed(0, [row({ differs: "plan_id" })])], { do: "ask" }],
  [
    "twice",
    "the object was created an hour earlier",
    [intent(), observed(0, [row({ created: [SENT - 3_600_000, SENT - 3_600_000] })])],
    { do: "ask" },
  ],
  [
    "twice",
    "the order was carried out and its object has ended",
    [intent(keyed), observed(DAY, [row({ ended: true })])],
    { do: "ask" },
  ],
  [
    "young",
    "lists may lag for 1 ms more, although an object with another key is listed",
    [intent({ want: "nothing" }), observed(PROOF - 1, [other])],
    { do: "wait", until: SENT + PROOF },
  ],
  [
    "rewritten",
    "the host lists a new object under another key, and nothing is wanted",
    [intent({ want: "nothing" }), observed(PROOF, [other])],
    { do: "ask" },
  ],
  [
    "rewritten",
    "the host never rewrites, and not all earlier ids are known",
    [intent({ before: { ids: new Set(), complete: false } }), observed(PROOF, [other]), host({ rewritesKey: "never" })],
    { do: "ask" },
  ],
  [
    "accepted",
    "the API accepted the request, and nothing is wanted",
    [intent({ attempts: [attempt({ outcome: "accepted" })], want: "nothing" }), observed(DAY)],
    { do: "ask", candidates: [] },
  ],
  [
    "held",
    "another address has the object",
    [intent(), observed(PROOF, [row({ holder: { name: "hosting_webhook.b" } })])],
    { do: "refused", why: "held", holder: "hosting_webhook.b" },
  ],
  [
    "unwanted",
    "absence is proved and nothing is wanted",
    [intent({ want: "nothing" }), observed(PROOF)],
    { do: "refused", why: "absent" },
  ],
  [
    "unwanted",
    "the object has no natural key",
    [intent({ ...keyed, want: "nothing", naturalKey: undefined }), observed(PROOF)],
    { do: "ask", candidates: [] },
  ],
  [
    "refused-again",
    "the API refused the repetition",
    [intent({ attempts: [attempt(), attempt({ outcome: "refused" }, 90_000)] }), observed(100_000)],
    { do: "ask" },
  ],
  [
    "often",
    "two answers of this run were lost",
    [intent({ attempts: [attempt(OWN), attempt(OWN, 90_000)] }), observed(90_000 + PROOF)],
    { do: "wait", until: "next-run" },
  ],
  ["again", "absence is proved", [intent(), observed(PROOF)], { do: "resend" }],
  [
    "again",
    "one answer of this run and one of an earlier run were lost",
    [intent({ attempts: [attempt(), attempt(OWN, 90_000)] }), observed(90_000 + PROOF)],
    { do: "resend" },
  ],
];

describe("decide", () => {
  it.each(CASES)("decides by row %s if %s", (name, _, [one, seen, habits = host()], outcome) => {
    expect(decide(one, seen, habits)).toMatchObject({ row: name, ...outcome });
  });

  it("has a case for each row of its table", () => {
    expect([...new Set(CASES.map(([name]) => name))]).toEqual(table().map(([name]) => name));
  });

  it("excludes an object that was listed before the first attempt", () => {
    expect(decide(intent(), observed(PROOF, [row({ id: "old" })]), host()).row).toBe("again");
  });

  it("adopts an object whose holder is the same intent", () => {
    const own = row({ holder: { name: "hosting_webhook.a", intent: "intent-1" } });
    expect(decide(intent(), observed(0, [own]), host())).toMatchObject({ do: "adopt", id: "201" });
  });

  it("excludes an object with another key that a sibling requested, and includes one with the same key", () => {
    const siblings = { sibling: "hosting_webhook.b" };
    expect(decide(intent(), observed(PROOF, [row({ ...siblings, key: "other" })]), host()).row).toBe("again");
    expect(decide(intent(), observed(PROOF, [row(siblings)]), host()).row).toBe("found");
  });

  it("excludes an object with another key if the host never rewrites keys", () => {
    expect(decide(intent(), observed(PROOF, [other]), host({ rewritesKey: "never" })).row).toBe("again");
    expect(decide(intent(), observed(PROOF, [other]), host({ rewritesKey: "seen" })).row).toBe("rewritten");
  });

  it("excludes an older object with another key only if the host's creation times are exact", () => {
    const old = row({ key: "other", created: [0, SENT - 600_001] });
    expect(decide(intent(), observed(PROOF, [old]), host({ createdTimes: "exact" })).row).toBe("again");
    expect(decide(intent(), observed(PROOF, [old]), host()).row).toBe("rewritten");
    const sameTime = row({ key: "other", created: [0, SENT - 600_000] });
    expect(decide(intent(), observed(PROOF, [sameTime]), host({ createdTimes: "exact" })).row).toBe("rewritten");
  });

  it("excludes an ended object unless an order can have created it", () => {
    const ended = row({ ended: true });
    expect(decide(intent(), observed(PROOF, [ended]), host()).row).toBe("again");
    expect(decide(intent(keyed), observed(PROOF, [{ ...ended, key: "other" }]), host()).row).toBe("again");
    expect(decide(intent(keyed), observed(PROOF, [{ ...ended, key: "similar" }]), host()).row).toBe("twice");
  });

  it("sends again if an ended object of another owner exists", () => {
    const ended = row({ ended: true, holder: { name: "hosting_service.b" } });
    expect(decide(intent(keyed), observed(PROOF, [ended]), host()).row).toBe("again");
  });

  it.each([
    [0, 5_000],
    [4_999, 5_000],
    [5_000, 15_000],
    [15_000, 35_000],
    [35_000, PROOF],
  ])("checks %i ms after a request was sent again at the age of %i ms", (age, next) => {
    expect(decide(intent(), observed(age), host())).toMatchObject({ do: "wait", until: SENT + next });
  });

  it("checks no later than at the proof of absence", () => {
    expect(decide(intent(), observed(5_000), host({ listLagMs: 4_000 }))).toMatchObject({ until: SENT + 10_000 });
  });

  it("checks at once if the list is older than the proof of absence and the request is not", () => {
    const seen = observed(PROOF + 1, [], { readAt: { wall: SENT + PROOF - 1 } });
    expect(decide(intent(), seen, host())).toMatchObject({ row: "young", until: SENT + PROOF + 1 });
  });

  it("counts the age from the last attempt that may have been executed", () => {
    const attempts = [attempt(), attempt({}, 60_000), attempt({ outcome: "not-sent" }, 100_000)];
    expect(decide(intent({ attempts }), observed(60_000 + PROOF - 1), host()).row).toBe("young");
    expect(decide(intent({ attempts }), observed(60_000 + PROOF), host()).row).toBe("again");
  });

  it.each([Number.NaN, SENT + DAY])("proves no absence by an attempt of %d", (wall) => {
    const attempts = [attempt({ leavesBy: { wall } })];
    expect(decide(intent({ attempts }), observed(PROOF), host())).toMatchObject({
      row: "young",
      until: SENT + PROOF + 5_000,
    });
  });

  it("repeats an order only within the retention of its key", () => {
    const keeps = host({ keyRetentionMs: 100_000 });
    expect(repeatWithinMs(100_000)).toBe(50_000);
    expect(repeatWithinMs(600_000)).toBe(540_000);
    expect(decide(intent(keyed), observed(50_000), keeps).row).toBe("replay");
    expect(decide(intent(keyed), observed(50_001), keeps).row).toBe("young");
    const attempts = [attempt({ recordedAt: { wall: SENT + DAY } })];
    expect(decide(intent({ ...keyed, attempts }), observed(50_000), keeps).row).toBe("young");
  });

  it.each([
    ["listable", intent()],
    ["unwanted", intent({ ...keyed, want: "nothing" })],
    ["accepted", intent({ ...keyed, attempts: [attempt({ outcome: "accepted" })] })],
  ])("repeats no create that is %s", (_, one) => {
    expect(decide(one, observed(10_000), host({ keyRetentionMs: 600_000 })).row).toBe("young");
  });

  it("uses the monotonic clock only within the same boot", () => {
    const at = (ms: number, boot: string) => ({ wall: SENT + ms, boot, mono: boot === "one" ? 0 : PROOF });
    const one = intent({ attempts: [attempt({ leavesBy: at(0, "one") })] });
    const rowIn = (boot: string) => {
      const then = at(PROOF, boot);
      return decide(one, observed(PROOF, [], { now: then, readAt: then }), host()).row;
    };
    expect([rowIn("one"), rowIn("two")]).toEqual(["young", "again"]);
  });

  it.each([
    ["of the last attempt that can have been carried out", [attempt(), attempt({}, 7_000)], SENT + 7_000 + PROOF],
    ["from now, if that time is unreadable", [attempt({ leavesBy: { wall: Number.NaN } })], SENT + 9_000 + PROOF],
    ["of an attempt that may still leave", [attempt({ leavesBy: { wall: SENT + 60_000 } })], SENT + 60_000 + PROOF],
  ])("names the moment of the proof %s", (_, attempts, proof) => {
    expect(decide(intent({ attempts }), observed(9_000), host())).toMatchObject({ row: "young", proof });
  });

  it("names a future moment of the proof, even if the list is older", () => {
    const seen = observed(PROOF + 5_000, [], { readAt: { wall: SENT } });
    expect(decide(intent(), seen, host())).toMatchObject({ proof: SENT + PROOF + 5_000 });
  });

  it("names a proof only for `young`", () => {
    expect(decide(intent(), observed(0, [], { list: "partial" }), host())).not.toHaveProperty("proof");
  });

  it("includes candidates with the same key, whatever the host's habits are", () => {
    const old = row({ created: [0, SENT - 600_001] });
    const habits = host({ rewritesKey: "never", createdTimes: "exact" });
    expect(decide(intent(), observed(PROOF, [old]), habits).row).toBe("twice");
  });

  it("counts only lost responses of this run toward the maximum of attempts", () => {
    const attempts = [attempt(OWN), attempt({ ...OWN, outcome: "not-sent" })];
    expect(decide(intent({ attempts }), observed(PROOF), host()).row).toBe("again");
  });
});

describe("foresee", () => {
  it("decides as an apply will after the proof of absence", () => {
    expect(foresee(intent(), observed(0), host())).toMatchObject({ do: "resend", row: "again" });
    expect(foresee(intent(), observed(0, [other]), host())).toMatchObject({ do: "ask", row: "rewritten" });
    expect(foresee(intent({ want: "nothing" }), observed(0), host())).toMatchObject({ row: "unwanted" });
  });

  it("decides as now if the decision needs no proof of absence", () => {
    expect(foresee(intent(), observed(0, [row({ created: undefined })]), host()).do).toBe("adopt");
    expect(foresee(intent(), observed(0, [], { list: "partial" }), host()).row).toBe("partial");
  });
});
