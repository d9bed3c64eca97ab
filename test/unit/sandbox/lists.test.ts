import { describe, expect, test } from "vitest";
import { excuseViolations } from "../../support/sandbox.ts";
import { activeService, start } from "./harness.ts";

interface Row {
  id: number;
}

describe("pagination (§4)", () => {
  const sizes: { why: string; query: string; items: number; perPage: number }[] = [
    { why: "25 by default", query: "", items: 25, perPage: 25 },
    { why: "as asked", query: "?per_page=7", items: 7, perPage: 7 },
    { why: "100 at most", query: "?per_page=500", items: 100, perPage: 100 },
    { why: "the rest on the last page", query: "?per_page=50&page=3", items: 20, perPage: 50 },
    { why: "nothing beyond it", query: "?per_page=50&page=4", items: 0, perPage: 50 },
    { why: "an empty parameter is none", query: "?per_page=&page=", items: 25, perPage: 25 },
  ];
  test.each(sizes)("gives $why", async ({ query, items, perPage }) => {
    const { send, sandbox } = await start();
    if (query.endsWith("=")) excuseViolations(sandbox, "the document knows no empty parameter");
    sandbox.control.seedServices({ count: 120 });
    const { status, body } = await send("GET", `/services${query}`);
    expect(status).toBe(200);
    expect(body.data).toHaveLength(items);
    expect(body.meta).toMatchObject({ total: 120, per_page: perPage, last_page: Math.ceil(120 / perPage) });
    if (items === 0) expect(body.meta).toMatchObject({ from: null, to: null });
  });

  test.each(["?page=0", "?page=-1", "?per_page=0", "?per_page=ten", "?page=1.5"])("422 for %s", async (query) => {
    const { send } = await start();
    const answer = await send("GET", `/services${query}`);
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.errors)).toEqual([query.slice(1, query.indexOf("="))]);
  });

  test("plans are listed 50 a page", async () => {
    const { send } = await start();
    expect((await send("GET", "/plans")).body.meta.per_page).toBe(50);
  });

  test("every list has pages: services, invoices, grants, webhooks, accounts, migration requests", async () => {
    const running = await start();
    const { control } = running.sandbox;
    const id = activeService(running);
    control.seedServices({ count: 2 });
    for (const name of ["a", "b", "c"]) {
      control.create("grants", { service_id: id, email: `${name}@x.example`, permission: "view" });
      control.create("webhooks", { url: `https://${name}.example/`, events: ["invoice.paid"] });
      control.create("accounts", { name });
      control.create("migration_requests", { domain: `${name}.example` });
    }
    for (const path of [
      "/services",
      "/invoices",
      `/services/${id}/grants`,
      "/webhooks",
      "/accounts",
      "/migration-requests",
    ]) {
      const { body } = await running.send("GET", `${path}?per_page=2&page=2`);
      expect([path, body.data.length, body.meta.total]).toEqual([path, 1, 3]);
    }
  });

  test("1,000 services are each listed once, newest first, in ten pages", async () => {
    const { send, sandbox } = await start();
    sandbox.control.seedServices({ count: 1000 });
    const ids: number[] = [];
    for (let page = 1; page <= 10; page += 1) {
      const { body } = await send("GET", `/services?per_page=100&page=${page}`);
      ids.push(...body.data.map((one: Row) => one.id));
      expect(body.links.next === null).toBe(page === 10);
    }
    expect(new Set(ids).size).toBe(1000);
    expect(ids).toEqual([...ids].sort((a, b) => b - a));
  });
});

describe("plans", () => {
  test("are listed if they are active and their product is active", async () => {
    const { send } = await start();
    const { data } = (await send("GET", "/plans")).body;
    const ids = data.map((plan: { plan_id: number }) => plan.plan_id);
    expect(ids).toEqual([42, 41, 33, 32, 31, 22, 21, 13, 12, 11]);
    expect(new Set(data.map((plan: { product_type: string }) => plan.product_type))).toEqual(
      new Set(["shared", "wordpress", "vps", "virtual_desktop"]),
    );
  });

  test("have the Manage discount only for an agency (§2)", async () => {
    const { send, sandbox } = await start();
    const plan = async (token: string): Promise<unknown> => {
      const { data } = (await send("GET", "/plans", { token })).body;
      return data.find((one: { plan_id: number }) => one.plan_id === 12);
    };
    const plain = {
      plan_id: 12,
      name: "Shared Plus",
      product_type: "shared",
      currency: "USD",
      price: 900,
      prices: { GEL: 2400, USD: 900, EUR: 820 },
      billing_cycle: "monthly",
    };
    expect(await plan(sandbox.tokens.customer)).toEqual(plain);
    expect(await plan(sandbox.tokens.viewer)).toEqual({
      ...plain,
      manage_discount_percent: 15,
      price_after_discount: 765,
    });
  });
});
