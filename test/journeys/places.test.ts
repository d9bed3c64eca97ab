/**
 * The store knows the states of one machine and the objects that they hold. A plan warns of an object in two states.
 */
import { rmSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openStore } from "../../src/core/api/open-store.ts";
import type { Held } from "../../src/core/local/index.ts";
import { httpBackend } from "../support/backends.ts";
import { type Project, startProject } from "../support/project.ts";

const hook = (name: string) => ({ url: `https://${name}.example/`, events: ["invoice.paid"] });
const declared = (project: string, ...names: string[]) => ({
  project,
  webhooks: Object.fromEntries(names.map((name) => [name, hook(name)])),
});

async function start(...names: string[]): Promise<Project> {
  const one = await startProject({ declare: declared("one", ...names) });
  one.env.HOSTFORM_STATE_HOME = path.join(one.dir, "state-home");
  return one;
}

/** Returns the holdings of all states of the machine. */
async function held({ env, clock }: Project): Promise<readonly Held[]> {
  const store = openStore({ baseUrl: env.HOSTING_BASE_URL ?? "", token: env.HOSTING_TOKEN ?? "", env, clock });
  const all = await store.holdings({});
  await store.close();
  return all;
}

const addresses = async (project: Project) => (await held(project)).map(({ address, isFirm }) => [address, isFirm]);

/** A service in both projects: `two` imports what `one` created. */
async function shared(): Promise<{ readonly one: Project; readonly two: Project; readonly id: string }> {
  const one = await start("a");
  await one.apply();
  const two = await one.beside({ project: "two", webhooks: { other: hook("a") } });
  const id = String((await one.recorded("hosting_webhook.a"))?.attributes.id);
  const imported = await two.run("import", "hosting_webhook.other", id);
  expect(imported.code, imported.text).toBe(0);
  one.clock.advance(1_000);
  return { one, two, id };
}

describe("the holdings of a state", () => {
  it("follow what an apply creates and removes", async () => {
    const one = await start("a", "b");
    await one.apply();
    const [a] = await held(one);
    expect(a).toMatchObject({
      type: "hosting_webhook",
      address: "hosting_webhook.a",
      instances: 1,
      isFirm: true,
      intent: expect.any(String),
      place: { label: `hosting.tfstate in ${one.dir}` },
    });
    await one.declare(declared("one", "a"));
    await one.apply("--allow-removals");
    expect(await addresses(one)).toEqual([["hosting_webhook.a", true]]);
  });

  it("follow `state mv`, `state rm` and an import, and what another program did to the state", async () => {
    const one = await start("a", "b");
    await one.apply();
    const { b } = Object.fromEntries((await held(one)).map(({ address = "", id }) => [address.slice(-1), id]));
    await one.run("state", "mv", "hosting_webhook.a", "hosting_webhook.c");
    await one.run("state", "rm", "hosting_webhook.b");
    expect(await addresses(one)).toEqual([["hosting_webhook.c", true]]);
    await one.run("import", "hosting_webhook.b", b ?? "");
    expect((await addresses(one)).toSorted()).toEqual([
      ["hosting_webhook.b", true],
      ["hosting_webhook.c", true],
    ]);
    const { HOSTING_TOKEN } = one.env;
    delete one.env.HOSTING_TOKEN;
    await one.run("state", "rm", "hosting_webhook.b");
    one.env.HOSTING_TOKEN = HOSTING_TOKEN ?? "";
    expect(await addresses(one), "without a token the store keeps it until the next plan").toHaveLength(2);
    one.clock.advance(1_000);
    await one.run("plan");
    expect((await addresses(one)).toSorted()).toEqual([
      ["hosting_webhook.b", false],
      ["hosting_webhook.c", true],
    ]);
  });

  it("are not recorded by a plan of a stranger's declaration, and no file appears for an empty state", async () => {
    const one = await start("a");
    await one.run("plan", "--untrusted");
    await one.declare({ project: "one" });
    await one.run("plan");
    const files = await readdir(one.env.HOSTFORM_STATE_HOME ?? "").catch(() => []);
    expect(files.filter((name) => name.endsWith(".store")).length).toBeLessThanOrEqual(1);
    expect(await held(one)).toEqual([]);
  });
});

it("the habits of a host are recorded by a plan, and not by the plan of a stranger's declaration", async () => {
  const one = await start("a");
  await one.apply();
  const habits = async () => {
    const { env, clock } = one;
    const store = openStore({ baseUrl: env.HOSTING_BASE_URL ?? "", token: env.HOSTING_TOKEN ?? "", env, clock });
    const found = await store.notes(store.habits ?? "");
    await store.close();
    return found.map(({ name }) => name.split(" ").slice(0, 2).join(" "));
  };
  await one.run("plan", "--untrusted", "--state", "hosting.tfstate");
  expect(await habits()).toEqual([]);
  await one.run("plan");
  expect(await habits()).toEqual(["hosting_webhook timed", "hosting_webhook verbatim"]);
});

