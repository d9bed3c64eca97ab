/** Moves from resources of other providers: the refresh after a move adopts the object like an import. */
import { describe, expect, it } from "vitest";
import { kinds } from "../../src/core/kinds/index.ts";
import type { Kind } from "../../src/core/kinds/kind.ts";
import { PROVIDER_ADDRESSES } from "../../src/fronts/terraform/package.ts";
import { withheldByImport } from "../../src/fronts/terraform/resource/attribute-mapping.ts";
import type { Instance } from "../support/terraform-core.ts";
import { isRefusal, type Said } from "../support/terraform-core-wire.ts";
import { type Subject, subjectOf } from "./terraform-life.ts";

const readable = [...kinds.values()].filter(({ list }) => list !== undefined);

const PATHS: Readonly<Record<string, string>> = {
  hosting_service: "/api/v1/services",
  hosting_grant: "/api/v1/services/PARENT/grants",
  hosting_webhook: "/webhooks/",
  hosting_client_account: "api/v1/accounts",
  hosting_migration_request: "/hosting/api/v1/migration-requests",
};

/** Creates the sample, and forgets it: another tool manages the object. */
async function outside(kind: Kind): Promise<{ subject: Subject; id: string; parent: string; before: object }> {
  const subject = await subjectOf(kind);
  await subject.apply();
  const [id = "", parent = ""] = subject.importId.split("/").reverse();
  const before = subject.core.attributes(subject.address);
  subject.core.forget(subject.address);
  subject.machine.loseStore();
  subject.sent();
  return { subject, id, parent, before };
}

const service = kinds.get("hosting_service") as Kind;

function refusal(said: readonly Said[]): Said {
  const errors = said.filter(isRefusal);
  expect(errors).toHaveLength(1);
  return errors[0] as Said;
}

describe.each(readable.map((kind) => [kind.type, kind] as const))("%s", (type, kind) => {
  const others: readonly [string, (id: string, parent: string) => object][] = [
    [
      "restapi_object",
      (id, parent) => ({ id, path: PATHS[type]?.replace("PARENT", parent), data: "{}", api_data: { id } }),
    ],
    [
      "null_resource",
      (id, parent) => ({ id: "5577006791947779410", triggers: { id, [kind.parent ?? "note"]: parent } }),
    ],
    [
      "terraform_data",
      (id, parent) => ({
        id: "c2e4",
        input: { value: { id: `${parent === "" ? "" : `${parent}/`}${id}` }, type: ["object", { id: "string" }] },
        triggers_replace: { value: "v2", type: "string" },
      }),
    ],
  ];

  it.each(others)("moves from %s without a change or a request", async (source, stateOf) => {
    const { subject, id, parent, before } = await outside(kind);
    expect(await subject.core.move(subject.address, type, { type: source, state: stateOf(id, parent) })).toEqual([]);
    const { current } = subject.core.state;
    expect(Object.values(current.get(subject.address)?.attributes ?? {}).filter((each) => each !== null)).toEqual(
      parent === "" ? [id] : expect.arrayContaining([id, parent]),
    );
    const outcome = await subject.apply();
    expect(outcome.actions).toEqual({ [subject.address]: expect.stringMatching(/^(?:no-op|update)$/) });
    expect(subject.changesSent()).toEqual([]);
    await subject.expectNoChanges();
    const after = subject.core.attributes(subject.address);
    expect(after).toMatchObject({ id, ...Object.fromEntries(withheldByImport(kind).map((name) => [name, null])) });
    expect(Object.keys(after)).toEqual(Object.keys(before));
  });

  it.each(PROVIDER_ADDRESSES)(
    "moves from the same type of %s, with all its values and its private data",
    async (provider) => {
      const subject = await subjectOf(kind);
      await subject.apply();
      const { core, address } = subject;
      const before = core.state.current.get(address) as Instance;
      core.forget(address);
      subject.sent();
      const { attributes: state, private: mark } = before;
      expect(await core.move(address, type, { type, provider, state, private: mark })).toEqual([]);
      // The next refresh returns the identity.
      expect(core.state.current.get(address)).toEqual({ ...before, identity: undefined });
      expect(subject.sent()).toEqual([]);
      expect((await subject.apply()).actions).toEqual({ [address]: "no-op" });
      expect(core.state.current.get(address)).toEqual(before);
      expect(subject.changesSent()).toEqual([]);
      await subject.expectNoChanges();
    },
  );

  it("is not moved from the state of a newer provider", async () => {
    const subject = await subjectOf(kind);
    const [provider] = PROVIDER_ADDRESSES;
    const version = BigInt(kind.schemaVersion) + 1n;
    const said = await subject.core.move(subject.address, type, { type, provider, version, state: { id: "1001" } });
    expect(refusal(said).summary).toBe(
      `A newer provider wrote the state of this ${kind.noun} (schema version ${version})`,
    );
    expect(subject.core.state.current.size).toBe(0);
  });

  it("is not moved from the path of another kind", async () => {
    const subject = await subjectOf(kind);
    const path = type === "hosting_webhook" ? "/api/v1/accounts" : "/api/v1/webhooks";
    const state = { id: "1001", path };
    const { summary, detail } = refusal(
      await subject.core.move(subject.address, type, { type: "restapi_object", state }),
    );
    expect(summary).toBe(`The restapi_object does not manage a ${kind.noun}`);
    expect(detail).toContain(`Move it to a hosting_${type === "hosting_webhook" ? "client_account" : "webhook"}.`);
  });
});

