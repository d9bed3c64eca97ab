/** `import … from "hostform"`: the project of a program of one's own, against the sandbox. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { LoadOptions, Message } from "../../src/project/library.ts";
import { startSandbox } from "../support/sandbox.ts";
import { shipped } from "../support/shipped.ts";

const { adopt, apply, errorText, HostformError, loadProject, plan } = await shipped("library.js");

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
  const dir = mkdtempSync(path.join(tmpdir(), "hostform-library-"));
  writeFileSync(path.join(dir, "hosting.yaml"), text);
  const messages: Message[] = [];
  const env = { HOSTING_TOKEN: tokens.agency, HOSTING_BASE_URL: url, HOSTING_MONEY_SCALE: "2", HOME: dir };
  const load = (more: LoadOptions = {}) =>
    loadProject({ dir, env, onMessage: (message) => messages.push(message), ...more });
  const ordered = () => control.list("services").filter(({ customer_id }) => customer_id === 1).length;
  const written = () => messages.filter((one) => one.type === "request" && one.request.method !== "GET").length;
  return { dir, env, load, messages, ordered, written };
}

describe("a program of one's own", () => {
  it("applies what trouble with one resource does not hold back, if it says so", async () => {
    const { load, dir, ordered } = await projectWith(SITES);
    await apply(await load(), { approve: () => true });
    const changed = SITES.replace("domain: shop.acme", "domain: other.acme").replace(
      "webhooks:",
      `  new: { plan_id: 11, currency: USD, domain: new.acme.example }\nwebhooks:`,
    );
    writeFileSync(path.join(dir, "hosting.yaml"), changed);
    const loaded = await load();
    const planned = await plan(loaded, { saveTo: "part.plan" });
    expect(planned).toMatchObject({ applicable: false, hasChanges: true, heldBack: ["hosting_service.shop"] });
    expect(await apply(loaded, { approve: () => true })).toMatchObject({ approved: false });
    expect(ordered()).toBe(2);
    expect(await apply(loaded, { approve: () => true, partial: true })).toMatchObject({
      approved: true,
      complete: false,
    });
    expect(ordered()).toBe(3);
    expect(readdirSync(dir)).toContain("part.plan");
  });

  it("plans, decides, applies once, and finds nothing to do after it", async () => {
    const { load, ordered, dir } = await projectWith(SITES);
    const loaded = await load();
    expect(loaded).toEqual({
      addresses: ["hosting_webhook.paid", "hosting_service.www", "hosting_service.shop"].sort(
        (a, b) => loaded.addresses.indexOf(a) - loaded.addresses.indexOf(b),
      ),
      warnings: [],
    });
    const planned = await plan(loaded);
    expect(planned).toMatchObject({ hasChanges: true, applicable: true, diagnostics: [] });
    expect(planned.text()).toContain("Plan: 3 to add");
    expect(planned.markdown()).toContain("www.acme.example");
    expect(planned.html()).toContain("<!doctype html>");

    const declined = await apply(loaded, { approve: () => false });
    expect(declined).toMatchObject({ approved: false, complete: false, changes: [] });
    expect(ordered()).toBe(0);

    const events: string[] = [];
    const applied = await apply(loaded, {
      approve: ({ json }) => json.resource_changes.length === 3,
      onEvent: (event) => events.push(event.type),
    });
    expect(applied).toMatchObject({ approved: true, complete: true, pending: [], diagnostics: [] });
    expect(applied.changes.map(({ result }) => result)).toEqual(["done", "done", "done"]);
    expect(events.filter((type) => type === "complete")).toHaveLength(3);
    expect(ordered()).toBe(2);
    expect(await plan(await load())).toMatchObject({ hasChanges: false, applicable: true });

    // The webhook's secret is in the state, and in nothing that the program was given.
    const [secret] = /whsec_\w+/.exec(readFileSync(path.join(dir, "hosting.tfstate"), "utf8")) ?? [];
    expect(secret).toBeDefined();
    expect(JSON.stringify([applied, events])).not.toContain(secret);
  });

  it("applies a saved plan without being asked, once", async () => {
    const { load, ordered } = await projectWith(SITES);
    await plan(await load(), { targets: ["hosting_service.www"], saveTo: "www.plan" });
    const approve = () => {
      throw new Error("a saved plan was decided on when it was made");
    };
    expect(await apply(await load(), { saved: "www.plan", approve })).toMatchObject({ complete: true });
    expect(ordered()).toBe(1);
    await expect(apply(await load(), { saved: "www.plan", approve })).rejects.toThrow(/state has changed/);
    expect(ordered()).toBe(1);
  });

  it("adopts an account, and stops where a signal says so", async () => {
    const { load, dir, env } = await projectWith(SITES);
    await apply(await load(), { approve: () => true });
    const stop = new AbortController();
    const options = { dir: path.join(dir, "adopted"), env, project: "agency" };
    mkdirSync(options.dir);
    const declined = await adopt({ ...options, approve: ({ objects, open }) => objects.service !== 2 || open !== 2 });
    expect(declined).toMatchObject({ approved: false, files: [] });

    const aborting = adopt({ ...options, signal: stop.signal, approve: () => stop.abort() === undefined });
    await expect(aborting).rejects.toThrow(/Interrupted/);
    await expect(adopt({ ...options, signal: stop.signal, approve: () => true })).rejects.toThrow(/Interrupted/);
    expect(readdirSync(options.dir)).toEqual(["hosting.tfstate.adopt"]);

    const reading: number[] = [];
    const onMessage = (message: Message) => message.type === "reading" && reading.push(message.open);
    const adopted = await adopt({ ...options, approve: () => true, onMessage });
    expect(adopted).toMatchObject({ approved: true, objects: { service: 2, webhook: 1 }, left: [], otherChanges: 0 });
    expect(reading).toEqual([2, 1, 0, 0]);
    expect(await plan(await load({ dir: options.dir }))).toMatchObject({ hasChanges: false, applicable: true });
  });

  it("is refused with every mistake at its place, and never with a token", async () => {
    const { load, written } = await projectWith(
      "project: acme\nservices:\n  www: { plan_id: no }\n  shop: { plan: 11 }\n",
    );
    const error = await load().catch((reason: unknown) => reason);
    if (!(error instanceof HostformError)) throw error;
    expect(errorText(error)).toMatch(/on hosting.yaml:3:[\s\S]*on hosting.yaml:4:/);
    const { load: unauthorized, env: own } = await projectWith(SITES);
    const env = { ...own, HOSTING_TOKEN: "12|wrongwrongwrongwrong" };
    const refused = await unauthorized({ env })
      .then(plan)
      .catch((reason: unknown) => reason);
    expect(refused).toBeInstanceOf(HostformError);
    expect(JSON.stringify((refused as InstanceType<typeof HostformError>).diagnostics)).not.toContain("wrongwrong");
    expect(written()).toBe(0);
  });

  it("sends nothing more once its signal is aborted, and says what was not started", async () => {
    const { load, ordered } = await projectWith(SITES);
    const stop = new AbortController();
    const loaded = await load({ signal: stop.signal });
    const applied = await apply(loaded, {
      approve: () => true,
      parallelism: 1,
      onEvent: ({ type }) => type === "complete" && stop.abort(),
    });
    expect(applied).toMatchObject({ approved: true, complete: false });
    expect(applied.changes.map(({ result }) => result).sort()).toEqual(["done", "not-started", "not-started"]);
    expect(ordered()).toBeLessThanOrEqual(1);
    await expect(plan(loaded)).rejects.toThrow(/Interrupted/);
  });

  it("may plan a stranger's declaration, and not apply it", async () => {
    const { load, ordered } = await projectWith(SITES);
    const loaded = await load({ untrusted: true });
    expect(await plan(loaded)).toMatchObject({ hasChanges: true });
    await expect(apply(loaded, { approve: () => true })).rejects.toThrow(/untrusted/);
    expect(ordered()).toBe(0);
  });
});
