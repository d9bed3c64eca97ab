import { describe, expect, test } from "vitest";
import { PAGES } from "../../src/sandbox/dashboard/index.ts";
import type { Sandbox } from "../../src/sandbox/index.ts";
import { DEAF, type Furniture, flash, furnish, once, problem, site, Visitor } from "./site.ts";

/** A button, and the call of the control API that does the same. */
interface Twin {
  page: string;
  fields: Record<string, string | string[]>;
  call: [method: string, path: string, body?: unknown];
  /** Done before on both sides. */
  first?(sandbox: Sandbox, made: Furniture): void;
}

type Twins = Readonly<Record<string, (made: Furniture) => Twin>>;

const id = (value: number) => ({ id: String(value) });

/** By the page's path and the name of the action. */
const TWINS: Twins = {
  " pay": ({ invoice }) => ({ page: "/", fields: id(invoice), call: ["POST", `/invoices/${invoice}/pay`] }),
  " cancelInvoice": ({ invoice }) => ({
    page: "/",
    fields: id(invoice),
    call: ["POST", `/invoices/${invoice}/cancel`],
  }),
  "/services seed": () => ({
    page: "/dashboard/services",
    fields: { plan_id: "21", count: "2", domain_prefix: "blog" },
    call: ["POST", "/services", { account: 1, plan_id: 21, count: 2, domain_prefix: "blog" }],
  }),
  "/services accept": ({ running }) => ({
    page: "/dashboard/services",
    fields: id(601),
    call: ["POST", "/transfers/601/accept"],
    first: ({ control }) => void control.offerTransfer(running, { to: "customer" }),
  }),
  "/services decline": ({ running }) => ({
    page: "/dashboard/services",
    fields: id(601),
    call: ["POST", "/transfers/601/decline"],
    first: ({ control }) => void control.offerTransfer(running, { to: "customer" }),
  }),
  "/services/:id provision": ({ ordered }) => ({
    page: `/dashboard/services/${ordered}`,
    fields: id(ordered),
    call: ["POST", `/services/${ordered}/provision`],
  }),
  "/services/:id suspend": ({ running }) => ({
    page: `/dashboard/services/${running}`,
    fields: id(running),
    call: ["POST", `/services/${running}/suspend`],
  }),
  "/services/:id unsuspend": ({ running }) => ({
    page: `/dashboard/services/${running}`,
    fields: id(running),
    call: ["POST", `/services/${running}/unsuspend`],
    first: ({ control }) => void control.suspendService(running),
  }),
  "/services/:id terminate": ({ running }) => ({
    page: `/dashboard/services/${running}`,
    fields: id(running),
    call: ["POST", `/services/${running}/terminate`],
  }),
  "/services/:id pay": ({ ordered, invoice }) => ({
    page: `/dashboard/services/${ordered}`,
    fields: id(invoice),
    call: ["POST", `/invoices/${invoice}/pay`],
  }),
  "/services/:id cancelInvoice": ({ ordered, invoice }) => ({
    page: `/dashboard/services/${ordered}`,
    fields: id(invoice),
    call: ["POST", `/invoices/${invoice}/cancel`],
  }),
  "/services/:id offer": ({ running }) => ({
    page: `/dashboard/services/${running}`,
    fields: { ...id(running), to: "2" },
    call: ["POST", `/services/${running}/transfer`, { to: 2 }],
  }),
  "/services/:id accept": ({ running }) => ({
    page: `/dashboard/services/${running}`,
    fields: id(601),
    call: ["POST", "/transfers/601/accept"],
    first: ({ control }) => void control.offerTransfer(running, { to: "customer" }),
  }),
  "/services/:id decline": ({ running }) => ({
    page: `/dashboard/services/${running}`,
    fields: id(601),
    call: ["POST", "/transfers/601/decline"],
    first: ({ control }) => void control.offerTransfer(running, { to: "customer" }),
  }),
  "/invoices pay": ({ invoice }) => ({
    page: "/dashboard/invoices?state=unpaid",
    fields: id(invoice),
    call: ["POST", `/invoices/${invoice}/pay`],
  }),
  "/invoices cancelInvoice": ({ invoice }) => ({
    page: "/dashboard/invoices",
    fields: id(invoice),
    call: ["POST", `/invoices/${invoice}/cancel`],
  }),
  "/tokens create": ({ running }) => ({
    page: "/dashboard/tokens",
    fields: { name: "deploy", abilities: ["view", "technical"], service_ids: [String(running)] },
    call: ["POST", "/tokens", { account: 1, name: "deploy", abilities: ["view", "technical"], service_ids: [running] }],
  }),
  "/tokens revoke": ({ token }) => ({
    page: "/dashboard/tokens",
    fields: id(token),
    call: ["DELETE", `/tokens/${token}`],
  }),
  "/webhooks subscribe": () => ({
    page: "/dashboard/webhooks",
    fields: { url: `${DEAF}/2`, events: ["invoice.paid"] },
    call: ["POST", "/webhooks", { account: 1, url: `${DEAF}/2`, events: ["invoice.paid"] }],
  }),
  "/webhooks trigger": () => ({
    page: "/dashboard/webhooks",
    fields: { event: "invoice.created", subject: "" },
    call: ["POST", "/events/trigger", { event: "invoice.created", account: 1 }],
  }),
  "/webhooks replay": ({ delivery }) => ({
    page: "/dashboard/webhooks",
    fields: id(delivery),
    call: ["POST", `/deliveries/${delivery}/replay`],
    first: ({ control }) => void control.advanceClock({ days: 1 }),
  }),
  "/webhooks/:id rotate": ({ webhook }) => ({
    page: `/dashboard/webhooks/${webhook}`,
    fields: id(webhook),
    call: ["POST", `/webhooks/${webhook}/rotate`],
  }),
  "/webhooks/:id remove": ({ webhook }) => ({
    page: `/dashboard/webhooks/${webhook}`,
    fields: id(webhook),
    call: ["DELETE", `/webhooks/${webhook}`],
  }),
  "/webhooks/:id trigger": ({ webhook, running }) => ({
    page: `/dashboard/webhooks/${webhook}`,
    fields: { event: "service.terminated", subject: String(running), webhook_id: String(webhook) },
    call: [
      "POST",
      "/events/trigger",
      { event: "service.terminated", account: 1, service_id: running, webhook_id: webhook },
    ],
  }),
  "/deliveries/:id replay": ({ delivery }) => ({
    page: `/dashboard/deliveries/${delivery}`,
    fields: id(delivery),
    call: ["POST", `/deliveries/${delivery}/replay`],
    first: ({ control }) => void control.advanceClock({ days: 1 }),
  }),
  "/migrations/:id credentials": ({ migration }) => ({
    page: `/dashboard/migrations/${migration}`,
    fields: { ...id(migration), host: "ftp.old.example", username: "acme", password: " with spaces " },
    call: [
      "POST",
      `/migration-requests/${migration}/credentials`,
      { host: "ftp.old.example", username: "acme", password: " with spaces " },
    ],
  }),
  "/migrations/:id submit": ({ migration }) => ({
    page: `/dashboard/migrations/${migration}`,
    fields: id(migration),
    call: ["POST", `/migration-requests/${migration}/submit`],
    first: ({ control }) =>
      void control.setMigrationCredentials(migration, { host: "h", username: "u", password: "p" }),
  }),
  "/migrations/:id complete": ({ migration }) => ({
    page: `/dashboard/migrations/${migration}`,
    fields: id(migration),
    call: ["POST", `/migration-requests/${migration}/complete`],
    first: ({ control }) => {
      control.setMigrationCredentials(migration, { host: "h", username: "u", password: "p" });
      control.submitMigration(migration);
    },
  }),
  "/requests forget": () => ({ page: "/dashboard/requests", fields: {}, call: ["DELETE", "/requests"] }),
  "/clock freeze": () => ({ page: "/dashboard/clock", fields: {}, call: ["POST", "/clock/freeze"] }),
  "/clock resume": () => ({
    page: "/dashboard/clock",
    fields: {},
    call: ["POST", "/clock/resume"],
    first: ({ control }) => void control.freezeClock(),
  }),
  "/clock hour": () => ({ page: "/dashboard/clock", fields: {}, call: ["POST", "/clock/advance", { hours: 1 }] }),
  "/clock day": () => ({ page: "/dashboard/clock", fields: {}, call: ["POST", "/clock/advance", { days: 1 }] }),
  "/clock week": () => ({ page: "/dashboard/clock", fields: {}, call: ["POST", "/clock/advance", { weeks: 1 }] }),
  "/clock month": () => ({ page: "/dashboard/clock", fields: {}, call: ["POST", "/clock/advance", { months: 1 }] }),
  "/clock advance": () => ({
    page: "/dashboard/clock",
    fields: { amount: "1.5", unit: "hours" },
    call: ["POST", "/clock/advance", { hours: 1.5 }],
  }),
  "/faults add": () => ({
    page: "/dashboard/faults",
    fields: { operation: "orderService", phase: "after", outcome: "drop", times: "2", percent: "50" },
    call: ["POST", "/faults", { phase: "after", operation: "orderService", drop: true, times: 2, probability: 0.5 }],
  }),
  "/faults clear": () => ({ page: "/dashboard/faults", fields: {}, call: ["DELETE", "/faults"] }),
  "/settings reset": () => ({ page: "/dashboard/settings", fields: {}, call: ["POST", "/reset"] }),
};

