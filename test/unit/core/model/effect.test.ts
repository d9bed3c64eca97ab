import { describe, expect, it } from "vitest";
import { type Change, type ChangeEffect, effectOf } from "../../../../src/core/model/index.ts";
import { change, liveService, order, update } from "../../report/builders.ts";

const offline = { ...liveService, suspended: true };
const forget = (over: Partial<Change>) => change({ actions: ["forget"], before: liveService, ...over });

describe("effectOf: the effect of a change on the account, in one word", () => {
  it.each<[why: string, change: Change, effect: ChangeEffect]>([
    ["nothing", change(), "none"],
    ["an import without a difference", change({ importing: { id: "1" } }), "none"],
    ["an order raises an invoice", order(), "order"],
    ["what costs nothing is made", change({ actions: ["create"] }), "create"],
    ["a change that keeps it online", update({ password_version: 2 }), "update"],
    ["an update takes it offline", update({ suspended: true }), "suspend"],
    ["also where the status was not known", update({ suspended: true }, { before: { id: "1" } }), "suspend"],
    ["also when something else changes with it", update({ suspended: true, password_version: 2 }), "suspend"],
    ["also when it is imported at once", update({ suspended: true }, { importing: { id: "1" } }), "suspend"],
    ["an update brings it back", update({ suspended: false }, { before: offline }), "unsuspend"],
    ["a suspended one stays suspended", update({ suspended: true }, { before: offline }), "update"],
    ["a replacement", change({ actions: ["delete", "create"] }), "replace"],
    ["the new one first", change({ actions: ["create", "delete"] }), "replace"],
    ["the API deletes it", change({ actions: ["delete"], removal: "delete" }), "delete"],
    ["only the state changes", forget({ removal: "forget" }), "forget"],
    ["deletion_policy suspend takes it offline", forget({ removal: "suspend" }), "suspend"],
    ["unless it is offline already", forget({ removal: "suspend", before: offline }), "forget"],
  ])("%s", (_, one, effect) => expect(effectOf(one)).toBe(effect));
});
