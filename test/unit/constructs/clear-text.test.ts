/** Secret as a literal string: the construct warns, in both libraries, and the warning does not contain the secret. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import "../../support/fc.ts";
import { bothLibraries, newStack, type Stack } from "./support.ts";

interface Warned {
  readonly node: { readonly metadata: readonly { readonly type: string; readonly data: unknown }[] };
}
const warnings = ({ node }: Warned) =>
  node.metadata.filter(({ type }) => type.endsWith("/warn")).map(({ data }) => data);

const libraries = bothLibraries();

describe.each(libraries.names)("a secret in a stack of %s", (name) => {
  const stack = () => newStack(libraries.of(name));
  const serviceIn = (scope: Stack, id: string, given: { readonly password?: string } = {}) =>
    new (libraries.of(name).hostform.Service)(scope, id, {
      planId: 11,
      currency: "USD",
      domain: "www.acme.example",
      ...given,
    });

  it("as a literal string causes a warning with the fix and without the string", () => {
    const service = serviceIn(stack(), "acme", { password: "canary-of-the-password" });
    const [warning, ...more] = warnings(service);
    expect(more).toEqual([]);
    expect(warning).toMatch(
      /^password: a literal text would stand in clear text in cdk\.tf\.json\. Give it from a variable/,
    );
    expect(warning).not.toContain("canary");

    const { HostingProvider } = libraries.of(name).hostform;
    const provider = new HostingProvider(stack(), "another", { token: "canary-of-the-token" });
    expect(warnings(provider)).toEqual([expect.stringMatching(/^token: .*HOSTING_TOKEN.*`tokenEnv` or `tokenFile`/)]);
    expect(String(warnings(provider))).not.toContain("canary");
  });

  it("that is set later causes one warning", () => {
    const service = serviceIn(stack(), "acme");
    expect(warnings(service)).toEqual([]);
    service.password = "a literal text";
    service.password = "another one";
    expect(warnings(service)).toHaveLength(1);
  });

  it("from a variable, an attribute or an expression causes no warning", () => {
    const { TerraformVariable, Fn } = libraries.of(name).cdk;
    const scope = stack();
    const variable = new TerraformVariable(scope, "password", { type: "string", sensitive: true });
    const other = serviceIn(scope, "other");
    for (const [index, password] of [
      variable.stringValue,
      "${var.password}",
      `x${other.id}`,
      Fn.lookup({ a: variable.stringValue }, "a", ""),
      "",
      undefined,
    ].entries()) {
      const given = password === undefined ? {} : { password };
      expect(warnings(serviceIn(scope, `s${index}`, given)), String(password)).toEqual([]);
    }
  });

  it("that only looks like an expression counts as a literal string", () => {
    for (const [index, password] of ["$${var.password}", "$$$${x}", "a$b{c}", "%{if}"].entries()) {
      expect(warnings(serviceIn(stack(), `s${index}`, { password })), password).toHaveLength(1);
    }
    expect(warnings(serviceIn(stack(), "s", { password: "$$${var.password}" }))).toEqual([]);
  });

  it("is never part of a warning, whatever its value", () => {
    const texts = fc.string({ minLength: 8 }).filter((text) => !text.includes("${"));
    fc.assert(
      fc.property(texts, (password) => {
        const all = warnings(serviceIn(stack(), "acme", { password: `canary${password}` }));
        expect(all).toHaveLength(1);
        expect(String(all)).not.toContain("canary");
      }),
      { numRuns: 50 },
    );
  });
});
