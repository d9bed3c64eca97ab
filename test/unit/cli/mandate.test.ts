/** `hostform mandate`: keys, mandates, their ledger and receipts. */
import { hash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { Mandate, Receipt } from "../../../src/core/model/index.ts";
import { readMandate, signMandate, signReceipt } from "../../../src/project/mandate/document.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { mandateOf, newKey, receiptOf } from "../../support/mandates.ts";
import { type Project, project, projectWithService, runIn } from "./harness.ts";
import { inLedger } from "./ledger.ts";

const { key, pem, trusted } = newKey();
const SITE = "services: {www: {plan_id: 11, currency: USD, domain: www.acme.example, deletion_policy: forget}}\n";

/** A project, the environment of its commands, and a key of an approver. */
async function given(declaration = `project: acme\n${SITE}`, made?: Project) {
  const own = made ?? (await project(declaration));
  writeFileSync(path.join(own.dir, "ana.pem"), pem, { mode: 0o600 });
  const env: Record<string, string> = {
    HOSTING_BASE_URL: own.sandbox.url,
    HOSTING_TOKEN: own.sandbox.tokens.agency,
    HOSTFORM_STATE_HOME: path.join(own.dir, "home"),
    HOSTFORM_MANDATE_KEY_FILE: "ana.pem",
    HOSTFORM_APPROVERS: `ana=${trusted}`,
    HOSTFORM_RUNNERS: `ci=${trusted}`,
  };
  const run = async (...args: string[]) => {
    const ran = await own.run(args, { env });
    expect(ran.stdout + ran.stderr, "no output contains the private key").not.toContain(pem.split("\n")[1]);
    return ran;
  };
  const mandate = async (...args: string[]): Promise<Mandate> => {
    const kinds = args[0]?.endsWith(".plan") ? [] : ["--kinds", "service"];
    const ran = await run("mandate", "create", ...kinds, ...args);
    expect(ran.code, ran.stderr).toBe(0);
    return readMandate(ran.stdout, "stdout", env, Date.now());
  };
  return { own, env, run, mandate, ledger: { dir: own.dir, env } };
}

describe("mandate key", () => {
  it("writes a private key for its owner only, and prints the public key", async () => {
    const { own, run, env, mandate } = await given();
    const ran = await run("mandate", "key", "new.pem");
    expect(ran.stdout).toMatch(/^ed25519:[\w+/]{43}=\n$/);
    expect(statSync(path.join(own.dir, "new.pem")).mode & 0o777).toBe(0o600);
    Object.assign(env, { HOSTFORM_MANDATE_KEY_FILE: "new.pem", HOSTFORM_APPROVERS: ran.stdout.trim() });
    expect((await mandate()).project).toBe("acme");
  });

  it("never replaces a file", async () => {
    const { own, run } = await given();
    const ran = await run("mandate", "key", "ana.pem");
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringMatching(/another file of that name is there/) });
    expect(readFileSync(path.join(own.dir, "ana.pem"), "utf8")).toBe(pem);
  });
});

