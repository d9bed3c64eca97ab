/** A host that writes values in its own form: nothing is created twice, and no change is sent a third time. */
import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../support/project.ts";
import { fixOf } from "../support/remedies.ts";
import { rewritingHost, rewritten } from "../support/rewriting-host.ts";

type Rewrite = Readonly<Record<string, (value: unknown) => unknown>>;

/** A project whose host rewrites these fields in each response. */
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

/** Rewritten values that count as the sent value, each of a class that a real host uses. */
const BELIEVED: readonly [what: string, declaration: object, rewrite: Rewrite][] = [
  ["an end rounded down to the minute", granted(), { expires_at: onText((text) => `${text.slice(0, 16)}:00Z`) }],
  ["an end limited to a year", granted("2029-01-01T00:00:00Z"), { expires_at: onText(() => "2027-11-01T00:00:00Z") }],
  ["an end in local time without an offset", granted(), { expires_at: onText(() => "2027-03-28 14:20:30") }],
  ["a VAT number without its country", client(), { vat_number: onText((text) => text.replace(/^GE/, "")) }],
  ["a name cut at ten characters", client(), { name: onText((text) => text.slice(0, 10)) }],
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
    if (Object.hasOwn(declaration, "webhooks"))
      expect((await project.recorded("hosting_webhook.hook"))?.attributes.secret).toEqual(expect.any(String));
  });
});

/**
 * Values that cost or expose more than the sent value: hostform sends the value a second time, then only reports it.
 */
const NEVER: readonly [what: string, declaration: object, rewrite: Rewrite, says: string][] = [
  [
    "an end at the end of the day",
    granted(),
    { expires_at: onText((text) => `${text.slice(0, 10)}T23:59:59Z`) },
    '"expires_at" of hosting_grant.www["dev@acme.example"] is still "2027-03-28T23:59:59Z"; "2027-03-28T10:20:30Z" is declared',
  ],
  ["no end", granted(), { expires_at: () => null }, "is still null;"],
  ["another permission", granted(), { permission: onText(() => "manage") }, 'is still "manage"; "view" is declared'],
  [
    "the address of somebody else",
    granted(),
    { email: onText(() => "boss@acme.example") },
    'is still "boss@acme.example"',
  ],
  [
    "a URL at another host",
    hook(),
    { url: onText(() => "https://evil.example/in?token=***") },
    '"url" of hosting_webhook.hook is still',
  ],
  [
    "more events",
    hook(),
    { events: () => ["invoice.paid", "invoice.created"] },
    '"events" of hosting_webhook.hook is still',
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
      expect(planned.text).toContain("No changes. 1 object still differs from its declared value.");
      await project.apply();
    }
    expect(project.changesSent()).toEqual([]);
    expect((await project.plan()).conditions).toMatchObject([{ condition: "own_form" }]);
  });
});

/** A project behind a host whose rewriting the test can change. */
async function behind(declaration: object, rewrite: { now: Rewrite }, only?: string): Promise<Project> {
  const project = await startProject({ declare: declaration, pinned: { expires_at: ["instant"] } });
  project.env.HOSTING_BASE_URL = await rewritingHost(project.sandbox.url, (answer, method) =>
    only === undefined || only === method ? rewritten(answer, rewrite.now) : answer,
  );
  return project;
}

/** Returns the exit code of a plan: 2 for differences. */
async function codeOf(project: Project): Promise<number> {
  const { code, text } = await project.run("plan", "--detailed-exitcode");
  expect([0, 2], text).toContain(code);
  return code;
}

const dayEnd = { expires_at: onText((text) => `${text.slice(0, 10)}T23:59:59Z`) };
const mask = { url: onText((text) => text.replace(/=.*/, "=***")) };

