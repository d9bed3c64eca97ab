/**
 * Requirements of every kind behind Terraform: the provider's calls, driven by a model of Terraform core that checks
 * each response as Terraform does. Tests with the real Terraform: test/terraform.
 */
import { describe, expect, it } from "vitest";
import { kinds } from "../../src/core/kinds/index.ts";
import { attributesOf, sameValue } from "../../src/core/lifecycle/index.ts";
import { withheldByImport } from "../../src/fronts/terraform/resource/attribute-mapping.ts";
import { type Subject, subjectOf } from "./terraform-life.ts";

describe.each([...kinds.values()])("$type", (kind) => {
  const changeable = (how: "in-place" | "replace" | "immutable") =>
    attributesOf(kind).flatMap(({ name, meta }) => (meta.change === how ? [name] : []));
  const implied = kind.nested === undefined ? [] : [kind.nested.keyAttribute, kind.nested.parentAttribute];
  const unreadable = kind.list === undefined && kind.get === undefined;

  /** Applies the sample. */
  async function created(): Promise<Subject & { readonly id: number }> {
    const subject = await subjectOf(kind);
    await subject.apply();
    const [id = 0, ...more] = subject.made();
    expect(more).toEqual([]);
    subject.sent();
    // List lag has ended.
    subject.machine.clock.advance(60_000);
    return Object.assign(subject, { id });
  }

  it("is created once; after that there is nothing to do", async () => {
    const subject = await subjectOf(kind);
    const outcome = await subject.apply();
    expect(outcome.actions).toEqual({ [subject.address]: "create" });
    expect(subject.made()).toHaveLength(1);
    expect(Object.keys(subject.core.attributes(subject.address))).toEqual(
      expect.arrayContaining(Object.keys(kind.attributes.shape)),
    );
    const marks = ["account", ...(kind.list === undefined ? [] : ["created"]), "host", "made"];
    expect(Object.keys(subject.core.private(subject.address) as object).sort()).toEqual(marks);
    await subject.expectNoChanges();
    subject.sent();
    await subject.apply();
    await subject.apply(subject.declared(), { refresh: false });
    expect(subject.changesSent()).toEqual([]);
    await subject.expectNoChanges();
  });

  it("is not created twice under two addresses", async () => {
    const subject = await subjectOf(kind);
    const [declaration] = Object.values(subject.declared());
    if (declaration === undefined) throw new Error("nothing is declared");
    const both = { [subject.address]: declaration, [`${kind.type}.twin`]: declaration };
    const outcome = await subject.core.run(both);
    expect(outcome.errors).toHaveLength(1);
    expect(outcome.actions, "refused by the plan").toEqual({});
    expect(subject.core.state.current.size).toBe(0);
    expect(subject.made()).toEqual([]);
  });

  it("keeps what is write-only out of plan and state", async () => {
    const subject = await created();
    const secret = attributesOf(kind).flatMap(({ name, meta }) => (meta.writeOnly ? [name] : []));
    for (const name of secret) {
      const declared = subject.declared(subject.otherwise(name));
      const plan = await subject.core.plan(declared);
      const outcome = await subject.apply(declared);
      await subject.expectNoChanges(declared);
      const kept = [plan, outcome, ...subject.core.state.current.values()].map((each) => JSON.stringify(each));
      for (const value of Object.values(subject.sample.env ?? {})) {
        for (const text of kept) expect(text).not.toContain(value);
      }
    }
  });

  for (const name of changeable("in-place")) {
    it(`changes ${name} in place`, async () => {
      const subject = await created();
      const declared = subject.declared(subject.otherwise(name));
      const outcome = await subject.apply(declared);
      expect(outcome.actions).toEqual({ [subject.address]: "update" });
      expect(subject.changesSent()).toHaveLength(1);
      expect(subject.made()).toEqual([subject.id]);
      await subject.expectNoChanges(declared);
    });
  }

  for (const name of changeable("replace").filter((one) => !implied.includes(one))) {
    const forms = kind.replacement === "create-first" ? [false, true] : [false];
    it.each(forms)(`is replaced when ${name} changes (create_before_destroy: %s)`, async (createFirst) => {
      const subject = await created();
      const declared = subject.declared(subject.otherwise(name), createFirst);
      const outcome = await subject.apply(declared);
      expect(outcome.actions).toEqual({ [subject.address]: createFirst ? "create-delete" : "delete-create" });
      const methods = subject.changesSent().map((line) => line.split(" ")[0]);
      expect(methods).toEqual(createFirst ? ["POST", "DELETE"] : ["DELETE", "POST"]);
      expect(subject.made()).toHaveLength(1);
      expect(subject.made()).not.toContain(subject.id);
      await subject.expectNoChanges(declared);
    });
  }

  if (kind.removal === "delete") {
    it("is replaced with -replace", async () => {
      const subject = await created();
      const outcome = await subject.apply(subject.declared(), { replace: [subject.address] });
      expect(outcome.actions).toEqual({ [subject.address]: "delete-create" });
      expect(subject.made()).toHaveLength(1);
      expect(subject.made()).not.toContain(subject.id);
      await subject.expectNoChanges();
    });
  }

  for (const name of changeable("immutable")) {
    it(`refuses another ${name}, naming the ways, and sends nothing`, async () => {
      const subject = await created();
      const before = subject.core.state;
      const outcome = await subject.core.run(subject.declared(subject.otherwise(name)));
      expect(outcome.errors).toEqual([expect.objectContaining({ attribute: [name] })]);
      expect(outcome.errors[0]?.detail).toMatch(
        // A registered domain is not ordered again.
        kind.creation === "blind" && name !== "domain"
          ? /Restore the earlier value. Only the host can change "/
          : /Restore the earlier value.*separate resource.*replace_on_change = true/s,
      );
      expect(subject.changesSent()).toEqual([]);
      expect(subject.core.state).toEqual(before);
    });

    it(`makes another object for another ${name} only when that is said, and the old one may go`, async () => {
      const subject = await created();
      const before = subject.core.attributes(subject.address);
      const edited = { ...subject.otherwise(name), ...subject.sample.orderedWith?.[name], replace_on_change: true };
      const sameThing = kind.creation === "blind" && kind.naturalKey(edited) === kind.naturalKey(before);
      const held = await subject.core.run(subject.declared(edited));
      const refusal = sameThing ? "The API cannot change" : "cannot be replaced";
      expect(held.errors.map(({ summary }) => summary)).toContainEqual(expect.stringContaining(refusal));
      expect(subject.changesSent()).toEqual([]);
      // A registered name cannot be registered again.
      if (sameThing) return;
      await subject.apply(subject.declared(subject.config({ deletion_policy: "forget" })));

      const forgotten = { ...edited, deletion_policy: "forget" };
      const named = kind.creation === "keyed" ? { ...forgotten, reference: "second" } : forgotten;
      if (kind.creation === "keyed" && name !== "domain") {
        const unnamed = await subject.core.run(subject.declared(forgotten));
        expect(unnamed.errors.map(({ attribute }) => attribute)).toContainEqual(["reference"]);
      }
      expect(subject.changesSent()).toEqual([]);
      const outcome = await subject.apply(subject.declared(named));
      expect(outcome.actions).toEqual({ [subject.address]: "delete-create" });
      expect(subject.changesSent()).toEqual([expect.stringMatching(/^POST /)]);
      expect(subject.made()).toHaveLength(2);
      await subject.expectNoChanges(subject.declared(named));
    });
  }

  it("detects drift, and corrects it or reports that it cannot", async () => {
    const subject = await created();
    const { drift, collection } = subject.sample;
    if (drift === undefined) {
      expect(unreadable).toBe(true);
      return;
    }
    const meta = attributesOf(kind).find(({ name }) => name === drift.attribute)?.meta;
    const before = subject.core.attributes(subject.address)[drift.attribute] ?? null;
    const declared = subject.declared({ ...subject.config(), [drift.attribute]: before });
    await subject.expectNoChanges(declared);
    subject.machine.sandbox.control.change(collection, subject.id, drift.fields);
    const { refreshed, said } = await subject.core.plan(declared);
    expect(refreshed.current.get(subject.address)?.attributes[drift.attribute]).not.toEqual(before);
    if (meta?.change === "immutable") {
      expect(said).toEqual([expect.objectContaining({ severity: "error", attribute: [drift.attribute] })]);
      return;
    }
    expect(said).toEqual([]);
    await subject.apply(declared);
    expect(subject.core.attributes(subject.address)[drift.attribute]).toEqual(before);
    expect(subject.made()).toHaveLength(1);
    await subject.expectNoChanges(declared);
  });

  it("that was removed outside is created again only where that costs nothing", async () => {
    const subject = await created();
    const { control } = subject.machine.sandbox;
    control.remove(subject.sample.collection, subject.id);
    const free = kind.creation === "listable";
    const outcome = await subject.apply();
    expect(outcome.actions).toEqual({ [subject.address]: free ? "create" : "no-op" });
    expect(subject.made()).toHaveLength(free ? 1 : 0);
    if (free) {
      await subject.expectNoChanges();
      return;
    }
    const said = unreadable ? [] : [expect.stringContaining("no longer")];
    expect(outcome.warnings.map(({ summary, detail }) => `${summary} ${detail}`)).toEqual(
      said.map(() => expect.stringContaining("An apply does not order the service again")),
    );
    expect(subject.changesSent()).toEqual([]);
    expect(subject.core.attributes(subject.address).id).toBeDefined();
  });

  it("is adopted by its id, and is then as if it had been created", async () => {
    const subject = await created();
    const { importId, address } = subject;
    const before = subject.core.attributes(address);
    subject.core.forget(address);
    subject.machine.loseStore();
    expect(await subject.core.import(address, kind.type, importId)).toEqual([]);
    await subject.apply();
    expect(subject.changesSent()).toEqual([]);
    await subject.expectNoChanges();
    const after = subject.core.attributes(address);
    for (const { name, meta } of attributesOf(kind)) {
      if (meta.change === undefined && meta.unreadable) continue; // shown once, at creation
      const [now = null, then = null] = [after[name], before[name]];
      // Null until declared: see terraform-import.test.ts.
      if (withheldByImport(kind).includes(name)) expect(now).toBeNull();
      else expect(sameValue(meta, now, then), `${name}: ${JSON.stringify([now, then])}`).toBe(true);
    }
  });

  it("is not adopted by an id that does not exist", async () => {
    const subject = await created();
    if (unreadable) return; // The API cannot confirm the id, so the provider trusts it.
    const importId = subject.importId.replace(/[^/]+$/, "999999");
    subject.core.forget(subject.address);
    const said = await subject.core.import(subject.address, kind.type, importId);
    expect(said).toEqual([expect.objectContaining({ severity: "error" })]);
    expect(subject.core.state.current.size).toBe(0);
  });

  it("that exists already is not created again: the plan offers to import it", async () => {
    const subject = await created();
    if (kind.list === undefined) return;
    const { importId, address } = subject;
    subject.core.forget(address);
    subject.machine.loseStore();
    const outcome = await subject.core.run(subject.declared());
    expect(outcome.errors).toHaveLength(1);
    expect(outcome.errors[0]?.detail).toContain(`terraform import ${kind.type}.NAME '${importId}'`);
    expect(subject.changesSent()).toEqual([]);
    expect(subject.made()).toEqual([subject.id]);
  });
});