describe("mandate create", () => {
  it("without a plan allows nothing that is not given", async () => {
    const { mandate } = await given();
    const { id: _, issued, expires, accounts, ...limits } = await mandate();
    expect(limits).toEqual({
      ...{
        project: "acme",
        environment: null,
        plan: null,
        kinds: ["service"],
        max_orders: 0,
        max_spend: {},
        max_removals: 0,
      },
      ...{ targets: [], objects: null, no_offline: false, uses: 1 },
    });
    expect(Date.parse(expires) - Date.parse(issued)).toBe(2 * 3_600_000);
    expect(accounts).toEqual({ default: { origin: expect.stringMatching(/^http:/), anchors: [] } });
  });

  it("has the given limits, and says them in words", async () => {
    const { run, env } = await given();
    const limits = ["--kinds", "service,grant", "--max-orders", "3", "--max-spend", "usd=5000", "--max-removals", "1"];
    const more = ["--target", "hosting_service.www", "--no-offline", "--expires", "7d", "--uses", "2"];
    const { stdout, stderr } = await run("mandate", "create", ...limits, ...more);
    expect(readMandate(stdout, "stdout", env, Date.now())).toMatchObject({
      ...{ kinds: ["service", "grant"], max_orders: 3, max_spend: { USD: 5000 }, max_removals: 1 },
      ...{ targets: ["hosting_service.www"], no_offline: true, uses: 2 },
    });
    expect(stderr).toMatch(/^Mandate [\w-]+: project acme, until \S+Z\./);
    expect(stderr.replace(/\s+/g, " ")).toContain(
      "No site goes offline. May change access of people, services. Only hosting_service.www. Of existing objects, only none with their grants. At most 2 uses, 3 orders, 5000 (USD, API's unit), 1 removal.",
    );
    expect(stderr).toContain("Account default is empty, so the mandate accepts any account at");
  });

  it("names exactly the saved plan, its state and its accounts", async () => {
    const made = await projectWithService();
    const { own, env, run, mandate } = await given("", made);
    const before = made.sandbox.control.requests().length;
    expect((await run("import", "hosting_service.www", made.id)).code).toBe(0);
    await own.write("hosting.yaml", `${await own.read("hosting.yaml")}    suspended: true\n`);
    expect((await run("plan", "--out", "p.plan")).code).toBe(0);
    const read = made.sandbox.control.requests().length;
    expect(read).toBeGreaterThan(before);
    const found = await mandate("p.plan", "--max-removals", "0");
    expect(made.sandbox.control.requests(), "the approver needs no request").toHaveLength(read);
    const saved = JSON.parse(await own.read("p.plan"));
    expect(found).toMatchObject({
      project: "test",
      accounts: saved.origin.identities,
      plan: {
        digest: hash("sha256", await own.read("p.plan")),
        lineage: saved.origin.lineage,
        serial: saved.origin.serial,
      },
      ...{ uses: 1, max_orders: null, max_spend: null, max_removals: 0 },
    });
    expect((await run("mandate", "create", "p.plan")).stderr).toMatch(/is suspended/);
    const elsewhere = temporaryFolder();
    for (const file of ["p.plan", "ana.pem"]) copyFileSync(path.join(own.dir, file), path.join(elsewhere, file));
    const alone = await runIn(elsewhere, ["mandate", "create", "p.plan"], {
      env: { HOSTFORM_MANDATE_KEY_FILE: "ana.pem" },
    });
    expect(alone.code, "without a token and a declaration").toBe(0);
    expect(readMandate(alone.stdout, "stdout", env, Date.now()).plan).toEqual(found.plan);
  });

  it("reads the account from the state, and without anchors there sends one GET request", async () => {
    const { own, env, mandate } = await given();
    const { control } = own.sandbox;
    const [seeded] = control.seedServices({ plan_id: 11 });
    const before = control.requests().length;
    const unread = await mandate();
    expect(unread.accounts.default?.anchors).toMatchObject([{ id: `${seeded?.id}` }]);
    expect(
      control
        .requests()
        .slice(before)
        .map(({ method }) => method),
    ).toEqual(["GET"]);
    const without = { ...env, HOSTFORM_APPROVERS: undefined };
    expect((await own.run(["apply", "--auto-approve"], { env: without })).code).toBe(0);
    const after = control.requests().length;
    expect((await mandate()).accounts.default?.anchors).toEqual(unread.accounts.default?.anchors);
    expect(control.requests()).toHaveLength(after);
  });

  it("names the account of a declaration without resources, so that an agent can add the first", async () => {
    const { mandate } = await given("project: acme\n");
    expect(Object.keys((await mandate()).accounts)).toEqual(["default"]);
  });

  it("shows every effect of the plan that the approver signs", async () => {
    const sites = Array.from(
      { length: 25 },
      (_, at) => `  s${at}: {plan_id: 11, currency: USD, domain: s${at}.example}\n`,
    );
    const { run } = await given(`project: acme\nservices:\n${sites.join("")}`);
    expect((await run("plan", "--out", "p.plan")).code).toBe(0);
    const { stderr } = await run("mandate", "create", "p.plan");
    expect(stderr.match(/^ {2}s\d+\.example is ordered/gm)).toHaveLength(25);
  });

  it("shows the money of the plan with the scale of the plan, and warns about everything beyond the limits", async () => {
    const { env, run } = await given();
    env.HOSTING_MONEY_SCALE = "2";
    expect((await run("plan", "--out", "p.plan")).code).toBe(0);
    delete env.HOSTING_MONEY_SCALE;
    const flat = (text: string) => text.replace(/\s+/g, " ");
    expect(flat((await run("mandate", "create", "p.plan")).stderr)).toContain(
      "Orders: 1 service, list price 5.00 USD, billed 4.50 USD after discount",
    );
    expect((await run("show", "p.plan")).stdout).toContain("4.50 USD");
    const limits = ["--max-spend", "USD=1", "--max-orders", "0", "--kinds", "grant", "--target", "hosting_grant.*"];
    const { code, stderr } = await run("mandate", "create", "p.plan", ...limits);
    expect(code).toBe(0);
    for (const what of [
      "it spends too much",
      "it orders too much",
      "it changes other kinds",
      "it changes other resources",
    ])
      expect(flat(stderr)).toMatch(new RegExp(`Warning: Mandate [\\w-]+ does not allow this plan: ${what}`));
    expect(stderr).toContain("Plan: 4.50 USD.\nMandate: 0.01 USD.");
    env.HOSTING_MONEY_SCALE = "0";
    expect(flat((await run("mandate", "create", "p.plan")).stderr)).toContain("billed 450 USD");
  });

  it("names the environment of a saved plan", async () => {
    const { own, run, mandate } = await given();
    mkdirSync(path.join(own.dir, "environments"));
    await own.write("environments/prod.yaml", "guards: {max_orders: 9}\n");
    expect((await run("plan", "-e", "prod", "--out", "p.plan")).code).toBe(0);
    expect((await mandate("p.plan")).environment).toBe("prod");
    expect((await mandate("-e", "prod")).environment).toBe("prod");
  });

  it("writes a file for its owner only, and replaces only a mandate", async () => {
    const { own, run } = await given();
    for (const _ of [1, 2])
      expect((await run("mandate", "create", "--kinds", "service", "--out", "m.mandate")).code).toBe(0);
    expect(statSync(path.join(own.dir, "m.mandate")).mode & 0o777).toBe(0o600);
    await own.write("notes.txt", "mine");
    const ran = await run("mandate", "create", "--kinds", "service", "--out", "notes.txt");
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringMatching(/not a mandate that hostform saved/) });
    expect(await own.read("notes.txt")).toBe("mine");
  });

  it.each([
    [["--kinds", "servce"], 'Did you mean "service"'],
    [["--max-spend", "XXX=1"], "The currencies are"],
    [["--max-spend", "USD=-1"], "Expected CURRENCY=AMOUNT"],
    [["--max-orders", "-1"], "Expected a whole number"],
    [["--expires", "91d"], "Expected a time from 1m to 90d"],
    [["--expires", "90"], "Expected a time from 1m to 90d"],
    [["--expires", "0h"], "Expected a time from 1m to 90d"],
    [["--uses", "0"], "Expected a whole number from 1"],
    [["p.plan", "--uses", "2"], "--uses and a saved plan cannot be combined"],
    [["missing.plan"], "missing.plan"],
    [["hosting.yaml"], "hosting.yaml"],
    [["--max-orders", "1"], "--kinds is required"],
    [["--out", "hosting.tfstate"], "hosting.tfstate"],
  ])("refuses %j", async (args, text) => {
    const { run } = await given();
    const isPlan = args.some((word) => /plan$|yaml$|kinds|max-orders/.test(word));
    const ran = await run("mandate", "create", ...(isPlan ? [] : ["--kinds", "service"]), ...args);
    expect(ran.code).not.toBe(0);
    expect(ran.stderr).toContain(text);
    expect(ran.stdout).toBe("");
  });

  it("warns about a target that matches nothing", async () => {
    const { run } = await given();
    for (const target of ["hosting_service.wwww", "client:nobody", "hosting_grant.*"]) {
      const ran = await run("mandate", "create", "--kinds", "service", "--target", target);
      expect(ran).toMatchObject({
        code: 0,
        stderr: expect.stringContaining(`The target ${target} matches no resource now`),
      });
    }
    expect(
      (await run("mandate", "create", "--kinds", "service", "--target", "hosting_service.w*")).stderr,
    ).not.toContain("Warning");
  });

  it("lists the existing objects of its targets, and warns about orders without an amount", async () => {
    const { own, run, env, mandate } = await given();
    const without = { ...env, HOSTFORM_APPROVERS: undefined };
    expect((await own.run(["apply", "--auto-approve"], { env: without })).code).toBe(0);
    const [service] = own.sandbox.control.list("services").toReversed();
    const found = await mandate("--target", "hosting_service.w*", "--max-orders", "1");
    expect(found.objects).toEqual([`default hosting_service ${service?.id}`]);
    const { stderr } = await run("mandate", "create", "--kinds", "service", "--max-orders", "1");
    expect(stderr).toContain("allows orders, but no amount");
    const paid = ["--max-orders", "1", "--max-spend", "USD=1"];
    expect((await run("mandate", "create", "--kinds", "service", ...paid)).stderr).not.toContain("but no amount");
  });

  it("needs a key", async () => {
    const { run, env } = await given();
    delete env.HOSTFORM_MANDATE_KEY_FILE;
    expect(await run("mandate", "create", "--kinds", "service")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Set HOSTFORM_MANDATE_KEY_FILE or HOSTFORM_MANDATE_KEY_COMMAND"),
    });
  });
});

