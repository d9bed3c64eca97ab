/**
 * For one history of a pending create, plan, apply, removal and `resolve` reach the same decision about the same
 * objects.
 */
import { describe, expect, it } from "vitest";
import type { Remote } from "../../../../src/core/kinds/kind.ts";
import { evidence, type PendingCreate, planRemoval, planResource } from "../../../../src/core/lifecycle/index.ts";
import { HostformError, type Intent } from "../../../../src/core/model/index.ts";
import { changeOf, fakeRun, outcomeOf } from "../../../support/changes.ts";
import { START } from "../../../support/clock.ts";
import fc, { runs } from "../../../support/fc.ts";
import { listing } from "../../../support/pending-facts.ts";
import {
  complete,
  fakeAccount,
  fakeWriter,
  kindOf,
  liveGrant,
  liveWebhook,
  recorded,
  remote,
} from "../../../support/subjects.ts";

const HOUR = 3_600_000;
const WEBHOOK = { url: "https://hooks.acme.example", events: ["invoice.paid"] };
const GRANT = { service_id: "1001", email: "dev@acme.example", permission: "view" };

/** For each kind: the sent values, an object with these values, and an object with another natural key. */
const SUBJECTS = {
  hosting_webhook: { sent: WEBHOOK, same: liveWebhook, other: { ...liveWebhook, url: "https://b.example" } },
  hosting_grant: { sent: GRANT, same: liveGrant, other: { ...liveGrant, email: "ops@acme.example" } },
} as const;

interface History {
  readonly type: keyof typeof SUBJECTS;
  /** Age of the request, in milliseconds. */
  readonly age: number;
  readonly objects: readonly {
    readonly is: "same" | "other";
    readonly ended: boolean;
    readonly isOld: boolean;
    readonly isHeld: boolean;
    readonly isKnown: boolean;
  }[];
  readonly knowsAll: boolean;
  readonly accepted: boolean;
  readonly hasSibling: boolean;
  readonly hasSecret: boolean;
}

const rare = fc.constantFrom(false, false, false, true);
const histories: fc.Arbitrary<History> = fc.record({
  type: fc.constantFrom("hosting_webhook", "hosting_grant"),
  age: fc.constantFrom(0, 60_000, HOUR, 48 * HOUR),
  objects: fc.array(
    fc.record({
      is: fc.constantFrom("same", "other"),
      ended: rare,
      isOld: rare,
      isHeld: rare,
      isKnown: rare,
    }),
    { maxLength: 3 },
  ),
  knowsAll: rare.map((one) => !one),
  accepted: rare,
  hasSibling: rare,
  hasSecret: fc.boolean(),
});

function subjectOf({ type, age, objects, knowsAll, accepted, hasSibling, hasSecret }: History) {
  const { sent, same, other } = SUBJECTS[type];
  const kind = kindOf(type);
  const since = new Date(START - age).toISOString();
  const live = objects.map(({ is, ended, isOld }, at): Remote => {
    const created_at = new Date(START - age - (isOld ? HOUR : 0)).toISOString();
    return remote({ ...(is === "same" ? same : other), id: String(at + 1), created_at }, ended ? "gone" : "live");
  });
  const known = objects.flatMap(({ isKnown }, at) => (isKnown ? [String(at + 1)] : []));
  const pending: Intent = {
    since,
    operation: "create",
    params: { id: "1001" },
    known,
    ...(knowsAll && { knowsAll }),
    ...(accepted && { accepted }),
  };
  const attributes = { ...sent, id: null, ...(hasSecret && type === "hosting_webhook" && { secret: "whsec" }) };
  const prior = recorded(`${type}.acme`, complete(kind, attributes), { private: { pending } }) as PendingCreate;
  const sibling = recorded(`${type}.b`, complete(kind, { ...other, id: null }), {
    private: { pending: { since, operation: "create" } },
  }) as PendingCreate;
  const ownerOf = ({ id }: Remote) => (objects[Number(id) - 1]?.isHeld ? `${type}.c` : undefined);
  return { kind, sent, live, prior, others: { ownerOf, siblings: hasSibling ? [sibling] : [] } };
}

