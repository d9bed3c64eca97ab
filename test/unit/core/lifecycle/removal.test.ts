import { describe, expect, it } from "vitest";
import { type Observation, type PendingCreate, planRemoval, policyOf } from "../../../../src/core/lifecycle/index.ts";
import type { Json, JsonObject, Phase, PrivateMark } from "../../../../src/core/model/index.ts";
import { START } from "../../../support/clock.ts";
import { fullText } from "../../../support/full-text.ts";
import { whole } from "../../../support/pending-facts.ts";
import { fixOf } from "../../../support/remedies.ts";
import { complete, kindOf, liveGrant, liveService, liveWebhook, recorded, remote } from "../../../support/subjects.ts";

const GONE: Observation = { status: "gone", how: "no longer exists", matches: [] };
const PENDING: PrivateMark = { pending: { since: "2026-11-21T09:00:00Z", operation: "registerDomain" } };

interface Case {
  readonly why: string;
  readonly type?: string;
  readonly policy?: Json;
  readonly phase?: Phase;
  readonly suspended?: boolean;
  readonly observed?: Observation;
  readonly mark?: PrivateMark;
  readonly mode?: "apply" | "destroy";
  /** Recorded attributes that replace the defaults of the case. */
  readonly attributes?: JsonObject;
  readonly listLagMs?: number;
  /** The declaration has a `removed` block for the resource. */
  readonly forget?: true;
  /** Address that owns each live object. */
  readonly holder?: string;
  /** Attributes of another pending create. */
  readonly sibling?: JsonObject;
  readonly actions: readonly string[];
  readonly removal?: string;
  readonly requests: number;
  readonly says?: readonly string[];
}