describe("an object in two states", () => {
  it("is a warning in the plans of both, with both places, the address and the time", async () => {
    const { one, two, id } = await shared();
    for (const [project, own, other] of [
      [one, "hosting_webhook.a", "hosting_webhook.other"],
      [two, "hosting_webhook.other", "hosting_webhook.a"],
    ] as const) {
      const { code, text } = await project.run("plan");
      expect(code, text).toBe(0);
      expect(text).toContain("[state.shared]");
      expect(text).toContain(`${own} is webhook ${id}, which is also in hosting.tfstate in `);
      expect(text.replaceAll(/\s+/g, " ")).toContain(` as ${other}`);
      expect(text).toMatch(/Last used there at \d{4}-\d\d-\d\dT[\d:.]+Z/);
      expect(text).toContain(`This state: hosting.tfstate in ${project.dir}`);
      expect(text).toContain(`removed: [{from: ${own}, destroy: false}]`);
      one.clock.advance(1_000);
    }
  });

  it("is a warning of the import that makes it so, and of the first plan with an import", async () => {
    const one = await start("a");
    await one.apply();
    one.clock.advance(60_000);
    const [{ id } = { id: "" }] = await held(one);
    const by = await one.beside(declared("two", "a"));
    const imported = await by.run("import", "hosting_webhook.a", id);
    expect(imported.code, imported.text).toBe(0);
    expect(imported.text).toContain("[state.shared]");
    await by.run("state", "rm", "hosting_webhook.a");
    const { webhooks, ...rest } = declared("two", "a");
    await by.declare({ ...rest, webhooks: { a: { ...webhooks?.a, import: id } } } as never);
    const planned = await by.run("plan");
    expect(planned.text.match(/\[state\.shared\]/g), planned.text).toHaveLength(1);
    expect(planned.text).toContain("which is also in hosting.tfstate in ");
  });

  it("is no warning any more once the file of the other state is removed", async () => {
    const { one, two } = await shared();
    expect((await one.run("plan")).text).toContain("state.shared");
    rmSync(two.statePath);
    expect((await one.run("plan")).text).not.toContain("state.shared");
  });

  it("is one warning for all objects that two states share", async () => {
    const one = await start("a", "b", "c");
    await one.apply();
    const two = await one.beside(declared("two", "a", "b", "c"));
    for (const { address = "", id } of await held(one)) await two.run("import", address, id);
    one.clock.advance(1_000);
    const { text } = await one.run("plan");
    expect(text.match(/state\.shared/g)).toHaveLength(1);
    expect(text.replaceAll(/\s+/g, " ")).toContain("; 2 more objects in both");
  });

  it("is no warning if the state has moved, and one once the old place is used again", async () => {
    const one = await start("a");
    await one.apply();
    const two = await one.beside(declared("one", "a"));
    writeFileSync(two.statePath, (await one.stateText()) ?? "");
    expect((await two.run("plan")).text).not.toContain("state.shared");
    one.clock.advance(1_000);
    expect((await one.run("plan")).text).toContain("state.shared");
    one.clock.advance(1_000);
    expect((await two.run("plan")).text).toContain("state.shared");
  });
});

it("an object that a state without it declares is an error that names the state that holds the object", async () => {
  const one = await start("a");
  await one.apply();
  const two = await one.beside({ project: "two", webhooks: { other: hook("a") } });
  const { code, text } = await two.run("plan");
  expect(code, text).toBe(1);
  expect(text).toContain("[plan.exists]");
  expect(text).toContain(`The object belongs to hosting.tfstate in ${one.dir} as hosting_webhook.a, seen at `);
});

describe("a state at a backend", () => {
  it("is one place in each folder: a CI job in a new folder is no other state", async () => {
    const one = await start();
    const backend = await httpBackend("plain");
    onTestFinished(() => backend.close());
    Object.assign(one.env, backend.env);
    const document = { ...declared("one", "a"), backend: { http: backend.settings } };
    await one.declare(document);
    await one.apply();
    const two = await one.beside(document);
    one.clock.advance(1_000);
    for (const project of [two, one]) {
      const { code, text } = await project.run("plan");
      expect(code, text).toBe(0);
      expect(text).not.toContain("state.shared");
    }
    expect(await held(one)).toMatchObject([{ isFirm: true, place: { label: `the remote state of ${one.dir}` } }]);
  });
});

describe("a create whose answer was lost", () => {
  it("does not adopt the object that another state holds", async () => {
    const one = await start();
    const two = await one.beside(declared("two", "a"));
    // The request never arrives. Meanwhile another project creates the same webhook.
    one.control.addFault({ method: "POST", path: "/webhooks", phase: "before", drop: true, times: 9 });
    expect((await two.run("apply", "--auto-approve")).code).toBe(1);
    one.control.clearFaults();
    one.clock.advance(600_000);
    await one.declare(declared("one", "a"));
    await one.apply();
    const { text } = await two.run("resolve", "hosting_webhook.a");
    expect(text).toContain(`hosting.tfstate in ${one.dir}`);
    const plan = await two.run("plan");
    expect(plan.code, plan.text).toBe(1);
    expect(plan.text).toContain("[plan.exists]");
  });
});
