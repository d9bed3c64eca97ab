/**
 * Two projects on one machine with one token and no shared state, at a host whose lists lag. A server without a domain
 * has no natural key: two servers of one plan are indistinguishable.
 */
import { cpSync, readdirSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../support/project.ts";
import { registration } from "../support/registration.ts";

const SERVER = { plan_id: 31, currency: "USD" };
const project = (name: string, box: object = SERVER) => ({ project: name, services: { box } });

/** Both projects read all lists before either orders. Then `one` applies, and `two` applies a moment later. */
async function bothPlan(second: object): Promise<{ readonly one: Project; readonly two: Project }> {
  const sleep = async () => {
    const ran = await one.run("apply", "--auto-approve");
    expect(ran.code, ran.text).toBe(0);
    one.clock.advance(1_000);
  };
  const one = await startProject({
    declare: project("one"),
    sandbox: { sleep },
    pinned: { list_lag: ["thirty_seconds"], weather: ["calm"] },
  });
  one.env.HOSTFORM_STATE_HOME = path.join(one.dir, "state-home");
  one.control.addFault({ method: "GET", path: "/services", phase: "after", delayMs: 1 });
  return { one, two: await one.beside(second) };
}

const ordered = ({ control }: Project) => control.list("services").filter(({ customer_id }) => customer_id === 1);

describe("two projects that declare a server of one plan", () => {
  it("order one: the second waits until the list must show it, and then asks", async () => {
    const { one, two } = await bothPlan(project("two"));
    const { slept } = one.clock;
    const ran = await two.run("apply", "--auto-approve");
    expect(ran.code, ran.text).toBe(1);
    expect(ran.text).toContain("[plan.lookalike]");
    expect(ran.text).toContain("--order-anyway 'hosting_service.box'");
    expect(ordered(one), ran.text).toHaveLength(1);
    expect(one.clock.slept - slept).toBeGreaterThanOrEqual(30_000);
    expect(await two.recorded("hosting_service.box")).toBeUndefined();

    const insisted = await two.run("apply", "--auto-approve", "--order-anyway", "hosting_service.box");
    expect(insisted.code, insisted.text).toBe(0);
    expect(ordered(one)).toHaveLength(2);
  });

  it.each([["of different plans", project("two", { ...SERVER, plan_id: 32 }), []]])(
    "%s: each has its own, and nobody waits",
    async (_, second, flags) => {
      const { one, two } = await bothPlan(second);
      const ran = await two.run("apply", "--auto-approve", ...flags);
      expect(ran.code, ran.text).toBe(0);
      expect(ordered(one)).toHaveLength(2);
      expect(one.clock.slept).toBeLessThan(10_000);
    },
  );
});

const withDomains = (domains: object) => ({
  project: "one",
  webhooks: { a: { url: "https://a.example/", events: ["invoice.paid"] } },
  domains,
});

/** A project with its own store, whose state has a webhook and no domain. */
async function appliedOnce(): Promise<Project> {
  const one = await startProject({ declare: withDomains({}) });
  one.env.HOSTFORM_STATE_HOME = path.join(one.dir, "state-home");
  await one.apply();
  return one;
}

describe("a domain whose registration had no answer, and that another project declares", () => {
  const NAME = "acme-example.com";
  const declared = (name: string) => ({ project: name, domains: { acme: registration(NAME) } });

  async function lost(happened: boolean) {
    const one = await startProject({ declare: declared("one") });
    one.env.HOSTFORM_STATE_HOME = path.join(one.dir, "state-home");
    one.control.addFault({ method: "POST", path: "/domains", phase: happened ? "after" : "before", drop: true });
    expect((await one.run("apply", "--auto-approve")).code).toBe(1);
    return { one, two: await one.beside(declared("two")) };
  }

  it("is refused there as requested without an answer, and as ordered once `resolve` has adopted it", async () => {
    const { one, two } = await lost(true);
    expect((await two.run("apply", "--auto-approve")).text).toContain("and got no response");
    const [order] = one.control.list("domains");
    const settled = await one.run("resolve", "hosting_domain.acme", "--adopt", String(order?.id));
    expect(settled.code, settled.text).toBe(0);
    const { code, text } = await two.run("apply", "--auto-approve");
    expect(code, text).toBe(1);
    expect(text).toContain(`A run with another state ordered domain ${NAME}`);
  });

  it("is an error of the plan there, as of the apply, unless it is another one", async () => {
    const { two } = await lost(true);
    two.sent();
    const { code, text } = await two.run("plan");
    expect(code, text).toBe(1);
    expect(text).toContain(`A run with another state requested domain ${NAME}`);
    expect((await two.run("plan", "--order-anyway", "hosting_domain.acme")).code).toBe(0);
    await two.declare({ project: "two" });
    expect((await two.run("plan")).code).toBe(0);
    expect(two.changesSent()).toEqual([]);
  });

  it("is registered there once `resolve` has called it absent", async () => {
    const { one, two } = await lost(false);
    expect((await one.run("resolve", "hosting_domain.acme", "--absent")).code).toBe(0);
    const { code, text } = await two.run("apply", "--auto-approve");
    expect(code, text).toBe(0);
    expect(one.control.list("domains")).toHaveLength(1);
  });
});

describe("a backup of a state, restored", () => {
  it("registers no domain that the state had", async () => {
    const one = await appliedOnce();
    const [state, backup] = ["hosting.tfstate", "backup"].map((name) => path.join(one.dir, name)) as [string, string];
    cpSync(state, backup);
    await one.declare(withDomains({ acme: registration("acme.example") }));
    await one.apply();
    cpSync(backup, state);
    const ran = await one.run("apply", "--auto-approve");
    expect(ran.code, ran.text).toBe(1);
    expect(ran.text).toContain("An earlier run ordered domain acme.example");
    expect(one.control.list("domains")).toHaveLength(1);
    one.sent();
    await one.run("apply", "--auto-approve", "--order-anyway", "hosting_domain.acme");
    expect(one.changesSent(), "the sandbox refuses a domain that is registered").toEqual(["POST /domains"]);
  });
});

describe("a store of a newer version", () => {
  it("refuses a replacement before anything is deleted, in the plan and in an apply whose plan was approved before", async () => {
    const declare = (permission: string) => ({
      project: "one",
      services: {
        www: { plan_id: 11, currency: "USD", domain: "www.example", grants: { "dev@acme.example": permission } },
      },
    });
    const one = await startProject({ declare: declare("manage") });
    const home = path.join(one.dir, "state-home");
    one.env.HOSTFORM_STATE_HOME = home;
    await one.apply();
    await one.declare(declare("view"));
    expect((await one.run("plan", "--out", "view.plan")).code).toBe(0);
    const [store = ""] = readdirSync(home).filter((name) => name.endsWith(".store"));
    const database = new DatabaseSync(path.join(home, store));
    database.exec("PRAGMA user_version = 99");
    database.close();
    one.sent();
    for (const command of [["plan"], ["apply", "--auto-approve"], ["apply", "view.plan"]]) {
      const ran = await one.run(...command);
      expect(ran.code, ran.text).toBe(1);
      expect(ran.text).toContain("[store.newer]");
    }
    expect(one.changesSent()).toEqual([]);
    expect(one.control.list("grants")).toHaveLength(1);
  });
});
