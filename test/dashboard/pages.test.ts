import { describe, expect, test } from "vitest";
import { PROFILE_SETS } from "../../src/sandbox/index.ts";
import { excuseViolations } from "../support/sandbox.ts";
import { ask, furnish, paths, site, Visitor } from "./site.ts";

const HOSTILE = `"><img src=x onerror=window.hacked=1><script>window.hacked=1</script>\u202Egnp.exe\u0007'`;

/** Returns the errors in the structure of a page. */
function faultsOf(html: string): string[] {
  const found: string[] = [];
  const count = (pattern: RegExp) => [...html.matchAll(pattern)].length;
  const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
  const twice = ids.filter((id, at) => ids.indexOf(id) !== at);
  if (twice.length > 0) found.push(`ids given twice: ${twice}`);
  if (count(/<h1>/g) !== 1) found.push("not one h1");
  if (count(/<main /g) !== 1 || count(/<nav /g) < 1) found.push("landmarks are missing");
  if (!/<html lang="en">/.test(html) || !/<title>[^<]+<\/title>/.test(html)) found.push("no language or title");
  if (count(/<table>/g) !== count(/<caption/g)) found.push("a table without a caption");
  const bare = html.replace(/="[^"]*"/g, '=""');
  if (/<[^>]+ (?:style|on[a-z]+)=/.test(bare)) found.push("an inline style or handler");
  if (count(/<script/g) !== 1) found.push("another script than ours");
  if (/(?:src|href|action)="(?:https?:)?\/\/|javascript:/i.test(html)) found.push("something from elsewhere");
  for (const [, kind, attributes = ""] of html.matchAll(/<(input|select|textarea)\b([^>]*)>/g)) {
    if (/type="(?:hidden|checkbox)"/.test(attributes)) continue;
    const id = / id="([^"]*)"/.exec(attributes)?.[1];
    if (id === undefined || !html.includes(`<label for="${id}">`))
      found.push(`a ${kind} without a label: ${attributes}`);
  }
  for (const [, about = ""] of html.matchAll(/aria-(?:describedby|labelledby)="([^"]*)"/g)) {
    for (const id of about.split(" ")) if (!ids.includes(id)) found.push(`nothing has the id ${id}`);
  }
  return found;
}

