/**
 * `hostform status` of one project with two accounts: ids, amounts, permissions and times of the accounts never mix.
 */
import path from "node:path";
import { expect, it } from "vitest";
import type { AccountReport } from "../../src/report/index.ts";
import { type Project, startProject } from "../support/project.ts";
import { profileOfRun, startSandbox } from "../support/sandbox.ts";

const site = (name: string, over: object = {}) => ({
  plan_id: 11,
  currency: "USD",
  domain: `${name}.example`,
  ...over,
});
const DEV = { "dev@acme.example": "view" };

/** Amounts in cents, known status words, lists that show each hosting plan, and empty lists that are lists. */
const pinned = { money: ["minor"], status: ["lower"], plan: ["plan_id", "id"], empty_list: ["array"] } as const;

/** The same client has a site in each account. */
const two = (beta: object) => ({
  project: "agency",
  providers: { default: { money_scale: 2 }, beta: { token_env: "BETA_TOKEN", ...beta } },
  services: {
    a: site("a", { client: "acme", grants: DEV }),
    b: site("b", { client: "acme", provider: "beta", grants: { "owner@b.example": "manage" } }),
  },
});

async function statusOf(project: Project, ...args: string[]): Promise<AccountReport> {
  const ran = await project.run("status", "--json", ...args);
  expect(ran.code, ran.text).toBe(0);
  return JSON.parse(ran.out);
}

const sitesOf = ({ access }: AccountReport) => access.grants.map(({ email, site: of }) => `${email} ${of}`);

it("two accounts at two hosts have the same ids: each row is of its own account", async () => {
  const options = { autoPay: false };
  const project = await startProject({ pinned, sandbox: options });
  const { clock } = project;
  const other = await startSandbox({
    clock,
    rateLimit: 0,
    provisioningSeconds: 0,
    ...profileOfRun(pinned),
    ...options,
  });
  try {
    Object.assign(project.env, {
      BETA_TOKEN: other.tokens.agency,
      HOSTFORM_ALLOWED_ORIGINS: `${project.sandbox.url},${other.url}`,
      HOSTFORM_STATE_HOME: path.join(project.dir, "home"),
    });
    await project.declare(two({ base_url: other.url }));
    await project.apply();
    for (const { control } of [project, other]) for (const { id } of control.list("invoices")) control.payInvoice(id);
    clock.advance(60_000);
    await project.apply();
    const ids = (await statusOf(project)).services.map(({ id }) => id);
    expect(new Set(ids).size).toBe(1);
    for (const more of [[], ["--full"]]) {
      const report = await statusOf(project, ...more);
      expect(sitesOf(report)).toEqual(["dev@acme.example a.example", "owner@b.example b.example"]);
      expect(report.money.run_rate.map((one) => `${one.client} ${one.provider} ${one.total}`)).toEqual([
        ...["acme default 500", "acme beta 500"],
      ]);
    }
    for (const { control } of [project, other]) control.advanceClock({ months: 1, days: 8 });
    const since = (await statusOf(project)).overview.offline_since;
    expect(since).not.toBe(null);
    clock.advance(3_600_000);
    for (const alias of ["default", "beta"])
      expect((await statusOf(project, "--provider", alias)).overview.offline_since).toBe(since);
    const { out } = await project.run("status", "--section", "unpaid", "--section", "money");
    expect(out).toContain("4.50 USD");
    expect(out).toContain("450 (USD, API's unit)");
    expect(out.match(/^Total /gm)).toBe(null);
    const own = await project.run("status", "--provider", "default", "--section", "unpaid");
    expect(own.out).not.toContain("API's unit");
  } finally {
    await other.close();
  }
});

it("an account that is not on the Manage track has no client accounts, and nothing that a status must read", async () => {
  const project = await startProject({ pinned, declare: two({}) });
  project.env.BETA_TOKEN = project.sandbox.tokens.customer;
  await project.apply();
  project.control.seedServices({ count: 2, plan_id: 12 });
  const report = await statusOf(project);
  expect(report.accounts.map(({ provider }) => provider)).toEqual(["beta", "default"]);
  expect(report.unread.map(({ provider, what }) => `${provider} ${what}`)).toEqual(["beta client accounts"]);
  expect(report.holds).not.toContain("unread");
  expect((await project.run("audit", "--fail-on", "unread")).code).toBe(0);
});
