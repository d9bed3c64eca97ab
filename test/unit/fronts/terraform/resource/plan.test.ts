/** Terraform accepts the plan with any undeclared value from the API, and after the removal of any attribute from the declaration. */
import { describe, expect, it } from "vitest";
import { kinds } from "../../../../../src/core/kinds/index.ts";
import { attributesOf } from "../../../../../src/core/lifecycle/index.ts";
import { MemoryStore } from "../../../../../src/core/local/index.ts";
import { problem } from "../../../../../src/core/messages/index.ts";
import { HostformError, isError, type Json, type JsonObject, type Value } from "../../../../../src/core/model/index.ts";
import { type Attribute, isNested } from "../../../../../src/core/model/schema.ts";
import { terraformKind } from "../../../../../src/fronts/terraform/resource/attribute-mapping.ts";
import { planDeclared } from "../../../../../src/fronts/terraform/resource/plan.ts";
import { schemaOf } from "../../../../../src/fronts/terraform/schema/of-kind.ts";
import { type Sample, sampleOf } from "../../../../conformance/sample.ts";
import fc from "../../../../support/fc.ts";
import { planProblems, writeOnlyProblems } from "../../../../support/terraform-core-rules.ts";
import { asHeld, fakeScope, memoryEntries } from "./fake-scope.ts";
import { configOf, recordedOf } from "./values.ts";

/** One status for each phase. */
const STATUS = ["active", "pending", "suspended", "a word that nobody knows"];

/** A possible value of an attribute in the API: the value of the sample, or a value of its type. */
function shownOf({ attributes, others, implied = {} }: Sample, name: string, { type }: Attribute): Json {
  const known = attributes[name] ?? implied[name] ?? others[name];
  if (known !== undefined) return known;
  if (isNested(type)) return { file: "secret", env_file: null, command: null };
  return type === "number" ? 7 : type === "bool" ? true : name === "deletion_policy" ? "forget" : "shown";
}

async function plan(type: string, prior: JsonObject | null, declared: { readonly [name: string]: Value }) {
  const { kind, front } = fakeScope(type);
  const config = { ...asHeld(kind, {}), ...declared };
  const answer = await planDeclared(kind, { prior, config, mark: {} }, front);
  const { attributes } = schemaOf(kind);
  const problems = [
    ...planProblems(attributes, { config, prior, planned: answer.planned }),
    ...writeOnlyProblems(attributes, answer.planned),
  ];
  return { ...answer, problems };
}

const cases = [...kinds.values()].flatMap((kind) =>
  Object.entries(schemaOf(kind).attributes)
    .filter(([name, { required, writeOnly }]) => name in kind.attributes.shape && !required && !writeOnly)
    .flatMap(([name]) => STATUS.map((status) => ({ type: kind.type, name, status }))),
);

describe("a recorded value that is not declared", () => {
  it.each(cases)("$type.$name ($status)", async ({ type, name, status }) => {
    const kind = terraformKind(type);
    const sample = await sampleOf(kind);
    const { attributes } = schemaOf(kind);
    const required = Object.entries(attributes).filter(([, each]) => each.required);
    const declared = Object.fromEntries(required.map(([each, attribute]) => [each, shownOf(sample, each, attribute)]));
    const attribute = attributes[name];
    if (attribute === undefined) throw new Error(`no ${name}`);
    const shown = { [name]: shownOf(sample, name, attribute) };
    const words: JsonObject = "status" in kind.attributes.shape && name !== "status" ? { status } : {};
    const prior = asHeld(kind, { id: "1001", ...words, ...declared, ...shown });
    const { problems, diagnostics } = await plan(type, prior, declared);
    expect(problems).toEqual([]);
    expect(diagnostics.filter(isError)).toEqual([]);
  });
});

describe.each([...kinds.values()].map(({ type }) => type))("any plan of a recorded %s", (type) => {
  const kind = terraformKind(type);

  it("is refused, or one that Terraform accepts", async () => {
    const question = fc.record({
      config: configOf(kind),
      prior: recordedOf(kind),
      status: fc.constantFrom(...STATUS, "terminated"),
    });
    await fc.assert(
      fc.asyncProperty(question, async ({ config, prior, status }) => {
        const words: JsonObject = "status" in kind.attributes.shape ? { status } : {};
        const answer = await plan(type, asHeld(kind, { ...prior, id: "1001", ...words }), config);
        if (!answer.diagnostics.some(isError)) expect(answer.problems).toEqual([]);
      }),
    );
  });

  it("that is declared as it is recorded changes nothing", async () => {
    const defaults = Object.fromEntries(attributesOf(kind).map(({ name, meta }) => [name, meta.default ?? null]));
    const declarable = attributesOf(kind).filter(({ meta: { change } }) => change !== undefined);
    await fc.assert(
      fc.asyncProperty(recordedOf(kind), async (values) => {
        const shown = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
        const recorded = asHeld(kind, {
          ...defaults,
          ...shown,
          id: "1001",
          ...("status" in values && { status: "active" }),
        });
        fc.pre(Object.entries(schemaOf(kind).attributes).every(([name, { required }]) => !required || name in shown));
        // A recorded secret with a secret_output must still be written there.
        const kept = attributesOf(kind).some(
          ({ name, meta: { fingerprint } }) => fingerprint !== undefined && recorded[name] !== null,
        );
        fc.pre(!kept || (recorded.secret_output ?? null) === null);
        const config = Object.fromEntries(declarable.map(({ name }) => [name, recorded[name] ?? null]));
        const { planned, diagnostics } = await plan(type, recorded, config);
        if (!diagnostics.some(isError)) expect(planned).toEqual(recorded);
      }),
    );
  });
});

describe("the plan of a new object, if the store of this machine cannot record creates", () => {
  it("is refused, so that Terraform deletes nothing for a replacement that cannot be created", async () => {
    const store = new MemoryStore();
    store.note = async () => {
      throw new HostformError([problem("store.newer", { place: "/home/origin.store" })]);
    };
    const { front, kind } = fakeScope("hosting_webhook", { session: { entries: memoryEntries(store) } });
    const config = { url: "https://hooks.acme.example", events: ["invoice.paid"], secret_output: null };
    const question = { prior: null, config, mark: {} } as never;
    expect((await planDeclared(kind, question, front)).diagnostics).toMatchObject([
      { severity: "error", code: "store.newer" },
    ]);
  });
});
