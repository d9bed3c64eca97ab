/** A secret that is given as a literal text: warned of at the construct, in both libraries, and never repeated. */
import * as cdktf from "cdktf";
import * as cdktn from "cdktn";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as forCdktf from "../../../src/constructs/cdktf/index.ts";
import * as forCdktn from "../../../src/constructs/cdktn/index.ts";
import "../../support/fc.ts";

interface Warned {
  readonly node: { readonly metadata: readonly { readonly type: string; readonly data: unknown }[] };
}
const warnings = ({ node }: Warned) =>
  node.metadata.filter(({ type }) => type.endsWith("/warn")).map(({ data }) => data);

describe.each([
  ["cdktf", cdktf as unknown as typeof cdktn, forCdktf as unknown as typeof forCdktn],
  ["cdktn", cdktn, forCdktn],
])("a secret in a stack of %s", (_, library, { HostingProvider, Service }) => {
  const stack = () =>
    new library.TerraformStack(
      new library.App({ context: { targetVersions: { terraform: ">=1.11.0" } }, outdir: "/nonexistent" }),
      "stack",
    );
  const order = { planId: 11, currency: "USD", domain: "www.acme.example" };

  it("that is a literal text is warned of, with what to do and without the text", () => {
    const service = new Service(stack(), "acme", { ...order, password: "canary-of-the-password" });
    const [warning, ...more] = warnings(service);
    expect(more).toEqual([]);
    expect(warning).toMatch(
      /^password: a literal text would stand in clear text in cdk\.tf\.json\. Give it from a variable/,
    );
    expect(warning).not.toContain("canary");

    const provider = new HostingProvider(stack(), "hosting", { token: "canary-of-the-token" });
    expect(warnings(provider)).toEqual([expect.stringMatching(/^token: .*HOSTING_TOKEN.*`tokenEnv` or `tokenFile`/)]);
    expect(String(warnings(provider))).not.toContain("canary");
  });

  it("that is set later is warned of, once", () => {
    const service = new Service(stack(), "acme", order);
    expect(warnings(service)).toEqual([]);
    service.password = "a literal text";
    service.password = "another one";
    expect(warnings(service)).toHaveLength(1);
  });

  it("from a variable, an attribute or an expression is as it should be", () => {
    const scope = stack();
    const variable = new library.TerraformVariable(scope, "password", { type: "string", sensitive: true });
    const other = new Service(scope, "other", order);
    for (const [index, password] of [
      variable.stringValue,
      "${var.password}",
      `x${other.id}`,
      library.Fn.lookup({ a: variable.stringValue }, "a", ""),
      "",
      undefined,
    ].entries()) {
      const given = password === undefined ? {} : { password };
      expect(warnings(new Service(scope, `s${index}`, { ...order, ...given })), String(password)).toEqual([]);
    }
  });

  it("that only looks like an expression is a literal text", () => {
    for (const [index, password] of ["$${var.password}", "$$$${x}", "a$b{c}", "%{if}"].entries()) {
      expect(warnings(new Service(stack(), `s${index}`, { ...order, password })), password).toHaveLength(1);
    }
    expect(warnings(new Service(stack(), "s", { ...order, password: "$$${var.password}" }))).toEqual([]);
  });

  it("is never part of a warning, whatever it is", () => {
    const texts = fc.string({ minLength: 8 }).filter((text) => !text.includes("${"));
    fc.assert(
      fc.property(texts, (password) => {
        const all = warnings(new Service(stack(), "acme", { ...order, password: `canary${password}` }));
        expect(all).toHaveLength(1);
        expect(String(all)).not.toContain("canary");
      }),
      { numRuns: 50 },
    );
  });
});
