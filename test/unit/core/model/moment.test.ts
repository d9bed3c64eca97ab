import { describe, expect, it, vi } from "vitest";
import { declaredMoment, isPaid, momentProblem, readMoment, sameMoment } from "../../../../src/core/model/index.ts";

describe("sameMoment", () => {
  it.each([
    ["2027-01-31", "2027-01-31T00:00:00Z", true, "a bare date is midnight UTC"],
    ["2027-01-31T00:00:00Z", "2027-01-31T00:00:00.000000Z", true, "microseconds"],
    ["2027-01-31T04:00:00+04:00", "2027-01-31T00:00:00+00:00", true, "another offset"],
    ["2027-01-31", "2027-02-01", false, "another day"],
    ["2027-01-31T18:30:00Z", "2027-01-31", true, "a server that shows the day alone"],
    ["2027-01-31T18:30:00Z", "2027-02-01", false, "the day after"],
    ["2027-01-31T02:00:00+04:00", "2027-01-30", true, "the day in UTC"],
    ["2027-01-31T18:30:00Z", "2027-01-31T18:31:00Z", false, "a minute later"],
    ["soon", "soon", true, "the same text, even if it is no time"],
    ["soon", "always", false, "no times at all"],
    ["2027-01-31T18:30:00.9Z", "2027-01-31T18:30:00Z", true, "a server that keeps seconds"],
    ["2027-01-31T00:00:00Z", "2027-01-31T04:00:00", true, "a server that writes its local time without an offset"],
    ["2027-01-31T00:00:00Z", "2027-01-30 13:00:00", true, "eleven hours behind, with a blank"],
    ["2027-01-31T00:00:00Z", "2027-02-01T00:00:00", false, "a whole day later without an offset"],
    ["2027-01-31", "2027-01-31 23:59:59", true, "a local time of that day"],
    ["2027-03-28 02:30:00", "2027-03-28 03:30:00", false, "two local times of one server"],
    ["0000-00-00", "9999-12-31T23:59:59Z", true, "two ways to say no date"],
    ["0000-00-00", "2027-01-31", false, "no date and a day"],
    [null, "2027-01-31", false, "none and one"],
    [1_800_000_000, "2027-01-15T08:00:00Z", false, "a number is not read as a time"],
  ])("of %j and %j is %j: %s", (a, b, expected, _why) => {
    expect(sameMoment(a, b)).toBe(expected);
    expect(sameMoment(b, a)).toBe(expected);
  });
});

describe("readMoment", () => {
  it.each([
    ["2027-01-31T00:00:00Z", "2027-01-31T00:00:00.000Z", "ISO 8601"],
    ["2027-01-31t04:00:00+04:00", "2027-01-31T00:00:00.000Z", "an offset"],
    ["2027-01-30T19:00:00-0500", "2027-01-31T00:00:00.000Z", "an offset without a colon"],
    ["2027-01-31 00:00:00+00", "2027-01-31T00:00:00.000Z", "as PostgreSQL writes it"],
    ["2027-01-31 00:00:00 UTC", "2027-01-31T00:00:00.000Z", "as Ruby writes it"],
    ["2027-01-31T00:00:00.123456Z", "2027-01-31T00:00:00.123Z", "microseconds"],
    ["2027-01-31T00:00Z", "2027-01-31T00:00:00.000Z", "minutes"],
    ["Sun, 31 Jan 2027 00:00:00 GMT", "2027-01-31T00:00:00.000Z", "a header's form"],
    [1_801_353_600, "2027-01-31T00:00:00.000Z", "seconds since the epoch"],
    ["1801353600", "2027-01-31T00:00:00.000Z", "the same as a text"],
    [1_801_353_600_000, "2027-01-31T00:00:00.000Z", "milliseconds since the epoch"],
  ])("reads %j as %s: %s", (said, expected, _why) => {
    expect(readMoment(said)).toEqual({ form: "instant", at: Date.parse(expected) });
  });

  it.each([
    ["2027-01-31", "day"],
    ["2027-01-31 00:00:00", "local"],
    ["2027-01-31T00:00:00.000000", "local"],
  ] as const)("reads %j as a %s", (said, form) => {
    expect(readMoment(said)).toEqual({ form, at: Date.parse("2027-01-31T00:00:00Z") });
  });

  it.each([
    ...[
      null,
      undefined,
      false,
      "",
      " ",
      "never",
      "Never",
      "null",
      "false",
      "N/A",
      "infinity",
      "-",
      0,
      "0",
      -1,
      "-62169984000",
    ],
    ...[
      "0000-00-00",
      "0000-00-00 00:00:00",
      "0000-00-00T00:00:00.000000Z",
      "-0001-11-30",
      "-0001-11-30T00:00:00+00:00",
    ],
    ...["0001-01-01T00:00:00Z", "0001-01-01", "1970-01-01", "1970-01-01T00:00:00Z", "1970-01-01 04:00:00"],
    ...["1969-12-31T19:00:00-05:00", "9999-12-31", "9999-12-31 23:59:59", "9999-12-31T23:59:59.999Z"],
    ...[253_402_300_799, 253_402_214_400, 253_402_300_799_000, "253402300799"],
  ])("reads %j as no date", (said) => expect(readMoment(said)).toEqual({ form: "none" }));

  it.each([
    ...[
      "soon",
      "2027-02-30",
      "2027-13-01",
      "2027-1-31",
      "31.01.2027",
      "01/31/2027",
      "Jan 31 2027",
      "2027",
      2027,
      "365",
    ],
    ...[
      true,
      {},
      [],
      "2027-01-31T24:00:00Z",
      "2027-01-31T10:61:00Z",
      "2027-01-31T10:00:00+99:00",
      "2027-01-31T10:00:00 CET",
    ],
    ...["Sun, 31 Jan 2027 00:00:00", Number.NaN],
  ])("cannot read %j", (said) => expect(readMoment(said)).toEqual({ form: "unknown" }));
});

