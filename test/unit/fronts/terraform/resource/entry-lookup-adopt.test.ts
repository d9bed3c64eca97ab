// Objects of an interrupted run that Terraform did not record: the next run adopts or rejects them, and never creates a paid
// object twice.
import { describe, expect, it } from "vitest";
import type { Kind } from "../../../../../src/core/kinds/kind.ts";
import {
  type JsonObject,
  type Phase,
  type PrivateMark,
  UNKNOWN,
  type Value,
} from "../../../../../src/core/model/index.ts";
import { labelOf } from "../../../../../src/fronts/terraform/resource/attribute-mapping.ts";
import { adoptEntry } from "../../../../../src/fronts/terraform/resource/entry-lookup.ts";
import { START } from "../../../../support/clock.ts";
import { fixOf } from "../../../../support/remedies.ts";
import { liveGrant, liveService, liveWebhook, recorded, remote } from "../../../../support/subjects.ts";
import { codesOf, fakeScope, refusalOf } from "./fake-scope.ts";

const YOUNG: PrivateMark = { created: new Date(START - 1_000).toISOString() };
const OBJECTS: Readonly<Record<string, JsonObject>> = {
  hosting_service: { ...liveService, plan_id: 11 },
  hosting_webhook: liveWebhook,
  hosting_grant: liveGrant,
  hosting_domain: { id: "acme.example", domain: "acme.example", years: 1, currency: "USD" },
  hosting_client_account: { id: "51", name: "Acme", currency: "USD", vat_number: "GE1" },
  hosting_migration_request: { id: "61", domain: "www.acme.example" },
};

interface Case {
  readonly type?: string;
  /** Values that the entry has and the object lacks. */
  readonly noted?: JsonObject;
  readonly mark?: PrivateMark;
  /** Null: the account does not show the object. */
  readonly phase?: Phase | null;
  /** Planned values that differ from the entry. */
  readonly planned?: Readonly<Record<string, Value>>;
  /** The API has no list of the kind. */
  readonly unlisted?: true;
}

function noteOf({ type = "hosting_service", noted = {}, mark = {}, phase = "live", unlisted }: Case) {
  const object = OBJECTS[type] ?? {};
  const place = fakeScope(type, { objects: phase === null ? [] : [remote(object, phase)] });
  const { list, ...rest } = place.kind;
  const kind: Kind = unlisted ? rest : place.kind;
  return { ...place, kind, note: recorded(`${type}.a`, { ...object, ...noted }, { private: mark }) };
}

const adopt = ({ kind, note, front }: ReturnType<typeof noteOf>, planned: Case["planned"] = {}) =>
  adoptEntry({ label: labelOf(kind, note.attributes) }, kind, note, { ...note.attributes, ...planned }, front);

/** Returns `adopted`, `made again`, or the code of the rejection and its attribute. */
async function outcomeOf(one: Case): Promise<string> {
  const work = adopt(noteOf(one), one.planned);
  const adopted = await work.catch(() => null);
  if (adopted !== null) return adopted === undefined ? "made again" : "adopted";
  const { code, attribute = [] } = await refusalOf(work);
  return [code, ...attribute].join(" ");
}

