/**
 * Lists of hosts that count their pages from 0, or send no page information. hostform never treats an existing object
 * as missing, and the detection costs one request a run.
 */
import { describe, expect, it } from "vitest";
import { PROFILE_SWITCHES, type Profile } from "../../src/sandbox/index.ts";
import { sampled } from "../reliability/support/long.ts";
import { startProject } from "../support/project.ts";

const emails = Array.from({ length: 6 }, (_, at) => `dev${at}@acme.example`);
const site = (name: string) => ({
  plan_id: 11,
  currency: "USD",
  domain: `${name}.acme.example`,
  grants: Object.fromEntries(emails.map((email) => [email, "view"])),
});
const DECLARED = {
  project: "pages",
  services: { a: site("a"), b: site("b"), c: site("c") },
  webhooks: { hook: { url: "https://hooks.acme.example", events: ["invoice.paid"] } },
  client_accounts: { acme: { name: "Acme" } },
  migration_requests: { old: { domain: "old.acme.example" } },
};

const account = (project: Awaited<ReturnType<typeof startProject>>) =>
  (["services", "grants", "webhooks", "accounts", "migration_requests"] as const).map((name) => [
    name,
    project.control.list(name).length,
  ]);

/** Returns the number of requests for page 0 since the last call. */
function pageZeros(project: Awaited<ReturnType<typeof startProject>>): number {
  const asked = project.control.requests().filter(({ query }) => query.page?.[0] === "0").length;
  project.control.clearRequests();
  return asked;
}

/** Each envelope with another end of the list. */
const counted = PROFILE_SWITCHES.envelope.flatMap((envelope, nth) =>
  sampled(PROFILE_SWITCHES.past_end, PROFILE_SWITCHES.past_end.length, nth).map(
    (past_end): Partial<Profile> => ({ envelope, past_end, pages: "from_zero" }),
  ),
);

describe("pages counted from 0", () => {
  it.each(counted)("$envelope, after the last page $past_end: nothing is made a second time", async (profile) => {
    const project = await startProject({ declare: DECLARED, sandbox: { profile, rateLimit: 0 } });
    await project.apply();
    const made = account(project);
    await project.expectNoChanges();
    await project.loseState();
    project.control.advanceClock({ days: 2 });
    project.sent();
    await project.run("apply", "--auto-approve");
    expect(project.changesSent()).toEqual([]);
    expect(account(project)).toEqual(made);
  });
});

describe("pages counted from 1", () => {
  const plain = PROFILE_SWITCHES.envelope.map((envelope): Partial<Profile> => ({ envelope }));
  it.each(plain)("$envelope: page 0 is asked for once in a run at most", async (profile) => {
    const project = await startProject({ declare: DECLARED, sandbox: { profile, rateLimit: 0 } });
    await project.apply();
    // If the response numbers its rows or names its previous page, hostform does not request page 0.
    const most = ["laravel", "data_meta", "flat"].includes(String(profile.envelope)) ? 0 : 1;
    expect(pageZeros(project)).toBeLessThanOrEqual(most);
    await project.expectNoChanges();
    expect(pageZeros(project)).toBeLessThanOrEqual(most);
  });
});