describe("mandate list, revoke and receipts", () => {
  const fresh = (over: Partial<Mandate> = {}) =>
    mandateOf({ issued: new Date().toISOString(), expires: new Date(Date.now() + 3_600_000).toISOString(), ...over });

  const PLAN = { digest: "a".repeat(64), lineage: "l", serial: 1 };

  it("lists a use without a receipt with its orders, and --verify fails for it", async () => {
    const { run, ledger } = await given();
    await inLedger(ledger, async (of) => {
      await of.begin(fresh(), null);
      const order = { address: "hosting_service.www", type: "hosting_service", provider: "default", currency: "USD" };
      await of.reserve(fresh(), 1, "k", { ...order, generation: 1, most: 450, unknown: "" });
    });
    const ran = await run("mandate", "receipts", "--verify");
    expect(ran.code).toBe(1);
    expect(ran.stdout).toContain("mandate 0f1e2d3c, use 1: no receipt.");
    expect(ran.stdout).toContain(
      "Order with an unknown result of hosting_service.www: 450 (USD, API's unit), no invoice",
    );
    expect((await run("mandate", "receipts")).code).toBe(0);
  });

  it("names the fix of a mistyped path, and of approvers without the key", async () => {
    const { run, env } = await given();
    await run("plan", "--out", "p.plan");
    await run("mandate", "create", "p.plan", "--out", "m.mandate");
    const { stderr } = await run("apply", "p.plan", "--mandate", "n.mandate");
    expect(stderr).toContain("Check the path of the mandate.");
    expect(stderr).not.toContain("must not be edited");
    env.HOSTFORM_APPROVERS = `bo=${newKey().trusted}`;
    expect((await run("apply", "p.plan", "--mandate", "m.mandate")).stderr).toContain(
      "add the key to HOSTFORM_APPROVERS",
    );
  });

  it("shows uses, what is left, and the end of a mandate", async () => {
    const { run, ledger } = await given();
    await inLedger(ledger, async (of) => {
      await of.begin(fresh(), null);
      await of.finish(fresh(), receiptOf(), null);
      await of.begin(fresh(), null);
      await of.begin(fresh({ id: "second" }), null);
    });
    const rows = (await run("mandate", "list", "--json")).json();
    expect(rows).toMatchObject([
      {
        id: "0f1e2d3c",
        status: "used_up",
        uses: [
          { use: 1, receipt: receiptOf() },
          { use: 2, receipt: null },
        ],
      },
      { id: "second", status: "in_force", left: { uses: 1, orders: 3, spend: { USD: 5000 }, removals: 0 } },
    ]);
    const { stdout } = await run("mandate", "list");
    expect(stdout).toMatch(
      /^0f1e2d3c: used up. Left until \S+Z: 0 uses, 3 orders, 5000 \(USD, API's unit\), 0 removals.$/m,
    );
    expect(stdout).toMatch(/^ {2}Use 2, \S+Z: no receipt\. The apply is running, or it crashed\.$/m);
  });

  it("revokes by id, by file, and before the first use", async () => {
    const { run, ledger, own } = await given();
    const bound = fresh({ plan: PLAN, uses: 1 });
    await inLedger(ledger, (of) => of.begin(bound, null));
    expect((await run("mandate", "revoke", "0f1e2d3c")).stderr).toContain("Mandate 0f1e2d3c is revoked.");
    expect((await run("mandate", "revoke", "0f1e2d3c")).stderr).toContain("was revoked before");
    await run("plan", "--out", "p.plan");
    await run("mandate", "create", "p.plan", "--out", "m.mandate");
    const json = { revoked: true, shared: false, known: false };
    expect((await run("mandate", "revoke", "m.mandate", "--json")).json()).toMatchObject(json);
    await own.write("bad.mandate", "form: x\n");
    expect((await run("mandate", "revoke", "bad.mandate")).code).toBe(1);
    const unknown = await run("mandate", "revoke", "0f1e2d3d");
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("no mandate has this id") });
    const rows = (await run("mandate", "list", "--json")).json();
    expect(rows.map(({ status }: { status: string }) => status)).toEqual(["revoked", "revoked"]);
    const refused = inLedger(ledger, (of) => of.begin(bound, null));
    await expect(refused).rejects.toMatchObject({ diagnostics: [{ code: "mandate.revoked" }] });
  });

  it("revokes no mandate that counts in a shared store where the store is local", async () => {
    const { run, ledger } = await given();
    await inLedger(ledger, (of) => of.begin(fresh({ plan: PLAN, uses: 2 }), null));
    await run("mandate", "create", "--kinds", "service", "--out", "m.mandate");
    for (const named of ["0f1e2d3c", "m.mandate"])
      expect(await run("mandate", "revoke", named)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("the store here is on this machine"),
      });
    expect((await run("mandate", "list", "--json")).json()).toMatchObject([{ status: "in_force" }]);
  });

  it("warns at a revocation that other machines or the store do not know", async () => {
    const { run } = await given();
    await run("plan", "--out", "p.plan");
    await run("mandate", "create", "p.plan", "--out", "m.mandate");
    const { stderr } = await run("mandate", "revoke", "m.mandate", "--quiet");
    expect(stderr).toMatch(/is revoked on this machine only/);
    expect(stderr).toMatch(/remove the approver's key from HOSTFORM_APPROVERS/);
    expect(stderr).not.toContain("has no use");
    const unknown = await run("mandate", "revoke", "0f1e2d3c-0000-4000-8000-000000000000", "--quiet");
    expect(unknown).toMatchObject({ code: 0, stderr: expect.stringContaining("The store has no use of mandate 0f1e") });
  });

  it("revokes no mandate of another account: its store does not know the revocation", async () => {
    const { run, own } = await given();
    const other = fresh({
      plan: PLAN,
      uses: 1,
      accounts: { default: { origin: "https://other.example", anchors: [] } },
    });
    await own.write("m.mandate", signMandate(other, key));
    const ran = await run("mandate", "revoke", "m.mandate");
    expect(ran).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Mandate 0f1e2d3c is for another account \[account.foreign\]/),
    });
    expect((await run("mandate", "list", "--json")).json()).toEqual([]);
    expect((await run("mandate", "revoke", ".")).stderr).toContain("[mandate.file]");
  });

  it("revokes no edited file, because the file may name another id", async () => {
    const { run, own, env } = await given();
    await run("plan", "--out", "p.plan");
    await run("mandate", "create", "p.plan", "--out", "m.mandate");
    const text = await own.read("m.mandate");
    await own.write("m.mandate", text.replace(/^id: "./m, 'id: "x'));
    const ran = await run("mandate", "revoke", "m.mandate");
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining("[mandate.signature]") });
    delete env.HOSTFORM_APPROVERS;
    expect((await run("mandate", "revoke", "m.mandate")).stderr).toContain("The store has no use of mandate x");
  });

  it("verifies no receipt that the store has as another use", async () => {
    const { run, ledger } = await given();
    await inLedger(ledger, async (of) => {
      const copy = { ...receiptOf(), use: 2 };
      for (const receipt of [receiptOf(), copy]) {
        await of.begin(fresh(), null);
        await of.finish(fresh(), receipt, signReceipt(receiptOf(), key));
        Object.assign(receipt, { use: 1 });
      }
    });
    const ran = await run("mandate", "receipts", "--verify", "--json");
    const rows = ran.json() as { signature: string; signed_by: string | null; receipt: Receipt }[];
    expect(rows.map(({ signature, signed_by, receipt }) => [signature, signed_by, receipt.use])).toEqual([
      ["valid", "ci", 1],
      ["invalid", null, 2],
    ]);
    expect(ran.code).toBe(1);
  });

  it("verifies each receipt, and fails for an edited or unsigned one", async () => {
    const { run, ledger, own, env } = await given();
    const put = (use: number, receipt: Receipt, text: string | null) =>
      inLedger(ledger, async (of) => {
        await of.begin(fresh({ uses: 9 }), null);
        await of.finish(fresh({ uses: 9 }), { ...receipt, use }, text);
      });
    await put(1, receiptOf(), signReceipt(receiptOf(), key));
    const good = await run("mandate", "receipts", "--verify");
    expect(good).toMatchObject({ code: 0, stdout: expect.stringContaining("signed by ci") });
    expect(good.stdout).toContain("Order 1001 of hosting_service.www: 1200 (USD, API's unit), invoice INV-7");
    await put(2, receiptOf({ use: 2 }), null);
    await put(3, receiptOf({ use: 3 }), signReceipt(receiptOf({ use: 3 }), newKey().key));
    await put(4, receiptOf({ use: 4, complete: false }), signReceipt(receiptOf({ use: 4 }), key));
    const bad = await run("mandate", "receipts", "--verify", "--json");
    const signatures = bad.json().map(({ signature }: { signature: string }) => signature);
    expect([bad.code, signatures]).toEqual([1, ["valid", "missing", "invalid", "invalid"]]);
    expect((await run("mandate", "receipts")).code, "without --verify").toBe(0);
    const text = signReceipt(receiptOf(), key);
    writeFileSync(path.join(own.dir, "r.yaml"), Buffer.from([0xff, 0xfe]));
    expect((await run("mandate", "receipts", "r.yaml")).stderr).toContain("[mandate.file]");
    await own.write("r.yaml", text);
    expect((await run("mandate", "receipts", "r.yaml", "--verify")).code).toBe(0);
    await own.write("r.yaml", text.replace('"total":1200', '"total":1201'));
    expect((await run("mandate", "receipts", "r.yaml", "--verify")).code).toBe(1);
    delete env.HOSTFORM_RUNNERS;
    expect((await run("mandate", "receipts", "r.yaml", "--verify")).stderr).toContain("[mandate.signers]");
  });
});

