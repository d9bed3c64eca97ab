// Every message about a skipped resource. After an intended change, run `npm test -- -u
// test/unit/core/lifecycle/refusals.test.ts` and review the diff of the golden file.
import { expect, it } from "vitest";
import type { Remote } from "../../../../src/core/kinds/kind.ts";
import { goneCondition } from "../../../../src/core/lifecycle/attention.ts";
import type { Sent } from "../../../../src/core/lifecycle/pending-create.ts";
import * as refusals from "../../../../src/core/lifecycle/refusals.ts";
import * as status from "../../../../src/core/lifecycle/status.ts";
import {
  conditionWarning,
  type Diagnostic,
  type Intent,
  type JsonObject,
  type QueuedJob,
  UNKNOWN,
} from "../../../../src/core/model/index.ts";
import { fixOf } from "../../../support/remedies.ts";
import { kindOf, liveGrant, liveService, remote } from "../../../support/subjects.ts";

const service = kindOf("hosting_service");
const grant = kindOf("hosting_grant");
const domain = kindOf("hosting_domain");
const A = { kind: service, address: "hosting_service.a" };
const G = { kind: grant, address: "hosting_grant.g" };
const W = { kind: kindOf("hosting_webhook"), address: "hosting_webhook.w" };
const D = { kind: domain, address: "hosting_domain.d" };
const [s1, s2, g1] = [remote(liveService), remote({ ...liveService, id: "1002" }), remote(liveGrant)];
const prior = { attributes: { id: "1000" } };
const unmade = { attributes: { id: null } };
const held = { ownerOf: () => "hosting_service.b" };
const heldSecond = ({ id }: Remote) => (id === "1002" ? "hosting_service.b" : undefined);
const hook = { url: "https://hooks.acme.example", events: ["invoice.paid"] };
const silent = (id: number, over: JsonObject = {}) => remote({ ...hook, events: [], ...over, id: String(id) });
const hooks = Array.from({ length: 12 }, (_, at) => silent(201 + at, at === 1 ? { url: null } : {}));
const change = { before: 11, after: 12, secret: false };
const job = (toward: QueuedJob["toward"], before: string | null): QueuedJob => ({
  since: "2026-11-21T10:00:00Z",
  toward,
  before,
});
const S = (word: string | null | undefined, asked?: QueuedJob) => ({
  ...A,
  provider: "main",
  attributes: (word === undefined ? {} : { status: word }) as JsonObject,
  job: asked,
});
const sent = (more: Partial<Intent> = {}): Sent => ({
  attributes: { service_id: "1001", email: "dev@acme.example" },
  private: { pending: { since: "2026-11-21T10:00:00Z", operation: "createGrant", ...more } },
});
const undecided = (subject: typeof A, of: Sent, objects: readonly Remote[]) =>
  refusals.questionOf(subject, of, { row: "twice", objects, rows: [] });
const hiddenGrant = remote({ ...liveGrant, email: null });
const unseen = { left: [], unseen: ["suspended"] };