const cases: readonly Case[] = [
  {
    why: "without a policy it is prevented",
    policy: null,
    actions: ["no-op"],
    requests: 0,
    says: ["error plan.prevented"],
  },
  { why: "prevent", policy: "prevent", actions: ["no-op"], requests: 0, says: ["error plan.prevented"] },
  {
    why: "a policy that nobody knows is the safe one",
    policy: "delete",
    actions: ["no-op"],
    requests: 0,
    says: ["error plan.prevented"],
  },
  {
    why: "destroy keeps it and says so",
    policy: "prevent",
    mode: "destroy",
    actions: ["no-op"],
    requests: 0,
    says: ["warning plan.prevented"],
  },
  { why: "forget", policy: "forget", actions: ["forget"], removal: "forget", requests: 0 },
  { why: "suspend a live one", policy: "suspend", actions: ["forget"], removal: "suspend", requests: 1 },
  {
    why: "suspend a suspended one: nothing to send",
    policy: "suspend",
    phase: "suspended",
    suspended: true,
    actions: ["forget"],
    removal: "suspend",
    requests: 0,
  },
  {
    why: "suspend a pending one: not yet",
    policy: "suspend",
    phase: "pending",
    actions: ["no-op"],
    requests: 0,
    says: ["error plan.prevented"],
  },
  {
    why: "suspend one whose status is not understood: no",
    policy: "suspend",
    phase: "unknown",
    actions: ["no-op"],
    requests: 0,
    says: ["error plan.prevented"],
  },
  {
    why: "suspend one whose status is not understood: not by destroy either, which is not done then",
    policy: "suspend",
    phase: "unknown",
    mode: "destroy",
    mark: { job: { since: "2026-11-21T09:00:00Z", toward: "suspended", before: "active" } },
    actions: ["no-op"],
    requests: 0,
    says: ["warning plan.prevented"],
  },
  {
    why: "gone already, whatever the policy",
    policy: "prevent",
    observed: GONE,
    actions: ["forget"],
    removal: "forget",
    requests: 0,
  },
  { why: "a grant is deleted", type: "hosting_grant", actions: ["delete"], removal: "delete", requests: 1 },
  {
    why: "a grant is deleted by destroy",
    type: "hosting_grant",
    mode: "destroy",
    actions: ["delete"],
    removal: "delete",
    requests: 1,
  },
  {
    why: "a grant that is gone leaves the state",
    type: "hosting_grant",
    observed: GONE,
    actions: ["forget"],
    removal: "forget",
    requests: 0,
  },
  {
    why: "with the one that it replaced",
    type: "hosting_webhook",
    mark: { deposed: { id: "200" } },
    actions: ["delete"],
    removal: "delete",
    requests: 2,
  },
  {
    why: "gone, but the one that it replaced remains",
    type: "hosting_webhook",
    mark: { deposed: { id: "200" } },
    observed: GONE,
    actions: ["delete"],
    removal: "delete",
    requests: 2,
  },
  {
    why: "a registration without known outcome is not forgotten",
    type: "hosting_domain",
    policy: "forget",
    mark: PENDING,
    actions: ["no-op"],
    requests: 0,
    says: ["warning plan.pending"],
  },
  {
    why: "not by destroy either",
    type: "hosting_domain",
    policy: "forget",
    mark: PENDING,
    mode: "destroy",
    actions: ["no-op"],
    requests: 0,
    says: ["warning plan.pending"],
  },
  {
    why: "a server with a pending create is not forgotten because no list shows it: nothing distinguishes it from others",
    policy: "forget",
    attributes: { domain: null },
    mark: { pending: { since: "2026-11-21T09:00:00Z", operation: "createService" } },
    observed: { status: "absent", matches: [] },
    actions: ["no-op"],
    requests: 0,
    says: ["warning plan.pending"],
  },
  {
    why: "a grant without known outcome, where lists may lag as long as that was asked for",
    type: "hosting_grant",
    mark: { pending: { since: "2026-11-21T09:40:00Z", operation: "createGrant" } },
    listLagMs: 476_000,
    observed: { status: "absent", matches: [] },
    actions: ["forget"],
    removal: "forget",
    requests: 0,
  },
  {
    why: "a grant without known outcome, where lists may lag a little longer",
    type: "hosting_grant",
    mark: { pending: { since: "2026-11-21T09:40:00Z", operation: "createGrant" } },
    listLagMs: 476_001,
    observed: { status: "absent", matches: [] },
    actions: ["no-op"],
    requests: 0,
    says: ["warning plan.pending"],
  },
  {
    why: "a webhook that was to replace another and was made: both go",
    type: "hosting_webhook",
    mark: { deposed: { id: "200" }, pending: { since: "2026-11-21T09:00:00Z", operation: "createWebhook" } },
    observed: {
      status: "absent",
      matches: [],
      alike: [remote({ ...liveWebhook, created_at: "2026-11-21T09:00:03Z" })],
    },
    actions: ["delete"],
    removal: "delete",
    requests: 2,
  },
  {
    why: "a grant that is declared as removed, and not to be deleted",
    type: "hosting_grant",
    forget: true,
    actions: ["forget"],
    removal: "forget",
    requests: 0,
  },
  {
    why: "a client account that is forgotten: nothing is billed for it",
    type: "hosting_client_account",
    policy: "forget",
    actions: ["forget"],
    removal: "forget",
    requests: 0,
  },
  {
    why: "a client account, which nothing suspends",
    type: "hosting_client_account",
    policy: "suspend",
    actions: ["no-op"],
    requests: 0,
    says: ["error plan.prevented"],
  },
  {
    why: "what there is by now is what goes",
    type: "hosting_grant",
    observed: { status: "present", attributes: { ...liveGrant, permission: "manage" }, phase: "live" },
    actions: ["delete"],
    removal: "delete",
    requests: 1,
  },
  {
    why: "gone while it was to be suspended: nothing is asked for any more",
    policy: "suspend",
    mark: { job: { since: "2026-11-21T09:00:00Z", toward: "suspended", before: "active" } },
    observed: GONE,
    actions: ["forget"],
    removal: "forget",
    requests: 0,
  },
  {
    why: "a grant without known outcome that was made goes",
    type: "hosting_grant",
    mark: { pending: { since: "2026-11-21T09:00:00Z", operation: "createGrant" } },
    observed: { status: "absent", matches: [], alike: [remote({ ...liveGrant, created_at: "2026-11-21T09:00:03Z" })] },
    actions: ["delete"],
    removal: "delete",
    requests: 1,
  },
  {
    why: "a grant without known outcome, and one that was made an hour later: it may be somebody else's",
    type: "hosting_grant",
    mark: { pending: { since: "2026-11-21T09:00:00Z", operation: "createGrant" } },
    observed: { status: "absent", matches: [], alike: [remote(liveGrant)] },
    actions: ["no-op"],
    requests: 0,
    says: ["warning plan.pending"],
  },
  {
    why: "a grant without known outcome that was not made is forgotten",
    type: "hosting_grant",
    mark: { pending: { since: "2026-11-21T09:00:00Z", operation: "createGrant" } },
    observed: { status: "absent", matches: [] },
    actions: ["forget"],
    removal: "forget",
    requests: 0,
  },
  {
    why: "a grant that was asked for just now may still be under way",
    type: "hosting_grant",
    mark: { pending: { since: "2026-11-21T09:59:58Z", operation: "createGrant" } },
    observed: { status: "absent", matches: [] },
    actions: ["no-op"],
    requests: 0,
    says: ["warning plan.pending"],
  },
  {
    why: "a webhook that was to replace another and was not made: the other goes",
    type: "hosting_webhook",
    mark: { deposed: { id: "200" }, pending: { since: "2026-11-21T09:00:00Z", operation: "createWebhook" } },
    observed: { status: "absent", matches: [] },
    actions: ["delete"],
    removal: "delete",
    requests: 1,
  },
  {
    why: "a service without known outcome that seems to have been made is not suspended",
    policy: "suspend",
    mark: { pending: { since: "2026-11-21T09:00:00Z", operation: "createService" } },
    observed: {
      status: "absent",
      matches: [],
      alike: [remote({ ...liveService, created_at: "2026-11-21T09:00:03Z" })],
    },
    actions: ["no-op"],
    requests: 0,
    says: ["warning plan.pending"],
  },
  {
    why: "a webhook whose request the API accepted and no list shows stays: a job may still create it",
    type: "hosting_webhook",
    mark: { pending: { since: "2026-11-21T09:00:00Z", operation: "createWebhook", accepted: true, knowsAll: true } },
    observed: { status: "absent", matches: [] },
    actions: ["no-op"],
    requests: 0,
    says: ["warning plan.pending"],
  },
  {
    why: "a webhook that the host lists under another URL stays: it may be the result of the create",
    type: "hosting_webhook",
    mark: { pending: { since: "2026-11-21T09:00:00Z", operation: "createWebhook", knowsAll: true } },
    observed: {
      status: "absent",
      matches: [],
      alike: [remote({ ...liveWebhook, url: "https://hooks.acme.example/v2" })],
    },
    actions: ["no-op"],
    requests: 0,
    says: ["warning plan.pending"],
  },
  {
    why: "a webhook is forgotten if the only new one is that of another pending create",
    type: "hosting_webhook",
    mark: { pending: { since: "2026-11-21T09:00:00Z", operation: "createWebhook", knowsAll: true } },
    observed: { status: "absent", matches: [], alike: [remote({ ...liveWebhook, url: "https://b.example" })] },
    sibling: { url: "https://b.example" },
    actions: ["forget"],
    removal: "forget",
    requests: 0,
  },
  {
    why: "a webhook is forgotten if another address has the object with its natural key",
    type: "hosting_webhook",
    mark: { pending: { since: "2026-11-21T09:00:00Z", operation: "createWebhook", knowsAll: true } },
    observed: { status: "absent", matches: [], alike: [remote(liveWebhook)] },
    holder: "hosting_webhook.b",
    actions: ["forget"],
    removal: "forget",
    requests: 0,
  },
  {
    why: "a service without known outcome that was made: its policy counts",
    policy: "forget",
    mark: { pending: { since: "2026-11-21T09:00:00Z", operation: "createService" } },
    observed: {
      status: "absent",
      matches: [],
      alike: [remote({ ...liveService, created_at: "2026-11-21T09:00:03Z" })],
    },
    actions: ["forget"],
    removal: "forget",
    requests: 0,
  },
];

