import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../support/project.ts";
import { registration } from "../support/registration.ts";

const www = { plan_id: 11, currency: "USD", domain: "www.acme.example" };
const shop = { plan_id: 12, currency: "USD", domain: "shop.acme.example" };
const domain = registration("acme.example");
const hooks = (count: number) => {
  const hook = (at: number) => [`w${at}`, { url: `https://w${at}.example`, events: ["invoice.paid"] }];
  return Object.fromEntries(Array.from({ length: count }, (_, at) => hook(at)));
};
const declare = (guards: object, more: object = {}) => ({
  project: "guarded",
  guards,
  services: { www, shop },
  ...more,
});

/** The host reports amounts in cents with their currencies, which these tests check. */
const PRICED = { plan: ["plan_id", "id"], money: ["minor"] } as const;

/** Fails unless the run was refused for this reason, with only GET requests sent. */
async function expectRefused(project: Project, code: string, ...args: string[]): Promise<string> {
  project.sent();
  const ran = await project.run("apply", "--auto-approve", ...args);
  expect(ran.code, ran.text).toBe(1);
  expect(ran.text).toContain(`[${code}]`);
  expect(project.changesSent()).toEqual([]);
  return ran.text;
}

/** Raises the list price of a plan in every currency. */
const raise = (project: Project, plan: number, to: number) =>
  project.control.change("plans", plan, { prices: { USD: to } });

describe("max_orders", () => {
  it("refuses before the first request of the apply, and the flag lets it through for this run", async () => {
    const project = await startProject({ declare: declare({ max_orders: 1 }) });
    const text = await expectRefused(project, "guard.orders");
    expect(text).toContain("The plan makes 2 orders; max_orders allows 1");
    expect(text).toContain("hosting.yaml:");
    const planned = await project.run("plan");
    expect(planned.code).toBe(1);
    expect(planned.text).toContain("--max-orders 2");
    await project.apply("--max-orders", "2");
    expect(project.control.list("services").filter(({ customer_id }) => customer_id === 1)).toHaveLength(2);
    // An existing service is no order.
    await project.expectNoChanges();
  });

  it("of the command line holds without any declared one", async () => {
    const project = await startProject({ declare: declare({}) });
    await expectRefused(project, "guard.orders", "--max-orders", "1");
  });
});

