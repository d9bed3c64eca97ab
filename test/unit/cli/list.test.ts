import { describe, expect, it } from "vitest";
import { runCli } from "../../../src/cli/cli.ts";
import { fakeIo } from "../../support/io.ts";
import { project, projectWithService } from "./harness.ts";

describe("listings", () => {
  it.each([
    ["plans", /^PLAN_ID +NAME/, "plan_id"],
    ["services", /^ID +DOMAIN/, "domain"],
    ["invoices", /^ID +NUMBER/, "invoice_number"],
    ["webhooks", /^ID +URL/, "url"],
    ["accounts", /^ID +NAME/, "name"],
    ["migrations", /^ID +DOMAIN/, "status"],
  ])("%s: a table for people, an array of records with --json, GETs only", async (name, header, field) => {
    const made = await project();
    const { control } = made.sandbox;
    control.seedServices();
    control.create("webhooks", { url: "https://hooks.acme.example/x", events: ["invoice.paid"] });
    control.create("accounts", { name: "Acme" });
    control.create("migration_requests", { domain: "acme.example" });

    const text = await made.run([name]);
    expect(text).toMatchObject({ code: 0, stderr: "" });
    expect(text.stdout).toMatch(header);
    const { code, json } = await made.run([name, "--json"]);
    expect(code).toBe(0);
    expect(json()[0]).toHaveProperty(field);
    expect(json()[0]).not.toHaveProperty("raw");
    expect(control.requests().every(({ method }) => method === "GET")).toBe(true);
  });

  it("end at Ctrl-C in the middle of a request, and report the interruption", async () => {
    let press = () => {};
    const sleep = async () => press();
    const made = await project(undefined, { sleep });
    made.sandbox.control.addFault({ path: "/services", phase: "before", delayMs: 1, drop: true });
    const io = fakeIo({
      cwd: made.dir,
      env: { HOSTING_BASE_URL: made.sandbox.url, HOSTING_TOKEN: made.sandbox.tokens.agency },
    });
    press = io.interrupt;
    expect(await runCli(["services", "--json"], io)).toBe(1);
    expect(JSON.parse(io.stdout()).diagnostics).toMatchObject([{ code: "interrupted" }]);
  });

  it("need no declaration, only environment variables", async () => {
    const made = await project();
    const { code, json } = await made.run(["plans", "--json", "-C", "/"]);
    expect(code).toBe(0);
    expect(json().length).toBeGreaterThan(5);
  });

  it.each(["services", "invoices", "migrations"])("%s ID: one in full", async (name) => {
    const made = await project();
    made.sandbox.control.seedServices();
    made.sandbox.control.create("migration_requests", { domain: "acme.example" });
    const [first] = (await made.run([name, "--json"])).json();
    const one = await made.run([name, first.id]);
    expect(one.stdout).toMatch(/^FIELD +VALUE\nid +/);
    expect((await made.run([name, first.id, "--json"])).json()).toEqual([first]);
    const none = await made.run([name, "999999"]);
    expect(none).toMatchObject({ code: 1, stdout: "" });
    expect(none.stderr).toContain("404");
  });

  it("--provider selects another account of the declaration, and an unknown provider is rejected", async () => {
    const made = await project("project: test\nproviders:\n  beta:\n    token_env: BETA_TOKEN\n");
    const env = { HOSTING_BASE_URL: made.sandbox.url, BETA_TOKEN: made.sandbox.tokens.customer };
    const beta = await made.run(["services", "--provider", "beta", "--json"], { env });
    expect(beta.json().map(({ domain }: { domain: string }) => domain)).toContain("customer-one.example");
    const unknown = await made.run(["services", "--provider", "bta"], { env });
    expect(unknown.code).toBe(1);
    expect(unknown.stderr).toContain('Did you mean "beta"?');
  });
});

describe("grants", () => {
  it("accept an id, or an address that the state contains", async () => {
    const made = await projectWithService();
    made.sandbox.control.create("grants", {
      service_id: Number(made.id),
      email: "dev@acme.example",
      permission: "view",
    });
    expect((await made.run(["grants", made.id])).stdout).toMatch(/dev@acme\.example +view +never/);
    await made.run(["import", "hosting_service.www", made.id]);
    const byAddress = await made.run(["grants", "hosting_service.www", "--json"]);
    expect(byAddress.json()).toMatchObject([{ email: "dev@acme.example", permission: "view" }]);
    const { domain } = made.sandbox.control.list("services").find(({ id }) => String(id) === made.id) ?? {};
    const byDomain = await made.run(["grants", domain?.toUpperCase() ?? "", "--json"]);
    expect(byDomain.json()).toEqual(byAddress.json());
  });

  it.each([
    ["an unknown address", "hosting_service.ww", 'Did you mean "hosting_service.www"?'],
    ["a name without its type", "www", 'Did you mean "hosting_service.www"?'],
    ["a path in place of an id", "../invoices", "is not the id, the address or the domain"],
    ["an id that does not exist", "999999", "404"],
  ])("refuses %s", async (_, service, message) => {
    const made = await projectWithService();
    await made.run(["import", "hosting_service.www", made.id]);
    const { code, stdout, stderr } = await made.run(["grants", service]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(message);
  });
});

describe("domains check", () => {
  it("checks several domains with one request", async () => {
    const made = await project();
    const { code, json } = await made.run(["domains", "check", "acme-free.example", "customer-one.example", "--json"]);
    expect(code).toBe(0);
    expect(json()).toEqual([
      { domain: "acme-free.example", available: true },
      { domain: "customer-one.example", available: expect.any(Boolean) },
    ]);
    expect((await made.run(["domains", "check", "acme-free.example"])).stdout).toContain("yes");
  });

  it("rejects an invalid domain name without a request", async () => {
    const made = await project();
    expect((await made.run(["domains", "check", "acme"])).code).toBe(1);
    expect((await made.run(["domains", "check"])).code).toBe(1);
    expect(made.sandbox.control.requests()).toEqual([]);
  });
});
