/** Monthly and daily limits across several projects with one token. */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { startProject } from "../support/project.ts";

const site = (name: string) => ({ plan_id: 11, currency: "USD", domain: `${name}.example`, deletion_policy: "forget" });
const sites = (...names: string[]) => Object.fromEntries(names.map((name) => [name, site(name)]));
/** Exact amounts: plan 11 costs this account 450. */
const pinned = { plan: ["plan_id", "id"], money: ["minor"] } as const;

async function startProjects() {
  const project = await startProject({ pinned });
  // The runs share their reservations, as on one machine.
  project.env.HOSTFORM_STATE_HOME = path.join(project.dir, "home");
  const declare = async (name: string, services: object, guards: object, settings: object = {}) => {
    await mkdir(path.join(project.dir, name), { recursive: true });
    const text = JSON.stringify({ project: name, guards, services, ...settings });
    await writeFile(path.join(project.dir, name, "hosting.yaml"), text);
  };
  const run = async (name: string, command: "plan" | "apply") =>
    project.run("-C", name, command, ...(command === "apply" ? ["--auto-approve"] : []));
  const apply = async (name: string) => {
    const ran = await run(name, "apply");
    expect(ran.code, ran.text).toBe(0);
  };
  return { project, declare, run, apply };
}

describe("an order of another project with the same token", () => {
  it.each(["first", "second"])("counts once at plan and at apply, if %s orders first", async (first) => {
    const second = first === "first" ? "second" : "first";
    const { declare, run, apply } = await startProjects();
    const guards = { max_orders_day: 5, max_spend_month: { USD: 2000 } };
    await declare(first, sites("a", "b", "c"), guards);
    await apply(first);
    await declare(second, sites("d"), guards);
    await apply(second);
    await declare(second, sites("d", "e"), { max_orders_day: 4, max_spend_month: { USD: 2249 } });
    for (const command of ["plan", "apply"] as const) {
      const { code, text } = await run(second, command);
      expect(code, text).toBe(1);
      expect(text).toContain("max_orders_day allows 4, and today already has 4 orders");
      expect(text).toMatch(/max_spend_month allows 2249 USD.*, and 1800 USD.* is spent this month/);
      expect(text).toContain(
        "history, invoices and reservations. 3 orders of this month by this token in other projects.",
      );
    }
    await declare(second, sites("d", "e"), { max_orders_day: 5, max_spend_month: { USD: 2250 } });
    await apply(second);
  });

  it("counts without the ability billing, and under another alias", async () => {
    const { project, declare, run, apply } = await startProjects();
    await declare("first", sites("a", "b"), { max_orders_day: 9 });
    await apply("first");
    project.control.addFault({ method: "GET", path: "/invoices", phase: "before", status: 403, times: 99 });
    const provider = { base_url: project.env.HOSTING_BASE_URL, token_env: "HOSTING_TOKEN" };
    const other = { c: { ...site("c"), provider: "other" } };
    await declare("second", other, { max_orders_day: 2 }, { providers: { other: provider } });
    const { text } = await run("second", "plan");
    expect(text).toMatch(
      /today already has 2 orders.*Sources: history and reservations\. .*403.*2 orders of this month by this token/s,
    );
  });

  it("counts again after its service left the state and was ordered once more", async () => {
    const { project, declare, run, apply } = await startProjects();
    await declare("first", sites("a"), { max_orders_day: 2 });
    await apply("first");
    await project.run("-C", "first", "state", "rm", "hosting_service.a");
    const again = { a: { ...site("b"), reference: "again" } };
    await declare("first", again, { max_orders_day: 2 });
    await apply("first");
    await declare("first", { ...again, ...sites("c") }, { max_orders_day: 2 });
    expect((await run("first", "plan")).text).toContain("today already has 2 orders");
  });
});
