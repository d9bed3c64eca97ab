// Possible results of a request with a lost response: decided by time, id, name and one-time values.
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type AttributeMeta, attribute } from "../../../../src/core/kinds/attribute.ts";
import type { Kind, Remote } from "../../../../src/core/kinds/kind.ts";
import { believedAfterMs } from "../../../../src/core/lifecycle/decide.ts";
import {
  knownBefore,
  madeBetween,
  madeThen,
  namesOutcome,
  returnsSecretOnce,
} from "../../../../src/core/lifecycle/pending-create.ts";
import type { Intent, JsonObject, PrivateMark } from "../../../../src/core/model/index.ts";
import { kindOf, remote } from "../../../support/subjects.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");
const at = (ms: number) => new Date(NOW + ms).toISOString();
const MINUTE = 60_000;
const intent = (over: Partial<Intent> = {}): Intent => ({ since: at(0), operation: "createWebhook", ...over });
const made = (created_at: unknown): Remote => remote({ id: "1", created_at } as JsonObject);

describe("the moment from which a list is complete", () => {
  it("is 25 % of the list lag after the list lag, counted from the arrival of the request", () => {
    expect(believedAfterMs(60_000)).toBe(80_000);
    expect(believedAfterMs(8_000)).toBe(15_000);
    expect(believedAfterMs(0)).toBe(5_000);
  });
});

describe("the creation time of an object", () => {
  it.each<[string, unknown, [number, number] | undefined]>([
    ["is the moment that it says", at(0), [NOW, NOW]],
    ["is a whole day where it says a date", "2026-11-21", [NOW - 12 * 60 * MINUTE, NOW + 12 * 60 * MINUTE]],
    ["is not a day because a date is in it", "2026-11-21T12:00:00Z and 2026-11-21", undefined],
    ["is not said by a text that is no time", "soon", undefined],
    ["nor by what is no text", 2026, undefined],
    ["nor by nothing", null, undefined],
  ])("%s", (_, text, expected) => expect(madeBetween(made(text))).toEqual(expected));

  const TEN = 10 * MINUTE;
  it.each<[string, Partial<Intent>, unknown, number, boolean]>([
    ["at the time of the request", {}, at(0), 0, true],
    ["ten minutes before: clocks differ", {}, at(-TEN), 0, true],
    ["more than that before: it was there already", {}, at(-TEN - 1), 0, false],
    ["ten minutes after", {}, at(TEN), 0, true],
    ["more than that after: something else made it", {}, at(TEN + 1), 0, false],
    ["on the day of the request", {}, "2026-11-21", 0, true],
    ["on the day before, ten minutes before it ended", { since: "2026-11-22T00:10:00Z" }, "2026-11-21", 0, true],
    ["on the day before, earlier", { since: "2026-11-22T00:10:00.001Z" }, "2026-11-21", 0, false],
    ["at the time of the second sending", { since: at(-60 * MINUTE), resent: at(0) }, at(0), 0, true],
    ["at the time of the first of two", { since: at(-60 * MINUTE), resent: at(0) }, at(-60 * MINUTE), 0, true],
    ["between two sendings that are far apart", { since: at(-60 * MINUTE), resent: at(0) }, at(-30 * MINUTE), 0, false],
    ["and not said, seen soon after", {}, null, TEN, true],
    ["and not said, seen later than that", {}, null, TEN + 1, false],
  ])("can match the request if it is %s", (_, over, created, now, expected) => {
    expect(madeThen(intent(over), made(created), NOW + now)).toBe(expected);
  });
});

describe("the objects that a create records before it is sent", () => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => remote({ id: String(i + 1) }));
  const like = remote({ id: "7" });
  const held = ({ id }: Remote) => (id === "2" ? "hosting_webhook.other" : undefined);

  it.each<[string, Remote[], Remote[], ReturnType<typeof knownBefore>]>([
    ["is everything, each once", many(1), [like, ...many(1)], { known: ["7", "1"], knowsAll: true }],
    ["is nothing of an empty account, and that is all", [], [], { known: [], knowsAll: true }],
    ["has what another address has", many(3), [], { known: ["1", "2", "3"], knowsAll: true }],
    ["is what is like it alone, where there is very much", many(1_002), [like], { known: ["7"] }],
  ])("%s", (_, all, alike, expected) => expect(knownBefore(all, alike, held)).toStrictEqual(expected));

  it("are all objects, up to a thousand", () => {
    const without2 = knownBefore(many(1_001), [], held);
    expect(without2).toMatchObject({ knowsAll: true });
    expect(without2.known).not.toContain("2");
    expect(knownBefore(many(1_000), [])).toMatchObject({ knowsAll: true });
    expect(knownBefore(many(1_001), [])).toStrictEqual({ known: [] });
  });
});

describe("a one-time value", () => {
  const secretOf = (kind: Kind, shown?: JsonObject) => returnsSecretOnce(kind, shown);

  it("is the secret of a webhook, while the secret is unknown", () => {
    expect(secretOf(kindOf("hosting_webhook"))).toBe(true);
    expect(secretOf(kindOf("hosting_webhook"), { secret: null })).toBe(true);
    expect(secretOf(kindOf("hosting_webhook"), { secret: "whsec" })).toBe(false);
  });

  it.each<[string, Partial<AttributeMeta>, boolean]>([
    ["a secret that the API makes and never shows again", { sensitive: true, computed: true, unreadable: true }, true],
    ["a secret that it shows again", { sensitive: true, computed: true }, false],
    ["a secret that is declared", { sensitive: true, unreadable: true }, false],
    ["what is no secret", { computed: true, unreadable: true }, false],
  ])("is %s: %j", (_, meta, expected) => {
    const attributes = z.object({ a: attribute(z.string(), { description: "", ...meta }) });
    expect(secretOf({ ...kindOf("hosting_webhook"), attributes })).toBe(expected);
  });

  it("does not exist for a grant, which has no secret, nor for an object that cannot be recreated", () => {
    expect(secretOf(kindOf("hosting_grant"))).toBe(false);
    expect(secretOf(kindOf("hosting_service"))).toBe(false);
    expect(secretOf({ ...kindOf("hosting_webhook"), removal: "policy" })).toBe(false);
  });
});

describe("a mark", () => {
  const webhooks = kindOf("hosting_webhook");
  const pending = intent({ known: ["7"] });

  it.each<[string, PrivateMark, string, boolean]>([
    ["may be named", { pending }, "8", true],
    ["is not what was there before", { pending }, "7", false],
    ["is not what is to be replaced", { deposed: { id: "9" } }, "9", false],
    ["is anything where nothing was begun", {}, "9", true],
  ])("the outcome of a create %s", (_, mark, id, expected) => {
    expect(namesOutcome(webhooks, mark, id)).toBe(expected);
  });
});
