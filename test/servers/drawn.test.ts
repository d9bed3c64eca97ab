/** Random servers follow all explicit rules of the specification, and a failure is reduced to its cause. */
import { describe, expect, it } from "vitest";
import { type SandboxOptions, startSandbox } from "../../src/sandbox/index.ts";
import { type Deviation, deviationText, drawServer, serverOptions } from "./drawn.ts";
import { Host } from "./host.ts";
import { doubles, objectionsToRun } from "./judge.ts";
import type { Verdict } from "./life.ts";
import { shrink, signatureOf } from "./shrink.ts";

const SEEDS = Array.from({ length: 10 }, (_, at) => at + 1);

interface Body {
  readonly [name: string]: unknown;
}

/** Returns a client of a random server that knows only the specification. */
async function client(seed: number) {
  const { sandbox: options } = serverOptions(drawServer(seed));
  const calm = { ...options, profile: { ...(options.profile as object), weather: "calm" } } as SandboxOptions;
  const sandbox = await startSandbox({ ...calm, clock: "2026-11-21T10:00:00Z", rateLimit: 0, autoPay: true });
  const ask = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${sandbox.url}/api/v1${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${sandbox.tokens.agency}`,
        "Content-Type": "application/json",
        "Idempotency-Key": "key",
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, text, body: (text.startsWith("{") ? JSON.parse(text) : undefined) as Body };
  };
  return { sandbox, ask, [Symbol.asyncDispose]: () => sandbox.close() };
}

/** Returns the object with all these names, at any depth of the response. */
function having(value: unknown, names: readonly string[]): Body | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (names.every((name) => Object.hasOwn(value, name))) return value as Body;
  return Object.values(value)
    .map((inner) => having(inner, names))
    .find((found) => found !== undefined);
}

const OFFSET = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;
const INVOICE = ["id", "invoice_number", "status", "currency", "subtotal", "total", "due_date", "paid_at", "order_id"];

describe("a random server", () => {
  it("is determined by its seed", () => {
    expect(drawServer(7)).toEqual(drawServer("7"));
    expect(drawServer(7)).not.toEqual(drawServer(8));
  });

  it("differs in every gap of the specification with some seed", () => {
    const gaps = new Set(
      Array.from({ length: 60 }, (_, seed) => drawServer(seed))
        .flat()
        .map(({ gap }) => gap),
    );
    const all = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 24, 25, 26];
    expect([...gaps]).toEqual(expect.arrayContaining([...all, "ids", "ends", "names", "clock", "weather"]));
  });

  it.each(SEEDS)("follows all explicit rules of the specification (seed %i)", async (seed) => {
    await using host = await client(seed);
    const { ask } = host;
    const ordered = await ask("POST", "/services", { plan_id: 11, currency: "USD", domain: "www.acme.example" });
    expect(ordered.status).toBeGreaterThanOrEqual(200);
    expect(ordered.status).toBeLessThan(300);
    // The response contains a service and an invoice object (§4). The invoice's total is the billed amount.
    const invoice = having(ordered.body, INVOICE);
    expect(invoice).toMatchObject({ total: expect.any(Number), currency: "USD" });
    const service = having(ordered.body, ["plan", "product_type", "provisioning_status"]);
    expect(service).toMatchObject({
      id: invoice?.order_id,
      plan: "Shared Start",
      currency: "USD",
      price: expect.any(Number),
    });

    // §2: the key `data` wraps the service, which has these fields.
    const { body } = await ask("GET", `/services/${service?.id}`);
    expect(body.data).toMatchObject({
      id: expect.any(Number),
      plan: "Shared Start",
      product_type: expect.any(String),
      status: expect.any(String),
      domain: "www.acme.example",
      currency: "USD",
      price: expect.any(Number),
      next_due_date: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
      created_at: expect.stringMatching(OFFSET),
    });
    const paid = (await ask("GET", `/invoices/${invoice?.id}`)).body.data as Body;
    expect(paid).toMatchObject({ id: expect.any(Number), paid_at: expect.stringMatching(OFFSET) });

    // §4: as long as the host stores the key, a repeated request returns the original response.
    const again = await ask("POST", "/services", { plan_id: 11, currency: "USD", domain: "www.acme.example" });
    expect(again.text).toBe(ordered.text);

    // §2: a webhook has a URL and events, and its secret only at registration.
    const hook = { url: "https://hooks.acme.example", events: ["invoice.paid"] };
    const registered = await ask("POST", "/webhooks", hook);
    expect(registered.text).toContain(host.sandbox.control.list("webhooks")[0]?.secret);

    // §7: a 403 has a message, and a 422 has a message and errors, regardless of the form of other errors.
    const { status, body: invalid } = await ask("POST", "/webhooks", { url: "no", events: [] });
    expect([status, typeof invalid.message, typeof invalid.errors]).toEqual([422, "string", "object"]);
    host.sandbox.control.change("tokens", 1, { abilities: ["view"] });
    const { status: forbidden, body: words } = await ask("GET", "/invoices");
    expect([forbidden, typeof words.message]).toEqual([403, "string"]);
  });
});

describe("a failing life", () => {
  const deviations: Deviation[] = ["a", "b", "c", "d", "e", "f", "g"].map((name) => ({
    gap: 1,
    path: [name],
    value: 1,
  }));
  const named = (some: readonly Deviation[]) => some.map(({ path }) => path[0]).join("");
  const end = (what: string): Verdict => ({ outcome: "violation", chapter: "order", what: [what], asked: [], log: [] });
  const fine: Verdict = { outcome: "fine", chapter: "order", what: [], asked: [], log: [] };

  it.each([
    ["f", (some: string) => some.includes("f")],
    ["bg", (some: string) => some.includes("b") && some.includes("g")],
    ["", () => true],
  ])('is narrowed down to "%s"', async (cause, breaks) => {
    const play = async (some: readonly Deviation[]) => (breaks(named(some)) ? end("2 × service 1003") : fine);
    expect(named(await shrink(deviations, end("3 × service 1001"), "1", play))).toBe(cause);
  });

  it("is distinguished from another failure", async () => {
    const play = async (some: readonly Deviation[]) =>
      named(some).includes("c") ? end("twice") : named(some).includes("a") ? end("lost") : fine;
    expect(named(await shrink(deviations, end("twice"), "1", play))).toBe("c");
    expect(signatureOf(end("2 × a of 11"))).toBe(signatureOf(end("3 × a of 12")));
  });

  it("is detected by the judge: an order placed twice, a defect, a plan that writes, an error without a reason", async () => {
    await using host = await Host.start([], "judge");
    host.control.create("webhooks", { url: "https://a.example", events: ["invoice.paid"] });
    expect(doubles(host)).toEqual([]);
    host.control.create("webhooks", { url: "https://a.example", events: ["invoice.paid"] });
    expect(doubles(host)).toEqual(["2 × webhook https://a.example invoice.paid"]);
    const ran = { command: "plan", code: 0, text: "", writes: [] };
    expect(objectionsToRun(ran)).toEqual([]);
    expect(objectionsToRun({ ...ran, text: "Error: x\n    at read (file.ts:3:7)" })).toEqual([
      "a stack trace or a defect",
    ]);
    expect(objectionsToRun({ ...ran, writes: ["POST /services 201"] })).toEqual(["a plan sent POST /services 201"]);
    expect(objectionsToRun({ ...ran, code: 1 })).toEqual(["exit 1 without a reason that names the gap"]);
  });

  it("is printed with one line for each cause", () => {
    expect(
      deviationText({ gap: 16, path: ["rendering", "kinds", "grant", "fields", "email"], value: "user.email" }),
    ).toBe('rendering.kinds.grant.fields.email = "user.email"');
  });
});