describe("every page", () => {
  test("is complete, has a strict content security policy, and changes nothing", async () => {
    const sandbox = await site();
    const made = await furnish(sandbox);
    const visitor = new Visitor(sandbox);
    const before = sandbox.control.state();
    for (const path of paths(made)) {
      const { status, headers, text } = await visitor.see(path);
      expect({ path, status, type: headers.get("content-type") }).toEqual({
        path,
        status: 200,
        type: "text/html; charset=UTF-8",
      });
      expect(faultsOf(text), path).toEqual([]);
      const policy = headers.get("content-security-policy") ?? "";
      expect(policy, path).toContain("default-src 'none'");
      expect(policy, path).not.toContain("unsafe");
      expect(headers.get("x-frame-options"), path).toBe("DENY");
      expect(headers.get("cache-control"), path).toBe("no-store");
    }
    expect(sandbox.control.state()).toEqual(before);
  });

  test("shows no value of a token and no secret", async () => {
    const sandbox = await site();
    const made = await furnish(sandbox);
    const { tokens, webhooks } = sandbox.control.state();
    const secrets = [...tokens.map(({ value }) => value), ...webhooks.map(({ secret }) => secret)];
    const visitor = new Visitor(sandbox);
    for (const path of paths(made)) {
      const { text } = await visitor.see(path);
      for (const secret of secrets) expect(text, path).not.toContain(secret);
    }
  });

  test("escapes hostile texts", async () => {
    const sandbox = await site();
    excuseViolations(sandbox, "no server would send such a domain");
    const made = await furnish(sandbox);
    const { control } = sandbox;
    for (const id of [made.ordered, made.running]) control.change("services", id, { domain: HOSTILE, plan: HOSTILE });
    control.change("customers", 1, { name: HOSTILE });
    control.change("tokens", made.token, { name: HOSTILE, value: `x${HOSTILE}` });
    control.change("webhooks", made.webhook, { url: HOSTILE });
    control.change("deliveries", made.delivery, {
      url: HOSTILE,
      body: JSON.stringify({ event: HOSTILE, [HOSTILE]: HOSTILE }),
    });
    control.change("migration_requests", made.migration, {
      domain: HOSTILE,
      answers: { [HOSTILE]: { deep: HOSTILE } },
    });
    control.change("invoices", made.invoice, { invoice_number: HOSTILE });
    const [grant] = [control.create("grants", { service_id: made.running, email: "a@b.example", permission: "view" })];
    control.change("grants", grant.id, { email: HOSTILE });
    control.addFault({
      path: `/services/:${HOSTILE.replaceAll("/", "")}`,
      method: HOSTILE,
      phase: "before",
      body: HOSTILE,
    });
    control.clearRequests();
    await ask(
      sandbox,
      "POST",
      `/services?q=${encodeURIComponent(HOSTILE)}`,
      { domain: HOSTILE },
      encodeURIComponent(HOSTILE),
    );
    const visitor = new Visitor(sandbox);
    const [first] = control.requests();
    for (const path of [
      ...paths(made).filter((one) => one !== "/dashboard/requests/1"),
      `/dashboard/requests/${first?.id}`,
      `/dashboard/services?q=${encodeURIComponent(HOSTILE)}`,
    ]) {
      const { status, text } = await visitor.see(path);
      expect({ path, status }).toEqual({ path, status: 200 });
      expect(faultsOf(text), path).toEqual([]);
      for (const part of ["<img", "\u202E", "\u0007"]) expect(text, path).not.toContain(part);
    }
    const { text } = await visitor.see(`/dashboard/services/${made.ordered}`);
    expect(text).toContain("&lt;script&gt;window.hacked=1&lt;/script&gt;⟨U+202E⟩gnp.exe⟨U+0007⟩");
  });

  test("names a missing record without a stack trace", async () => {
    const sandbox = await site();
    const visitor = new Visitor(sandbox);
    for (const path of [
      "/dashboard/nothing",
      "/dashboard/services/9999",
      "/dashboard/services/x",
      "/dashboard/requests/7",
      "/dashboard/deliveries/1e9",
    ]) {
      const { status, text } = await visitor.see(path);
      expect({ path, status }).toEqual({ path, status: 404 });
      expect(text).toMatch(/There is no /);
      expect(text).not.toMatch(/\.ts:\d/);
      expect(text, "the way on").toContain('aria-label="Pages"');
    }
  });

  test("names the account of a next step if another account owns the service", async () => {
    const sandbox = await site();
    const due = async (visitor: Visitor) =>
      (await visitor.see("/")).text.match(/<ol class="due">.*?<\/ol>/s)?.[0] ?? "";
    const agency = new Visitor(sandbox);
    expect(await due(agency)).toMatch(
      /2 services<\/strong> <span class="hint">of customer<\/span> are renewed: invoices are raised/,
    );
    const customer = new Visitor(sandbox);
    await customer.press("/dashboard/account", { account: "2" });
    expect(await due(customer)).toContain("<strong>2 services</strong> are renewed");
    expect(await due(customer)).not.toContain("of customer");
  });

  test("groups steps with the same time", async () => {
    const sandbox = await site();
    sandbox.control.seedServices({ count: 60, plan_id: 12, domain_prefix: "client" });
    sandbox.control.seedServices({ count: 1, plan_id: 11, domain_prefix: "one" });
    const { text } = await new Visitor(sandbox).see("/dashboard/clock");
    expect(text).toContain("<strong>61 services</strong> enter their renewal notice window");
    expect(text.match(/<tr>/g)).toHaveLength(3);
  });

  test("searches a list without a script", async () => {
    const sandbox = await site();
    sandbox.control.seedServices({ count: 60, plan_id: 12, domain_prefix: "client" });
    sandbox.control.seedServices({ count: 2, plan_id: 11, domain_prefix: "shop" });
    await ask(sandbox, "GET", "/plans");
    await ask(sandbox, "GET", "/services/4711");
    const visitor = new Visitor(sandbox);
    const found = async (path: string) => (await visitor.see(path)).text;
    const services = await found("/dashboard/services?q=shop");
    expect(services).toContain("2 services");
    expect(services).not.toContain("client-");
    expect(await found("/dashboard/invoices?q=shop-00002")).toContain("1 invoice");
    const paid = await found("/dashboard/invoices?q=shop&state=paid");
    expect(paid).toContain('<input type="hidden" name="state" value="paid">');
    const log = await found("/dashboard/requests?q=4711");
    expect(log).toContain("/services/4711");
    expect(log).not.toContain("<bdi>/plans");
  });

  test("offers the action that unsuspends a service: payment if an invoice is unpaid", async () => {
    const sandbox = await site();
    const { running } = await furnish(sandbox);
    const unsuspend = async () =>
      /<button class="button([^"]*)"[^>]*>Unsuspend/.exec(
        (await new Visitor(sandbox).see(`/dashboard/services/${running}`)).text,
      )?.[1];
    sandbox.control.change("services", running, { status: "suspended", suspended_for: "request" });
    expect(await unsuspend()).toContain("primary");
    sandbox.control.change("services", running, { suspended_for: "unpaid" });
    expect(await unsuspend()).not.toContain("primary");
  });
});

