/**
 * Requirements of every kind: the same suite for all kinds of the registry. A new kind is included automatically, and
 * fails here until test/conformance/samples has its declaration.
 */
import { describe, expect, it } from "vitest";
import { type Kind, kinds, namedBy } from "../../src/core/kinds/index.ts";
import { attributesOf, sameValue } from "../../src/core/lifecycle/index.ts";
import { isError, type JsonObject, shellWord } from "../../src/core/model/index.ts";
import { sampled } from "../reliability/support/long.ts";
import { type Project, startProject } from "../support/project.ts";
import { fixOf } from "../support/remedies.ts";
import { losses } from "./losses.ts";
import { documentOf, type Sample, sampleOf } from "./sample.ts";

/** A project with the dependencies of the sample applied. The sample itself is not yet declared. */
async function withDependencies(kind: Kind): Promise<{ project: Project; sample: Sample }> {
  const sample = await sampleOf(kind);
  const project = await startProject(sample.env && { env: sample.env });
  sample.prepare?.(project.control);
  await project.declare(documentOf(kind, sample, null));
  await project.apply();
  project.sent();
  return { project, sample };
}

/**
 * A project in which the sample was created.
 * @param extra attributes beside the sample's own.
 */
async function created(kind: Kind, extra: JsonObject = {}) {
  const { project, sample } = await withDependencies(kind);
  const before = new Set(idsOf(project, sample));
  const declare = (attributes: JsonObject | null) => project.declare(documentOf(kind, sample, attributes));
  const attributes = { ...sample.attributes, ...extra };
  await declare(attributes);
  await project.apply();
  const made = idsOf(project, sample).filter((id) => !before.has(id));
  const [id] = made;
  if (id === undefined || made.length > 1) throw new Error(`expected one new object, found ${made.length}`);
  project.sent();
  const count = () => idsOf(project, sample).length - before.size;
  return { project, sample, attributes, id, declare, count };
}

const idsOf = ({ control }: Project, { collection }: Sample): number[] =>
  control.list(collection).map((record) => record.id);

/** Returns the declarable attributes by the effect of their change. */
const changeable = (kind: Kind, how: "in-place" | "replace" | "immutable") =>
  attributesOf(kind).flatMap(({ name, meta }) => (meta.change === how ? [name] : []));

/** Returns the attributes that hostform fills in itself: the key of a nested block and the reference to its parent. */
const implied = ({ nested }: Kind): string[] =>
  nested === undefined ? [] : [nested.keyAttribute, nested.parentAttribute];

const importIdOf = async (project: Project, kind: Kind, address: string): Promise<string> => {
  const attributes = (await project.recorded(address))?.attributes ?? {};
  return kind.parent === undefined ? String(attributes.id) : `${attributes[kind.parent]}/${attributes.id}`;
};

/** Returns the pattern of an id in responses. Some profiles replace the ids of some records, for example by UUIDs. */
const wireId = ({ control }: Project, id: number): RegExp =>
  control.state().profile.record_ids === "plain"
    ? new RegExp(`^${id}$`)
    : new RegExp(`^(${id}|[0-9a-f-]{36}|\\w+/${id}:.+)$`);

const posts = (sent: readonly string[]) => sent.filter((line) => line.startsWith("POST"));