describe("an own form", () => {
  it.each([
    ["a masked query", hook(), mask],
    ["a VAT number without its country", client(), { vat_number: onText((text) => text.slice(2)) }],
  ] as const)(
    "that only lists show, %s, is learned at the first look and never later",
    async (_what, declaration, form) => {
      const rewrite: { now: Rewrite } = { now: form };
      const project = await behind(declaration, rewrite, "GET");
      await project.apply();
      project.sent();
      const planned = await project.run("plan", "--detailed-exitcode");
      expect(planned.code, planned.text).toBe(0);
      expect(planned.text).toContain("api.form");
      expect(planned.text).not.toContain("abc123");
      await project.apply();
      await project.expectNoChanges();
      expect(project.changesSent()).toEqual([]);
      rewrite.now = { url: onText(() => "https://hooks.example/in?token=###"), vat_number: onText(() => "78") };
      expect((await project.run("plan", "--detailed-exitcode")).code, "a new form is a difference").not.toBe(0);
    },
  );

  it("that costs or exposes more, and that only lists show, is sent twice as well", async () => {
    const project = await behind(granted(), { now: dayEnd }, "GET");
    for (const [look, changes] of [2, 2, 0, 0].entries()) {
      await project.apply();
      expect(project.changesSent(), `apply ${look}`).toHaveLength(changes);
    }
    expect(await codeOf(project)).toBe(0);
  });

  it("is a difference again once the declaration or the form changes", async () => {
    const rewrite: { now: Rewrite } = { now: dayEnd };
    const project = await behind(granted(), rewrite);
    for (let run = 0; run < 3; run++) await project.apply();
    expect(await codeOf(project)).toBe(0);
    await project.declare(granted("2027-03-29T10:20:30Z"));
    expect(await codeOf(project), "another declaration").toBe(2);
    await project.declare(granted());
    expect(await codeOf(project)).toBe(0);
    rewrite.now = { expires_at: onText(() => "2027-03-30T00:00:00Z") };
    expect(await codeOf(project), "another form").toBe(2);
    project.sent();
    for (let run = 0; run < 3; run++) await project.apply();
    expect(project.changesSent(), "one more change, as the value was sent twice before").toHaveLength(2);
    await project.declare(granted("2027-03-30T00:00:00Z"));
    expect((await project.plan()).conditions, "the declaration follows the host").toBeUndefined();
    expect(await codeOf(project)).toBe(0);
  });

  it("may be declared in place of the value that was sent", async () => {
    const project = await behind(client(), { now: { vat_number: onText((text) => text.replace("GE", "")) } });
    await project.apply();
    project.sent();
    await project.declare(client({ vat_number: "77" }));
    expect(await codeOf(project)).toBe(0);
    await project.apply();
    await project.declare(client({ vat_number: "GE78" }));
    const refused = await project.run("plan");
    expect(refused.code).toBe(1);
    expect(refused.text).toContain("plan.immutable");
    expect(project.changesSent()).toEqual([]);
  });

  it("of an object whose answer was lost is learned when the list settles its create", async () => {
    const project = await behind(client(), { now: { vat_number: onText((text) => text.replace("GE", "")) } });
    project.control.addFault({ method: "POST", path: "/accounts", phase: "after", drop: true, times: 9 });
    await project.run("apply", "--auto-approve");
    project.clock.advance(120_000);
    await project.apply();
    expect(project.control.list("accounts")).toHaveLength(1);
    await project.expectNoChanges();
  });

  it("is not assumed of an object that is adopted: its value is the one that the host shows", async () => {
    const project = await behind(
      { project: "forms" },
      { now: { vat_number: onText((text) => text.replace("GE", "")) } },
    );
    const { id } = project.control.create("accounts", { name: "Acme", vat_number: "GE77" } as never);
    await project.declare(client({ name: "Acme", import: String(id) }));
    const refused = await project.run("plan");
    expect(refused.code).toBe(1);
    expect(refused.text).toContain("plan.mismatch");
    await project.declare(client({ name: "Acme", import: String(id), vat_number: "77" }));
    await project.apply();
    await project.expectNoChanges();
  });
});

describe("a value that no call changes", () => {
  const all = (own: Readonly<Record<string, object>> = {}) => ({
    project: "forms",
    client_accounts: { acme: { name: "Acme", company_name: "Acme LLC", currency: "USD", ...own.client } },
    services: { www: { plan_id: 11, currency: "USD", domain: "www.acme.example", ...own.service } },
    migration_requests: { move: { domain: "old.example", order_id: "${hosting_service.www.id}", ...own.move } },
  });
  const CASES: readonly [
    address: string,
    name: string,
    rewrite: Rewrite,
    other: Parameters<typeof all>[0],
    is: string,
  ][] = [
    [
      "hosting_client_account.acme",
      "company_name",
      { company_name: () => "Omega" },
      { client: { company_name: "Omega" } },
      '"Omega"',
    ],
    [
      "hosting_migration_request.move",
      "domain",
      { domain: onText((text) => text.replace("old", "new")) },
      { move: { domain: "new.example" } },
      '"new.example"',
    ],
    [
      "hosting_migration_request.move",
      "order_id",
      { order_id: (id) => id && 9999 },
      { move: { order_id: "9999" } },
      '"9999"',
    ],
  ];
  const refusalsOf = async (project: Project, address: string) => {
    const { diagnostics } = await project.plan();
    return diagnostics.filter((one) => one.address === address && one.code === "plan.immutable");
  };

  it.each(CASES)(
    "%s %s is refused by its cause: the account, or the declaration",
    async (address, name, rewrite, other, is) => {
      const now: { now: Rewrite } = { now: {} };
      const project = await behind(all(), now);
      await project.apply();
      await project.expectNoChanges();
      await project.declare(all(other));
      const [declared] = await refusalsOf(project, address);
      expect(declared?.summary).toBe(`The API cannot change "${name}" of ${address}`);
      expect(fixOf(declared)).toContain("Or declare the new values under a new name");

      await project.declare(all());
      now.now = rewrite;
      const [changed] = await refusalsOf(project, address);
      expect(changed?.summary).toBe(
        `"${name}" of ${address} was changed in the account; the earlier value is declared`,
      );
      expect(changed?.detail).toContain(`The account has ${is}; `);
      expect(fixOf(changed)).not.toContain("Restore `");
      expect(fixOf(changed)).toContain("If the value in the account is correct: declare `");
      expect(project.changesSent().filter((line) => !line.startsWith("POST"))).toEqual([]);
    },
  );

  it("and that the host did not keep from the beginning is no change of the declaration either", async () => {
    const project = await behind(all(), { now: { currency: () => "EUR" } });
    await project.apply();
    for (const address of ["hosting_client_account.acme", "hosting_service.www"]) {
      const [kept] = await refusalsOf(project, address);
      expect(kept?.summary).toBe(`"currency" of ${address}: the host returned a different value than requested`);
    }
    await project.declare(all({ client: { currency: "EUR" }, service: { currency: "EUR" } }));
    await project.expectNoChanges();
  });
});