const cases = (): Readonly<Record<string, Diagnostic>> => ({
  "immutable, paid": refusals.immutable(A, "plan_id", change),
  "immutable, not paid": refusals.immutable(G, "email", { ...change, before: "a@x.example", after: UNKNOWN }),
  "immutable, secret": refusals.immutable(A, "password", { ...change, secret: true }),
  "mismatch, by its record": refusals.mismatch({ ...A, prior, importId: "9" }, "plan_id", change),
  "mismatch, by its import": refusals.mismatch({ ...A, importId: "9" }, "plan_id", change),
  "mismatch, secret": refusals.mismatch({ ...A, importId: "9" }, "password", { ...change, secret: true }),
  "existing, one, paid": refusals.existing(A, [s1]),
  "existing, one, not paid, under a parent": refusals.existing(G, [g1]),
  "existing, several": refusals.existing(A, [s1, s2]),
  "existing, held by another": refusals.existing({ ...A, ...held }, [s1]),
  "existing, several, one held": refusals.existing({ ...A, ...held }, [s1, s2]),
  "existing, in the place of a gone one": refusals.existing({ ...A, prior }, [s1, s2]),
  "existing, where the record has no id": refusals.existing({ ...A, prior: unmade }, [s1]),
  "existing, several, only the second held": refusals.existing({ ...A, ownerOf: heldSecond }, [s1, s2]),
  "gone, import": refusals.notImportable({ ...A, importId: "9" }, "no longer exists"),
  "gone, paid": conditionWarning(goneCondition(A, { attributes: { id: "9" }, sensitive: [] }, "no longer exists")),
  pending: refusals.questionOf(D, sent(), { row: "blind", objects: [], rows: [] }),
  "undecided, one": undecided(A, sent(), [s1]),
  "undecided, one under a parent": undecided(G, sent(), [g1]),
  "undecided, several": undecided(A, sent(), [s1, s2]),
  "undecided, made at another time": undecided(G, sent(), [
    remote({ ...liveGrant, created_at: "2026-11-21T07:00:00Z" }),
  ]),
  "undecided, several, of which the second shows another time": undecided(G, sent(), [
    remote({ ...liveGrant, created_at: null }),
    remote({ ...liveGrant, id: "302", created_at: "2026-11-21T07:00:00Z" }),
  ]),
  "undecided, several and none readable": undecided(G, sent(), [
    hiddenGrant,
    remote({ ...hiddenGrant.attributes, id: "302" }),
  ]),
  "undecided, accepted and not readable": undecided(G, sent({ accepted: true }), [hiddenGrant]),
  renamed: refusals.lookalike({ ...A, ownerOf: () => 'hosting_service.b["x"]' }, [s1]),
  "lookalike, one": refusals.lookalike(A, [s1]),
  "lookalike, several": refusals.lookalike(A, [s1, s2]),
  "lookalike, the second held by one that leaves": refusals.lookalike({ ...A, ownerOf: heldSecond }, [s1, s2]),
  "unreadable, one": refusals.unreadable(W, hook, [silent(201)]),
  "unreadable, one under a parent": refusals.unreadable(G, g1.attributes, [remote({ ...g1.attributes, email: null })]),
  "unreadable, twelve, in one way or another": refusals.unreadable(W, hook, hooks),
  "lookalike, held by one that leaves": refusals.lookalike({ ...A, ...held }, [s1, s2]),
  "unknown, left alone": conditionWarning(
    status.unknownStatus(S("Odd"), { left: ["suspended", "password_version"], unseen: [] }),
  ),
  "unknown, not seen": conditionWarning(status.unknownStatus(S("Odd"), { left: [], unseen: ["suspended"] })),
  "unknown, no status": conditionWarning(status.unknownStatus(S(null), { left: ["suspended"], unseen: [] })),
  "unknown, no status at all": conditionWarning(
    status.unknownStatus(S(undefined), { left: ["suspended"], unseen: [] }),
  ),
  "unknown, like a suspension": conditionWarning(
    status.unknownStatus(S("Suspended_By_Owner"), { left: ["suspended"], unseen: [] }),
  ),
  "unknown, like a pause": conditionWarning(status.unknownStatus(S("PAUSED"), { left: ["suspended"], unseen: [] })),
  "unknown, after a suspension": conditionWarning(status.unknownStatus(S("Odd", job("suspended", "active")), unseen)),
  "unknown, after its end": conditionWarning(status.unknownStatus(S("Odd", job("live", "suspended")), unseen)),
  "unknown, after a suspension from no word": conditionWarning(
    status.unknownStatus(S("Odd", job("suspended", null)), unseen),
  ),
  "not removable": status.notRemovable(S("Odd"), "error"),
  "end unclear": status.unclearEnd({ ...S("Odd"), job: job("suspended", "active") }),
  "end unclear, from no word to none": status.unclearEnd({ ...S(null), job: job("live", null) }),
  "order with an unknown status": status.unknownAtOnce(S("Odd"), ["suspended", "password_version"]),
});

/** Formats remedies as text for the golden file. */
function asRead(this: Diagnostic, name: string, value: unknown): unknown {
  return name === "remedies" ? fixOf(this) : value;
}

it("all messages about a skipped resource equal the golden file", async () => {
  const text = Object.entries(cases()).map(
    ([name, diagnostic]) => `# ${name}\n${JSON.stringify(diagnostic, asRead, 2)}\n`,
  );
  await expect(text.join("\n")).toMatchFileSnapshot("../../../golden/lifecycle/words.txt");
});

it.each(["live", "suspended", "gone"] as const)(
  "the requested status is stored until the service has it: %s",
  (phase) => {
    const mark = { job: job("suspended", "active"), generation: 2, pending: { since: "", operation: "x" } } as never;
    const kept = phase === "suspended" || phase === "gone" ? {} : { job: job("suspended", "active") };
    expect(status.observedMark(mark, phase)).toEqual({ generation: 2, ...kept });
    expect(status.observedMark({ generation: 2 }, phase)).toEqual({ generation: 2 });
  },
);
