import { describe, expect, test } from "vitest";
import { PAGES } from "../../src/sandbox/dashboard/index.ts";
import type { Sandbox } from "../../src/sandbox/index.ts";
import { type Furniture, flash, furnish, once, problem, site, Visitor } from "./site.ts";

/** Values of one press of a button and of the equal call of the control API. */
interface Twin {
  /** Id of the page's record. */
  at?: number;
  /** Id of the record that the button changes. Default: `at`. */
  id?: number;
  fields?: Record<string, string | string[]>;
  body?: unknown;
  /** Prepares both sandboxes before the press and the call. */
  first?(sandbox: Sandbox): void;
}

const CREDENTIALS = { host: "ftp.old.example", username: "acme", password: " with spaces " };

/** Values by the path of the page and the name of the action. */
const TWINS: Readonly<Record<string, (made: Furniture) => Twin>> = {
  " pay": ({ invoice }) => ({ id: invoice }),
  " cancelInvoice": ({ invoice }) => ({ id: invoice }),
  "/services/:id provision": ({ ordered }) => ({ at: ordered }),
  "/services/:id suspend": ({ running }) => ({ at: running }),
  "/services/:id unsuspend": ({ running }) => ({
    at: running,
    first: ({ control }) => void control.suspendService(running),
  }),
  "/services/:id terminate": ({ running }) => ({ at: running }),
  "/services/:id pay": ({ ordered, invoice }) => ({ at: ordered, id: invoice }),
  "/services/:id cancelInvoice": ({ ordered, invoice }) => ({ at: ordered, id: invoice }),
  "/invoices pay": ({ invoice }) => ({ id: invoice }),
  "/invoices cancelInvoice": ({ invoice }) => ({ id: invoice }),
  "/tokens create": ({ running }) => ({
    fields: { name: "deploy", abilities: ["view", "technical"], service_ids: [String(running)] },
    body: { account: 1, name: "deploy", abilities: ["view", "technical"], service_ids: [running] },
  }),
  "/tokens revoke": ({ token }) => ({ id: token }),
  "/deliveries/:id replay": ({ delivery }) => ({ at: delivery, first: tomorrow }),
  "/migrations/:id credentials": ({ migration }) => ({ at: migration, fields: CREDENTIALS, body: CREDENTIALS }),
  "/migrations/:id submit": ({ migration }) => ({
    at: migration,
    first: ({ control }) => void control.setMigrationCredentials(migration, CREDENTIALS),
  }),
  "/migrations/:id complete": ({ migration }) => ({
    at: migration,
    first: ({ control }) => {
      control.setMigrationCredentials(migration, CREDENTIALS);
      control.submitMigration(migration);
    },
  }),
  "/requests forget": () => ({}),
  "/clock freeze": () => ({}),
  "/clock resume": () => ({ first: ({ control }) => void control.freezeClock() }),
  "/clock hour": () => ({ body: { hours: 1 } }),
  "/clock day": () => ({ body: { days: 1 } }),
  "/clock week": () => ({ body: { weeks: 1 } }),
  "/clock month": () => ({ body: { months: 1 } }),
  "/clock advance": () => ({ fields: { amount: "1.5", unit: "hours" }, body: { hours: 1.5 } }),
  "/faults add": () => ({
    fields: { operation: "orderService", phase: "after", outcome: "drop", times: "2", percent: "50" },
    body: { phase: "after", operation: "orderService", drop: true, times: 2, probability: 0.5 },
  }),
  "/faults clear": () => ({}),
  "/settings reset": () => ({}),
};

const tomorrow = ({ control }: Sandbox) => void control.advanceClock({ days: 1 });

const BUTTONS = PAGES.flatMap((page) =>
  Object.entries(page.actions ?? {}).map(([name, { api }]) => ({
    key: `${page.path} ${name}`,
    path: page.path,
    name,
    api,
  })),
);

/** Returns the state of the sandbox that a button can change. */
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

describe("each button equals a call of the control API", () => {
  test("the table has an entry for every button", () => {
    expect(BUTTONS.map(({ key }) => key).toSorted()).toEqual(Object.keys(TWINS).toSorted());
  });

  test.each(BUTTONS)("$key has the effect of $api", async ({ key, path, name, api }) => {
    const [byPage, byCall] = [await site(), await site()];
    const [made] = [await furnish(byPage), await furnish(byCall)];
    const twin = TWINS[key]?.(made);
    if (twin === undefined) throw new Error(`${key} has no twin`);
    const { at, id = at, fields, body } = twin;
    const page = path === "" ? "/" : `/dashboard${path.replace(":id", String(at))}`;
    const [method = "", where = ""] = api.replace(":id", String(id)).split(" ");
    for (const one of [byPage, byCall]) {
      twin.first?.(one);
      await one.control.settled();
    }
    const before = await everything(byPage);
    expect(await everything(byCall), "both begin alike").toEqual(before);

    const answer = await new Visitor(byPage).pressed(page, { do: name, ...(id && { id: String(id) }), ...fields });
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

describe("a rejected form", () => {
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
      "no span",
      "/dashboard/clock",
      { do: "advance", amount: "", unit: "days" },
      /period is missing/,
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
    ["a record that is not there", "/dashboard/invoices", { do: "pay", id: "9999" }, /no invoice 9999/, []],
    ["an id that is none", "/dashboard/invoices", { do: "pay", id: "../1" }, /no valid id/, []],
    ["a button of another page", "/dashboard/clock", { do: "pay", id: "5003" }, /has no button/, []],
    ["a name of every object", "/dashboard/clock", { do: "constructor" }, /has no button/, []],
  ];

  test.each(REFUSED)(
    "%s: shows the reason at the form, keeps the input and changes nothing",
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

  test("does not contain the typed password", async () => {
    const sandbox = await site();
    const { migration } = await furnish(sandbox);
    const fields = { do: "credentials", id: String(migration), host: "", username: "acme", password: "geheim" };
    const { text } = await new Visitor(sandbox).press(`/dashboard/migrations/${migration}`, fields);
    expect(problem(text)).toMatch(/Credentials are/);
    expect(text).toContain("The host field is required.");
    expect(text).toContain('value="acme"');
    expect(text).not.toContain("geheim");
  });

  test("shows the reason only at the sent form", async () => {
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

describe("a secret that is shown once", () => {
  test("the value of a token is on the next page of its browser only, and in no URL", async () => {
    const sandbox = await site();
    const [visitor, another] = [new Visitor(sandbox), new Visitor(sandbox)];
    const { to, headers } = await visitor.press("/dashboard/tokens", { do: "create", name: "ci", abilities: "view" });
    const value = sandbox.control.list("tokens").at(-1)?.value ?? "";
    expect(`${to} ${headers.get("set-cookie")}`).not.toContain(value);
    expect((await another.see("/dashboard/tokens")).text).not.toContain(value);
    expect(once((await visitor.see("/dashboard/tokens")).text)).toBe(value);
    expect((await visitor.see("/dashboard/tokens")).text).not.toContain(value);
  });
});
