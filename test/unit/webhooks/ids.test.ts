import { describe, expect, it } from "vitest";
import {
  EVENTS,
  type EventData,
  invoiceIdOf,
  orderIdOf,
  parseEvent,
  serviceIdOf,
} from "../../../src/webhooks/index.ts";
import { fc } from "../../support/fc.ts";

const TIMESTAMP = "2026-11-22T10:00:00+00:00";
const eventOf = (event: string, data: EventData) => parseEvent(JSON.stringify({ event, data, timestamp: TIMESTAMP }));
const idsOf = (event: string, data: EventData) => {
  const parsed = eventOf(event, data);
  return { service: serviceIdOf(parsed), invoice: invoiceIdOf(parsed), order: orderIdOf(parsed) };
};

const SERVICE = { id: 1003, plan: "Shared Start", status: "active", domain: "www.acme.example" };
const INVOICE = { id: 5003, invoice_number: "INV-2026-0003", status: "paid", order_id: 1003 };

describe("a service event", () => {
  it.each<readonly [string, EventData]>([
    ["the service's fields", SERVICE],
    ["string ids", { ...SERVICE, id: "1003" }],
    ["{service: {…}}", { service: SERVICE }],
    ["{service: {data: {…}}}", { service: { data: SERVICE } }],
    ["{service: id}", { service: 1003 }],
    ["{service_id}", { service_id: 1003 }],
    ["{service_id} beside an id of its own", { id: 77, service_id: "1003" }],
    ["{serviceId}", { serviceId: 1003 }],
    ["{data: {…}}", { data: SERVICE }],
    ["{object: {…}}", { object: SERVICE }],
    ["{type, id, attributes}", { type: "service", id: "1003", attributes: { plan: "Shared Start" } }],
    ["{order_id}", { order_id: 1003 }],
    ["{order: {…}}", { order: SERVICE }],
    ["a transfer with the service's id", { transfer: { id: 3, service_id: 1003 } }],
    ["a transfer itself", { id: 3, service_id: 1003, from_customer_id: 1, to_customer_id: 2 }],
    ["a transfer with its service", { transfer: { id: 3, service: SERVICE } }],
  ])("with %s names the service, and no invoice", (_, data) => {
    for (const event of EVENTS.filter((name) => name.startsWith("service."))) {
      expect(idsOf(event, data)).toEqual({ service: "1003", invoice: undefined, order: "1003" });
    }
  });

  it("never takes the id of a transfer for the id of a service", () => {
    expect(idsOf("service.transfer_accepted", { transfer: { id: 3 } }).service).toBeUndefined();
    expect(idsOf("service.transfer_accepted", { ...SERVICE, transfer: { id: 3 } }).service).toBe("1003");
  });

  it("may name the invoice too", () => {
    expect(idsOf("service.suspended", { ...SERVICE, invoice: INVOICE })).toEqual({
      service: "1003",
      invoice: "5003",
      order: "1003",
    });
    expect(idsOf("service.expiring", { ...SERVICE, invoice_id: 5003 }).invoice).toBe("5003");
  });
});

describe("an invoice event", () => {
  it.each<readonly [string, EventData]>([
    ["the invoice's fields", INVOICE],
    ["string ids", { ...INVOICE, id: "5003", order_id: "1003" }],
    ["{invoice: {…}}", { invoice: INVOICE }],
    ["{invoice: {data: {…}}}", { invoice: { data: INVOICE } }],
    ["{invoice_id, service_id}", { invoice_id: 5003, service_id: 1003 }],
    ["{invoice, service}", { invoice: INVOICE, service: SERVICE }],
    ["{invoice: id, order: id}", { invoice: 5003, order: 1003 }],
    ["the invoice's fields and its service", { id: 5003, service: SERVICE }],
    ["{data: {…}}", { data: INVOICE }],
  ])("with %s names the invoice and its service", (_, data) => {
    for (const event of ["invoice.created", "invoice.paid"]) {
      expect(idsOf(event, data)).toEqual({ service: "1003", invoice: "5003", order: "1003" });
    }
  });

  it("never takes the id of the invoice for the id of a service", () => {
    expect(idsOf("invoice.paid", { id: 5003 })).toEqual({ service: undefined, invoice: "5003", order: undefined });
    expect(idsOf("invoice.paid", { invoice: { id: 5003 } })).toEqual({
      service: undefined,
      invoice: "5003",
      order: undefined,
    });
  });
});

describe("any event", () => {
  it("names no object if two ids differ", () => {
    expect(idsOf("service.suspended", { service_id: 1003, service: { id: 1004 } }).service).toBeUndefined();
    expect(idsOf("invoice.paid", { invoice: INVOICE, invoice_id: 9 }).invoice).toBeUndefined();
    expect(idsOf("service.suspended", { service_id: 1003, service: { id: "1003" } }).service).toBe("1003");
  });

  it("names an id with all its digits, whatever its size and position", () => {
    const places = ['{"id":ID}', '{"service_id":ID}', '{"service":{"id":ID}}', '{"data":{"id":ID}}'];
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 40n), fc.constantFrom(...places), (id, place) => {
        const data = place.replace("ID", String(id));
        const body = `{"event":"service.suspended","timestamp":"${TIMESTAMP}","data":${data}}`;
        expect(serviceIdOf(parseEvent(body))).toBe(String(id));
      }),
      { examples: [[9007199254740993n, places[0] ?? ""]] },
    );
    const raw = `{"event":"invoice.paid","timestamp":"${TIMESTAMP}","data":{"id":9007199254740993,"total":1e20,"note":"9007199254740993"}}`;
    const { data } = parseEvent(Buffer.from(raw));
    expect(data).toEqual({ id: "9007199254740993", total: 1e20, note: "9007199254740993" });
  });

  it.each([1.5, -1, 1e300, "", "..", "a/b", "a b", "\u001b[2J", true, null, [], [1003], {}])(
    "takes %j for no id",
    (id) => {
      expect(idsOf("service.suspended", { id })).toEqual({ service: undefined, invoice: undefined, order: undefined });
      expect(idsOf("service.suspended", { service_id: id }).service).toBeUndefined();
    },
  );

  it("of an unknown type names its objects, but not by an id without a type", () => {
    expect(idsOf("domain.renewed", { id: 9, order_id: 1010 })).toEqual({
      service: "1010",
      invoice: undefined,
      order: "1010",
    });
    expect(idsOf("invoice.refunded", INVOICE).invoice).toBe("5003");
    expect(idsOf("domain.renewed", { id: 9 }).service).toBeUndefined();
  });

  it("never throws, and returns strings that are valid in a path", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...EVENTS),
        fc.dictionary(fc.constantFrom("id", "service", "invoice", "order_id", "data", "x"), fc.jsonValue()),
        (event, data) => {
          for (const id of Object.values(idsOf(event, data))) expect(id ?? "none").toMatch(/^\w[\w.:-]*$/);
        },
      ),
    );
  });
});
