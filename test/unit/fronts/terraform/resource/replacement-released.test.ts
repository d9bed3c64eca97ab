import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../../src/core/model/index.ts";
import type { ProviderSession } from "../../../../../src/fronts/terraform/index.ts";
import {
  dropReplacing,
  markReleased,
  noteReplacing,
  replacesOf,
  unmarkReleased,
} from "../../../../../src/fronts/terraform/resource/replacement.ts";
import { liveService, liveWebhook, recorded, remote } from "../../../../support/subjects.ts";
import { type FakeScope, fakeScope } from "./fake-scope.ts";

const live = remote({ ...liveService, id: "1001", domain: "www.acme.example" });
const old = recorded("hosting_service.www", {
  ...liveService,
  id: "1001",
  domain: "www.acme.example",
  reference: "first",
});
const next = { plan_id: 102, domain: "www.acme.example", reference: "second", replace_on_change: true };

const isReplaced = async ({ kind, front }: Pick<FakeScope, "kind" | "front">, config: JsonObject, one = live) =>
  (await replacesOf(kind, String(config.reference), config, front))(one);

describe("a live object that was released", () => {
  const earlier = async (place = "this folder") => {
    const before = fakeScope("hosting_service", { session: { place } });
    await markReleased(before.kind, old, before.front);
    return { before, later: fakeScope("hosting_service", { session: { entries: before.entries } }) };
  };

  it("makes room in the same process, whatever is declared", async () => {
    const { before } = await earlier();
    expect(await isReplaced(before, { ...next, replace_on_change: null })).toBe(true);
  });

  it.each([
    ["another name and replace_on_change", next, true],
    ["the same name", { ...next, reference: "first" }, false],
    ["no replace_on_change", { ...next, replace_on_change: null }, false],
  ])("makes room in a later run for %s: %j -> %s", async (_, config, room) => {
    const { later } = await earlier();
    expect(await isReplaced(later, config)).toBe(room);
  });

  it("makes none in another place, for another object, or once the state has it again", async () => {
    const { later } = await earlier("elsewhere");
    expect(await isReplaced(later, next)).toBe(false);
    const here = (await earlier()).later;
    expect(await isReplaced(here, next, remote({ ...liveService, id: "1002" }))).toBe(false);
    await unmarkReleased(here.kind, old.attributes, here.session.entries);
    expect(await isReplaced(here, next)).toBe(false);
  });

  it("is recorded where that saves an order: nothing of what the API deletes, and no secret of it, stays on the disk", async () => {
    const { kind, front, entries } = fakeScope("hosting_webhook");
    await markReleased(kind, recorded("hosting_webhook.x", { ...liveWebhook, secret: "whsec_1" }), front);
    expect(await entries.get("hosting_webhook released", "201")).toBeUndefined();
    expect(front.isReleased(kind, { id: "201" }), "in this process it makes room").toBe(true);
  });
});

describe("a create that was planned in the place of an object", () => {
  const planned = async (more: object = {}) => {
    const { kind, session, front } = fakeScope("hosting_service");
    await noteReplacing(kind, "second", { replacing: { id: "1001", name: "first", ...more } }, session);
    return { kind, session, front };
  };

  it("takes its place in the same run of Terraform, under that name, until it is there", async () => {
    const { kind, session, front } = await planned();
    expect(await isReplaced({ kind, front }, { reference: "second" })).toBe(true);
    expect(await isReplaced({ kind, front }, { reference: "third" })).toBe(false);
    expect(await isReplaced({ kind, front }, { reference: "second" }, remote({ ...liveService, id: "1002" }))).toBe(
      false,
    );
    await dropReplacing(kind, "second", session.entries);
    expect(await isReplaced({ kind, front }, { reference: "second" })).toBe(false);
  });

  it.each<[string, Partial<ProviderSession>]>([
    [
      "by another run of Terraform",
      { self: { mark: "another process", parent: "another terraform", isRunning: () => false } },
    ],
    ["in another workspace", { place: "elsewhere" }],
  ])("is not believed %s", async (_, other) => {
    const { session } = await planned();
    const later = fakeScope("hosting_service", { session: { entries: session.entries, ...other } });
    expect(await isReplaced(later, { reference: "second" })).toBe(false);
  });

  it.each([
    ["hosting_service", "an order of another name", "first", true],
    ["hosting_service", "an order of the same name, which the API would repeat", "second", false],
    ["hosting_webhook", "what is deleted afterwards, of the same name", "second", true],
    ["hosting_client_account", "what cannot be deleted", "first", false],
  ])("of a %s is noted for %s: %s -> %s", async (type, _, oldName, noted) => {
    const { kind, session, front } = fakeScope(type);
    await noteReplacing(kind, "second", { replacing: { id: "7", name: oldName } }, session);
    expect(await isReplaced({ kind, front }, { reference: "second" }, remote({ id: "7" }))).toBe(noted);
  });
});
