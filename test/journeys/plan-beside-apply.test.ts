import { readdir } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../support/project.ts";

const service = (domain: string) => ({ plan_id: 11, currency: "USD", domain, deletion_policy: "forget" });
const SITES = { project: "acme", services: { www: service("www.acme.example"), shop: service("shop.acme.example") } };

/** Runs another command while the sandbox delays one request. Returns the result of that command. */
function during(
  project: Project,
  fault: { method: string; path: string; phase: "before" | "after" },
  ...args: string[]
) {
  const delayed = Promise.withResolvers<Awaited<ReturnType<Project["run"]>>>();
  project.control.addFault({ ...fault, delayMs: 1, nth: 1 });
  project.onDelay = async () => {
    project.onDelay = () => undefined;
    delayed.resolve(await project.run(...args));
  };
  return delayed.promise;
}

describe("a plan beside an apply", () => {
  it("knows the objects of an apply that runs between its reads of the state and of the account", async () => {
    const project = await startProject({ declare: SITES });
    const applied = during(project, { method: "GET", path: "/services", phase: "before" }, "apply", "--auto-approve");
    const ran = await project.run("plan", "--detailed-exitcode");
    expect((await applied).code).toBe(0);
    expect(ran.out).toContain("No changes.");
    expect(ran.text).toContain("Another run changed the state during this plan [state.changing]");
    expect(ran.code, ran.text).toBe(0);
    expect(
      project.control.list("services").filter(({ domain }) => String(domain).endsWith("acme.example")),
    ).toHaveLength(2);
  });

  it("needs no lock while the apply waits for the response of an order", async () => {
    const project = await startProject({ declare: SITES });
    const planned = during(project, { method: "POST", path: "/services", phase: "after" }, "plan");
    const applied = await project.run("apply", "--auto-approve");
    expect(applied.code, applied.text).toBe(0);
    const { code, text } = await planned;
    expect(text).not.toContain("[state.locked]");
    expect(text).not.toContain("[plan.exists]");
    expect(code, text).toBe(0);
    expect(text).toContain("Another run has not ended, or was interrupted.");
  });

  it("is refused with --lock, and waits with --lock-timeout", async () => {
    const project = await startProject({ declare: SITES });
    const planned = during(project, { method: "POST", path: "/services", phase: "after" }, "plan", "--lock");
    await project.apply();
    const { code, text } = await planned;
    expect(code, text).toBe(1);
    expect(text).toContain("[state.locked]");
    expect(text).toContain("add `--lock-timeout 5m`");
    const quiet = await project.run("plan", "--lock");
    expect(quiet.out, quiet.text).toContain("No changes.");
  });

  it("creates no file in the folder of the project", async () => {
    const project = await startProject({ declare: SITES });
    const before = await readdir(project.dir);
    expect((await project.run("plan")).code).toBe(0);
    expect(await readdir(project.dir)).toEqual(before);
  });
});

describe("a saved plan", () => {
  it("names its origin, and the runs since then", async () => {
    const project = await startProject({ declare: SITES });
    expect((await project.run("plan", "--out", "acme.plan")).code).toBe(0);
    const shown = await project.run("show", "acme.plan");
    expect(shown.out).toMatch(/Planned at 20\S+, with serial 0 of the state, account store at sequence 0\./);
    project.clock.advance(1_000);
    await project.apply();
    const ran = await project.run("apply", path.join(project.dir, "acme.plan"));
    expect(ran.code, ran.text).toBe(1);
    expect(ran.text).toContain("The state has changed since the plan was created");
    expect(ran.text).toMatch(/Runs since the plan:\s+20\S+ apply by [^.]+\. .*www\.acme\.example/);
  });
});
