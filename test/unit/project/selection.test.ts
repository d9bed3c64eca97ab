// Selection of resources by the values of `--target`.
import { describe, expect, it } from "vitest";
import { HostformError, isPattern } from "../../../src/core/model/index.ts";
import { selected } from "../../../src/project/selection.ts";
import { fc } from "../../support/fc.ts";

const WWW = { address: "hosting_service.acme-www", client: "acme" };
const SHOP = { address: "hosting_service.acme-shop", client: "acme" };
const DEV = { address: 'hosting_grant.acme-www["dev@acme.example"]', client: "acme" };
const BETA = { address: "hosting_service.beta-www", client: "beta" };
const HOOK = { address: "hosting_webhook.billing" };
const ALL = [WWW, SHOP, DEV, BETA, HOOK];

describe("what a word means", () => {
  it.each<[word: string, expected: readonly { readonly address: string }[]]>([
    ["hosting_service.acme-*", [WWW, SHOP]],
    ["hosting_service.*-www", [WWW, BETA]],
    ["*acme*", [WWW, SHOP, DEV]],
    // A resource name selects all its instances, also in a pattern.
    ["hosting_grant.*-www", [DEV]],
    ['hosting_grant.*["dev@*"]', [DEV]],
    ["hosting_*.b*", [BETA, HOOK]],
    ["*", ALL],
    ["client:acme", [WWW, SHOP, DEV]],
    ["client:*", [WWW, SHOP, DEV, BETA]],
  ])("%s", (word, expected) => {
    expect(isPattern(word)).toBe(true);
    expect(selected([word], ALL)).toEqual(expected.map(({ address }) => address));
  });

  it("an address that is no pattern stays, known or not, and each stands once", () => {
    expect(selected(["hosting_service.nobody", WWW.address, "client:beta", BETA.address], ALL)).toEqual([
      "hosting_service.nobody",
      WWW.address,
      BETA.address,
    ]);
  });

  it("an address with a star in it is first that address", () => {
    const star = { address: 'hosting_grant.x["*@acme.example"]' };
    const other = { address: 'hosting_grant.x["a@acme.example"]' };
    expect(selected([star.address], [star, other])).toEqual([star.address]);
  });

  it.each<[word: string, all: readonly { readonly address: string; readonly client?: string }[], detail?: string]>([
    ["hosting_service.amce-*", ALL, 'Did you mean "hosting_service.acme-*"?'],
    ["hosting_service.zzzzzz-*", ALL],
    ["client:amce", ALL, 'Did you mean "acme"?'],
    ["client:gamma", ALL, "The clients are: acme, beta."],
    ["client:acme", [HOOK], "No resource has a client."],
    ["*x", []],
  ])("%s means nothing: %#", (word, all, detail) => {
    const error = (() => {
      try {
        return selected([word], all);
      } catch (thrown) {
        return thrown;
      }
    })();
    const [diagnostic] = (error as HostformError).diagnostics;
    expect(diagnostic).toMatchObject({ code: "plan.address", summary: expect.stringContaining(word) });
    expect(diagnostic?.detail).toBe(detail);
  });

  it("a pattern is like a name exactly when a regular expression says so", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "b", "*", "."), maxLength: 8 });
    const name = fc.string({ unit: fc.constantFrom("a", "b", "."), maxLength: 8 });
    fc.assert(
      fc.property(word, name, (pattern, address) => {
        fc.pre(isPattern(pattern) && !address.includes("["));
        const expression = new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", ".*")}$`, "s");
        const found = (() => {
          try {
            return selected([pattern], [{ address }]).length > 0;
          } catch {
            return false;
          }
        })();
        expect(found).toBe(expression.test(address));
      }),
      { numRuns: 500 },
    );
  });

  it("takes no time for a pattern that a regular expression would search for hours", () => {
    const address = `hosting_service.${"a".repeat(2000)}`;
    expect(() => selected([`${"*a".repeat(60)}*b`], [{ address }])).toThrow(HostformError);
  });
});