describe("max_spend", () => {
  it("counts what the account pays, and says that the unit is the API's own", async () => {
    const project = await startProject({ declare: declare({ max_spend: { USD: 1214 } }), pinned: PRICED });
    const text = await expectRefused(project, "guard.spend");
    // The two orders cost 500 less 10 % and 900 less 15 %.
    expect(text).toContain("The orders of the plan may cost 1215 USD; max_spend allows 1214 USD");
    expect(text).toContain("Maximum cost: hosting_service.shop 765, hosting_service.www 450.");
    expect(text).toContain("Amounts are in the API's own unit.");
    const ran = await project.apply("--max-spend", "usd=1215");
    expect(ran.text).toContain("Apply complete! 2 added");
  });

  it("shows amounts scaled, too, where the scale is declared", async () => {
    const providers = { default: { money_scale: 2 } };
    const project = await startProject({
      declare: declare({ max_spend: { USD: 1000 } }, { providers }),
      pinned: PRICED,
    });
    const text = await expectRefused(project, "guard.spend");
    expect(text).toContain("may cost 1215 USD (12.15); max_spend allows 1000 USD (10.00)");
  });

  it("counts a coupon by the list price and a long term by its months", async () => {
    const services = { www: { ...www, coupon_code: "WELCOME10" }, shop: { ...shop, term: 12 } };
    const project = await startProject({
      declare: declare({ max_spend: { USD: 11_299 } }, { services }),
      pinned: PRICED,
    });
    expect(await expectRefused(project, "guard.spend")).toContain("may cost 11300 USD");
    await project.apply("--max-spend", "USD=11300");
    const invoiced = project.control.list("invoices").filter(({ customer_id }) => customer_id === 1);
    expect(invoiced.reduce((sum, { total }) => sum + total, 0)).toBeLessThan(11_300);
  });

  it("refuses an amount that cannot be known, and counts its invoice when that is allowed", async () => {
    const project = await startProject({
      declare: declare({ max_spend: { USD: 2000 } }, { domains: { acme: domain } }),
      pinned: PRICED,
    });
    const text = await expectRefused(project, "guard.spend");
    expect(text).toContain("max_spend of 2000 USD cannot be checked: the amount of 1 order is unknown");
    // hostform orders the domain first, for 2000. The rest of the limit is too small for the two services.
    project.sent();
    const ran = await project.run("apply", "--auto-approve", "--allow-unknown-prices");
    expect(ran.code).toBe(1);
    expect(project.changesSent()).toEqual(["POST /domains"]);
    expect(ran.text).toContain("hosting_service.www was not ordered: this run might spend more than 2000 USD");
    expect(ran.text).toContain("So far: 2000 USD. This order: at most 450 USD.");
    await project.apply("--max-spend", "USD=5000");
  });

  it.each(["1", "10"])(
    "stops after an invoice above its price (§2: subtotal, total), %s at once",
    async (parallelism) => {
      const names = ["a", "b", "c", "d"];
      const services = Object.fromEntries(names.map((name) => [name, { ...www, domain: `${name}.example` }]));
      const project = await startProject({
        declare: declare({ max_spend: { USD: 1800 } }, { services }),
        pinned: PRICED,
      });
      for (const at of names.keys()) {
        const order = { id: 9000 + at, plan: "Shared Start", status: "pending", created_at: "2026-11-21T10:00:00Z" };
        const money = { subtotal: 450, total: 2000, currency: "USD", status: "unpaid" };
        const data = { service: order, invoice: { id: at + 1, order_id: order.id, ...money } };
        project.control.addFault({ method: "POST", path: "/services", phase: "before", status: 201, body: { data } });
      }
      const ran = await project.run("apply", "--auto-approve", "--parallelism", parallelism);
      expect(ran.code, ran.text).toBe(1);
      expect(project.changesSent()).toEqual(["POST /services"]);
      expect(ran.text).toContain(
        "Error: The orders of this run cost 2000 USD; max_spend allows 1800 USD [guard.spend]",
      );
    },
  );

  it("that was exceeded stops a watch from ordering, also at its next looks", async () => {
    const names = ["a", "b", "c"];
    const services = Object.fromEntries(names.map((name) => [name, { ...www, domain: `${name}.example` }]));
    const project = await startProject({
      declare: { ...declare({ max_spend: { USD: 1800 } }), services },
      pinned: PRICED,
    });
    const order = { id: 9000, plan: "Shared Start", status: "pending", created_at: "2026-11-21T10:00:00Z" };
    const invoice = { id: 1, order_id: 9000, subtotal: 450, total: 2000, currency: "USD", status: "unpaid" };
    const data = { service: order, invoice };
    project.control.addFault({ method: "POST", path: "/services", phase: "before", status: 201, body: { data } });
    const ran = await project.run("watch", "--auto-approve", "--max-runs", "3");
    expect(ran.code, ran.text).toBe(1);
    expect(project.changesSent()).toEqual(["POST /services"]);
    expect(ran.text).toContain("The orders of this run cost 2000 USD; max_spend allows 1800 USD");
    expect(ran.text).toContain("max_orders allows 0");
  });

  it.each([
    ["USD", "Expected CURRENCY=AMOUNT"],
    ["USD=19.99", "a whole number in the API's own unit"],
  ])("refuses the option %s", async (value, words) => {
    const project = await startProject({ declare: declare({}) });
    const ran = await project.run("plan", "--max-spend", "USD=100", "--max-spend", value);
    expect(ran.code).toBe(1);
    expect(ran.err).toContain(words);
  });
});

