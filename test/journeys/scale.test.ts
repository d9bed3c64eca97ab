import { describe, expect, it } from "vitest";
import { type Project, type ProjectOptions, startProject } from "../support/project.ts";
import { ENDING_LISTS } from "../support/sandbox.ts";

const SERVICES = 1000;
const SHARED = 20;

/** A thousand services, all in the account, the declaration and the state; on the first twenty a grant each if wanted. */
async function agency(withGrants: boolean, pinned: ProjectOptions["pinned"] = {}): Promise<Project> {
  const project = await startProject({ pinned });
  const services = project.control.seedServices({ count: SERVICES });
  const declared = (adopt: boolean) => ({
    project: "agency",
    services: Object.fromEntries(
      services.map(({ id, domain }, at) => {
        const { id: grant } =
          withGrants && at < SHARED && adopt
            ? project.control.create("grants", { service_id: id, email: "dev@acme.example", permission: "view" })
            : { id: undefined };
        return [
          `site-${at}`,
          {
            plan_id: 11,
            currency: "USD",
            domain,
            ...(adopt && { import: String(id) }),
            ...(withGrants &&
              at < SHARED && {
                grants: {
                  "dev@acme.example": {
                    permission: "view",
                    ...(adopt && { import: `${id}/${project.idOf("grants", grant)}` }),
                  },
                },
              }),
          },
        ];
      }),
    ),
  });
  await project.declare(declared(true));
  await project.apply("--parallelism", "100");
  await project.declare(declared(false));
  project.sent();
  return project;
}

describe("a thousand services", () => {
  it("are planned with at most 11 GETs", async () => {
    const project = await agency(false);
    await project.expectNoChanges();
    const sent = project.sent();
    expect(sent.length).toBeLessThanOrEqual(11);
    expect(new Set(sent)).toEqual(new Set(["GET /services"]));
  });

  it("are planned with at most 31 GETs when twenty of them have a grant", async () => {
    // One for the grants of each, where that says that it was all.
    const project = await agency(true, { envelope: ENDING_LISTS });
    await project.expectNoChanges();
    const sent = project.sent();
    expect(sent.length).toBeLessThanOrEqual(31);
    expect(sent.filter((line) => line.endsWith("/grants"))).toHaveLength(SHARED);
  });

  it("are read one by one when only a few are wanted", async () => {
    const project = await agency(false);
    await project.plan({ targets: ["hosting_service.site-7"] });
    expect(project.sent()).toHaveLength(1);
  });
});

describe("orders in an account of a thousand services", () => {
  const orders = (count: number) => ({
    project: "agency",
    services: Object.fromEntries(
      Array.from({ length: count }, (_, at) => [
        `new-${at}`,
        { plan_id: 11, currency: "USD", domain: `new-${at}.example` },
      ]),
    ),
  });

  it.each<[string, number, Approval, number, ProjectOptions["pinned"]?]>([
    ["the pages, the plans and the order", 1, "automatic", 12],
    ["the pages, the plans and the orders", 20, "automatic", 31],
    ["both lists once more after somebody was asked", 1, "asked", 23],
    [
      "the pages once more where no page says how many services there are",
      1,
      "automatic",
      23,
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

type Approval = "automatic" | "asked";
