/** One object in trouble does not fail Terraform's plan: a client takes over a site, or the API fails for one site. */
import { expect, it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { startTerraform } from "../support/terraform.ts";

const site = (name: string, more = "") => `
resource "hosting_service" "${name}" {
  plan_id  = 11
  currency = "USD"
  domain   = "${name}.example"
  ${more}
}
resource "hosting_grant" "${name}" {
  service_id = hosting_service.${name}.id
  email      = "dev@acme.example"
  permission = "view"
}
`;
const ADDRESSES = ["hosting_grant.b", "hosting_service.b"];

async function applied() {
  const terraform = await startTerraform({ install: "running" });
  // First alone, so that `a` always has the lower id.
  await terraform.write(site("a"));
  await terraform.applied();
  await terraform.write(`${site("a")}${site("b")}`);
  await terraform.applied();
  const id = terraform.control.list("services").find(({ domain }) => domain === "a.example")?.id ?? 0;
  return { terraform, id };
}

async function handedOver() {
  const { terraform, id } = await applied();
  // A list may still lack a service of the last minutes.
  terraform.control.advanceClock({ hours: 1 });
  terraform.control.acceptTransfer(terraform.control.offerTransfer(id, { to: "customer" }).id);
  // The rejection is then the first response, and only a list shows the host's time.
  const other = `/services/${terraform.attributes("hosting_service.b").id}`;
  terraform.control.addFault({ method: "GET", path: other, phase: "before", delayMs: 500, times: 1 });
  terraform.sent();
  return { terraform, id };
}

describeWith(TERRAFORM)("one object in trouble in Terraform", { timeout: 60_000 }, () => {
  it("a service that a client took over is a warning, and the rest is applied", async () => {
    const { terraform } = await handedOver();
    await terraform.write(`${site("a")}${site("b", "suspended = true")}`);
    const planned = await terraform.planned();
    expect(planned.changes).toEqual({ "hosting_service.b": "update" });
    const warning = planned.warnings.find(({ summary }) => summary.includes("is not in the account of this token"));
    expect(warning?.detail).toMatch(/If the token is wrong, .* If another account owns it now, stop declaring it/);
    await terraform.applied("tfplan");
    expect(terraform.changesSent()).toEqual([expect.stringContaining("/suspend")]);
  });

  it("is forgotten with its grant when its blocks are removed", async () => {
    const { terraform, id } = await handedOver();
    await terraform.write(site("b"));
    const ran = await terraform.applied();
    expect(ran.warnings.map(({ summary }) => summary).join("\n")).toContain("not in the account of this token");
    expect([...terraform.state().keys()].sort()).toEqual(ADDRESSES);
    expect(terraform.control.get("services", id).status).toBe("active");
    await terraform.expectNoChanges();
  });

  it.each([
    ["the grants of one site", (id: number) => `/services/${id}/grants`],
    ["one service", (id: number) => `/services/${id}`],
  ])("an answer that cannot be used for %s is a warning", async (_, path) => {
    const { terraform, id } = await applied();
    // The list lacks the service, so the provider requests the service itself.
    terraform.control.addFault({ method: "GET", path: path(id), phase: "before", status: 500, times: 99 });
    if (!path(id).endsWith("grants")) {
      const rows = terraform.control.list("services").filter((one) => one.id !== id && /^b\./.test(one.domain ?? ""));
      const data = rows.map(({ id: row, domain, created_at }) => ({
        id: row,
        plan: "Starter",
        status: "active",
        domain,
        currency: "USD",
        created_at,
      }));
      terraform.control.addFault({
        method: "GET",
        path: "/services",
        phase: "before",
        status: 200,
        body: { data },
        times: 99,
      });
    }
    const planned = await terraform.plan();
    expect([planned.code, planned.changes]).toEqual([0, {}]);
    expect(planned.warnings.map(({ summary }) => summary).join("\n")).toMatch(/was not read/);
  });
});
