/** `import … from "hostform"`: the project of a program, against the sandbox. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { LoadOptions, Progress } from "../../src/project/library.ts";
import { startSandbox } from "../support/sandbox.ts";
import { shipped } from "../support/shipped.ts";

const { errorText, HostformError, loadProject } = await shipped("library.js");

const SITES = `project: acme
services:
  www: { plan_id: 11, currency: USD, domain: www.acme.example, deletion_policy: forget }
  shop: { plan_id: 11, currency: USD, domain: shop.acme.example, deletion_policy: forget }
webhooks:
  paid: { url: "https://hooks.example/in", events: [invoice.paid] }
`;

/** A folder with a declaration, and an account of its own. */
async function projectWith(text: string) {
  const { url, tokens, control } = await startSandbox();
  const directory = mkdtempSync(path.join(tmpdir(), "hostform-library-"));
  const declare = (changed: string) => writeFileSync(path.join(directory, "hosting.yaml"), changed);
  declare(text);
  const env = { HOSTING_TOKEN: tokens.agency, HOSTING_BASE_URL: url, HOSTING_MONEY_SCALE: "2", HOME: directory };
  const load = (more: LoadOptions = {}) => loadProject({ directory, env, ...more });
  const ordered = () => control.list("services").filter(({ customer_id }) => customer_id === 1).length;
  return { directory, env, load, declare, ordered };
}

