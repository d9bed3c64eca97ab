/**
 * A host that rewrites any attribute of any kind: nothing is created twice, and an equivalent value is no difference.
 */
import { expect, it } from "vitest";
import { fc } from "../support/fc.ts";
import { type Project, startProject } from "../support/project.ts";
import { rewritingHost } from "../support/rewriting-host.ts";

const RUNS = process.env.HOSTFORM_LONG === "1" ? 100 : 4;

interface Form {
  readonly what: string;
  /** Returns the rewritten value. Undefined keeps the field. */
  show(value: unknown): unknown;
  /** The value costs or exposes more than the sent value, so hostform must not accept it. */
  readonly isWorse?: true;
}

const text = (what: string, show: (text: string) => unknown, isWorse?: true): Form => ({
  what,
  show: (value) => (typeof value === "string" ? show(value) : undefined),
  ...(isWorse && { isWorse }),
});
const SAME: Form = { what: "as it was sent", show: () => undefined };
const worse = (what: string, show: (text: string) => unknown) => text(what, show, true);
const shifted = (hours: number) => (end: string) => new Date(Date.parse(end) + hours * 3_600_000).toISOString();

const TEXTS = [
  SAME,
  text("in capitals", (value) => value.toUpperCase()),
  text("cut", (value) => value.slice(0, 4)),
  text("with a prefix", (value) => `#7 ${value}`),
  text("without letters", (value) => value.replace(/\D+/g, "") || undefined),
  text("as a number, if it is one", (value) => (/^\d+$/.test(value) ? Number(value) : undefined)),
  text("not at all", () => null),
];
const DOMAINS = [
  SAME,
  text("in capitals", (value) => value.toUpperCase()),
  text("without www.", (value) => value.replace(/^www\./, "")),
  text("as a URL", (value) => `https://${value}/`),
  text("not at all", () => null),
  worse("as another domain", () => "other.example"),
];
const FORMS: Readonly<Record<string, readonly Form[]>> = {
  "client account name": TEXTS.slice(0, 4),
  "client account company_name": TEXTS,
  "client account company_number": TEXTS,
  "client account vat_number": TEXTS,
  "client account currency": [
    SAME,
    text("in small letters", (value) => value.toLowerCase()),
    worse("another", () => "EUR"),
  ],
  "service domain": DOMAINS,
  "service currency": [SAME, worse("another", () => "EUR")],
  "migration request domain": DOMAINS,
  "migration request order_id": [SAME, { what: "another", show: (value) => value && 9999, isWorse: true }],
  "grant email": [SAME, text("in capitals", (value) => value.toUpperCase()), worse("another", () => "x@other.example")],
  "grant permission": [SAME, worse("another", (value) => (value === "view" ? "manage" : "view"))],
  "grant expires_at": [
    SAME,
    text("without seconds", (value) => `${value.slice(0, 16)}:00Z`),
    text("limited", () => "2027-01-01T00:00:00Z"),
    text("in local time", (value) => shifted(4)(value).slice(0, 19)),
    text("as seconds", (value) => Date.parse(value) / 1000),
    worse("at the end of its day", (value) => `${value.slice(0, 10)}T23:59:59Z`),
    worse("an hour later", shifted(1)),
    worse("as none", () => null),
  ],
  "webhook url": [
    SAME,
    text("masked", (value) => value.replace(/=.*/, "=***")),
    text("filtered", (value) => value.replace(/\?.*/, "?[FILTERED]")),
    text("without its query", (value) => value.replace(/\?.*/, "")),
    text("with a slash", (value) => value.replace(/\/*(\?|$)/, "/$1")),
    worse("at another host", (value) => value.replace("hooks", "other")),
    worse("with another path", (value) => value.replace("/in", "/out")),
    worse("without encryption", (value) => value.replace("https:", "http:")),
  ],
  "webhook events": [
    SAME,
    { what: "in other letters", show: (value) => (value as string[]).map((name) => name.replace(".", "_")) },
    { what: "fewer", show: (value) => (value as string[]).slice(0, 1) },
    { what: "more", show: () => ["invoice.created", "invoice.paid", "service.suspended"], isWorse: true },
    { what: "all", show: () => ["*"], isWorse: true },
  ],
};

const DECLARED = {
  project: "forms",
  client_accounts: {
    acme: {
      name: "Acme Georgia",
      company_name: "Acme LLC",
      company_number: "405123456",
      vat_number: "GE77",
      currency: "GEL",
    },
  },
  services: {
    www: {
      plan_id: 11,
      currency: "USD",
      domain: "www.acme.example",
      grants: { "dev@acme.example": { permission: "view", expires_at: "2027-03-28T10:20:30Z" } },
    },
  },
  migration_requests: { www: { domain: "www.acme.example", order_id: "${hosting_service.www.id}" } },
  webhooks: {
    hook: { url: "https://hooks.acme.example/in?token=abc123", events: ["invoice.paid", "invoice.created"] },
  },
};

/** Returns the kind of an object in a response, by its fields. */
function kindOf(object: object): string | undefined {
  const has = (...names: string[]) => names.every((name) => Object.hasOwn(object, name));
  if (has("vat_number")) return "client account";
  if (has("permission", "email")) return "grant";
  if (has("url", "events")) return "webhook";
  if (has("domain", "provisioning_status")) return "service";
  return has("domain", "order_id", "status") ? "migration request" : undefined;
}

function shownAs(answer: unknown, forms: Readonly<Record<string, Form>>): unknown {
  if (Array.isArray(answer)) return answer.map((item) => shownAs(item, forms));
  if (typeof answer !== "object" || answer === null) return answer;
  const kind = kindOf(answer);
  const entries = Object.entries(answer).map(([name, value]) => {
    const other = value === null || kind === undefined ? undefined : forms[`${kind} ${name}`]?.show(value);
    return [name, other === undefined ? shownAs(value, forms) : other];
  });
  return Object.fromEntries(entries);
}

/** Returns the attributes that a plan would change or refuses, as `grant expires_at`. */
async function openIn(project: Project): Promise<string[]> {
  const { changes, diagnostics } = await project.plan();
  const doing = changes.filter(({ actions }) => actions[0] !== "no-op");
  const reasons = doing.flatMap(({ words, reasons }) => reasons.map(({ attribute }) => `${words.noun} ${attribute}`));
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const noun = (address = "") => changes.find((change) => change.address === address)?.words.noun;
  expect(errors.filter(({ code }) => code !== "plan.immutable")).toEqual([]);
  return [...reasons, ...errors.map(({ address, attribute }) => `${noun(address)} ${attribute?.[0]}`)];
}

const WORSE = Object.entries(FORMS).flatMap(([name, of]) =>
  of.flatMap((form) => (form.isWorse ? [[name, form] as const] : [])),
);

const drawn = fc.record({
  forms: fc.record(Object.fromEntries(Object.entries(FORMS).map(([name, of]) => [name, fc.constantFrom(...of)]))),
  // At most two worse forms at once: a refused plan hides the others.
  worse: fc.subarray(WORSE, { minLength: 1, maxLength: 2 }),
  isOnlyListed: fc.boolean(),
});

it("no form of any value creates anything twice, and only what costs or exposes more is ever a difference", async () => {
  // A host that rewrites nothing would prove nothing.
  const seen = { forms: 0, conditions: 0 };
  const property = fc.asyncProperty(drawn, async ({ forms: all, worse: chosen, isOnlyListed }) => {
    const harmless = Object.entries(all).map(([name, form]) => [name, form.isWorse ? SAME : form]);
    const forms = { ...Object.fromEntries(harmless), ...Object.fromEntries(chosen) } as Readonly<Record<string, Form>>;
    const expected = Object.keys(forms).filter((name) => forms[name]?.isWorse);
    const project = await startProject({ declare: DECLARED, pinned: { expires_at: ["instant"] } });
    project.env.HOSTING_BASE_URL = await rewritingHost(project.sandbox.url, (answer, method) =>
      isOnlyListed && method !== "GET" ? answer : shownAs(answer, forms),
    );
    await project.run("apply", "--auto-approve");
    project.clock.advance(60_000);
    const open = await openIn(project);
    expect(open.filter((name) => !expected.includes(name))).toEqual([]);
    for (let run = 0; run < 3; run++) {
      await project.run("apply", "--auto-approve");
      project.clock.advance(60_000);
    }
    const sent = project.changesSent().map((line) => line.replace(/\d+/g, "N"));
    const times = (line: string) => sent.filter((one) => one === line).length;
    expect([times("POST /services"), times("POST /accounts"), times("POST /migration-requests")]).toEqual([1, 1, 1]);
    expect(times("POST /services/N/grants")).toBeLessThanOrEqual(2);
    expect(times("POST /webhooks")).toBeLessThanOrEqual(2);
    const { conditions = [], changes } = await project.plan();
    seen.conditions += conditions.length;
    seen.forms += changes.filter((change) => change.private.shown !== undefined).length;
    const left = await openIn(project);
    // If the plan refuses an immutable value, it carries out no change.
    if (!left.some((name) => /currency|domain|order_id/.test(name))) expect(left).toEqual([]);
    expect(project.control.list("grants")).toHaveLength(1);
    expect(project.control.list("webhooks")).toHaveLength(1);
  });
  await fc.assert(property, { numRuns: RUNS });
  expect(seen.forms).toBeGreaterThan(RUNS);
  expect(seen.conditions).toBeGreaterThan(0);
}, 600_000);
