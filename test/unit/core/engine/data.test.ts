import { describe, expect, it } from "vitest";
import { DataSources, readingsBefore } from "../../../../src/core/engine/data.ts";
import { addressIndex, dependenciesOf } from "../../../../src/core/engine/dependencies.ts";
import { expressionsOf } from "../../../../src/core/expression/references.ts";
import {
  type Change,
  type DesiredData,
  type EvalScope,
  HostformError,
  type JsonObject,
  type PlacedReference,
  UNKNOWN,
  type Value,
} from "../../../../src/core/model/index.ts";
import { declared } from "../../../support/subjects.ts";

const refersTo = (...addresses: readonly string[]): { references: readonly PlacedReference[] } => ({
  references: addresses.map((address) => ({
    reference: { to: "resource", address, path: ["id"], text: `${address}.id`, offset: 0 },
    path: ["plan_id"],
  })),
});

/** Creates a data source. YAML templates contain no `data.…` addresses, so the test passes the references. */
const source = (address: string, config: JsonObject = {}, over: Partial<DesiredData> = {}): DesiredData => ({
  address,
  type: address.split(".")[1] ?? "",
  provider: "default",
  config,
  dependsOn: [],
  locate: () => undefined,
  ...expressionsOf(config),
  ...over,
});

const scope = (values: Readonly<Record<string, Value>> = {}): EvalScope => ({
  resource: (address) => values[address],
  env: () => undefined,
});

/** Creates a reader that returns its config with the address, and counts its calls. */
function reader() {
  const asked: string[] = [];
  const read = async ({ address }: DesiredData, config: JsonObject) => {
    asked.push(address);
    return { ...config, id: `of ${address}` };
  };
  return { asked, read };
}

const PLAN = "data.hosting_plan.start";
const GRANTS = "data.hosting_grants.acme";

describe("data sources", () => {
  it("are read once for all references, and not at all without a reference", async () => {
    const { asked, read } = reader();
    const data = new DataSources([source(PLAN, { name: "Start" }), source("data.hosting_plan.other")], read);
    await data.ensure([refersTo(PLAN), refersTo(PLAN)], scope());
    await data.ensure([refersTo(PLAN)], scope());
    expect(asked).toEqual([PLAN]);
    expect(data.value(PLAN, scope())).toEqual({ name: "Start", id: `of ${PLAN}` });
    expect(data.value("data.hosting_plan.other", scope())).toBe(UNKNOWN);
  });

  it("are read after the data sources that they refer to", async () => {
    const { asked, read } = reader();
    const second = source(GRANTS, { service_id: "fixed" }, refersTo(PLAN));
    const data = new DataSources([second, source(PLAN)], read);
    await data.ensure([refersTo(GRANTS)], scope());
    expect(asked).toEqual([PLAN, GRANTS]);
  });

  it("are all read if a reference names no key", async () => {
    const { asked, read } = reader();
    const keys = ['data.hosting_grants.all["a"]', 'data.hosting_grants.all["b"]'];
    const data = new DataSources(
      keys.map((key) => source(key)),
      read,
    );
    await data.ensure([refersTo("data.hosting_grants.all")], scope());
    expect(asked).toEqual(keys);
  });

  it("wait while their arguments are unknown, and are read once the arguments are known", async () => {
    const { asked, read } = reader();
    const data = new DataSources([source(GRANTS, { service_id: "${hosting_service.acme.id}" })], read);
    await data.ensure([refersTo(GRANTS)], scope({ "hosting_service.acme": UNKNOWN }));
    expect(asked).toEqual([]);
    const known = scope({ "hosting_service.acme": { id: "1001" } });
    await data.ensure([refersTo(GRANTS)], known);
    expect(asked).toEqual([GRANTS]);
    expect(data.value(GRANTS, known)).toMatchObject({ service_id: "1001" });
    // The result of one config is not reused for another config.
    expect(data.value(GRANTS, scope({ "hosting_service.acme": { id: "1002" } }))).toBe(UNKNOWN);
  });

  it("are unknown while a dependency of theirs has a planned change", async () => {
    const { read } = reader();
    const data = new DataSources([source(GRANTS, {}, { dependsOn: ["hosting_grant.dev"] })], read);
    await data.ensure([refersTo(GRANTS)], scope());
    expect(data.value(GRANTS, scope(), new Set())).not.toBe(UNKNOWN);
    expect(data.value(GRANTS, scope(), new Set(['hosting_grant.dev["a"]', "hosting_grant.dev"]))).toBe(UNKNOWN);
    const changes = [{ address: 'hosting_grant.dev["a"]', actions: ["create"] }] as unknown as Change[];
    const sources = [source(GRANTS, {}, { dependsOn: ["hosting_grant.dev"] }), source(PLAN)];
    const readings = new Map([GRANTS, PLAN].map((address) => [address, { config: {}, value: {} }]));
    expect([...readingsBefore({ changes }, readings, sources).keys()]).toEqual([PLAN]);
  });

  it("name the attribute whose expression fails", async () => {
    const { read } = reader();
    const data = new DataSources([source(GRANTS, { service_id: "${hosting_service.acme.nope}" })], read);
    const reading = data.ensure([refersTo(GRANTS)], scope({ "hosting_service.acme": { id: "1001" } }));
    await expect(reading).rejects.toThrow(HostformError);
    await expect(reading).rejects.toMatchObject({ diagnostics: [{ address: GRANTS, attribute: ["service_id"] }] });
  });

  it("pass on their dependencies to resources that refer to them", () => {
    const first = source(PLAN, {}, { ...refersTo("hosting_service.acme"), dependsOn: ["hosting_webhook.w"] });
    const second = source(GRANTS, {}, refersTo(PLAN));
    const data = new DataSources([first, second]);
    const index = addressIndex(["hosting_service.acme", "hosting_webhook.w"], data.dependencies());
    const resource = { ...declared("hosting_grant.g", {}), ...refersTo(GRANTS) };
    expect(dependenciesOf(resource, index)).toEqual(["hosting_service.acme", "hosting_webhook.w"]);
  });

  it("that refer to each other end with an error", () => {
    const data = new DataSources([source(PLAN, {}, refersTo(GRANTS)), source(GRANTS, {}, refersTo(PLAN))]);
    expect(data.dependencies().get(PLAN)).toEqual([]);
  });
});