describe("the port", () => {
  test("serves the dashboard to browsers, and unchanged responses to other clients", async () => {
    const sandbox = await site();
    const get = async (accept: string) => (await fetch(sandbox.controlUrl, { headers: { accept } })).text();
    expect(await get("text/html,application/xhtml+xml,*/*;q=0.8")).toContain("<!doctype html>");
    expect(await get("*/*")).toContain("The control API of the sandbox");
    expect(await get("application/json")).toContain("The control API of the sandbox");
    const json = await fetch(`${sandbox.controlUrl}/services`, { headers: { accept: "text/html" } });
    expect(json.headers.get("content-type")).toContain("application/json");
  });

  test("serves the style, the script and the icon", async () => {
    const sandbox = await site();
    for (const [name, type] of [
      ["style.css", "text/css"],
      ["live.js", "text/javascript"],
      ["icon.svg", "image/svg+xml"],
    ]) {
      const { status, headers } = await new Visitor(sandbox).see(`/dashboard/${name}`);
      expect({ name, status }).toEqual({ name, status: 200 });
      expect(headers.get("content-type")).toContain(type);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
  });
});

describe("the dashboard", () => {
  test("shows only records of the selected account", async () => {
    const sandbox = await site();
    await furnish(sandbox);
    const visitor = new Visitor(sandbox);
    expect((await visitor.see("/dashboard/services")).text).toContain("www.acme.example");
    const { to } = await visitor.press("/dashboard/account", { account: "2", back: "/dashboard/services" });
    expect(to).toBe("/dashboard/services");
    const { text } = await visitor.see("/dashboard/services");
    expect(text).toContain("customer-one.example");
    expect(text).not.toContain("www.acme.example");
  });

  test("shows the domains of the account", async () => {
    const sandbox = await site();
    const contact = {
      first_name: "N",
      last_name: "B",
      email: "n@b.example",
      phone: "+995555123456",
      address: "1 Street",
      city: "Tbilisi",
      postcode: "0105",
      country: "GE",
    };
    const domain = {
      domain: "new.example",
      years: 2,
      currency: "USD",
      nameserver_mode: "default",
      registrant_contact: contact,
    };
    expect(await ask(sandbox, "POST", "/domains", domain)).toBe(201);
    const visitor = new Visitor(sandbox);
    const own = (await visitor.see("/dashboard/services")).text;
    expect(own).toContain("1 domain");
    expect(own).toContain("new.example");
    await visitor.press("/dashboard/account", { account: "2", back: "/" });
    expect((await visitor.see("/dashboard/services")).text).not.toContain("new.example");
  });

  test("splits long lists into pages and filters them", async () => {
    const sandbox = await site();
    sandbox.control.seedServices({ count: 120, domain_prefix: "many" });
    const visitor = new Visitor(sandbox);
    const rows = async (query: string) =>
      [...(await visitor.see(`/dashboard/services${query}`)).text.matchAll(/many-\d+\.example/g)].map(
        ([domain]) => domain,
      );
    expect(await rows("")).toHaveLength(50);
    expect(await rows("?page=3")).toEqual(
      Array.from({ length: 20 }, (_, at) => `many-${String(20 - at).padStart(5, "0")}.example`),
    );
    expect(await rows("?page=99")).toHaveLength(20);
    expect(await rows("?page=-1")).toHaveLength(50);
    expect(await rows("?q=many-00077")).toEqual(["many-00077.example"]);
    expect((await visitor.see("/dashboard/services?state=suspended")).text).toContain("No service matches.");
  });

  test("shows the rate window of each token", async () => {
    const sandbox = await site({ rateLimit: 3 });
    for (let at = 0; at < 5; at += 1) await ask(sandbox, "GET", "/plans");
    const { text } = await new Visitor(sandbox).see("/dashboard/requests");
    expect(text).toContain(
      '<strong>agency</strong> <span class="nums">3 of 3 used, 0 left</span> <span class="hint">more in 1 minute</span>',
    );
    expect(text).toContain(
      '<strong>viewer</strong> <span class="nums">0 of 3 used, 3 left</span>\n<meter max="3" value="0"',
    );
    expect(sandbox.control.rates()[0]).toEqual({
      token_id: 1,
      token: "agency",
      customer_id: 1,
      limit: 3,
      used: 3,
      left: 0,
      resets_at: "2026-11-21T10:01:00.000Z",
    });
    const off = await site({ rateLimit: 0 });
    expect((await new Visitor(off).see("/")).text).toContain("The rate limit is off");
  });

  test("shows the next steps of the clock", async () => {
    const sandbox = await site({ provisioningSeconds: 30 });
    const made = await furnish(sandbox);
    sandbox.control.payInvoice(made.invoice);
    const { text } = await new Visitor(sandbox).see("/dashboard/clock");
    expect(text).toMatch(
      new RegExp(`Service ${made.ordered}</a> <span class="long"><bdi>www.acme.example</bdi></span> is provisioned`),
    );
    expect(text).toContain("in 30 seconds");
    const next = sandbox.control.upcoming(1_000);
    expect(next.map(({ at }) => at)).toEqual(next.map(({ at }) => at).toSorted());
    expect(next).toContainEqual({
      at: "2026-11-21T10:00:30.000Z",
      what: "provision",
      order_id: made.ordered,
      delivery_id: null,
      customer_id: 1,
    });
    expect(sandbox.control.upcoming(2)).toEqual(next.slice(0, 2));
    const overHttp = await fetch(`${sandbox.controlUrl}/clock/upcoming`);
    expect(await overHttp.json()).toEqual(next.slice(0, 20));
  });

  test("shows an active service as active with every named profile", async () => {
    for (const profile of Object.keys(PROFILE_SETS)) {
      const sandbox = await site({ profile });
      sandbox.control.seedServices({});
      const { status, text } = await new Visitor(sandbox).see("/dashboard/services");
      expect({ profile, status }).toEqual({ profile, status: 200 });
      expect(text).toContain('<span class="badge good">active</span>');
    }
  });
});