describe("a move", () => {
  it("of an object that does not exist is an error of the refresh, and creates nothing", async () => {
    for (const kind of readable) {
      const subject = await subjectOf(kind);
      const triggers = { id: "999999", [kind.parent ?? "note"]: String(subject.config()[kind.parent ?? ""] ?? "1001") };
      await subject.core.move(subject.address, kind.type, { type: "null_resource", state: { id: "7", triggers } });
      subject.sent();
      const { errors, actions } = await subject.core.run(subject.declared());
      expect(errors.map(({ summary }) => summary)).toEqual([
        expect.stringMatching(new RegExp(`^${kind.noun} (?:\\d+/)?999999 does not exist$`)),
      ]);
      expect(actions).toEqual({});
      expect(subject.changesSent()).toEqual([]);
    }
  });

  it("needs a refresh", async () => {
    const { subject, id } = await outside(service);
    await subject.core.move(subject.address, service.type, { type: "null_resource", state: { triggers: { id } } });
    const { said } = await subject.core.plan(subject.declared(), { refresh: false });
    expect(refusal(said)).toMatchObject({
      summary: `service ${id} was moved from another provider, and must be read first`,
      detail: expect.stringContaining("Plan without `-refresh=false`."),
    });
    const removal = await subject.core.plan({}, { refresh: false });
    expect(refusal(removal.said).summary).toContain("must be read first");
  });

  it("to a second address of an object is refused", async () => {
    const subject = await subjectOf(service);
    await subject.apply();
    const id = String(subject.core.attributes(subject.address).id);
    await subject.core.move("hosting_service.second", service.type, {
      type: "null_resource",
      state: { triggers: { id } },
    });
    const second = { "hosting_service.second": { type: service.type, config: subject.config() } };
    const { errors } = await subject.core.run({ ...subject.declared(), ...second });
    expect(errors.map(({ summary }) => summary)).toEqual([
      expect.stringMatching(new RegExp(`^service ${id}.* already belongs to another address of this state$`)),
    ]);
  });

  it.each<[string, string, object, RegExp]>([
    ["null_resource without triggers", "null_resource", { id: "1001", triggers: null }, /reads `id` in `triggers`/],
    ["null_resource with a domain alone", "null_resource", { triggers: { domain: "a.example" } }, /reads `id`/],
    [
      "terraform_data with a bare value",
      "terraform_data",
      { input: { value: "1001", type: "string" } },
      /`triggers_replace`/,
    ],
    [
      "terraform_data with two objects",
      "terraform_data",
      { input: { value: { id: "1001" } }, triggers_replace: { value: { id: "1002" } } },
      /needs the id/,
    ],
    ["restapi_object without an id", "restapi_object", { path: "/api/v1/services", id: "" }, /attribute `id`/],
    [
      "restapi_object of an action",
      "restapi_object",
      { path: "/api/v1/services/1001/suspend", id: "1" },
      /Its path is/,
    ],
    ["restapi_object of a service's webhooks", "restapi_object", { path: "/services/1001/services", id: "1" }, /path/],
    ["restapi_object without a path", "restapi_object", { id: "1001" }, /Its path is "undefined"/],
    ["a type of another provider", "aws_instance", { id: "1001" }, /restapi_object, null_resource, terraform_data/],
    ["another type of this provider", "hosting_webhook", { id: "1001" }, /It can move/],
  ])("from %s is refused, and offers an import block", async (_, type, state, why) => {
    const subject = await subjectOf(service);
    const { detail } = refusal(await subject.core.move(subject.address, service.type, { type, state }));
    expect(detail).toMatch(why);
    expect(detail).toMatch(/`import` block|Move it to/);
    expect(subject.core.state.current.size).toBe(0);
  });

  it("of a grant needs its service", async () => {
    const grant = kinds.get("hosting_grant") as Kind;
    const subject = await subjectOf(grant);
    const state = { triggers: { email: "dev@acme.example" } };
    const { detail } = refusal(await subject.core.move(subject.address, grant.type, { type: "null_resource", state }));
    expect(detail).toContain("reads `id` and `service_id` in `triggers`");
  });
});
