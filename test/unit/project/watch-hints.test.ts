import { describe, expect, it } from "vitest";
import { kinds } from "../../../src/core/kinds/index.ts";
import type { JsonObject, ResourceState, State } from "../../../src/core/model/index.ts";
import { type EventSubject, Hints, namedBy } from "../../../src/project/watch/schedule.ts";
import { fc } from "../../support/fc.ts";

function recorded(address: string, attributes: JsonObject): [string, ResourceState] {
  const rest = { provider: "default", schemaVersion: 0, sensitive: [], private: {}, dependencies: [] };
  return [address, { address, attributes, ...rest }];
}

const state: State = {
  lineage: "l",
  serial: 1,
  resources: new Map([
    recorded("hosting_service.www", { id: "1001", invoice_id: "5001" }),
    recorded("hosting_service.shop", { id: "1002", invoice_id: null }),
    recorded('hosting_grant.www["dev@acme.example"]', { id: "301", service_id: "1001" }),
    recorded("hosting_grant.shop", { id: "1001", service_id: "1002" }),
    recorded("hosting_domain.acme", { id: "acme.example", invoice_id: "5009" }),
    recorded("hosting_webhook.main", { id: "1001" }),
  ]),
};

const hint = (event: string, service?: string, invoice?: string): EventSubject => ({ event, service, invoice });

describe("the subject of events", () => {
  it.each<[string, EventSubject, readonly string[]]>([
    [
      "a service, with those whom it is shared with",
      hint("service.suspended", "1001"),
      ["hosting_service.www", 'hosting_grant.www["dev@acme.example"]'],
    ],
    ["an invoice by its order", hint("invoice.paid", "1002", "77"), ["hosting_service.shop"]],
    ["an invoice alone, as an order has recorded it", hint("invoice.paid", undefined, "5001"), ["hosting_service.www"]],
    ["the invoice of a domain", hint("invoice.paid", "4711", "5009"), ["hosting_domain.acme"]],
  ])("%s", (_, one, targets) => {
    expect(namedBy([one], state, kinds, false)).toEqual({ targets, everything: false, strangers: [] });
  });

  it("is unknown without a recorded id", () => {
    const one = hint("service.suspended", "9");
    expect(namedBy([one], state, kinds, false)).toEqual({ targets: [], everything: false, strangers: [one] });
  });

  it("is everything with a pending order, and without an id", () => {
    expect(namedBy([hint("invoice.created", "9", "8")], state, kinds, true)).toMatchObject({
      everything: true,
      strangers: [],
    });
    expect(namedBy([hint("service.provisioned")], state, kinds, false)).toMatchObject({ everything: true });
  });

  it("is everything for more than ten addresses", () => {
    const services = Array.from({ length: 11 }, (_, i) => recorded(`hosting_service.s${i}`, { id: `${i}` }));
    const hints = services.map(([, { attributes }]) => hint("invoice.paid", String(attributes.id)));
    const many: State = { ...state, resources: new Map(services) };
    expect(namedBy(hints.slice(0, 10), many, kinds, false)).toMatchObject({ everything: false });
    expect(namedBy(hints, many, kinds, false)).toMatchObject({ everything: true, targets: [] });
  });

  it("does not depend on order and repetition", () => {
    const some = fc.array(
      fc.record({
        event: fc.constantFrom("service.suspended", "invoice.paid", "service.new"),
        service: fc.constantFrom(undefined, "1001", "1002", "9"),
        invoice: fc.constantFrom(undefined, "5001", "9"),
      }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(some, fc.boolean(), (hints, open) => {
        const once = namedBy(hints, state, kinds, open);
        const again = namedBy([...hints.toReversed(), ...hints], state, kinds, open);
        expect(again.everything).toBe(once.everything);
        expect(new Set(again.targets)).toEqual(new Set(once.targets));
      }),
    );
  });
});

describe("events that wait", () => {
  it("are kept once each, and no more than a hundred", () => {
    const hints = new Hints();
    for (let i = 0; i < 3; i++) hints.add(hint("invoice.paid", "1001"));
    expect(hints.take()).toEqual({ hints: [hint("invoice.paid", "1001")], overflown: false });
    for (let i = 0; i < 100; i++) hints.add(hint("invoice.paid", `${i}`));
    hints.add(hint("invoice.paid", "7"));
    expect(hints.take()).toMatchObject({ overflown: false });
    for (let i = 0; i < 101; i++) hints.add(hint("invoice.paid", `${i}`));
    const { hints: kept, overflown } = hints.take();
    expect([kept.length, overflown]).toEqual([100, true]);
    expect(hints.take()).toEqual({ hints: [], overflown: false });
  });
});