type Subject = ReturnType<typeof subjectOf>;

function planned({ kind, sent, live, prior, others }: Subject): string {
  const { change, diagnostics } = planResource({
    kind,
    address: prior.address,
    provider: "default",
    declared: sent,
    config: sent,
    prior,
    observed: listing(START, ...live),
    dependsOn: [],
    reorder: false,
    plans: [],
    now: START,
    ...others,
  });
  const [said] = diagnostics.map(({ code }) => code);
  if (said !== undefined) return said;
  if (change.actions[0] !== "create") return `adopt ${change.before?.id}`;
  return change.requests > 1 ? "recreate" : "resend";
}

async function applied({ kind, sent, live, prior, others }: Subject, type: string): Promise<string> {
  const fake = fakeAccount(kind, ...live);
  let now = START;
  fake.now = () => now;
  const writer = fakeWriter(({ endpoint }) => ({
    ...(endpoint.startsWith("create") && { ...sent, id: "9", secret: "s" }),
  }));
  const { ownerOf, siblings } = others;
  const { context, records } = fakeRun(fake.account, writer, {
    prior,
    pause: async (ms) => {
      now += ms;
    },
    ownerOf: (_, object) => ownerOf(object),
    siblings: () => siblings,
  });
  const outcome = await outcomeOf(fake.kind, changeOf(type, sent, { private: prior.private }), context);
  if (outcome instanceof HostformError) return String(outcome.diagnostics.at(-1)?.code);
  if (writer.sent.length > 1) return "recreate";
  const last = records.at(-1);
  return writer.sent.length > 0 || last === "dropped" ? "resend" : `adopt ${last?.attributes.id}`;
}

async function evident({ kind, live, prior, others }: Subject): Promise<string> {
  const fake = fakeAccount(kind, ...live);
  const { verdict, candidates } = await evidence({ account: fake.account, kind: fake.kind, prior, ...others });
  return verdict === "made" ? `adopt ${candidates?.[0]?.id}` : verdict;
}

function removed({ kind, live, prior, others }: Subject): string {
  const observed = listing(START, ...live);
  const { change, diagnostics } = planRemoval({ kind, prior, observed, mode: "apply", now: START, ...others });
  return diagnostics[0]?.code ?? `${change.actions[0]} ${change.before?.id}`;
}

/** Verdicts of `resolve` and removals that agree with each decision of the plan. */
const FITTING: Readonly<Record<string, readonly [verdict: RegExp, removal: RegExp]>> = {
  resend: [/^(nothing|waiting)$/, /^(forget null|plan.pending)$/],
  "plan.pending": [/^(unclear|waiting)$/, /^plan.pending$/],
  "plan.exists": [/^(held|waiting)$/, /^(forget null|plan.pending)$/],
  recreate: [/^secret-lost$/, /^delete \d$/],
};

describe("a pending create", () => {
  it("has one decision in plan, apply, resolve and removal", async () => {
    const reached = new Set<string>();
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const subject = subjectOf(history);
        const plan = planned(subject);
        reached.add(plan.split(" ")[0] ?? "");
        expect(await applied(subject, history.type), "apply").toBe(plan);
        const same = [new RegExp(`^${plan}$`), new RegExp(`^${plan.replace("adopt", "delete")}$`)] as const;
        const [verdict, removal] = FITTING[plan] ?? same;
        expect(await evident(subject), "resolve").toMatch(verdict);
        expect(removed(subject), "removal").toMatch(removal);
        // A removal waits no longer than `resolve`.
        if (history.age >= HOUR && plan !== "plan.pending") expect(removed(subject)).not.toBe("plan.pending");
      }),
      { numRuns: runs(400) },
    );
    expect([...reached].sort()).toEqual(["adopt", "plan.exists", "plan.pending", "recreate", "resend"]);
  });
});