describe("a change that the host does not keep", () => {
  it("of a grant is made twice by a watch that looks seven times", async () => {
    const project = await hostThat(granted(), dayEnd, { expires_at: ["instant"] });
    const watched = await project.run("watch", "--auto-approve", "--interval", "1m", "--max-runs", "7");
    expect(watched.code, watched.text).toBe(0);
    const grants = project.changesSent().filter((line) => line.includes("/grants"));
    expect(grants.map((line) => line.split(" ")[0])).toEqual(["POST", "DELETE", "POST"]);
    expect(watched.text.match(/! "expires_at" of/g), watched.text).toHaveLength(1);
    expect(watched.text).toContain("No changes. 1 object still differs from its declared value.");
  });

  it("by somebody else counts as the host's the second time, and --replace sends the declared value", async () => {
    const project = await startProject({ declare: granted(undefined) });
    await project.apply();
    const somebodyChanges = () => {
      const grant = project.control.list("grants").find(({ email }) => email === "dev@acme.example");
      project.control.change("grants", grant?.id ?? 0, { permission: "manage" });
    };
    somebodyChanges();
    await project.apply();
    somebodyChanges();
    await project.apply();
    project.sent();
    expect((await project.plan()).conditions).toMatchObject([{ condition: "own_form" }]);
    await project.apply("--replace", 'hosting_grant.www["dev@acme.example"]');
    expect(project.changesSent()).toHaveLength(2);
    await project.expectNoChanges();
  });

  it("in place is made twice: a suspension that does not come", async () => {
    const declaration = (suspended?: boolean) => ({
      project: "forms",
      services: {
        www: {
          plan_id: 11,
          currency: "USD",
          domain: "www.acme.example",
          ...(suspended !== undefined && { suspended }),
        },
      },
    });
    const rewrite: { now: Rewrite } = { now: { status: onText((word) => word.replace(/suspended/i, "active")) } };
    const project = await behind(declaration(), rewrite);
    await project.apply();
    await project.declare(declaration(true));
    project.sent();
    for (const times of [1, 1, 0, 0]) {
      await project.run("apply", "--auto-approve", "--no-wait");
      expect(project.changesSent()).toHaveLength(times);
      project.clock.advance(60_000);
    }
    const planned = await project.run("plan", "--detailed-exitcode");
    expect(planned.text).toContain('"suspended" of hosting_service.www is still false; true is declared');
    rewrite.now = {};
    await project.apply();
    await project.expectNoChanges();
    const [site] = project.control.list("services").filter(({ domain }) => domain === "www.acme.example");
    project.control.change("services", site?.id ?? 0, { status: "active" } as never);
    expect(await codeOf(project), "what somebody changes later is put right").toBe(2);
  });

  it("goes through a saved plan, which shows the condition", async () => {
    const project = await hostThat(granted(), dayEnd, { expires_at: ["instant"] });
    await project.apply();
    expect((await project.run("plan", "--out", "again.plan")).code).toBe(0);
    expect((await project.run("apply", "again.plan")).code).toBe(0);
    project.sent();
    project.clock.advance(60_000);
    await project.run("plan", "--out", "kept.plan");
    const shown = await project.run("show", "kept.plan");
    expect(shown.text).toContain('"expires_at" of');
    const json = JSON.parse((await project.run("show", "kept.plan", "--json")).out);
    expect(json.hostform.conditions).toMatchObject([{ condition: "own_form", fix: expect.any(String) }]);
    expect(project.changesSent()).toEqual([]);
  });
});
