import { expect, test } from "vitest";
import { checkAddress, checkTarget, deliverToOf } from "../../../src/sandbox/events/target.ts";
import { SandboxOptionError } from "../../../src/sandbox/index.ts";

test.each([
  [undefined, "loopback"],
  ["anywhere", "anywhere"],
  ["nowhere", "nowhere"],
  [[], []],
  [["Hooks.Example"], ["hooks.example"]],
  [["bücher.example"], ["xn--bcher-kva.example"]],
  [
    ["[2001:DB8::1]", "2001:db8:0::2"],
    ["2001:db8::1", "2001:db8::2"],
  ],
  [["192.0.2.7"], ["192.0.2.7"]],
])("%j is a valid target of deliveries", (given, expected) => {
  expect(deliverToOf(given as string[])).toEqual(expected);
});

test.each([
  [["http://hooks.example/"], "Did you mean hooks.example?"],
  [["hooks.example:8080"], "Did you mean hooks.example?"],
  [["hooks.example:80"], "Did you mean hooks.example?"],
  [["hooks.example/"], "Did you mean hooks.example?"],
  [["https://[2001:db8::1]/"], "Did you mean [2001:db8::1]?"],
  [["*.example"], "a host such as"],
  [["a b"], "a host such as"],
  [[""], "a host such as"],
  [["me@hooks.example"], "a host such as"],
  [["hooks.example", "anywhere"], "Pass this word alone, or pass only hosts."],
  ["hooks.example", "a list of hosts"],
])("%j is rejected, because it would allow no target", (given, hint) => {
  expect(() => deliverToOf(given as string[])).toThrow(SandboxOptionError);
  expect(() => deliverToOf(given as string[])).toThrow(hint);
});

test("a host is recognized in every notation", () => {
  const allowed = deliverToOf(["BÜCHER.example", "[2001:DB8::1]"]);
  for (const url of ["http://bücher.example/", "http://[2001:db8:0:0::1]/x"]) {
    const { hostname } = new URL(url);
    expect(() => checkTarget(new URL(url), allowed)).not.toThrow();
    expect(() => checkAddress(hostname.replace(/^\[|\]$/g, ""), "203.0.113.9", allowed)).not.toThrow();
  }
  expect(() => checkTarget(new URL("http://[2001:db8::3]/"), allowed)).toThrow("is not this machine");
});
