import { describe, expect, it } from "vitest";
import { DataSources } from "../../../../src/core/engine/data.ts";
import { outputsWithin, planOutputs, recordOutputs } from "../../../../src/core/engine/outputs.ts";
import { referencesIn, resolveReferences } from "../../../../src/core/expression/references.ts";
import {
  type DesiredOutput,
  type EvalScope,
  ExpressionError,
  type Json,
  type OutputState,
  type Plan,
  UNKNOWN,
  type Value,
} from "../../../../src/core/model/index.ts";
import { declared, desiredOf, stateOf } from "../../../support/subjects.ts";

const output = (name: string, value: Json, over: Partial<DesiredOutput & { secret: boolean }> = {}): DesiredOutput => ({
  name,
  sensitive: false,
  references: referencesIn(value),
  evaluate: (scope) => ({
    value: resolveReferences(value, scope),
    origin: over.secret === true ? { from: ["env.KEY"] } : undefined,
  }),
  ...over,
});
const recorded = (entries: Readonly<Record<string, Json>>, sensitive = false) =>
  new Map<string, OutputState>(
    Object.entries(entries).map(([name, value]) => [name, { value, type: typeof value, sensitive }]),
  );
const scope = (values: Readonly<Record<string, Value>> = {}): EvalScope => ({
  resource: (address) => values[address] ?? UNKNOWN,
  env: () => undefined,
});
const everything = () => true;
const ID = "${hosting_service.acme.id}";
const known = scope({ "hosting_service.acme": { id: "1001" } });

describe("planned outputs", () => {
  it("are created, changed, kept and removed", () => {
    const before = recorded({ same: "1001", other: "old", gone: "x" });
    const { outputs } = planOutputs(
      [output("same", ID), output("other", ID), output("new", ID)],
      before,
      known,
      everything,
    );
    expect(outputs.map(({ name, action, before: from, after }) => [name, action, from, after])).toEqual([
      ["gone", "delete", "x", null],
      ["new", "create", null, "1001"],
      ["other", "update", "old", "1001"],
      ["same", "no-op", "1001", "1001"],
    ]);
  });

  it("mark values that are known only after the apply", () => {
    const { outputs } = planOutputs([output("id", { at: ID, fixed: 1 })], new Map(), scope(), everything);
    expect(outputs).toMatchObject([{ action: "create", after: { at: null, fixed: 1 }, after_unknown: { at: true } }]);
  });

  it("change when they become secret, or no longer are", () => {
    const { outputs } = planOutputs(
      [output("id", ID, { sensitive: true })],
      recorded({ id: "1001" }),
      known,
      everything,
    );
    expect(outputs).toMatchObject([{ action: "update", sensitive: true }]);
  });

  it("must not show a secret", () => {
    const secret = planOutputs([output("id", ID, { secret: true })], new Map(), known, everything);
    expect(secret.outputs).toEqual([]);
    expect(secret.diagnostics).toMatchObject([{ severity: "error", code: "config.secret" }]);
    expect(
      planOutputs([output("id", ID, { secret: true, sensitive: true })], new Map(), known, everything).diagnostics,
    ).toEqual([]);
  });

  it("report a value that cannot be evaluated", () => {
    const bad = output("id", "x", {
      evaluate: () => {
        throw new ExpressionError("there is no such thing", 0);
      },
    });
    expect(planOutputs([bad], new Map(), known, everything).diagnostics).toMatchObject([{ code: "config.expression" }]);
  });

  it("are absent while they are null, as in Terraform", () => {
    const nothing = scope({ "hosting_service.acme": { id: null } });
    const planned = (before: Parameters<typeof recorded>[0]) =>
      planOutputs([output("id", ID)], recorded(before), nothing, everything).outputs;
    expect(planned({})).toMatchObject([{ action: "no-op", before: null, after: null }]);
    expect(planned({ id: "1001" })).toMatchObject([{ action: "delete", before: "1001", after: null }]);
  });

  it("keep their value outside the targets of a run", () => {
    const resources = [declared("hosting_service.acme", {})];
    const within = outputsWithin({ resources }, new Set(["hosting_service.acme", "hosting_service.other"]));
    const there = output("there", "${hosting_service.other.id}");
    const { outputs } = planOutputs([output("id", ID), there], recorded({ there: "7" }), known, within);
    expect(outputs.map(({ name, action }) => [name, action])).toEqual([
      ["id", "create"],
      ["there", "no-op"],
    ]);
  });
});

describe("recorded outputs", () => {
  const record = async (
    declaredOnes: readonly DesiredOutput[],
    names: EvalScope,
    before = recorded({}),
    mode: Plan["mode"] = "apply",
  ) => {
    let written: ReadonlyMap<string, OutputState> | undefined;
    const recorder = {
      put: async () => {},
      remove: async () => {},
      setOutputs: async (outputs: ReadonlyMap<string, OutputState>) => {
        written = outputs;
      },
    };
    const state = { ...stateOf(), outputs: before };
    const plan = { mode, outputs: [] } as unknown as Plan;
    const desired = { ...desiredOf(), outputs: declaredOnes };
    const diagnostics = await recordOutputs({ plan, desired, state, recorder }, new DataSources(), names);
    return { written, diagnostics };
  };

  it("have the final values, with Terraform's types", async () => {
    const { written } = await record([output("id", ID), output("all", { ids: [ID], n: 1, on: true, no: null })], known);
    expect(Object.fromEntries(written ?? [])).toEqual({
      id: { value: "1001", type: "string", sensitive: false },
      all: {
        value: { ids: ["1001"], n: 1, on: true, no: null },
        type: ["object", { ids: ["tuple", ["string"]], n: "number", on: "bool", no: "dynamic" }],
        sensitive: false,
      },
    });
  });

  it("keep their previous value if a change failed", async () => {
    const { written } = await record(
      [output("id", ID), output("new", ID)],
      scope(),
      recorded({ id: "1001", gone: "x" }),
    );
    expect([...(written ?? [])]).toEqual([["id", { value: "1001", type: "string", sensitive: false }]]);
  });

  it("never contain a secret that is not declared as sensitive", async () => {
    const { written, diagnostics } = await record([output("id", ID, { secret: true })], known);
    expect(written?.size).toBe(0);
    expect(diagnostics).toMatchObject([
      { severity: "warning", code: "apply.skipped", detail: expect.stringContaining('"id" would show a secret') },
    ]);
  });
});