describe("what was made before Terraform recorded it", () => {
  it.each<[string, Case, string]>([
    ["a webhook that is there", { type: "hosting_webhook" }, "adopted"],
    ["a webhook that is gone", { type: "hosting_webhook", phase: null }, "made again"],
    ["a webhook that is not listed yet", { type: "hosting_webhook", phase: null, mark: YOUNG }, "adopted"],
    ["a client account that is gone", { type: "hosting_client_account", phase: null }, "made again"],
    ["a service that is there", {}, "adopted"],
    ["a service that is suspended", { phase: "suspended" }, "adopted"],
    ["a service that is not found any more", { phase: null }, "plan.gone reference"],
    ["a service that is not found yet", { phase: null, mark: YOUNG }, "adopted"],
    ["a service that has ended", { phase: "gone" }, "plan.gone reference"],
    ["a service that has ended a moment after it was made", { phase: "gone", mark: YOUNG }, "plan.gone reference"],
    ["a domain, which no call reads", { type: "hosting_domain", phase: null }, "adopted"],
    [
      "what only one call reads, and is gone",
      { type: "hosting_migration_request", phase: null, unlisted: true },
      "made again",
    ],
    ["what only one call reads", { type: "hosting_migration_request", unlisted: true }, "adopted"],
  ])("%s: %#", async (_, one, outcome) => {
    expect(await outcomeOf(one)).toBe(outcome);
  });

  const account = "hosting_client_account";
  it.each<[string, Case, string]>([
    ["no call changes", { type: account, planned: { vat_number: "GE2" } }, "plan.exists vat_number"],
    ["replaces the object", { type: "hosting_grant", planned: { permission: "admin" } }, "plan.exists permission"],
    [
      "it was made without",
      { noted: { coupon_code: null }, planned: { coupon_code: "YEAR20" } },
      "plan.exists coupon_code",
    ],
    [
      "would end a grant that has no end",
      { type: "hosting_grant", planned: { expires_at: "2027-01-01" } },
      "plan.exists expires_at",
    ],
    ["is another word for the same", { type: account, planned: { currency: "usd" } }, "adopted"],
    ["is not declared, so that the API gives it", { type: account, planned: { currency: UNKNOWN } }, "adopted"],
    ["is no longer declared", { type: account, planned: { vat_number: null } }, "adopted"],
    ["can be changed afterwards", { planned: { suspended: true, deletion_policy: "forget" } }, "adopted"],
    [
      "does not matter, since it is gone",
      { type: "hosting_grant", planned: { permission: "admin" }, phase: null },
      "made again",
    ],
  ])("with a declaration that was edited since, where the value %s", async (_, one, outcome) => {
    expect(await outcomeOf(one)).toBe(outcome);
  });

  it("is taken with what the account shows of it, what only the note has, and a warning", async () => {
    const mark: PrivateMark = {
      host: "here",
      job: { since: "2026-11-21T09:00:00Z", toward: "suspended", before: "active" },
    } as PrivateMark;
    const place = noteOf({ noted: { price: 1, generated_password: "once" }, mark, phase: "suspended" });
    const adopted = await adopt(place);
    expect(adopted?.attributes).toMatchObject({ id: "1001", price: 500, generated_password: "once" });
    expect(adopted?.private, "the job has ended since").toEqual({ host: "here" });
    expect(codesOf(adopted?.diagnostics ?? [])).toEqual(["warning apply.replayed"]);
    expect(adopted?.diagnostics[0]?.summary).toContain("service 1001");
  });

  it("is taken as it is recorded where nothing shows it", async () => {
    const place = noteOf({ noted: { generated_password: "once" }, mark: YOUNG, phase: null });
    expect(await adopt(place)).toMatchObject({ attributes: place.note.attributes, private: YOUNG });
  });

  it.each<[string, Case, string, RegExp]>([
    [
      "what it is",
      { type: account, planned: { vat_number: "GE2" } },
      'The vat_number of the object is "GE1".',
      /^Set `vat_number` back/,
    ],
    [
      "that it is without",
      { planned: { coupon_code: "HUSH" } },
      "The object has no coupon_code.",
      /^Remove `coupon_code` /,
    ],
    [
      "no coupon",
      { noted: { coupon_code: "HUSH" }, planned: { coupon_code: "A" } },
      "The coupon_code of the object is (not shown).",
      /^Set/,
    ],
    [
      "how it is imported",
      { type: "hosting_grant", planned: { permission: "admin" } },
      'The permission of the object is "view".',
      /'1001\/301'/,
    ],
  ])("is refused with %s", async (_, one, detail, fix) => {
    const refusal = await refusalOf(adopt(noteOf(one), one.planned));
    expect(refusal.detail).toContain(detail);
    expect(fixOf(refusal)).toMatch(fix);
    expect(JSON.stringify(refusal)).not.toContain("HUSH");
  });

  it.each<[string, (place: ReturnType<typeof noteOf>) => unknown, string]>([
    [
      "another address of the state has",
      ({ front, kind, note }) => front.addRecorded(kind, note.attributes),
      "belongs to an address of this state",
    ],
    [
      "was released for this one",
      ({ front, kind }) => front.markReleased(kind, { id: "1001" }),
      "the object that it replaces",
    ],
    ["another declaration has just adopted", (place) => adopt(place), "www.acme.example"],
  ])("and %s is not adopted: two resources must not manage one object", async (_, before, owner) => {
    const place = noteOf({});
    await before(place);
    const refusal = await refusalOf(adopt(place));
    expect(refusal).toMatchObject({ severity: "error", code: "plan.exists", summary: expect.stringContaining(owner) });
  });
});