const BUTTONS = PAGES.flatMap((page) =>
  Object.entries(page.actions ?? {}).map(([name, action]) => ({ key: `${page.path} ${name}`, name, api: action.api })),
);

/** Everything that a button could have changed. */
async function everything({ control }: Sandbox) {
  await control.settled();
  return {
    ...control.state(),
    ...control.clock(),
    requests: control.requests(),
    faults: control.faults(),
    upcoming: control.upcoming(),
  };
}

describe("each button is a call of the control API", () => {
  test("every one is held against its call here", () => {
    expect(BUTTONS.map(({ key }) => key).toSorted()).toEqual(Object.keys(TWINS).toSorted());
  });

  test.each(BUTTONS)("$key does what $api does", async ({ key, name, api }) => {
    const [byPage, byCall] = [await site(), await site()];
    const [made] = [await furnish(byPage), await furnish(byCall)];
    const twin = TWINS[key]?.(made);
    if (twin === undefined) throw new Error(`${key} has no twin`);
    const [method, where, body] = twin.call;
    const pattern = new RegExp(`^${api.replace(/:\w+/g, "\\d+")}$`);
    expect(`${method} ${where}`, "the call that the page names").toMatch(pattern);
    for (const one of [byPage, byCall]) {
      twin.first?.(one, made);
      await one.control.settled();
    }
    const before = await everything(byPage);
    expect(await everything(byCall), "both begin alike").toEqual(before);

    const answer = await new Visitor(byPage).pressed(twin.page, { do: name, ...twin.fields });
    expect(answer.status, "the page that follows").toBe(200);
    expect(flash(answer.text), "something is said").toBeDefined();
    const called = await fetch(byCall.controlUrl + where, {
      method,
      body: body === undefined ? null : JSON.stringify(body),
    });
    expect(called.ok, await called.text()).toBe(true);

    const after = await everything(byPage);
    expect(after, "both end alike").toEqual(await everything(byCall));
    expect(after, "something has changed").not.toEqual(before);
  });
});

