import { describe, expect, it } from "vitest";
import { testClock } from "../support/clock.ts";
import { type Project, type ProjectOptions, startProject } from "../support/project.ts";

const SERVICES = 1000;
/** So many take as many pages, and a third of the time, where all are declared. */
const DECLARED = 300;

/** Services, all in the account, the declaration and the state. */
async function agency(): Promise<Project> {
  const project = await startProject();
  const services = project.control.seedServices({ count: DECLARED });
  const declared = (adopt: boolean) => ({
    project: "agency",
    services: Object.fromEntries(
      services.map(({ id, domain }, at) => [
        `site-${at}`,
        { plan_id: 11, currency: "USD", domain, ...(adopt && { import: String(id) }) },
      ]),
    ),
  });
  await project.declare(declared(true));
  await project.apply("--parallelism", "100");
  await project.declare(declared(false));
  project.sent();
  return project;
}

describe("300 services", () => {
  it("are planned with at most 4 GETs, and read one by one when only a few are wanted", async () => {
    const project = await agency();
    await project.expectNoChanges();
    const sent = project.sent();
    expect(sent.length).toBeLessThanOrEqual(4);
    expect(new Set(sent)).toEqual(new Set(["GET /services"]));
    await project.plan({ targets: ["hosting_service.site-7"] });
    expect(project.sent()).toHaveLength(1);
  });
});

const orders = (count: number) => ({
  project: "agency",
  services: Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `new-${at}`,
      { plan_id: 11, currency: "USD", domain: `new-${at}.example` },
    ]),
  ),
});

describe("orders in an account of a thousand services", () => {
  it.each<[string, number, Approval, number, ProjectOptions["pinned"]?]>([
    ["the pages, the plans and the order", 1, "automatic", 13],
    ["both lists once more after somebody was asked", 1, "asked", 25],
    [
      "the pages alone where no page says how many services there are",
      1,
      "automatic",
      14,
      { envelope: ["named_has_more"] },
    ],
  ])("take %s (%i, %s)", async (_, count, approval, requests, pinned = { envelope: ["laravel"] }) => {
    const project = await startProject({ pinned, declare: orders(count) });
    project.control.seedServices({ count: SERVICES });
    project.answer = () => "yes";
    const { code, text } = await project.run("apply", ...(approval === "asked" ? [] : ["--auto-approve"]));
    expect(code, text).toBe(0);
    expect(project.sent()).toHaveLength(requests);
  });
});

describe("orders at a host whose clock is an hour behind, and whose answers do not say what time it is there", () => {
  const HOUR = 3_600_000;

  async function behind(declare: object): Promise<Project> {
    const clock = testClock();
    const host = { now: () => clock.now() - HOUR };
    const rendering = { headers: { more: { Date: "unknown" } } };
    return startProject({ clock, declare, pinned: { key_retention: ["day"] }, sandbox: { clock: host, rendering } });
  }

  it("are looked at once, all together, since every new service looks old", async () => {
    const project = await behind(orders(20));
    await project.apply();
    // The services, the plans, the orders, and the services once more.
    const sent = project.sent();
    expect(sent.length, sent.join(", ")).toBe(1 + 1 + 20 + 1);
    await project.expectNoChanges();
  });

  it("are looked at one by one where each waits for the invoice of the one before", async () => {
    const project = await behind({ ...orders(3), guards: { max_spend: { USD: 100_000 } } });
    await project.apply();
    expect(project.sent()).toHaveLength(1 + 1 + 3 + 3);
  });

  it("that are answered with a service that is gone by now fail, with what depends on them; the others are made", async () => {
    const grants = { "dev@acme.example": "view" };
    const one = { project: "agency", services: { lost: { plan_id: 11, currency: "USD", domain: "lost.example" } } };
    const project = await behind(one);
    await project.apply();
    const [service] = project.control.list("services").filter(({ domain }) => domain === "lost.example");
    project.control.remove("services", service?.id ?? 0);
    await project.loseState();
    const { services } = orders(5);
    await project.declare({ ...one, services: { ...services, lost: { ...one.services.lost, grants } } });
    project.sent();
    const { code, text } = await project.run("apply", "--auto-approve");
    expect(code, text).toBe(1);
    expect(text).toContain("The API returned the response of an earlier order for hosting_service.lost: service");
    // Each address once.
    expect(text).toContain('This causes 1 skipped change [apply.skipped]: hosting_grant.lost["dev@acme.example"].');
    expect(project.changesSent()).toEqual(Array.from({ length: 6 }, () => "POST /services"));
    expect(await project.recorded("hosting_service.new-4")).toBeDefined();
    expect((await project.plan()).conditions).toContainEqual(expect.objectContaining({ condition: "gone" }));
  });
});

type Approval = "automatic" | "asked";
