// List rows of ended or disabled objects, in the forms that hosts use.
import { describe, expect, it } from "vitest";
import { LIVES, lifeOf } from "../../../../src/core/kinds/life.ts";
import type { JsonObject, Phase } from "../../../../src/core/model/index.ts";
import { START } from "../../../support/clock.ts";

const client = { hostNow: () => START };
const past = new Date(START - 86_400_000).toISOString();
const future = new Date(START + 86_400_000).toISOString();
const day = past.slice(0, 10);

const life = (raw: object, rules: keyof typeof LIVES = "accounts", statusWords: Readonly<Record<string, Phase>> = {}) =>
  lifeOf({ raw: { id: 7, ...raw } as JsonObject }, { client, settings: { statusWords } }, LIVES[rules]);

describe("a row", () => {
  it.each<[object, string]>([
    [{ deleted_at: past }, `was deleted on ${day}`],
    [{ deletedAt: past }, `was deleted on ${day}`],
    [{ soft_deleted_at: past }, `was deleted on ${day}`],
    [{ date_deleted: past }, `was deleted on ${day}`],
    [{ revoked_at: past.slice(0, 19).replace("T", " ") }, `was revoked on ${day}`],
    [{ ended_at: (START - 86_400_000) / 1000 }, `was ended on ${day}`],
    [{ cancelled_at: String(START - 86_400_000) }, `was cancelled on ${day}`],
    [{ canceled_on: day }, `was canceled on ${day}`],
    [{ archived_at: { date: `${past.slice(0, 19)}Z`, timezone: "UTC" } }, `was archived on ${day}`],
    [{ removed_at: past }, `was removed on ${day}`],
    [{ terminated_at: past }, `was terminated on ${day}`],
    [{ closed_at: past }, `was closed on ${day}`],
    [{ attributes: { "deleted-at": past } }, `was deleted on ${day}`],
    [{ deleted: past }, `was deleted on ${day}`],
    [{ deleted_at: new Date(START).toISOString() }, `was deleted on ${new Date(START).toISOString().slice(0, 10)}`],
    [{ is_deleted: true }, "is listed with is_deleted true"],
    [{ deleted: 1 }, "is listed with deleted 1"],
    [{ removed: "yes" }, 'is listed with removed "yes"'],
    [{ deleted_at: true }, "is listed with deleted_at true"],
    [{ deleted_at: "20.11.2026 by admin" }, 'is listed with deleted_at "20.11.2026 by admin"'],
    [{ status: "deleted" }, 'is "deleted"'],
    [{ status: "REVOKED" }, 'is "REVOKED"'],
    [{ state: "archived" }, 'is "archived"'],
    [{ status: "Expired" }, 'is "Expired"'],
    [{ expired_at: past }, `was expired on ${day}`],
    [{ is_expired: true }, "is listed with is_expired true"],
    [{ status: { name: "Cancelled" } }, 'is "Cancelled"'],
    [{ status: "deleted by user" }, 'is "deleted by user"'],
    [{ status: "active", deleted_at: past }, `was deleted on ${day}`],
  ])("has ended with %j", (fields, end) => expect(life(fields)).toEqual({ phase: "gone", end }));

  it.each<[object]>([
    [{}],
    [{ deleted_at: null }],
    [{ deleted_at: "" }],
    [{ deleted_at: "0000-00-00 00:00:00" }],
    [{ deleted_at: 0 }],
    [{ deleted_at: "no" }],
    [{ deleted_at: "never" }],
    [{ deleted_at: future }],
    [{ revoked_at: (START + 86_400_000) / 1000 }],
    [{ deleted_at: 3 }],
    [{ deleted_at: [] }],
    [{ deleted_at: {} }],
    [{ is_deleted: false }],
    [{ deleted: "false" }],
    [{ archived: 0 }],
    [{ removed: 3 }],
    [{ deleted_by: "Ana" }],
    [{ undeleted_at: past }],
    [{ expires_at: past }],
    [{ ends_at: past }],
    [{ customer: { status: "deleted", deleted_at: past } }],
    [{ status: "active" }],
    [{ status: "pending deletion" }],
    [{ status: "not deleted" }],
    [{ status: 7 }],
  ])("is live with %j", (fields) => expect(life(fields)).toEqual({ phase: "live" }));

  it("ends and lives as the user's own status words say", () => {
    expect(life({ status: "Weg" }, "accounts", { weg: "gone" })).toEqual({ phase: "gone", end: 'is "Weg"' });
    expect(life({ status: "archived" }, "accounts", { archived: "live" })).toEqual({ phase: "live" });
  });
});

describe("a migration request", () => {
  it.each([{ status: "cancelled" }, { deleted_at: past }, { cancelled_at: past }, { status: "removed" }])(
    "has ended by %j",
    (fields) => expect(life(fields, "migrations").phase).toBe("gone"),
  );

  it.each([{ status: "closed" }, { status: "ended" }, { ended_at: past }, { closed_at: past }, { archived: true }])(
    "that may be done is alive with %j: it is not requested again",
    (fields) => expect(life(fields, "migrations")).toEqual({ phase: "live" }),
  );
});

describe("a service", () => {
  it.each([{ deleted_at: past, status: "active" }, { terminated_at: past }, { is_deleted: true }])(
    "has ended by %j",
    (fields) => expect(life(fields, "services").phase).toBe("gone"),
  );

  it.each([
    { cancelled_at: past },
    { closed_at: past },
    { ended_at: past },
    { archived: true },
    { deleted_at: future },
  ])("that may be paid for is live with %j, because the plan would otherwise order a second one", (fields) =>
    expect(life({ status: "active", ...fields }, "services")).toEqual({ phase: "live" }),
  );
});

describe("a webhook", () => {
  it.each<[object, string]>([
    [{ is_active: false }, "is_active is false"],
    [{ isActive: 0 }, "is_active is 0"],
    [{ active: "no" }, 'active is "no"'],
    [{ enabled: false }, "enabled is false"],
    [{ is_disabled: true }, "is_disabled is true"],
    [{ disabled_at: past }, `disabled_at is ${JSON.stringify(past)}`],
    [{ status: "disabled" }, 'status is "disabled"'],
    [{ status: "INACTIVE" }, 'status is "INACTIVE"'],
    [{ status: "paused" }, 'status is "paused"'],
    [{ status: "failing" }, 'status is "failing"'],
    [{ status: "disabled after 10 failures" }, 'status is "disabled after 10 failures"'],
  ])("is disabled by %j", (fields, off) => expect(life(fields, "webhooks")).toEqual({ phase: "live", off }));

  it.each<[object]>([
    [{ is_active: true }],
    [{ active: null }],
    [{ enabled: "" }],
    [{ disabled_at: null }],
    [{ disabled_at: future }],
    [{ disabled: false }],
    [{ status: "active" }],
    [{ status: "enabled" }],
    [{ status: "success" }],
    [{ status: "not paused" }],
    [{ status: "disabled, now active" }],
  ])("is enabled with %j", (fields) => expect(life(fields, "webhooks")).toEqual({ phase: "live" }));

  it("that has ended is not disabled", () =>
    expect(life({ is_active: false, deleted_at: past }, "webhooks")).toEqual({
      phase: "gone",
      end: `was deleted on ${day}`,
    }));

  it("is enabled by the user's own status word", () =>
    expect(life({ status: "paused" }, "webhooks", { paused: "live" })).toEqual({ phase: "live" }));
});