describe("status", () => {
  it("has a condition for an order whose invoice the account does not have, and a code of --fail-on", async () => {
    const { run, ledger } = await given();
    await inLedger(ledger, async (of) => {
      const mandate = mandateOf({
        issued: new Date().toISOString(),
        expires: new Date(Date.now() + 3_600_000).toISOString(),
      });
      await of.begin(mandate, null);
      await of.finish(mandate, receiptOf(), null);
      await of.begin(mandate, null);
      await of.finish(mandate, receiptOf({ use: 2, project: "other", orders: [] }), null);
    });
    const summary = "the account does not have invoice INV-7 of the order (mandate 0f1e2d3c)";
    const report = (await run("status", "--json")).json();
    expect(report.attention).toContainEqual(
      expect.objectContaining({
        condition: "receipt",
        address: "hosting_service.www",
        summary: expect.stringContaining(summary),
      }),
    );
    expect(report.holds).toContain("receipt");
    for (const format of ["text", "markdown", "html"]) {
      const { stdout } = await run("status", "--format", format);
      expect(stdout.replace(/\s+/g, " "), format).toContain("INV-7");
    }
    expect((await run("status", "--fail-on", "receipt")).code).toBe(4);
  });

  it("has no condition after an apply with a mandate, whose receipt names the invoice", async () => {
    const { run } = await given();
    await run("plan", "--out", "p.plan");
    await run("mandate", "create", "p.plan", "--out", "m.mandate");
    const applied = await run("apply", "p.plan", "--mandate", "m.mandate");
    expect(applied.code, applied.stderr).toBe(0);
    const [{ receipt }] = (await run("mandate", "receipts", "--json")).json();
    expect(receipt).toMatchObject({
      use: 1,
      orders: [{ address: "hosting_service.www", invoice: { id: expect.any(String) } }],
    });
    const report = (await run("status", "--json")).json();
    expect(report.money.invoices.map(({ id }: { id: string }) => id)).toContain(receipt.orders[0].invoice.id);
    expect(report.holds).not.toContain("receipt");
  });
});
