import { describe, expect, expectTypeOf, it } from "vitest";
import { EVENTS, type KnownEvent, parseEvent, WebhookError, type WebhookEvent } from "../../../src/webhooks/index.ts";
import { character, fc } from "../../support/fc.ts";
import { saying } from "../../support/remedies.ts";

const TIMESTAMP = "2026-11-22T10:00:00+00:00";
const bodyOf = (more: object) =>
  JSON.stringify({ event: "invoice.paid", data: { id: 5003 }, timestamp: TIMESTAMP, ...more });

/** Returns the error for a body. */
function refusalOf(rawBody: string | Uint8Array): WebhookError {
  try {
    parseEvent(rawBody);
  } catch (error) {
    if (error instanceof WebhookError) return error;
    throw error;
  }
  throw new Error(`was taken: ${rawBody}`);
}

describe("an event", () => {
  it.each(EVENTS)("%s is known", (event) => {
    const parsed = parseEvent(bodyOf({ event }));
    expect(parsed).toEqual({ known: true, event, data: { id: 5003 }, timestamp: TIMESTAMP, at: new Date(TIMESTAMP) });
  });

  it("of a later version is returned unchanged", () => {
    const parsed = parseEvent(bodyOf({ event: "domain.renewed" }));
    expect(parsed).toMatchObject({ known: false, event: "domain.renewed", data: { id: 5003 } });
  });

  it("is read from a string or its bytes, with or without a byte order mark", () => {
    const text = bodyOf({ data: { name: "Tbilisi — თბილისი" } });
    const bytes = new TextEncoder().encode(text);
    expect(parseEvent(bytes)).toEqual(parseEvent(text));
    expect(parseEvent(`\uFEFF${text}`)).toEqual(parseEvent(text));
    expect(parseEvent(Uint8Array.of(0xef, 0xbb, 0xbf, ...bytes))).toEqual(parseEvent(text));
  });

  it("may have new fields, and no fields in data", () => {
    expect(parseEvent(bodyOf({ version: 2, data: { id: 1, later: [{}] } })).data).toEqual({ id: 1, later: [{}] });
    expect(parseEvent(bodyOf({ data: [] })).data).toEqual({});
  });

  it("cannot change the prototype of objects", () => {
    const { data } = parseEvent(bodyOf({ data: 0 }).replace('"data":0', '"data":{"__proto__":{"polluted":1}}'));
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(Object.keys(data)).toEqual(["__proto__"]);
  });

  it.each([
    ["2026-11-22T14:00:00+04:00", "2026-11-22T10:00:00.000Z"],
    ["2026-11-22T10:00:00.123456Z", "2026-11-22T10:00:00.123Z"],
    ["2026-11-22T10:00:00+0000", "2026-11-22T10:00:00.000Z"],
    ["2026-11-22", "2026-11-22T00:00:00.000Z"],
    ["2026-11-22T10:00:00", undefined],
    ["2026-13-45T10:00:00Z", undefined],
    ["yesterday", undefined],
  ])("of %s happened at %s", (timestamp, instant) => {
    const parsed = parseEvent(bodyOf({ timestamp }));
    expect([parsed.timestamp, parsed.at?.toISOString()]).toEqual([timestamp, instant]);
  });

  it("is narrowed by `known` and then by its name", () => {
    const event = parseEvent(bodyOf({})) as WebhookEvent;
    if (event.known) {
      expectTypeOf(event).toEqualTypeOf<KnownEvent>();
      if (event.event === "invoice.paid") expectTypeOf(event.event).toEqualTypeOf<"invoice.paid">();
    } else expectTypeOf(event.event).toEqualTypeOf<string>();
    expect(event.known).toBe(true);
  });
});

describe("an invalid event", () => {
  it.each([
    ["nothing", "", "webhooks.not_json", /not JSON/],
    ["half of one", bodyOf({}).slice(0, -1), "webhooks.not_json", /not JSON/],
    ["a form", "event=invoice.paid", "webhooks.not_json", /not JSON/],
    ["a list", "[]", "webhooks.not_an_event", /not an object/],
    ["null", "null", "webhooks.not_an_event", /not an object/],
    ["without a name", bodyOf({ event: undefined }), "webhooks.not_an_event", /no "event"/],
    ["with a number as its name", bodyOf({ event: 1 }), "webhooks.not_an_event", /no "event"/],
    ["without data", bodyOf({ data: undefined }), "webhooks.not_an_event", /no "data"/],
    ["with a list of data", bodyOf({ data: [1] }), "webhooks.not_an_event", /no "data"/],
    ["with data null", bodyOf({ data: null }), "webhooks.not_an_event", /no "data"/],
    ["without a timestamp", bodyOf({ timestamp: undefined }), "webhooks.not_an_event", /no "timestamp"/],
    ["with a number as its timestamp", bodyOf({ timestamp: 0 }), "webhooks.not_an_event", /no "timestamp"/],
  ])("%s", (_, body, code, words) => {
    const refusal = refusalOf(body);
    expect([refusal.code, refusal.status]).toEqual([code, 400]);
    expect(refusal.message).toMatch(words);
    expect(refusal.diagnostics).toMatchObject([
      { severity: "error", code, remedies: saying(expect.stringMatching(/\.$/)) },
    ]);
  });

  it("bytes that are not UTF-8", () => {
    expect(refusalOf(Uint8Array.of(0x22, 0xff, 0x22)).code).toBe("webhooks.not_json");
  });

  it("is rejected with an error that does not repeat any part of it", () => {
    const odd = fc.oneof(fc.string({ unit: character }), fc.json(), fc.uint8Array());
    fc.assert(
      fc.property(odd, (body) => {
        expect(["webhooks.not_json", "webhooks.not_an_event"]).toContain(refusalOf(body).code);
      }),
    );
    const secretive = refusalOf('{"password": hunter22}');
    expect(`${secretive.stack}${JSON.stringify(secretive)}`).not.toContain("hunter22");
  });

  it("is rejected however deeply it is nested", () => {
    const deep = "[".repeat(200_000);
    expect(refusalOf(deep).code).toBe("webhooks.not_json");
    expect(
      parseEvent(bodyOf({ data: 0 }).replace('"data":0', `"data":{"a":${deep}${"]".repeat(200_000)}}`)).event,
    ).toBe("invoice.paid");
  });
});
