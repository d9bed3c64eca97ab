/** A host that writes values in a form of its own: nothing is created twice, and no change is made a third time. */
import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../support/project.ts";
import { rewritingHost, rewritten } from "../support/rewriting-host.ts";

type Rewrite = Readonly<Record<string, (value: unknown) => unknown>>;

/** A project in front of whose host these fields are rewritten in each answer. */
async function hostThat(declaration: object, rewrite: Rewrite, pinned = {}): Promise<Project> {
  const project = await startProject({ declare: declaration, pinned });
  project.env.HOSTING_BASE_URL = await rewritingHost(project.sandbox.url, (answer) => rewritten(answer, rewrite));
  return project;
}

const END = "2027-03-28T10:20:30Z";
const granted = (expires_at: string | undefined = END, permission = "view") => ({
  project: "forms",
  services: {
    www: {
      plan_id: 11,
      currency: "USD",
      domain: "www.acme.example",
      grants: { "dev@acme.example": { permission, ...(expires_at && { expires_at }) } },
    },
  },
});
const client = (own: object = {}) => ({
  project: "forms",
  client_accounts: { acme: { name: "Acme Georgia International", vat_number: "GE77", ...own } },
});
const hook = (url = "https://hooks.example/in?token=abc123") => ({
  project: "forms",
  webhooks: { hook: { url, events: ["invoice.paid"] } },
});

const onText = (rewrite: (text: string) => unknown) => (value: unknown) =>
  typeof value === "string" ? rewrite(value) : undefined;

/** Own forms that count as what was sent, each of a class that was seen at a host. */
const BELIEVED: readonly [what: string, declaration: object, rewrite: Rewrite][] = [
  ["an end rounded down to the minute", granted(), { expires_at: onText((text) => `${text.slice(0, 16)}:00Z`) }],
  ["an end limited to a year", granted("2029-01-01T00:00:00Z"), { expires_at: onText(() => "2027-11-01T00:00:00Z") }],
  ["an end where none was asked for", granted(""), { expires_at: () => "2027-11-01T00:00:00Z" }],
  ["an end in local time without an offset", granted(), { expires_at: onText(() => "2027-03-28 14:20:30") }],
  ["a VAT number without its country", client(), { vat_number: onText((text) => text.replace(/^GE/, "")) }],
  ["a VAT number as a number", client({ vat_number: "77" }), { vat_number: onText(Number) }],
  ["a VAT number that it does not keep", client(), { vat_number: onText(() => null) }],
  ["a name cut at ten characters", client(), { name: onText((text) => text.slice(0, 10)) }],
  ["a name in capitals with a number", client(), { name: onText((text) => `#12 ${text.toUpperCase()}`) }],
  ["a masked query", hook(), { url: onText((text) => text.replace(/=.*/, "=***")) }],
  ["a URL without its query", hook(), { url: onText((text) => text.replace(/\?.*/, "")) }],
  ["events with other punctuation", hook(), { events: () => ["invoice_paid"] }],
  ["a domain without www.", granted(), { domain: onText((text) => text.replace(/^www\./, "")) }],
];

describe("a value that the host shows as", () => {
  it.each(BELIEVED)("%s is created once and is no difference", async (_what, declaration, rewrite) => {
    const project = await hostThat(declaration, rewrite, { expires_at: ["instant"] });
    await project.apply();
    project.sent();
    for (const look of ["first", "second"]) {
      const planned = await project.run("plan", "--detailed-exitcode");
      expect(planned.code, `${look}: ${planned.text}`).toBe(0);
      await project.apply();
    }
    expect(project.changesSent()).toEqual([]);
  });
});

/** Values that cost or expose more than was sent: sent a second time, and reported from then on. */
const NEVER: readonly [what: string, declaration: object, rewrite: Rewrite, says: string][] = [
  [
    "an end at the end of the day",
    granted(),
    { expires_at: onText((text) => `${text.slice(0, 10)}T23:59:59Z`) },
    'expires_at of hosting_grant.www["dev@acme.example"] stays "2027-03-28T23:59:59Z"; "2027-03-28T10:20:30Z" is declared',
  ],
  ["an end rounded up to the minute", granted(), { expires_at: onText(() => "2027-03-28T10:21:00Z") }, "expires_at of"],
  ["no end", granted(), { expires_at: () => null }, "stays null;"],
  ["another permission", granted(), { permission: onText(() => "manage") }, 'stays "manage"; "view" is declared'],
  [
    "the address of somebody else",
    granted(),
    { email: onText(() => "boss@acme.example") },
    'stays "boss@acme.example"',
  ],
  [
    "a URL at another host",
    hook(),
    { url: onText(() => "https://evil.example/in?token=***") },
    "url of hosting_webhook",
  ],
  [
    "a URL with another path",
    hook(),
    { url: onText(() => "https://hooks.example/out?token=***") },
    "url of hosting_webhook",
  ],
  [
    "a URL without encryption",
    hook(),
    { url: onText((text) => text.replace("https", "http")) },
    "url of hosting_webhook",
  ],
  [
    "more events",
    hook(),
    { events: () => ["invoice.paid", "invoice.created"] },
    "events of hosting_webhook.hook stays",
  ],
];

describe("a value that the host shows as", () => {
  it.each(NEVER)("%s is sent twice and then is a condition", async (_what, declaration, rewrite, says) => {
    const project = await hostThat(declaration, rewrite, { expires_at: ["instant"] });
    await project.apply();
    project.sent();
    expect((await project.run("plan", "--detailed-exitcode")).code).toBe(2);
    const second = await project.run("apply", "--auto-approve");
    expect(second.text.replace(/\s+/g, " ")).toContain(says);
    expect(project.changesSent()).toHaveLength(2);
    for (let check = 0; check < 2; check++) {
      const planned = await project.run("plan", "--detailed-exitcode");
      expect(planned.code, planned.text).toBe(0);
      expect(planned.text).toContain("Needs attention:");
      expect(planned.text.replace(/\s+/g, " ")).toContain(says);
      expect(planned.text).not.toContain("abc123");
      expect(planned.text).toContain("No changes. 1 condition needs attention; see above.");
      await project.apply();
    }
    expect(project.changesSent()).toEqual([]);
    expect((await project.plan()).conditions).toMatchObject([{ condition: "own_form" }]);
  });
});