describe("a project of a program", () => {
  it("applies the changes that trouble does not hold back only with `partial`", async () => {
    const { load, declare, directory, ordered } = await projectWith(SITES);
    const project = await load();
    await project.apply(await project.plan());
    const added = "  new: { plan_id: 11, currency: USD, domain: new.acme.example }\nwebhooks:";
    declare(SITES.replace("domain: shop.acme", "domain: other.acme").replace("webhooks:", added));
    const plan = await project.plan();
    expect(plan).toMatchObject({ applicable: false, hasChanges: true, heldBack: ["hosting_service.shop"] });
    await plan.save("part.plan");
    expect(readdirSync(directory)).toContain("part.plan");
    await expect(project.apply(plan)).rejects.toThrow(HostformError);
    expect(ordered()).toBe(2);
    expect(await project.apply(plan, { partial: true })).toMatchObject({ complete: false });
    expect(ordered()).toBe(3);
  });

  it("plans and applies once, and then plans no changes", async () => {
    const { load, ordered, directory } = await projectWith(SITES);
    const project = await load();
    expect([...project.addresses].sort()).toEqual([
      "hosting_service.shop",
      "hosting_service.www",
      "hosting_webhook.paid",
    ]);
    expect(project.warnings).toEqual([]);
    const plan = await project.plan();
    expect(plan).toMatchObject({ hasChanges: true, applicable: true, diagnostics: [] });
    expect(plan.json.resource_changes).toHaveLength(3);
    expect(plan.text()).toContain("Plan: 3 to add");
    expect(plan.markdown()).toContain("www.acme.example");
    expect(plan.html()).toContain("<!doctype html>");
    expect(ordered()).toBe(0);

    const events: string[] = [];
    const applied = await project.apply(plan, { onEvent: (event) => events.push(event.type) });
    expect(applied).toMatchObject({ complete: true, pending: [], diagnostics: [] });
    expect(applied.changes.map(({ result }) => result)).toEqual(["done", "done", "done"]);
    expect(events.filter((type) => type === "complete")).toHaveLength(3);
    expect(ordered()).toBe(2);
    const next = await project.plan();
    expect(next).toMatchObject({ hasChanges: false, applicable: true });
    expect(await project.apply(next)).toMatchObject({ complete: true, changes: [] });

    // The webhook's secret is only in the state.
    const [secret] = /whsec_\w+/.exec(readFileSync(path.join(directory, "hosting.tfstate"), "utf8")) ?? [];
    expect(secret).toBeDefined();
    expect(JSON.stringify([plan, applied, events, next])).not.toContain(secret);
  });

  it("applies a plan only to the state and the declaration of the plan", async () => {
    const { load, declare, ordered } = await projectWith(SITES);
    const project = await load();
    const plan = await project.plan({ targets: ["hosting_service.www"] });
    declare(SITES.replace("11", "12"));
    await expect(project.apply(plan)).rejects.toThrow(/declaration has changed/);
    declare(SITES);
    expect(await project.apply(plan, { maxOrders: 1 })).toMatchObject({ complete: true });
    expect(ordered()).toBe(1);
    await expect(project.apply(plan)).rejects.toThrow(/state has changed/);
    await expect(project.apply({ ...plan } as typeof plan)).rejects.toThrow(/not made by a project/);
    expect(ordered()).toBe(1);
  });

  it("applies a saved plan within its own limits and the given ones", async () => {
    const { load, ordered } = await projectWith(SITES);
    await (await (await load()).plan()).save("all.plan");
    const project = await load();
    const plan = await project.readPlan("all.plan");
    expect(plan).toMatchObject({ hasChanges: true, applicable: true });
    await expect(project.apply(plan, { maxOrders: 1 })).rejects.toMatchObject({
      diagnostics: [{ code: "guard.orders" }],
    });
    expect(ordered()).toBe(0);
    expect(await project.apply(plan)).toMatchObject({ complete: true });
    expect(ordered()).toBe(2);
  });

  it("adopts an account, and continues after an abort", async () => {
    const { load, directory } = await projectWith(SITES);
    const owner = await load();
    await owner.apply(await owner.plan());
    const adopted = path.join(directory, "adopted");
    mkdirSync(adopted);
    const project = await load({ directory: adopted });
    expect(project.addresses).toEqual([]);
    await expect(project.plan()).rejects.toMatchObject({ diagnostics: [{ code: "config.missing" }] });
    const declined = await project.adopt({ approve: ({ objects, open }) => objects.service !== 2 || open !== 2 });
    expect(declined).toMatchObject({ approved: false, files: [] });

    const stop = new AbortController();
    const aborting = project.adopt({ signal: stop.signal, approve: () => stop.abort() === undefined });
    await expect(aborting).rejects.toThrow(/Interrupted/);
    await expect(project.adopt({ signal: stop.signal, approve: () => true })).rejects.toThrow(/Interrupted/);
    expect(readdirSync(adopted)).toEqual(["hosting.tfstate.adopt"]);

    const reading: number[] = [];
    const onProgress = (message: Progress) => message.type === "reading" && reading.push(message.open);
    expect(await project.adopt({ project: "agency", approve: () => true, onProgress })).toMatchObject({
      approved: true,
      objects: { service: 2, webhook: 1 },
      left: [],
      otherChanges: 0,
    });
    expect(reading).toEqual([2, 1, 0, 0]);
    expect(await project.plan()).toMatchObject({ hasChanges: false, applicable: true });
  });

  it("is refused with every mistake at its place, and never with a token", async () => {
    const { load } = await projectWith("project: acme\nservices:\n  www: { plan_id: no }\n  shop: { plan: 11 }\n");
    const error = await load().catch((reason: unknown) => reason);
    if (!(error instanceof HostformError)) throw error;
    expect(errorText(error)).toMatch(/on hosting.yaml:3:[\s\S]*on hosting.yaml:4:/);
    const { load: unauthorized, env: own } = await projectWith(SITES);
    const project = await unauthorized({ env: { ...own, HOSTING_TOKEN: "12|wrongwrongwrongwrong" } });
    const methods: string[] = [];
    const onProgress = (message: Progress) => message.type === "request" && methods.push(message.request.method);
    const refused = await project.plan({ onProgress }).catch((reason: unknown) => reason);
    expect(refused).toBeInstanceOf(HostformError);
    expect(JSON.stringify((refused as InstanceType<typeof HostformError>).diagnostics)).not.toContain("wrongwrong");
    expect(new Set(methods)).toEqual(new Set(["GET"]));
  });

  it("sends no further request after an abort, and returns the changes that were not started", async () => {
    const { load, ordered } = await projectWith(SITES);
    const project = await load();
    const stop = new AbortController();
    const applied = await project.apply(await project.plan(), {
      signal: stop.signal,
      parallelism: 1,
      onEvent: ({ type }) => type === "complete" && stop.abort(),
    });
    expect(applied).toMatchObject({ complete: false });
    expect(applied.changes.map(({ result }) => result).sort()).toEqual(["done", "not-started", "not-started"]);
    expect(ordered()).toBeLessThanOrEqual(1);
    await expect(project.plan({ signal: stop.signal })).rejects.toThrow(/Interrupted/);
    expect(await project.plan()).toMatchObject({ hasChanges: true });
  });

  it("plans a stranger's declaration, and does not apply it", async () => {
    const { load, ordered } = await projectWith(SITES);
    const project = await load({ untrusted: true });
    const plan = await project.plan();
    expect(plan).toMatchObject({ hasChanges: true });
    await expect(project.apply(plan)).rejects.toThrow(/untrusted/);
    expect(ordered()).toBe(0);
  });
});