const LIVE: Readonly<Record<string, JsonObject>> = {
  hosting_domain: { id: "acme.example", domain: "acme.example" },
  hosting_service: liveService,
  hosting_grant: liveGrant,
  hosting_webhook: liveWebhook,
};

describe("the recorded deletion policy", () => {
  it.each([
    ["forget", "forget"],
    ["suspend", "suspend"],
    ["prevent", "prevent"],
    ["delete", "prevent"],
    ["", "prevent"],
    [null, "prevent"],
    [1, "prevent"],
  ])("%j means %s", (deletion_policy, policy) => expect(policyOf({ deletion_policy })).toBe(policy));

  it("is prevent if none is recorded", () => expect(policyOf({})).toBe("prevent"));
});

describe("the removal of a resource", () => {
  const planOf = ({ type = "hosting_service", policy, phase = "live", mode = "apply", mark = {}, ...one }: Case) => {
    const kind = kindOf(type);
    const attributes = {
      ...complete(kind, LIVE[type] ?? { id: "1" }),
      ...(policy !== undefined && { deletion_policy: policy }),
      ...(one.suspended !== undefined && { suspended: one.suspended }),
      ...one.attributes,
    };
    const prior = recorded(`${type}.acme`, attributes, { private: mark });
    const seen = one.observed ?? ({ status: "present", attributes, phase } as const);
    const observed = mark.pending === undefined ? seen : whole(seen, START);
    const settings = one.listLagMs === undefined ? undefined : { listLagMs: one.listLagMs };
    const { holder, sibling } = one;
    const other = recorded(`${type}.b`, { ...attributes, ...sibling }, { private: mark }) as PendingCreate;
    const others = { ...(holder && { ownerOf: () => holder }), ...(sibling && { siblings: [other] }) };
    const forget = one.forget && ({ forget: true } as const);
    return { prior, ...planRemoval({ kind, prior, observed, mode, now: START, settings, ...forget, ...others }) };
  };

  // After an intended change, run `npm test -- -u test/unit/core/lifecycle/removal.test.ts` and review the diff of the
  // golden file.
  it("equals the golden file for each case", async () => {
    const modes = ["apply", "destroy"] as const;
    const text = cases.flatMap((one) =>
      modes.map((mode) => {
        const { change, diagnostics } = planOf({ ...one, mode });
        return `# ${one.why} (${mode})\n${fullText({ change, diagnostics })}\n`;
      }),
    );
    await expect(text.join("\n")).toMatchFileSnapshot("../../../golden/lifecycle/removals.txt");
  });

  it("of a pending create that only a user can resolve offers only resolve", () => {
    const remedies = cases.flatMap((one) =>
      planOf(one).diagnostics.flatMap(({ code, remedies = [] }) => {
        const resolving = remedies.filter((each) => typeof each === "object" && each.do === "resolve");
        return code === "plan.pending" && resolving.length > 0 ? [resolving] : [];
      }),
    );
    expect(remedies).toContainEqual([{ do: "resolve", removing: false }]);
    expect(remedies).toContainEqual([{ do: "resolve", removing: true }]);
  });

  it.each(cases)("$why", (one) => {
    const { prior, change, diagnostics } = planOf(one);
    const { policy, phase = "live" } = one;
    expect(change.actions).toEqual(one.actions);
    expect(change.removal).toBe(one.removal);
    expect(change.requests).toBe(one.requests);
    expect(change.unfulfilled).toBe(phase === "unknown" && policy === "suspend" ? true : undefined);
    expect(diagnostics.map(({ severity, code }) => `${severity} ${code}`)).toEqual(one.says ?? []);
    expect(JSON.parse(JSON.stringify(change))).toEqual(change);
    for (const diagnostic of diagnostics) {
      const { address } = diagnostic;
      expect(fixOf(diagnostic)).toMatch(/destroy: false}\]`|`hostform resolve /);
      expect(address).toBe(prior.address);
    }
  });
});
