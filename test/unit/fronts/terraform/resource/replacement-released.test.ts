import { describe, expect, it } from "vitest";
import type { ProviderSession } from "../../../../../src/fronts/terraform/index.ts";
import {
  dropReplacing,
  isToReplace,
  markReleased,
  noteReplacing,
  unmarkReleased,
  wasReleased,
} from "../../../../../src/fronts/terraform/resource/replacement.ts";
import { liveService, liveWebhook, recorded, remote } from "../../../../support/subjects.ts";
import { fakeScope } from "./fake-scope.ts";

const live = remote({ ...liveService, id: "1001", domain: "www.acme.example" });
const old = recorded("hosting_service.www", {
  ...liveService,
  id: "1001",
  domain: "www.acme.example",
  reference: "first",
});
const next = { plan_id: 102, domain: "www.acme.example", reference: "second", replace_on_change: true };

describe("a live object that was released", () => {
  const earlier = (place = "this folder") => {
    const before = fakeScope("hosting_service", { session: { place } });
    markReleased(before.kind, old, before.front);
    return { before, later: fakeScope("hosting_service", { session: { journal: before.journal } }) };
  };

  it("makes room in the same process, whatever is declared", () => {
    const { before } = earlier();
    expect(wasReleased(before.kind, { ...next, replace_on_change: null }, live, before.front)).toBe(true);
  });

  it.each([
    ["another name and replace_on_change", next, true],
    ["the same name", { ...next, reference: "first" }, false],
    ["no replace_on_change", { ...next, replace_on_change: null }, false],
  ])("makes room in a later run for %s: %j -> %s", (_, config, room) => {
    const { later } = earlier();
    expect(wasReleased(later.kind, config, live, later.front)).toBe(room);
  });

  it("makes none in another place, for another object, or once the state has it again", () => {
    const { later } = earlier("elsewhere");
    expect(wasReleased(later.kind, next, live, later.front)).toBe(false);
    const here = earlier().later;
    expect(wasReleased(here.kind, next, remote({ ...liveService, id: "1002" }), here.front)).toBe(false);
    unmarkReleased(here.kind, old.attributes, here.session.journal);
    expect(wasReleased(here.kind, next, live, here.front)).toBe(false);
  });

  it("is recorded where that saves an order: nothing of what the API deletes, and no secret of it, stays on the disk", () => {
    const { kind, front, journal } = fakeScope("hosting_webhook");
    markReleased(kind, recorded("hosting_webhook.x", { ...liveWebhook, secret: "whsec_1" }), front);
    expect(journal.get("hosting_webhook released", "201")).toBeUndefined();
    expect(front.isReleased(kind, { id: "201" }), "in this process it makes room").toBe(true);
  });
});

describe("a create that was planned in the place of an object", () => {
  const planned = (more: object = {}) => {
    const { kind, session, front } = fakeScope("hosting_service");
    noteReplacing(kind, "second", { id: "1001", name: "first", ...more }, session);
    return { kind, session, front };
  };

  it("takes its place in the same run of Terraform, under that name, until it is there", () => {
    const { kind, session, front } = planned();
    expect(isToReplace(kind, "second", live, front)).toBe(true);
    expect(isToReplace(kind, "third", live, front)).toBe(false);
    expect(isToReplace(kind, "second", remote({ ...liveService, id: "1002" }), front)).toBe(false);
    dropReplacing(kind, "second", session.journal);
    expect(isToReplace(kind, "second", live, front)).toBe(false);
  });

  it.each<[string, Partial<ProviderSession>]>([
    [
      "by another run of Terraform",
      { self: { mark: "another process", parent: "another terraform", isRunning: () => false } },
    ],
    ["in another workspace", { place: "elsewhere" }],
  ])("is not believed %s", (_, other) => {
    const { kind, session } = planned();
    const later = fakeScope("hosting_service", { session: { journal: session.journal, ...other } });
    expect(isToReplace(kind, "second", live, later.front)).toBe(false);
  });

  it.each([
    ["hosting_service", "an order of another name", "first", true],
    ["hosting_service", "an order of the same name, which the API would repeat", "second", false],
    ["hosting_webhook", "what is deleted afterwards, of the same name", "second", true],
    ["hosting_client_account", "what cannot be deleted", "first", false],
  ])("of a %s is noted for %s: %s -> %s", (type, _, oldName, noted) => {
    const { kind, session, front } = fakeScope(type);
    noteReplacing(kind, "second", { id: "7", name: oldName }, session);
    expect(isToReplace(kind, "second", remote({ id: "7" }), front)).toBe(noted);
  });
});
