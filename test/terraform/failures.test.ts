/** Failures of the environment: exit code 1, a diagnostic at the right position, no crash, no tainted instance. */
import { createServer } from "node:net";
import { expect, it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { startTerraform } from "../support/terraform.ts";

const SITE = "hosting_service.site";
const site = (more = "") => `
resource "hosting_service" "site" {
  plan_id  = 11
  currency = "USD"
  domain   = "site.example"
${more}
}
`;
const GRANT = `
resource "hosting_grant" "dev" {
  service_id = ${SITE}.id
  email      = "dev@acme.example"
  permission = "view"
}
`;

/** Returns a URL with no listener. */
function nobody(): Promise<string> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" ? address?.port : undefined;
      server.close(() => resolve(`http://127.0.0.1:${port}`));
    });
  });
}

describeWith(TERRAFORM)("failures in Terraform", { timeout: 60_000 }, () => {
  it("no token, a wrong one, one without the ability", async () => {
    const terraform = await startTerraform({ install: "running" });
    await terraform.write(`provider "hosting" {\n  project = "journey"\n}\n${site()}`);
    const token = terraform.env.HOSTING_TOKEN;
    terraform.env.HOSTING_TOKEN = undefined;
    const missing = await terraform.refused();
    expect(missing.errors).toMatchObject([{ detail: expect.stringContaining("HOSTING_TOKEN") }]);
    expect(missing.errors[0]?.at).toContain('provider "hosting"');

    terraform.env.HOSTING_TOKEN = "sandbox-nobody-token";
    const wrong = await terraform.refused();
    expect(wrong.errors).toMatchObject([{ address: SITE, summary: expect.stringMatching(/token|401/) }]);
    expect(wrong.text).not.toContain("sandbox-nobody-token");

    terraform.env.HOSTING_TOKEN = terraform.sandbox.tokens.viewer;
    const forbidden = await terraform.apply();
    expect(forbidden.code, forbidden.text).toBe(1);
    expect(forbidden.errors).toMatchObject([{ address: SITE }]);
    expect(`${forbidden.errors[0]?.summary} ${forbidden.errors[0]?.detail}`).toMatch(/technical/);
    // Nothing was ordered, so the state is empty. With the right token, the service is ordered once.
    expect(terraform.state().size).toBe(0);
    terraform.env.HOSTING_TOKEN = token;
    await terraform.applied();
    await terraform.expectNoChanges();
  });

  it("a server that is not there, or answers what nobody understands", async () => {
    const terraform = await startTerraform({ install: "running" });
    await terraform.write(`${site()}${GRANT}`);
    await terraform.applied();
    const there = terraform.env.HOSTING_BASE_URL;
    terraform.env.HOSTING_BASE_URL = await nobody();
    const down = await terraform.refused();
    expect(down.errors[0]?.summary, down.text).toMatch(/reach/);
    // The state keeps its resources.
    expect([...terraform.state().keys()].sort()).toEqual(["hosting_grant.dev", SITE]);

    terraform.env.HOSTING_BASE_URL = there;
    terraform.control.addFault({ path: "/*", phase: "before", status: 200, body: "<html>Welcome</html>", times: 100 });
    const page = await terraform.refused();
    expect(page.errors[0]?.address).toBe(SITE);
    terraform.control.clearFaults();
    await terraform.expectNoChanges();
  });

  it("values that the API refuses are pointed at, and nothing is tainted", async () => {
    const terraform = await startTerraform({ install: "running" });
    await terraform.write(`${site('coupon_code = "NOT-A-COUPON"')}`);
    const refused = await terraform.apply();
    expect(refused.code, refused.text).toBe(1);
    expect(refused.errors).toMatchObject([{ address: SITE, at: 'coupon_code = "NOT-A-COUPON"' }]);
    expect(`${refused.errors[0]?.summary} ${refused.errors[0]?.detail}`).toContain("The coupon code is not valid");
    expect(terraform.state().size).toBe(0);

    await terraform.write(`${site('coupon_code = "WELCOME10"')}`);
    await terraform.applied();
    expect(terraform.attributes(SITE)).toMatchObject({ coupon_code: "WELCOME10" });
    await terraform.expectNoChanges();
  });

  it("what fails after an order is a warning, and is done by the next apply", async () => {
    const terraform = await startTerraform({ install: "running" });
    await terraform.write(site('password         = "correct horse"\npassword_version = 1'));
    terraform.control.addFault({ method: "POST", path: "/services/:id/password", phase: "before", status: 422 });
    const applied = await terraform.applied();
    expect(applied.warnings.length, applied.text).toBeGreaterThan(0);
    expect(terraform.state().get(SITE)?.status).toBe("");
    expect((await terraform.planned()).changes).toEqual({ [SITE]: "update" });
    terraform.sent();
    await terraform.applied("tfplan");
    expect(terraform.changesSent()).toEqual(["POST /services/1003/password"]);
    await terraform.expectNoChanges();
  });

  it("a job that takes longer than timeouts allow is reported, and seen by the next plan", async () => {
    const terraform = await startTerraform({ install: "running", sandbox: { jobSeconds: 3600 } });
    await terraform.write(site());
    await terraform.applied();
    await terraform.write(site('suspended = true\ntimeouts = { update = "1s" }'));
    const applied = await terraform.apply();
    const said = applied.warnings.map(({ summary }) => summary);
    expect(said[0], applied.text).toContain("goes offline");
    expect(said, applied.text).toContainEqual(expect.stringMatching(/not (?:done|finished)|queue|still/));
    terraform.control.advanceClock({ hours: 2 });
    terraform.sent();
    await terraform.applied();
    expect(terraform.changesSent()).toEqual([]);
    expect(terraform.attributes(SITE)).toMatchObject({ suspended: true });
    await terraform.expectNoChanges();
  });

  it("without a project nothing can be ordered, and everything else works", async () => {
    const terraform = await startTerraform({ install: "running", env: { HOSTFORM_PROJECT: undefined } });
    await terraform.write(
      'resource "hosting_webhook" "a" {\n  url = "https://a.example"\n  events = ["invoice.paid"]\n}\n',
    );
    await terraform.applied();
    await terraform.write(site());
    const refused = await terraform.refused();
    expect(refused.errors).toMatchObject([{ address: SITE }]);
    expect(`${refused.errors[0]?.summary} ${refused.errors[0]?.detail}`).toMatch(/project/);
  });
});