describe.each([...kinds.values()].map((kind, at) => [kind.type, kind, at] as const))("%s", (_, kind, at) => {
  it("has a sample that changes every attribute which can be declared", async () => {
    const { others, attributes, together } = await sampleOf(kind);
    const all = [...changeable(kind, "in-place"), ...changeable(kind, "replace"), ...changeable(kind, "immutable")];
    const expected = all.filter((name) => !implied(kind).includes(name)).sort();
    expect(Object.keys(others).sort()).toEqual(expected);
    for (const name of expected) expect(others[name], name).not.toEqual(attributes[name]);
    for (const name of Object.keys(together ?? {})) expect(expected).toContain(name);
  });

  it("is created once; after that there is nothing to do", async () => {
    const { project, sample, id, count } = await created(kind);
    const recorded = await project.recorded(sample.address);
    expect(Object.keys(recorded?.attributes ?? {}).sort()).toEqual(Object.keys(kind.attributes.shape).sort());
    if (kind.list !== undefined) expect(recorded?.attributes.id).toMatch(wireId(project, id));
    await project.expectNoChanges();
    await project.expectNoChanges();

    const state = await project.stateText();
    project.sent();
    await project.apply();
    expect(project.changesSent()).toEqual([]);
    expect(await project.stateText()).toBe(state);
    expect(count()).toBe(1);
  });

  it("records null for what is write-only, and marks what is secret", async () => {
    const sample = await sampleOf(kind);
    const secret = attributesOf(kind).flatMap(({ name, meta }) => (meta.writeOnly ? [name] : []));
    const extra = Object.assign(
      {},
      ...secret.map((name) => ({ [name]: sample.others[name], ...sample.together?.[name] })),
    );
    const { project } = await created(kind, extra);
    const recorded = await project.recorded(sample.address);
    for (const { name, meta } of attributesOf(kind)) {
      if (meta.writeOnly) expect(recorded?.attributes[name]).toBeNull();
      expect(recorded?.sensitive.includes(name)).toBe(meta.sensitive ?? false);
    }
    const values = Object.values(sample.env ?? {});
    expect(values.length).toBe(secret.length);
    for (const value of values) expect(await project.stateText()).not.toContain(value);
    await project.expectNoChanges();
  });

  it("shows no secret, in whatever form", async () => {
    const { project, sample, declare, attributes } = await created(kind);
    const texts: string[] = [];
    const look = async () => {
      for (const args of [["plan"], ["plan", "--json"], ["apply", "--auto-approve", "--json"]]) {
        texts.push((await project.run(...args)).text);
      }
    };
    const recorded: JsonObject[] = [(await project.recorded(sample.address))?.attributes ?? {}];
    await look();
    // Changes each changeable attribute that has another sample value, so that the output contains the old and the new value.
    for (const name of [...changeable(kind, "in-place"), ...changeable(kind, "replace")]) {
      if (!(name in sample.others)) continue;
      await declare({ ...attributes, ...sample.together?.[name], [name]: sample.others[name] ?? null });
      await look();
      recorded.push((await project.recorded(sample.address))?.attributes ?? {});
    }
    const secrets = attributesOf(kind).flatMap(({ name, meta }) => (meta.sensitive ? [name] : []));
    const values = [
      ...recorded.flatMap((from) => secrets.map((name) => from[name])),
      ...Object.values(sample.env ?? {}),
    ];
    for (const value of values) {
      if (typeof value === "string") for (const text of texts) expect(text).not.toContain(value);
    }
  });

  for (const name of changeable(kind, "in-place")) {
    it(`changes ${name} in place`, async () => {
      const { project, sample, attributes, declare, id } = await created(kind);
      const { [name]: other = null } = sample.others;
      const more = { ...sample.together?.[name], [name]: other };
      await declare({ ...attributes, ...more });
      const change = await project.changeOf(sample.address);
      expect(change.actions).toEqual(["update"]);
      project.sent();
      await project.apply();
      expect(project.changesSent().length).toBe(change.requests);
      expect(idsOf(project, sample)).toContain(id);
      await project.expectNoChanges();
    });
  }

  for (const name of changeable(kind, "replace").filter((one) => !implied(kind).includes(one))) {
    it(`is replaced when ${name} changes, ${kind.replacement}`, async () => {
      const { project, sample, attributes, declare, id, count } = await created(kind);
      await declare({ ...attributes, [name]: sample.others[name] ?? null });
      const first = kind.replacement === "create-first";
      const change = await project.changeOf(sample.address);
      expect(change.actions).toEqual(first ? ["create", "delete"] : ["delete", "create"]);
      project.sent();
      await project.apply();
      const methods = project.changesSent().map((line) => line.split(" ")[0]);
      expect(methods).toEqual(first ? ["POST", "DELETE"] : ["DELETE", "POST"]);
      expect(idsOf(project, sample)).not.toContain(id);
      expect(count()).toBe(1);
      await project.expectNoChanges();
    });
  }

  for (const name of changeable(kind, "immutable")) {
    it(`refuses another ${name}, naming the ways, and sends nothing`, async () => {
      const { project, sample, attributes, declare } = await created(kind);
      const state = await project.stateText();
      await declare({ ...attributes, [name]: sample.others[name] ?? null });
      const ran = await project.run("apply", "--auto-approve");
      expect(ran.code).toBe(1);
      const { diagnostics, changes } = await project.plan();
      const [refusal] = diagnostics.filter(isError);
      expect(refusal).toMatchObject({ code: "plan.immutable", address: sample.address, attribute: [name] });
      expect(refusal?.range?.file).toContain("hosting.yaml");
      expect(fixOf(refusal)).toMatch(
        kind.creation === "blind" && name !== "domain" ? /^Restore [^\n]*\.$/s : /^Restore .*\. Or declare/s,
      );
      expect(changes.every(({ actions }) => actions[0] === "no-op")).toBe(true);
      expect(project.changesSent()).toEqual([]);
      expect(await project.stateText()).toBe(state);
    });
  }

  it("detects drift, and corrects it or reports that it cannot", async () => {
    const { project, sample, id, attributes, declare } = await created(kind);
    const { drift } = sample;
    if (drift === undefined) {
      // Only a kind that the API cannot read may lack a drift sample.
      expect(kind.list ?? kind.get).toBeUndefined();
      return;
    }
    const meta = attributesOf(kind).find(({ name }) => name === drift.attribute)?.meta;
    const before = (await project.recorded(sample.address))?.attributes[drift.attribute] ?? null;
    await declare({ ...attributes, [drift.attribute]: before });
    await project.expectNoChanges();
    project.control.change(sample.collection, id, drift.fields);
    const plan = await project.plan();
    expect(plan.drift.map(({ address }) => address)).toEqual([sample.address]);
    if (meta?.change === "immutable") {
      expect(plan.diagnostics.filter(isError).map(({ code }) => code)).toEqual(["plan.immutable"]);
      return;
    }
    const change = plan.changes.find(({ address }) => address === sample.address);
    expect(change?.reasons).toEqual([expect.objectContaining({ why: "drift", attribute: drift.attribute })]);
    await project.apply();
    expect((await project.recorded(sample.address))?.attributes[drift.attribute]).toEqual(before);
    await project.expectNoChanges();
  });

  it("that was removed outside is created again only where that costs nothing", async () => {
    const { project, sample, id, count } = await created(kind);
    project.control.remove(sample.collection, id);
    const change = await project.changeOf(sample.address);
    const unreadable = kind.list === undefined && kind.get === undefined;
    expect(change.actions).toEqual([kind.creation === "listable" ? "create" : "no-op"]);
    project.sent();
    await project.apply();
    expect(count()).toBe(kind.creation === "listable" ? 1 : 0);
    const { diagnostics, conditions = [] } = await project.plan();
    const said = kind.creation === "listable" || unreadable ? [] : ["gone"];
    expect([diagnostics, conditions.map(({ condition }) => condition)]).toEqual([[], said]);
  });

  it("exists for a minute after its creation though no list shows it, and is missed after that", async () => {
    const { project, sample } = await withDependencies(kind);
    await project.declare(documentOf(kind, sample, sample.attributes));
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code, ran.text).toBe(0);
    const hidden = { method: "GET", phase: "after", times: 1_000 } as const;
    project.control.addFault({ ...hidden, path: sample.createPath, status: 200, body: { data: [] } });
    if (kind.get !== undefined) project.control.addFault({ ...hidden, path: `${sample.createPath}/:id`, status: 404 });
    project.sent();
    await project.expectNoChanges();
    await project.apply();
    expect(project.changesSent()).toEqual([]);
    // The minute is over.
    if (kind.list === undefined) return;
    const { changes, diagnostics, conditions = [] } = await project.plan();
    const actions = changes.find(({ address }) => address === sample.address)?.actions;
    const said = [...diagnostics.map(({ code }) => code), ...conditions.map(({ condition }) => condition)];
    expect([actions, said]).toEqual(
      kind.creation === "listable" ? [["create"], []] : [["no-op"], expect.arrayContaining(["gone"])],
    );
  });

  it("is adopted by its id, and is then as if it had been created", async () => {
    const { project, sample, attributes, declare, count } = await created(kind);
    const importId = await importIdOf(project, kind, sample.address);
    const created_ = await project.recorded(sample.address);
    await project.loseState();
    await declare({ ...attributes, import: importId });
    const change = await project.changeOf(sample.address);
    expect(change.importing).toEqual({ id: namedBy(kind, importId).id });
    expect(change.actions[0]).toMatch(/^(no-op|update)$/);
    project.sent();
    await project.apply();
    expect(project.changesSent()).toEqual([]);
    expect(count()).toBe(1);
    await project.expectNoChanges();
    await declare(attributes);
    await project.expectNoChanges();
    const adopted = await project.recorded(sample.address);
    for (const { name, meta } of attributesOf(kind)) {
      if (meta.change === undefined && meta.unreadable) continue; // shown once, at creation
      const [now = null, then = null] = [adopted?.attributes[name], created_?.attributes[name]];
      expect(sameValue(meta, now, then), `${name}: ${JSON.stringify([now, then])}`).toBe(true);
    }
  });

  it("is not adopted by an id that does not exist", async () => {
    const { project, sample, attributes, declare } = await created(kind);
    if (kind.list === undefined) return; // The API cannot confirm the id, so hostform trusts the declaration.
    const importId = (await importIdOf(project, kind, sample.address)).replace(/[^/]+$/, "999999");
    await project.loseState();
    await declare({ ...attributes, import: importId });
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code).toBe(1);
    const { diagnostics } = await project.plan();
    expect(diagnostics).toContainEqual(
      expect.objectContaining({ code: "plan.gone", severity: "error", address: sample.address, attribute: ["import"] }),
    );
    expect(project.changesSent()).toEqual([]);
  });

  it("that exists already is not created again: the plan offers to adopt it", async () => {
    const { project, sample, count } = await created(kind);
    if (kind.list === undefined) return;
    const importId = await importIdOf(project, kind, sample.address);
    await project.loseState();
    await project.declare(documentOf(kind, sample, null));
    await project.apply();
    await project.declare(documentOf(kind, sample, sample.attributes));
    project.sent();
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code).toBe(1);
    expect(project.changesSent()).toEqual([]);
    expect(count()).toBe(1);
    const { diagnostics } = await project.plan();
    const [refusal] = diagnostics.filter(isError);
    expect(refusal).toMatchObject({ code: "plan.exists", address: sample.address });
    expect(fixOf(refusal)).toContain(`hostform import '${sample.address}' ${shellWord(importId)}`);
  });

  for (const { loss, fault, done, says } of sampled(losses, 4, at)) {
    it(`ends as one object when ${loss}`, async () => {
      const { project, sample } = await withDependencies(kind);
      const before = idsOf(project, sample).length;
      project.control.addFault({ method: "POST", path: sample.createPath, ...fault });
      await project.declare(documentOf(kind, sample, sample.attributes));
      await project.run("apply", "--auto-approve");
      expect(project.control.faults().map(({ fired }) => fired)).toEqual([1]);
      const count = () => idsOf(project, sample).length - before;
      if (kind.creation === "blind" && fault.status !== 204 && !says) {
        // No response proves the outcome, so the create stays pending, and no later run sends it again.
        expect((await project.recorded(sample.address))?.private.pending).toBeDefined();
        project.sent();
        expect((await project.run("apply", "--auto-approve")).code).toBe(1);
        expect(project.changesSent()).toEqual([]);
        expect(count()).toBe(done ? 1 : 0);
        expect(await project.plan()).toMatchObject({
          pending: [sample.address],
          diagnostics: [{ code: "plan.pending" }],
        });
        const [id] = idsOf(project, sample).slice(before);
        const verdict = id === undefined ? ["--absent"] : ["--adopt", String(id)];
        expect((await project.run("resolve", sample.address, ...verdict)).code).toBe(0);
        await project.apply();
        expect(count()).toBe(1);
        await project.expectNoChanges();
        return;
      }
      await project.apply();
      expect(count()).toBe(1);
      await project.expectNoChanges();
      expect((await project.recorded(sample.address))?.private).toEqual({});
    });
  }

  it("is not made twice when the run dies before it records the answer", async () => {
    const { project, sample } = await withDependencies(kind);
    const state = await project.stateText();
    await project.declare(documentOf(kind, sample, sample.attributes));
    const before = idsOf(project, sample).length;
    await project.apply();
    await project.restoreState(state);
    project.sent();
    await project.run("apply", "--auto-approve");
    // The API cannot list this kind, and the older state has no intent. Only the server can reject a second create.
    if (kind.creation !== "blind") expect(posts(project.sent())).toEqual([]);
    expect(idsOf(project, sample).length - before).toBe(1);
  });

  if (kind.removal === "delete") {
    it("is deleted when its block is removed, also where it is gone already", async () => {
      const { project, sample, declare, count } = await created(kind);
      await declare(null);
      project.control.addFault({ method: "DELETE", path: "/*", phase: "after", drop: true });
      await project.apply("--allow-removals");
      expect(project.control.faults().map(({ fired }) => fired)).toEqual([1]);
      expect(count()).toBe(0);
      expect(await project.recorded(sample.address)).toBeUndefined();
      await project.expectNoChanges();
    });

    it("is destroyed although somebody deleted it between plan and apply", async () => {
      const { project, sample, declare, id } = await created(kind);
      await declare(null);
      project.answer = () => {
        project.control.remove(sample.collection, id);
        return "yes";
      };
      expect((await project.run("apply", "--allow-removals")).code).toBe(0);
      expect(await project.recorded(sample.address)).toBeUndefined();
    });

    it("is deleted by destroy", async () => {
      const { project, sample, count } = await created(kind);
      await project.run("destroy", "--auto-approve");
      expect(count()).toBe(0);
      expect(await project.recorded(sample.address)).toBeUndefined();
    });
  } else {
    it("may not be removed while its recorded deletion_policy prevents it", async () => {
      const { project, sample, declare, count } = await created(kind);
      await declare(null);
      expect((await project.run("apply", "--auto-approve")).code).toBe(1);
      const { diagnostics } = await project.plan();
      const [refusal] = diagnostics.filter(isError);
      expect(refusal).toMatchObject({ code: "plan.prevented", address: sample.address });
      expect(fixOf(refusal)).toContain("deletion_policy: forget");
      expect(fixOf(refusal)).toContain(`removed: [{from: ${sample.address}, destroy: false}]`);
      expect(project.changesSent()).toEqual([]);
      expect(await project.recorded(sample.address)).toBeDefined();
      expect(count()).toBe(1);
    });

    it("is kept by destroy, with a warning, while its deletion_policy prevents it", async () => {
      const { project, sample } = await created(kind);
      const ran = await project.run("destroy", "--auto-approve");
      expect(ran.code).toBe(0);
      expect(project.changesSent()).toEqual([]);
      expect(await project.recorded(sample.address)).toBeDefined();
      expect(ran.text).toContain(sample.address);
    });

    const policies = kind.suspendSteps === undefined ? (["forget"] as const) : (["forget", "suspend"] as const);
    for (const policy of policies) {
      it(`leaves the state by deletion_policy ${policy}, which holds when the block is gone`, async () => {
        const { project, sample, attributes, declare, count } = await created(kind);
        await declare({ ...attributes, deletion_policy: policy });
        await project.apply();
        expect(project.changesSent()).toEqual([]);
        expect((await project.recorded(sample.address))?.attributes.deletion_policy).toBe(policy);
        await declare(null);
        expect((await project.changeOf(sample.address)).actions).toEqual(["forget"]);
        await project.apply("--allow-removals");
        expect(project.changesSent().length).toBe(policy === "suspend" ? 1 : 0);
        expect(await project.recorded(sample.address)).toBeUndefined();
        expect(count()).toBe(1);
        await project.expectNoChanges();
      });
    }
  }
});

describe("a new kind", () => {
  it("fails with a message that names what it lacks here", async () => {
    const [kind] = kinds.values();
    if (kind === undefined) throw new Error("no kinds");
    await expect(sampleOf({ ...kind, type: "hosting_novelty" })).rejects.toThrow(
      "The kind hosting_novelty has no sample: write test/conformance/samples/hosting_novelty.ts",
    );
  });
});
