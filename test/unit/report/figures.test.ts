/** Equal figures in text, page, comment and JSON, for any plan and any account. */
import { describe, expect, it } from "vitest";
import { conditionFor } from "../../../src/core/messages/index.ts";
import type { Change, Condition, Plan } from "../../../src/core/model/index.ts";
import { planJson, renderPlan, renderPlanHtml, renderPlanMarkdown } from "../../../src/report/index.ts";
import { fixOf } from "../../support/remedies.ts";
import { change, invoice, liveService, order, plan } from "./builders.ts";

const serviceAt = (name: string, over: Partial<Change> = {}) => {
  const before = { ...liveService, id: name, domain: `${name}.example` };
  return change({ address: `hosting_service.${name}`, before, after: before, ...over });
};
const forgotten = (name: string) => serviceAt(name, { actions: ["forget"], removal: "forget" });
const grantAt = (person: string, over: Partial<Change>) =>
  change({ address: `hosting_grant.www["${person}"]`, ...over });
const gets = (person: string, permission = "manage") =>
  grantAt(person, { actions: ["create"], after: { id: null, service_id: "www", email: person, permission } });
const loses = (person: string) =>
  grantAt(person, { actions: ["delete"], before: { id: "1", service_id: "www", email: person, permission: "view" } });
const lowered = (person: string) => {
  const [before, after] = ["manage", "view"].map((permission) => ({
    id: "1",
    service_id: "www",
    email: person,
    permission,
  }));
  return grantAt(person, { actions: ["delete", "create"], before: before ?? null, after: after ?? null });
};
const recorded = (name: string) => ({
  address: `hosting_service.${name}`,
  noun: "service",
  id: name,
  name: `${name}.example`,
});
const offline = (name: string) => conditionFor("offline", recorded(name));
const gone = (name: string) => conditionFor("gone", { ...recorded(name), how: "no longer exists" });
const handedOver = (name: string) => conditionFor("handed_over", { ...recorded(name), why: "Not yours" });
const waits = (name: string, ...totals: (number | null)[]): Condition => {
  const [first = invoice(), ...others] = totals.map((total, at) => invoice({ id: `${name}-${at}`, total }));
  const more = { invoice: first, ...(others.length > 0 && { others }) };
  return conditionFor("unpaid/order", { ...recorded(name), invoice: "invoice 1", more: others.length }, more);
};
const suspendedFor = (name: string) => {
  const about = { ...recorded(name), invoice: "invoice 1", more: 0 };
  const facts = { invoice: invoice({ id: name }) };
  return [
    conditionFor("offline/invoice", about, facts),
    conditionFor("unpaid/renewal", { ...about, due: "2026-01-01" }, facts),
  ];
};
const unbilled = (name: string) => conditionFor("unread/invoices", { ...recorded(name), why: "No" });
const unread = (name: string) => conditionFor("unread", { ...recorded(name), why: "Down" });
const unseen = (...names: string[]) =>
  names.map((name) => (name.includes("@") ? `hosting_grant.www["${name}"]` : `hosting_service.${name}`));

/** The figures of a plan in one format. */
interface Said {
  readonly billed?: string;
  readonly unpaid: readonly string[];
  readonly goingOffline: readonly string[];
  readonly offline: readonly string[];
  readonly access: readonly string[];
  /** Patterns of the figures in text and comment. */
  readonly line: string;
  readonly headline?: RegExp;
}

