/** Returned values that are another notation of the sent value. */
import { expect, it } from "vitest";
import { endsNoLater, isDomainForm, isPart, isSameTarget } from "../../../../src/core/model/index.ts";

const URL_SENT = "https://user:pass@hooks.example/in/abc?token=secret&x=1";

it.each([
  ["https://hooks.example/in/abc", true],
  ["https://user:***@hooks.example/in/abc/?x=1&token=***", true],
  ["https://hooks.example/in/***?token=se…", true],
  ["https://hooks.example/in/abc?token=other", false],
  ["https://hooks.example/in/abc?token=***&more=1", false],
  ["https://hooks.example/out", false],
  ["http://hooks.example/in/abc", false],
  ["https://hooks.example:8443/in/abc", false],
  ["https://***/in/abc", false],
])("a webhook returned as %s has the sent URL: %s", (shown, same) => {
  expect(isSameTarget(URL_SENT, shown)).toBe(same);
});

/** Query of a webhook's URL as a host returns it, in a list and in the response to the request. */
it.each([
  ["?\u2026", true, true],
  ["?xxx", true, true],
  ["?***", true, true],
  ["?[FILTERED]", true, true],
  ["?<hidden>", true, true],
  ["?{removed}", true, true],
  ["?---", true, true],
  ["?token=[FILTERED]&x=1", true, true],
  ["?not-shown", false, true],
  ["?token=not-shown", false, true],
  ["?token=not-shown&x=1&y=2", false, false],
  ["?more=1", false, false],
])("a webhook with the query %s is the sent one in a list: %s, in a response: %s", (query, inList, inAnswer) => {
  const shown = `https://hooks.example/in/abc${query}`;
  expect([isSameTarget(URL_SENT, shown), isSameTarget(URL_SENT, shown, true)]).toEqual([inList, inAnswer]);
  const elsewhere = shown.replace("/in/", "/out/");
  expect([isSameTarget(URL_SENT, elsewhere), isSameTarget(URL_SENT, elsewhere, true)]).toEqual([false, false]);
  // The sent URL has no query that a mask could hide.
  expect(isSameTarget("https://hooks.example/in/abc", shown, true)).toBe(false);
});

it.each([
  ["2027-01-31T10:20:30Z", "2027-01-31T10:20:00Z", true],
  ["2027-01-31T10:20:30Z", "2027-01-31T10:21:00Z", false],
  ["2027-01-31T10:20:30Z", "2027-01-29", true],
  ["2027-01-31T10:20:30Z", "2027-02-01", false],
  ["2027-01-31T10:20:30Z", null, false],
  ["2027-01-31T10:20:30Z", "31.01.2027", false],
  [null, "2027-01-31", true],
])("an end sent as %s and returned as %s is no later: %s", (sent, shown, isEarlier) => {
  expect(endsNoLater(sent, shown)).toBe(isEarlier);
});

it.each([
  ["https://www.acme.example/", true],
  ["acme.example", true],
  ["www.ac…", false],
  ["other.example", false],
])("www.acme.example returned as %s is the same domain: %s", (shown, same) => {
  expect(isDomainForm("www.acme.example", shown)).toBe(same);
});

it("only the beginning or the end of a text counts as its part", () => {
  expect([isPart("GE77", "77"), isPart("Acme Georgia", "ACME"), isPart("GE77", 77), isPart("Acme", "Other")]).toEqual([
    true,
    true,
    true,
    false,
  ]);
});