describe("a form that is refused", () => {
  const REFUSED: [string, string, Record<string, string | string[]>, RegExp, string[]][] = [
    [
      "a token without a name",
      "/dashboard/tokens",
      { do: "create", name: " ", abilities: ["billing"] },
      /name is missing/,
      ['value="billing" checked'],
    ],
    [
      "a name that is none",
      "/dashboard/tokens",
      { do: "create", name: "A B", abilities: ["view"] },
      /small letters/,
      ['value="A B"'],
    ],
    ["no ability", "/dashboard/tokens", { do: "create", name: "x" }, /at least one of the abilities/, ['value="x"']],
    [
      "an ability that the user lacks",
      "/dashboard/tokens",
      { do: "create", name: "x", abilities: ["root"] },
      /&quot;root&quot; permission|"root" permission/,
      ['value="x"'],
    ],
    [
      "a service of another account",
      "/dashboard/tokens",
      { do: "create", name: "x", abilities: ["view"], service_ids: ["1001"] },
      /does not belong to/,
      [],
    ],
    [
      "a URL that is none",
      "/dashboard/webhooks",
      { do: "subscribe", url: "javascript:alert(1)", events: ["invoice.paid"] },
      /valid URL/,
      ['value="javascript:alert(1)"'],
    ],
    ["no event", "/dashboard/webhooks", { do: "subscribe", url: DEAF }, /events field/, [`value="${DEAF}"`]],
    ["an event that is none", "/dashboard/webhooks", { do: "trigger", event: "x" }, /must be one of/, []],
    [
      "a subject that is none",
      "/dashboard/webhooks",
      { do: "trigger", event: "invoice.paid", subject: "abc" },
      /must be a number/,
      ['value="abc"'],
    ],
    [
      "no span",
      "/dashboard/clock",
      { do: "advance", amount: "", unit: "days" },
      /how far/i,
      ['<option value="days" selected>'],
    ],
    [
      "a negative span",
      "/dashboard/clock",
      { do: "advance", amount: "-3", unit: "weeks" },
      /0 or more/,
      ['value="-3"', '<option value="weeks" selected>'],
    ],
    [
      "a fault of another phase",
      "/dashboard/faults",
      { do: "add", operation: "listPlans", phase: "delivery", outcome: "500" },
      /has no operation/,
      ['<option value="listPlans" selected>'],
    ],
    [
      "too many services",
      "/dashboard/services",
      { do: "seed", plan_id: "11", count: "100001", domain_prefix: "x" },
      /whole number from 1/,
      ['value="100001"'],
    ],
    ["a record that is not there", "/dashboard/invoices", { do: "pay", id: "9999" }, /no invoice 9999/, []],
    ["an id that is none", "/dashboard/invoices", { do: "pay", id: "../1" }, /not an id/, []],
    ["a button of another page", "/dashboard/clock", { do: "pay", id: "5003" }, /has no button/, []],
    ["a name of every object", "/dashboard/clock", { do: "constructor" }, /has no button/, []],
  ];

  test.each(REFUSED)(
    "%s: says why there, keeps what was typed, changes nothing",
    async (_, page, fields, why, kept) => {
      const sandbox = await site();
      await furnish(sandbox);
      const before = await everything(sandbox);
      const { status, text } = await new Visitor(sandbox).press(page, fields);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
      expect(problem(text)).toMatch(why);
      expect(text).toContain('role="alert"');
      for (const part of kept) expect(text).toContain(part);
      expect(await everything(sandbox)).toEqual(before);
    },
  );

  test("what was typed as a password is not sent back", async () => {
    const sandbox = await site();
    const { migration } = await furnish(sandbox);
    const fields = { do: "credentials", id: String(migration), host: "", username: "acme", password: "geheim" };
    const { text } = await new Visitor(sandbox).press(`/dashboard/migrations/${migration}`, fields);
    expect(problem(text)).toMatch(/Credentials are/);
    expect(text).toContain("The host field is required.");
    expect(text).toContain('value="acme"');
    expect(text).not.toContain("geheim");
  });

  test("only the form that was sent says so", async () => {
    const sandbox = await site();
    const { invoice } = await furnish(sandbox);
    sandbox.control.change("invoices", invoice - 1, { status: "unpaid" });
    sandbox.control.change("invoices", invoice, { status: "refunded" });
    const visitor = new Visitor(sandbox);
    const { text } = await visitor.press("/dashboard/invoices", { do: "pay", id: String(invoice) });
    expect(text.match(/id="problem"/g)).toHaveLength(1);
    expect(problem(text)).toMatch(/refunded cannot be paid/);
  });
});

describe("what is shown once", () => {
  test("the value of a token: on the page that follows, in no URL, and not again", async () => {
    const sandbox = await site();
    const visitor = new Visitor(sandbox);
    const { to, headers } = await visitor.press("/dashboard/tokens", { do: "create", name: "ci", abilities: "view" });
    const value = sandbox.control.list("tokens").at(-1)?.value ?? "";
    expect(`${to} ${headers.get("set-cookie")}`).not.toContain(value);
    expect(once((await visitor.see("/dashboard/tokens")).text)).toBe(value);
    expect((await visitor.see("/dashboard/tokens")).text).not.toContain(value);
  });

  test("a signing secret, to the browser that asked alone", async () => {
    const sandbox = await site();
    const { webhook } = await furnish(sandbox);
    const page = `/dashboard/webhooks/${webhook}`;
    const [one, another] = [new Visitor(sandbox), new Visitor(sandbox)];
    await one.press(page, { do: "rotate", id: String(webhook) });
    const { secret } = sandbox.control.get("webhooks", webhook);
    expect((await another.see(page)).text).not.toContain(secret);
    expect(once((await one.see(page)).text)).toBe(secret);
  });
});