describe("a price", () => {
  it("that changed between plan and approval is not paid", async () => {
    const project = await startProject({ declare: declare({}), pinned: PRICED });
    project.answer = () => {
      raise(project, 11, 5000);
      project.sent();
      return "yes";
    };
    const ran = await project.run("apply");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain("[apply.price]");
    expect(ran.text).toContain(
      "Planned: list price 500 USD, billed 450 USD. Now: list price 5000 USD, billed 4500 USD.",
    );
    // The other service is ordered at its price.
    expect(project.changesSent()).toEqual(["POST /services"]);
    expect(await project.recorded("hosting_service.www")).toBeUndefined();
    await project.apply();
    expect(await project.recorded("hosting_service.www")).toMatchObject({ attributes: { invoice_total: 4500 } });
  });
});

describe("removals", () => {
  it("of more than 30% of ten and more resources need a word", async () => {
    const project = await startProject({ declare: { project: "guarded", webhooks: hooks(10) } });
    await project.apply();
    await project.declare({ project: "guarded", webhooks: hooks(6) });
    const text = await expectRefused(project, "guard.removals");
    expect(text).toContain("The plan removes 4 of 10 resources in the state (40%); the default limit allows 30%");
    await project.declare({ project: "guarded", webhooks: hooks(7) });
    await project.apply();
    expect(project.control.list("webhooks")).toHaveLength(7);
  });

  it("a file of the declaration that was left out is such a case", async () => {
    const project = await startProject({ declare: { project: "guarded", webhooks: hooks(4) } });
    await project.declare({ services: { www: { ...www, grants: { "a@acme.example": "view" } } } }, "b.hosting.yaml");
    const rest = Object.entries(hooks(10)).slice(4);
    await project.declare({ webhooks: Object.fromEntries(rest) }, "c.hosting.yaml");
    await project.apply();
    await expectRefused(project, "guard.removals", "-f", "hosting.yaml", "-f", "b.hosting.yaml");
    expect(project.control.list("webhooks")).toHaveLength(10);
  });

  it("of everything need a word even in a small project: the declaration is empty", async () => {
    const project = await startProject({ declare: { project: "guarded", webhooks: hooks(1) } });
    await project.apply();
    await project.declare({ project: "guarded" });
    const text = await expectRefused(project, "guard.removals");
    expect(text).toContain("The plan removes 1 of 1 resource in the state (100%); no resource is declared");
    // A target changes nothing: the declaration is still empty.
    await expectRefused(project, "guard.removals", "--target", "hosting_webhook.w0");
    await project.apply("--allow-removals");
    expect(project.control.list("webhooks")).toHaveLength(0);
  });

  it("count against everything that is recorded, also under --target", async () => {
    const guards = { max_removals_percent: 20 };
    const project = await startProject({ declare: { project: "guarded", guards, webhooks: hooks(5) } });
    await project.apply();
    await project.declare({ project: "guarded", guards, webhooks: hooks(3) });
    await expectRefused(project, "guard.removals");
    await project.apply("--target", "hosting_webhook.w4");
    expect(project.control.list("webhooks")).toHaveLength(4);
  });

  it("by destroy are allowed, except by declared limits", async () => {
    const project = await startProject({ declare: { project: "guarded", webhooks: hooks(12) } });
    await project.apply();
    await project.declare({ project: "guarded", guards: { max_removals: 5 }, webhooks: hooks(12) });
    project.sent();
    const refused = await project.run("destroy", "--auto-approve");
    expect(refused.code).toBe(1);
    expect(refused.text).toContain("The plan removes 12 resources; max_removals allows 5");
    expect(project.changesSent()).toEqual([]);
    await project.declare({ project: "guarded", webhooks: hooks(12) });
    const ran = await project.run("destroy", "--auto-approve");
    expect(ran.code, ran.text).toBe(0);
    expect(project.control.list("webhooks")).toHaveLength(0);
  });
});
