/** Differences that each value of each switch causes in one round of requests. */
import { expect, test } from "vitest";
import { PROFILE_SWITCHES, type Profile, type ProfileSwitch } from "../../../src/sandbox/index.ts";
import { sampled } from "../../reliability/support/long.ts";
import { type Answer, activeService, ORDER, open, type Sending } from "./harness.ts";

/** Observed values by their position. A list is observed as its length and its first item. */
type Observed = Map<string, string>;

function observe(seen: Observed, place: string, value: unknown): void {
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0) {
    seen.set(place, JSON.stringify(value) ?? "nothing");
  } else if (Array.isArray(value)) {
    seen.set(`${place}.length`, String(value.length));
    observe(seen, `${place}[0]`, value[0]);
  } else for (const [name, inner] of Object.entries(value)) observe(seen, `${place}.${name}`, inner);
}

const HEADERS = ["content-type", "retry-after", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];

/** Sends one round of requests to a sandbox with this profile. */
async function round(profile: Partial<Profile>): Promise<Observed> {
  const running = await open({ profile, rateLimit: 60, deliverTo: "nowhere" });
  const { sandbox } = running;
  const { control } = sandbox;
  const seen: Observed = new Map();
  const note = (name: string, { status, headers, text, body }: Answer) => {
    const known = HEADERS.flatMap((header) => (headers.has(header) ? [[header, headers.get(header)]] : []));
    const content = body === undefined ? text : JSON.parse(text.replaceAll(sandbox.url, "http://sandbox"));
    observe(seen, name, { status, ...Object.fromEntries(known), body: content });
  };
  const ask = async (name: string, method: string, path: string, sending?: Sending): Promise<Answer> => {
    const answer = await running.send(method, path, sending);
    note(name, answer);
    return answer;
  };
  const idIn = ({ body }: Answer): string =>
    String(/"(?:id|grant_id)":"?([^",}]+)/.exec(JSON.stringify(body?.data ?? body))?.[1]);

  const id = activeService(running);
  control.seedServices({ count: 2 });
  const vps = activeService(running, { plan_id: 31 });
  const events = ["invoice.paid", "service.suspended"] as const;

  await ask("an empty list", "GET", "/webhooks");
  await ask("the first page", "GET", "/services?per_page=3");
  for (const page of [0, 2, 3]) await ask(`page ${page} of 2`, "GET", `/services?per_page=3&page=${page}`);
  await ask("plans", "GET", "/plans?per_page=1");
  await ask("plans of a customer", "GET", "/plans?per_page=1", { token: sandbox.tokens.customer });
  await ask("a webhook", "POST", "/webhooks", { body: { url: "https://x.example/", events } });
  await ask("webhooks", "GET", "/webhooks");
  await ask("an order", "POST", "/services", { key: "k", body: ORDER });
  await ask("the order again", "POST", "/services", { key: "k", body: ORDER });
  await ask("a wrong order", "POST", "/services", { key: "w", body: { ...ORDER, term: 2, domain: "?" } });
  await ask("the corrected order", "POST", "/services", { key: "w", body: { ...ORDER, term: 24 } });
  for (const term of [3, 6, 12, 36]) {
    await ask(`an order for ${term} months`, "POST", "/services", { key: `${term}`, body: { ...ORDER, term } });
  }
  const ordered = id + 4;
  const invoice = control.list("invoices").find(({ order_id }) => order_id === ordered)?.id ?? 0;
  await ask("an unpaid service", "GET", `/services/${ordered}`);
  control.payInvoice(invoice);
  await ask("a paid service", "GET", `/services/${ordered}`);
  control.provisionService(ordered);
  await ask("a provisioned service", "GET", `/services/${ordered}`);
  control.suspendService(ordered);
  await ask("a suspended service", "GET", `/services/${ordered}`);
  for (const status of ["unpaid", "paid", "cancelled", "refunded"] as const) {
    control.change("invoices", invoice, { status });
    await ask(`an invoice that is ${status}`, "GET", `/invoices/${invoice}`);
  }
  for (const plan_id of [21, 41]) {
    await ask(`a service of plan ${plan_id}`, "GET", `/services/${activeService(running, { plan_id })}`);
  }
  const grant = { email: "a@x.example", permission: "view" };
  await ask("a grant that expires", "POST", `/services/${id}/grants`, {
    body: { ...grant, expires_at: "2027-06-30T00:00:00Z" },
  });
  const other = await ask("a grant", "POST", `/services/${id}/grants`, { body: { ...grant, email: "b@x.example" } });
  await ask("grants", "GET", `/services/${id}/grants`);
  await ask("a revocation", "DELETE", `/services/${id}/grants/${encodeURIComponent(idIn(other))}`);
  await ask("a client account", "POST", "/accounts", { body: { name: "Client" } });
  await ask("a migration", "POST", "/migration-requests", {
    body: { domain: "x.example", order_id: profile.ids === "string" ? `${id}` : id, source: "cpanel" },
  });
  await ask("a domain check", "GET", "/domains/check?domain=free.com,taken.com");
  await ask("a posted domain check", "POST", "/domains/check", { body: { domains: ["free.com", "taken.com"] } });
  const domain = { domain: "free.com", years: 1, currency: "USD", nameserver_mode: "default" };
  await ask("a domain with any contact", "POST", "/domains", {
    body: { ...domain, registrant_contact: { handle: "AC-1", verified: true, note: null } },
  });
  await ask("a domain without a contact", "POST", "/domains", { body: { ...domain, domain: "other.com" } });
  await ask("a given password", "POST", `/services/${id}/password`, { body: { password: "12345678" } });
  await ask("a generated password", "POST", `/services/${vps}/password`);
  await ask("a sign-on", "GET", `/services/${id}/panel-sso`);
  await ask("a suspension", "POST", `/services/${id}/suspend`);
  for (const [status, path, sending] of [
    [400, "/services", { body: ORDER }],
    [401, "/accounts", { token: "nobody" }],
    [403, "/webhooks", { token: sandbox.tokens.viewer }],
    [404, "/services/999/suspend", {}],
    [422, `/services/${id}/password`, { body: {} }],
  ] as const) {
    await ask(`an error ${status}`, "POST", path, sending);
  }
  await ask("an error 405", "PUT", "/plans");
  control.addFault({ path: "/invoices", phase: "before" });
  await ask("an error 500", "GET", "/invoices");
  const ids = ({ text }: Answer) => [...text.matchAll(/"id":"?(\d+)/g)].map(([, one]) => one).join(" ");
  observe(seen, "ids of the list", ids(await running.send("GET", "/services")));
  for (const seconds of [4, 26, 600]) {
    control.advanceClock({ seconds });
    await ask(`services ${seconds} seconds later`, "GET", "/services");
  }
  await ask("the order after ten minutes", "POST", "/services", { key: "k", body: ORDER });
  await control.settled();
  const sent = control.list("deliveries").map(({ event, body }) => ({ event, body: JSON.parse(body) }));
  observe(seen, "deliveries", sent);
  control.addFault({ path: "/plans", phase: "before", status: 429 });
  await ask("an error 429", "GET", "/plans");
  await sandbox.close();
  return seen;
}

const usual = await round({});
/** Switches whose values differ in time or at random. Other tests cover them. */
const OTHERS: readonly string[] = ["backoff", "rate", "retry_after", "weather"] satisfies ProfileSwitch[];
const switches = Object.entries(PROFILE_SWITCHES).filter(([name]) => !OTHERS.includes(name));

test.each(sampled(switches, 4))("%s", async (name, values) => {
  const lines: string[] = [];
  for (const value of values.slice(1)) {
    lines.push(`${name}=${value}`);
    const seen = await round({ [name]: value });
    /** Each difference of a field, with the responses that contain it. */
    const differences = new Map<string, { text: string; answers: string[] }>();
    for (const place of new Set([...usual.keys(), ...seen.keys()])) {
      const before = usual.get(place) ?? "nothing";
      const after = seen.get(place) ?? "nothing";
      // A field that exists only in one response is the same difference for every value.
      const values = before === "nothing" || after === "nothing" ? before === "nothing" : [before, after];
      const [answer = "", ...path] = place.split(/(?=\.)/);
      const known = differences.get(`${path.join("")} ${values}`);
      if (before === after) continue;
      if (known !== undefined) known.answers.push(answer);
      else {
        const text = `  ${path.join("")}: ${before} -> ${after}`;
        differences.set(`${path.join("")} ${values}`, { text, answers: [answer] });
      }
    }
    expect(differences.size, value).toBeGreaterThan(0);
    for (const { text, answers } of differences.values()) lines.push(text, `      in ${answers.join(", ")}`);
  }
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot(`../../golden/sandbox/profile-${name}.txt`);
});