const NOBODY = "Access: nobody gains or loses access.";
const ZERO = { goingOffline: ["0"], offline: ["0"] };
const cases: readonly (readonly [name: string, plan: Plan, said: Said])[] = [
  [
    "nothing at all",
    plan([serviceAt("www")]),
    {
      ...ZERO,
      unpaid: ["Not read for live sites"],
      access: ["None"],
      line: `Orders: none. ${NOBODY} Unpaid invoices: not read for live sites.`,
    },
  ],
  [
    "an order",
    plan([order()]),
    {
      ...ZERO,
      billed: "18.00 USD",
      unpaid: ["None found"],
      access: ["None"],
      line: `${NOBODY} Unpaid invoices: none found.`,
    },
  ],
  [
    "an order that waits for its payment",
    plan([serviceAt("www")], { conditions: [waits("www", 1800)] }),
    {
      ...ZERO,
      unpaid: ["1 invoice, 18.00 USD"],
      access: ["None"],
      line: `Orders: none. ${NOBODY} Unpaid invoices: 1 invoice, 18.00 USD.`,
    },
  ],
  [
    "several invoices of one service, one without an amount",
    plan([serviceAt("www")], { conditions: [waits("www", 1000, 500, null)] }),
    {
      ...ZERO,
      unpaid: ["3 invoices, at least 15.00 USD"],
      access: ["None"],
      line: `Orders: none. ${NOBODY} Unpaid invoices: 3 invoices, at least 15.00 USD.`,
    },
  ],
  [
    "a site suspended for an invoice, which counts once",
    plan([serviceAt("www")], { conditions: suspendedFor("www") }),
    {
      ...ZERO,
      offline: ["1"],
      unpaid: ["1 invoice, 18.00 USD"],
      access: ["None"],
      line: `Orders: none. ${NOBODY} Unpaid invoices: 1 invoice, 18.00 USD.`,
      headline: /1 site is offline/,
    },
  ],
  [
    "a site that is gone, which is not offline as well",
    plan([serviceAt("www"), serviceAt("shop")], { conditions: [offline("www"), gone("shop")] }),
    {
      ...ZERO,
      offline: ["1"],
      unpaid: ["Not read for live sites"],
      access: ["None"],
      line: `Orders: none. ${NOBODY} Unpaid invoices: not read for live sites.`,
      headline: /1 site is offline but not declared as suspended\. 1 declared object no longer exists\./,
    },
  ],
  [
    "a site that was handed over",
    plan([serviceAt("www", { unchecked: true }), serviceAt("shop")], {
      conditions: [handedOver("www")],
      unread: unseen("www"),
    }),
    {
      goingOffline: ["0", "1 not checked"],
      offline: ["0", "1 not checked"],
      unpaid: ["1 site not checked"],
      access: ["None"],
      line: `Orders: none. ${NOBODY} Unpaid invoices: 1 site not checked.`,
      headline: /1 resource is not checked/,
    },
  ],
  [
    "a site that was handed over and is forgotten",
    plan([forgotten("www"), serviceAt("shop")], { unread: unseen("www") }),
    {
      ...ZERO,
      unpaid: ["Not read for live sites"],
      access: ["None"],
      line: `Orders: none. ${NOBODY} Unpaid invoices: not read for live sites.`,
    },
  ],
  [
    "no site that could be read",
    plan([serviceAt("www")], { conditions: [unread("www")], unread: unseen("www") }),
    {
      goingOffline: ["Not checked"],
      offline: ["Not checked"],
      unpaid: ["1 site not checked"],
      access: ["None"],
      line: `Orders: none. ${NOBODY} Unpaid invoices: 1 site not checked.`,
      headline: /^No changes in what was read\. 1 resource is not checked\.$/,
    },
  ],
  [
    "invoices that the token may not read",
    plan([serviceAt("www"), serviceAt("shop")], { conditions: [unbilled("www"), unbilled("shop")] }),
    {
      ...ZERO,
      unpaid: ["Not read for 2 sites"],
      access: ["None"],
      line: `Orders: none. ${NOBODY} Unpaid invoices: not read for 2 sites.`,
      headline: /2 sites have unread invoices/,
    },
  ],
  [
    "people who come and go",
    plan([serviceAt("www"), gets("a@x.example"), gets("b@x.example"), loses("c@x.example"), lowered("d@x.example")]),
    {
      ...ZERO,
      unpaid: ["Not read for live sites"],
      access: ["+2 / −1"],
      line: "Orders: none. Access: 2 people gain access, 1 person loses access, 1 permission changes. Unpaid invoices: not read for live sites.",
      headline: /gives 2 people access/,
    },
  ],
  [
    "grants that a view token cannot read",
    plan([serviceAt("www"), gets("a@x.example"), grantAt("b@x.example", {})], {
      unread: unseen("a@x.example", "b@x.example"),
      forReading: true,
    }),
    {
      ...ZERO,
      unpaid: ["Not read for live sites"],
      access: ["+1 / −0", "2 not checked"],
      line: "Orders: none. Access: 1 person gains access, 2 grants not checked. Unpaid invoices: not read for live sites.",
    },
  ],
];

const tilesIn = (html: string) =>
  Object.fromEntries(
    [...html.matchAll(/<dt>([^<]*)<\/dt>((?:<dd>[^<]*<\/dd>)*)/g)].map(([, label = "", values = ""]) => [
      label,
      [...values.matchAll(/<dd>([^<]*)/g)].map(([, value = ""]) => value),
    ]),
  );

describe("the figures of a plan", () => {
  it.each(cases)("are the same in each format: %s", (_, made, said) => {
    const options = { remedies: fixOf, moneyScale: () => 2 };
    const html = renderPlanHtml(made, options);
    expect(tilesIn(html)).toEqual({
      "Billed by this plan": [said.billed ?? "Nothing"],
      "Added per month": [said.billed === undefined ? "Nothing" : expect.stringContaining("USD")],
      "Unpaid invoices": said.unpaid,
      "Sites going offline": said.goingOffline,
      "Sites offline, but not declared as suspended": said.offline,
      "People gaining or losing access": said.access,
    });
    const text = renderPlan(made, { ...options, color: false });
    expect(text).toContain(`${said.line}\n`);
    const comment = renderPlanMarkdown(made, options);
    expect(comment).toContain(`- ${said.line}\n`);
    const [, headline = ""] = /<p class="headline">([^<]*)/.exec(html) ?? [];
    expect(comment).toContain(`**${headline}**`);
    if (said.headline) expect(headline).toMatch(said.headline);
    const { figures, totals } = planJson(made, options).hostform;
    const first = (values: readonly string[]) => Number(values[0] === "Not checked" ? 0 : values[0]);
    expect(figures).toMatchObject({
      sites_going_offline: first(said.goingOffline),
      sites_offline: first(said.offline),
    });
    const { people_gaining_access: gain, people_losing_access: lose, unpaid_invoices, not_checked } = figures;
    expect(gain + lose === 0 ? "None" : `+${gain} / −${lose}`).toBe(said.access[0]);
    expect(totals.map(({ now, currency }) => `${((now ?? 0) / 100).toFixed(2)} ${currency}`)).toEqual(
      said.billed === undefined ? [] : [said.billed],
    );
    for (const { invoices, total } of unpaid_invoices) {
      expect(said.unpaid[0]).toMatch(new RegExp(`^${invoices} invoice`));
      expect(said.unpaid[0]).toContain(`${((total ?? 0) / 100).toFixed(2)} USD`);
    }
    if (unpaid_invoices.length === 0) expect(said.unpaid[0]).not.toMatch(/invoice/);
    const open = not_checked.sites + not_checked.grants + not_checked.invoices;
    expect(open > 0).toBe(/not (?:checked|read for \d)/.test(said.line));
  });
});
