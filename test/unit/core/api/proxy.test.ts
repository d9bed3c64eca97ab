import { describe, expect, it } from "vitest";
import { routeTo } from "../../../../src/core/api/proxy.ts";
import fc from "../../../support/fc.ts";

const PROXY = { HTTPS_PROXY: "http://proxy.example:3128", HTTP_PROXY: "http://plain.example:3128" };
const proxyOf = (baseUrl: string, more: Record<string, string> = {}) =>
  routeTo(new URL(baseUrl), { ...PROXY, ...more }).proxy;

describe("NO_PROXY", () => {
  it.each([
    ["api.example", "https://api.example", false],
    ["API.example.", "https://api.example", false],
    ["api.example", "https://api.example.", false],
    ["api.example", "https://v1.api.example", false],
    [".api.example", "https://v1.api.example", false],
    [".api.example", "https://api.example", false],
    ["*.api.example", "https://v1.api.example", false],
    ["*.api.example", "https://api.example", true],
    ["api.example", "https://xapi.example", true],
    ["a.example, b.example", "https://b.example", false],
    ["a.example b.example", "https://b.example", false],
    ["api.example:443", "https://api.example", false],
    ["api.example:8443", "https://api.example", true],
    ["api.example:8443", "https://api.example:8443", false],
    ["api.example:80", "http://api.example", false],
    ["*", "https://api.example", false],
    ["*:8443", "https://api.example", true],
    ["192.0.2.7", "https://192.0.2.7", false],
    ["192.0.2.0/24", "https://192.0.2.7", false],
    ["192.0.2.0/24", "https://198.51.100.7", true],
    ["192.0.2.0/99", "https://192.0.2.7", true],
    ["2001:db8::/32", "https://[2001:db8::7]", false],
    ["[2001:db8::7]:443", "https://[2001:db8::7]", false],
    ["2001:db8::7", "https://[2001:db8::7]", false],
    ["", "https://api.example", true],
    [" , ", "https://api.example", true],
    [".", "https://api.example", true],
  ])("%j: %s goes through the proxy: %s", (list, baseUrl, expected) => {
    expect(proxyOf(baseUrl, { NO_PROXY: list }) !== undefined).toBe(expected);
  });

  it("in lower case has priority over upper case", () => {
    const more = { NO_PROXY: "other.example", no_proxy: "api.example" };
    expect(proxyOf("https://api.example", more)).toBeUndefined();
  });

  it("accepts any text", () => {
    fc.assert(fc.property(fc.string(), (list) => void proxyOf("https://api.example", { NO_PROXY: list })));
  });
});

describe("HTTPS_PROXY and HTTP_PROXY", () => {
  it("apply to one scheme each, and lower case has priority", () => {
    expect(proxyOf("https://api.example")?.host).toBe("proxy.example");
    expect(proxyOf("http://api.example")?.host).toBe("plain.example");
    expect(proxyOf("https://api.example", { https_proxy: "http://lower.example" })?.host).toBe("lower.example");
    expect(proxyOf("https://api.example", { https_proxy: "" })).toBeUndefined();
  });

  it.each([
    ["proxy.example:3128", "proxy.example", 3128, undefined],
    ["http://proxy.example", "proxy.example", 80, undefined],
    ["https://proxy.example", "proxy.example", 443, undefined],
    ["http://[::1]:3128/", "::1", 3128, undefined],
    ["http://me:p%40ss@proxy.example", "proxy.example", 80, "me:p@ss"],
    ["http://me@proxy.example", "proxy.example", 80, "me:"],
  ])("%s is read", (value, host, port, pair) => {
    const authorization = pair && `Basic ${Buffer.from(pair).toString("base64")}`;
    expect(proxyOf("https://api.example", { HTTPS_PROXY: value })).toMatchObject({ host, port, authorization });
  });

  it.each(["http://me:canary@:::", "socks5://me:canary@proxy.example", "http://me:canary%zz@proxy.example", "http://"])(
    "%s is refused, and not repeated",
    (value) => {
      const read = () => proxyOf("https://api.example", { HTTPS_PROXY: value });
      expect(read).toThrow("HTTPS_PROXY is not the URL of an HTTP proxy");
      expect(read).not.toThrow(/canary/);
    },
  );
});