describe("a declared time", () => {
  it.each([
    ["2027-01-31", "2027-01-31T00:00:00Z"],
    ["2028-02-29", "2028-02-29T00:00:00Z"],
    ["2027-01-31T00:00:00Z", "2027-01-31T00:00:00Z"],
    ["2027-01-31T04:00+04:00", "2027-01-31T00:00:00Z"],
    ["1999-01-31T00:00:00.5-03:30", "1999-01-31T03:30:00.5Z"],
  ])("%s is %s", (text, expected) => {
    expect(momentProblem(text)).toBeUndefined();
    expect(declaredMoment(text)).toBe(Date.parse(expected));
  });

  it.each([
    ["2027-02-30", "is on no calendar or clock"],
    ["2027-02-29", "is on no calendar or clock"],
    ["2027-01-31T25:00:00Z", "is on no calendar or clock"],
    ["2027-03-28T02:30:00", "has no offset; write 2027-03-28T02:30:00Z for UTC"],
    ["2027-03-28 02:30:00", "or a day such as 2027-01-31"],
    ["31.01.2027", "or a day such as 2027-01-31"],
    ["1801353600", "or a day such as 2027-01-31"],
    ["never", "or a day such as 2027-01-31"],
    ["9999-12-31", 'hosts write "9999-12-31" for "no date"; leave it out instead'],
    ["1970-01-01T00:00:00Z", "leave it out instead"],
  ])("%s is refused", (text, reason) => expect(momentProblem(text)).toContain(reason));
});

it.each(["UTC", "Asia/Tbilisi", "Europe/Berlin", "America/New_York", "Pacific/Kiritimati", "Australia/Lord_Howe"])(
  "times mean the same on a machine in %s",
  (zone) => {
    const texts = ["2027-03-28 02:30:00", "2027-03-28T02:30:00", "2027-03-28", "2027-03-28T02:30:00+04:00", "soon"];
    const before = texts.map((text) => [readMoment(text), declaredMoment(text), momentProblem(text)]);
    vi.stubEnv("TZ", zone);
    try {
      expect(new Intl.DateTimeFormat().resolvedOptions().timeZone).toBe(zone);
      expect(texts.map((text) => [readMoment(text), declaredMoment(text), momentProblem(text)])).toEqual(before);
      expect(sameMoment("2027-03-28T02:30:00Z", "2027-03-28 02:30:00")).toBe(true);
    } finally {
      vi.unstubAllEnvs();
    }
  },
);

describe("an invoice is paid", () => {
  const time = "2026-12-01T10:00:00Z";
  it.each([
    ["paid", null, true, "by its word"],
    ["SETTLED", "0000-00-00 00:00:00", true, "by its word, whatever the time"],
    ["PaidInFull", null, true, "by a part of its word"],
    ["unpaid", time, false, "not by a time beside a word that says otherwise"],
    ["Unpaid", "0000-00-00 00:00:00", false, "not by a zero date"],
    ["not paid", time, false, "not by a negation"],
    ["partially_paid", time, false, "not in part"],
    ["PartiallyPaid", time, false, "not in part, in one word"],
    ["payment pending", null, false, "not while it is pending"],
    ["refunded", time, false, "not once it is refunded"],
    ["cancelled", time, false, "not once it is cancelled"],
    ["past_due", null, false, "not when it is due"],
    [null, time, true, "by its time alone"],
    ["code 7", time, true, "by its time where the word is unknown"],
    ["code 7", null, false, "not without a time"],
    ["code 7", "-0001-11-30", false, "not by a zero date where the word is unknown"],
    ["code 7", "soon", undefined, "perhaps, where the time cannot be read"],
  ])("%j at %j: %j (%s)", (status, paid_at, expected, _why) => expect(isPaid({ status, paid_at })).toBe(expected));
});
