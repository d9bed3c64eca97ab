/**
 * hostform compares values in one canonical form: a different notation causes no second create and no planned change.
 */
import { describe, expect, it } from "vitest";
import { startProject } from "../support/project.ts";
import { rewritingHost, rewritten } from "../support/rewriting-host.ts";

const U = "m\u00fcnchen.example";
const A = "xn--mnchen-3ya.example";

const declared = (domain: string, email: string) => ({
  project: "forms",
  services: { www: { plan_id: 11, currency: "USD", domain, grants: { [email]: "view" } } },
  migration_requests: { www: { domain, questions: { source: "cpanel" } } },
});

it("a webhook URL with escapes in another case, or with the letter itself, is no change and is sent as declared", async () => {
  const hooks = (url: string) => ({ project: "forms", webhooks: { hook: { url, events: ["invoice.paid"] } } });
  const project = await startProject({ declare: hooks("https://hooks.example/%c3%bc") });
  await project.apply();
  expect(project.control.list("webhooks").map(({ url }) => url)).toEqual(["https://hooks.example/%c3%bc"]);
  for (const url of ["https://hooks.example/%C3%BC", "https://hooks.example/\u00fc"]) {
    await project.declare(hooks(url));
    await project.expectNoChanges();
  }
});

describe("an international domain", () => {
  it("is sent as A-labels, and its other form, its case and the root's dot are no change", async () => {
    const project = await startProject({ declare: declared("M\u00fcnchen.example", `Dev@${U}`) });
    const planned = await project.run("plan");
    expect(planned.out).toContain(`${U} (${A})`);
    await project.apply();
    const bodies = project.control.requests().filter(({ method }) => method === "POST");
    expect(bodies.map(({ body }) => Object(body))).toMatchObject([
      expect.objectContaining({ domain: A }),
      ...[expect.anything(), expect.anything()],
    ]);
    expect(JSON.stringify(bodies.map(({ body }) => body))).not.toContain("\u00fc");
    expect(JSON.stringify(bodies.map(({ body }) => body))).toContain(`Dev@${A}`);
    await project.expectNoChanges();
    for (const [domain, email] of [
      [A, `Dev@${A}`],
      ["XN--MNCHEN-3YA.example.", `Dev@${U}`],
      [U, `dev@${U}`],
    ] as const) {
      await project.declare(declared(domain, email));
      project.sent();
      await project.apply();
      expect(project.changesSent(), `${domain} ${email}`).toEqual([]);
      await project.expectNoChanges();
    }
    await project.loseState();
    const lost = await project.run("apply", "--auto-approve");
    expect(lost.text).toContain("plan.exists");
    expect(project.changesSent()).toEqual([]);
  });

  it.each(["bad..name", "*.wild.example"])("%s is refused", async (domain) => {
    const project = await startProject({ declare: declared(domain, "dev@acme.example") });
    const ran = await project.run("plan");
    expect(ran.code).toBe(1);
    expect(ran.text.replace(/\s+/g, " ")).toContain("expected a domain name such as www.acme.example, and it has ");
    expect(ran.text).toContain(`The value is "${domain}".`);
    expect(project.changesSent()).toEqual([]);
  });
});

const unpaid = (status: unknown) => (/^paid$/i.test(String(status)) ? "unpaid" : undefined);

describe("the end of a grant", () => {
  const END = "2027-03-28T02:30:00Z";
  const until = (expires_at?: string) => ({
    project: "ends",
    services: {
      www: {
        plan_id: 11,
        currency: "USD",
        domain: "www.acme.example",
        grants: { "dev@acme.example": { permission: "view", ...(expires_at && { expires_at }) } },
      },
    },
  });

  it.each([
    ["without an offset", "2027-03-28 02:30:00"],
    ["in the host's local time", "2027-03-28T06:30:00"],
    ["in a form that cannot be read", "28.03.2027"],
  ])("that the host shows %s plans nothing", async (_how, shown) => {
    const project = await startProject({ declare: until(END), pinned: { expires_at: ["instant"] } });
    project.env.HOSTING_BASE_URL = await rewritingHost(project.sandbox.url, (answer) =>
      rewritten(answer, { expires_at: (value) => (value === null ? undefined : shown) }),
    );
    await project.apply();
    project.sent();
    const planned = await project.run("plan", "--detailed-exitcode");
    expect(planned.code, planned.text).toBe(0);
    if (shown === "28.03.2027") expect(planned.text).toContain(': the API returns "28.03.2027"');
    await project.apply();
    expect(project.changesSent()).toEqual([]);
  });

  it.each(["0000-00-00 00:00:00", false, "9999-12-31"])("that the host shows as %j is none", async (shown) => {
    const project = await startProject({ declare: until(), pinned: { expires_at: ["instant"] } });
    project.env.HOSTING_BASE_URL = await rewritingHost(project.sandbox.url, (answer) =>
      rewritten(answer, { expires_at: () => shown, paid_at: () => shown, status: unpaid }),
    );
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.text).not.toContain("Paid:");
    project.sent();
    await project.expectNoChanges();
    await project.apply();
    expect(project.changesSent()).toEqual([]);
  });
});

describe("a client account without the state", () => {
  it.each([
    ["escapes", "plan.exists", (name: string) => name.replaceAll("&", "&amp;")],
    ["capitalises", "plan.exists", (name: string) => `  ${name.toUpperCase()} `],
    ["cuts", "plan.lookalike", (name: string) => name.slice(0, 20)],
  ])("is not created again where the host %s its name", async (_how, code, rename) => {
    const project = await startProject({
      declare: { project: "names", client_accounts: { mg: { name: "Smith & Caf\u00e9 Georgia International" } } },
    });
    await project.apply();
    await project.loseState();
    project.env.HOSTING_BASE_URL = await rewritingHost(project.sandbox.url, (answer) =>
      rewritten(answer, { name: (value) => (typeof value === "string" ? rename(value) : undefined) }),
    );
    project.sent();
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain(code);
    expect(ran.text).toContain("hostform import 'hosting_client_account.mg'");
    expect(project.changesSent()).toEqual([]);
  });
});
