import { describe, expect, it } from "vitest";
import type { Json } from "../../../../src/core/model/index.ts";
import { saying } from "../../../support/remedies.ts";
import { desiredOf, given, linesOf, PROVIDER, read, SERVICE, scope } from "./stacks.ts";

const outputs = (stack: Json, over: Parameters<typeof desiredOf>[1] = {}) =>
  Object.fromEntries(
    desiredOf(stack, over).outputs?.map(({ name, evaluate }) => [name, evaluate(scope()).value]) ?? [],
  );

const shown = (names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { value: `\${var.${name}}` }]));

describe("variables", () => {
  it("have the values that Terraform 1.11 gives them", () => {
    const variable = {
      u: {},
      any: { type: "any" },
      n: { type: "number" },
      s: { type: "string" },
      l: { type: "list(string)" },
      d: { default: "${nope}" },
      nn: { default: "x", nullable: false },
      o: { type: "object({a=string,b=optional(number,3)})" },
      ds: { type: "set(string)", default: ["b", "a", "a"] },
      nd: { type: "number", default: "12" },
    };
    const stack: Json = {
      variable,
      locals: { t: { "${var.s}": 1, k: "${path.module}" } },
      output: {
        ...(shown(Object.keys(variable)) as object),
        t: { value: "${local.t}" },
        root: { value: "${path.root}" },
        ws: { value: "${terraform.workspace}" },
      },
    };
    const variables = given({
      TF_VAR_u: '["a"]',
      TF_VAR_any: '["a", 1]',
      TF_VAR_n: "16",
      TF_VAR_s: '["q"]',
      TF_VAR_l: '["a", 1]',
      TF_VAR_o: "{a = 1}",
    });
    // Outputs of this configuration in `terraform plan`.
    expect(outputs(stack, { variables })).toEqual({
      u: '["a"]',
      any: ["a", 1],
      n: 16,
      s: '["q"]',
      l: ["a", "1"],
      d: "${nope}",
      nn: "x",
      o: { a: "1", b: 3 },
      ds: ["a", "b"],
      nd: 12,
      t: { '["q"]': 1, k: "." },
      root: ".",
      ws: "default",
    });
  });

  it.each(['upper("a")', '"${upper("a")}"', "[for x in [1]: abs(x)]", "true ? 1 : abs(2)", "null == null || can(1)"])(
    "given as %s are refused: Terraform calls no function there",
    (text) => {
      const stack: Json = { variable: { v: { type: "any" } } };
      const { desired, diagnostics } = read(stack, { variables: given({ TF_VAR_v: text }) });
      expect(desired).toBeUndefined();
      expect(diagnostics).toMatchObject([
        { code: "config.variable", remedies: saying(expect.stringContaining("without functions")) },
      ]);
    },
  );

  it("use the last given value; null becomes the default if null is not allowed", () => {
    const stack: Json = {
      variable: { a: { default: 1 }, b: { default: "x", nullable: false }, c: { default: "x" } },
      output: { a: { value: "${var.a}" }, b: { value: "${var.b}" }, c: { value: '${var.c == null ? "null" : var.c}' } },
    };
    const variables = [
      ...given({ TF_VAR_a: "2" }),
      { name: "a", from: "terraform.tfvars.json", value: { json: 3 } },
      { name: "b", from: "terraform.tfvars.json", value: { json: null } },
      { name: "c", from: "terraform.tfvars.json", value: { json: null } },
    ];
    expect(outputs(stack, { variables })).toEqual({ a: 3, b: "x", c: "null" });
  });

  it("require a value of their type, and no value is repeated in an error", () => {
    const stack: Json = {
      variable: {
        a: { type: "number" },
        b: { type: "number" },
        c: { type: "strin" },
        d: { type: "number", default: "x" },
      },
    };
    const { diagnostics } = read(stack, { variables: given({ b: "s3cret" }) });
    expect(diagnostics.map(({ code, summary }) => [code, summary])).toEqual([
      ["config.variable", 'The variable "a" has no value'],
      ["config.variable", 'The value of the variable "b" does not fit its type'],
      ["config.variable", expect.stringContaining("This is not a valid type")],
      ["config.variable", 'The default of the variable "d" does not fit its type'],
    ]);
    expect(JSON.stringify(diagnostics)).not.toContain("s3cret");
  });

  it("must be declared if the command line sets them, should be if a file does, need not be if the environment does", () => {
    const variables = [
      ...given({ plna: "1", TF_VAR_other: "2" }),
      { name: "more", from: "x.auto.tfvars.json", value: { json: 3 } },
    ];
    const { diagnostics } = read({ variable: { plan: { default: 1 } } }, { variables });
    expect(diagnostics.map(({ severity, summary }) => [severity, summary])).toEqual([
      ["error", 'The stack declares no variable "plna". Did you mean "plan"?'],
      ["warning", 'The stack declares no variable "more".'],
    ]);
  });

  it("are checked against their conditions", () => {
    const stack: Json = {
      locals: { most: 20 },
      variable: {
        plan: {
          type: "number",
          validation: [
            { condition: "${var.plan <= local.most}", error_message: "Plan ${var.plan} is above ${local.most}." },
            { condition: "${var.plan > 0}", error_message: "Plans are positive." },
          ],
        },
        secret: {
          sensitive: true,
          validation: { condition: "${length(var.secret) > 3}", error_message: "${var.secret} is short" },
        },
      },
    };
    const ok = given({ plan: "11", secret: "long enough" });
    expect(linesOf(stack, { variables: ok })).toEqual([]);
    const { diagnostics } = read(stack, { variables: given({ plan: "21", secret: "abc" }) });
    expect(diagnostics.map(({ summary, detail }) => [summary, detail])).toEqual([
      ['The value of the variable "plan" is invalid', "Plan 21 is above 20."],
      ['The value of the variable "secret" is invalid', undefined],
    ]);
  });
});

describe("secrets", () => {
  const password = (value: Json, variable?: Json): Json => ({
    provider: PROVIDER,
    ...(variable !== undefined && { variable }),
    resource: { hosting_service: { a: { ...SERVICE, password: value, password_version: 1 } } },
  });

  it("from a variable are hidden in output, and reach the attribute", () => {
    const stack = password("${var.pw}", { pw: { type: "string", sensitive: true } });
    const { desired, diagnostics, secrets } = read(stack, { variables: given({ TF_VAR_pw: "hunter2hunter2" }) });
    const [service] = desired?.resources ?? [];
    expect(diagnostics).toEqual([]);
    expect(secrets).toEqual([]);
    expect(service?.config.password).toBe("${var.pw}");
    expect(service?.evaluate("password", scope())).toBe("hunter2hunter2");
    expect(service?.originOf?.("password", scope())).toEqual({ from: ["var.pw"] });
    expect(service?.originOf?.("domain", scope())).toBeUndefined();
    expect(JSON.stringify(desired)).not.toContain("hunter2");
  });

  it("that are literal cause a warning, and no message contains them", () => {
    const { desired, diagnostics, secrets } = read(password("hunter2hunter2"));
    expect(diagnostics).toMatchObject([{ severity: "warning", code: "config.secret" }]);
    expect(diagnostics[0]?.range?.text).toContain("*".repeat(14));
    expect(JSON.stringify([diagnostics, desired])).not.toContain("hunter2");
    expect(secrets).toEqual(["hunter2hunter2"]);
    expect(desired?.resources[0]?.config.password).toBe(true);
    expect(desired?.resources[0]?.evaluate("password", scope())).toBe("hunter2hunter2");
  });

  it("that are the default of a variable cause a warning", () => {
    const { diagnostics, secrets } = read(
      password("${var.pw}", { pw: { sensitive: true, default: "hunter2hunter2" } }),
    );
    expect(diagnostics).toMatchObject([{ severity: "warning", code: "config.secret" }]);
    expect(secrets).toEqual(["hunter2hunter2"]);
    expect(JSON.stringify(diagnostics)).not.toContain("hunter2");
  });

  it("are redacted on one line with an error", () => {
    const text = JSON.stringify({
      provider: PROVIDER,
      variable: { pw: { sensitive: true, default: "hunter2hunter2" } },
      resource: { hosting_service: { a: { ...SERVICE, domian: "x" } } },
    });
    const { diagnostics } = read(text);
    expect(diagnostics.map(({ code }) => code)).toEqual(["config.unknown_key", "config.secret"]);
    expect(JSON.stringify(diagnostics)).not.toContain("hunter2");
  });

  it("are redacted completely in every message, even if one begins with another, and with the escapes of the file", () => {
    const secret = (value: string) => ({ sensitive: true, default: value });
    const stack = {
      variable: { a: secret("canary"), b: secret("canary-and-more"), c: secret("escaped-secret") },
      resource: { hosting_service: { a: { ...SERVICE, domian: "x" } } },
      resources: {},
    };
    const text = JSON.stringify({ provider: PROVIDER, ...stack }).replace('"escaped-', '"esc\\u0061ped-');
    const { diagnostics, secrets } = read(text);
    expect(secrets).toEqual(["canary", "canary-and-more", "escaped-secret"]);
    const shown = diagnostics.map(({ range }) => range?.text).join();
    expect(shown).toContain("domian");
    expect(shown).not.toMatch(/canary|and-more|ped-secret/);
  });

  it("stay secret through names: a derived value is secret too", () => {
    const { desired } = read(
      {
        variable: { key: { sensitive: true } },
        locals: { url: "https://x.example/${var.key}" },
        resource: { hosting_webhook: { w: { url: "${local.url}", events: ["invoice.paid"] } } },
        output: { url: { value: "${local.url}", sensitive: true } },
      },
      { variables: given({ TF_VAR_key: "abcdefgh" }) },
    );
    expect(desired?.resources[0]?.config.url).toBe("${local.url}");
    expect(desired?.resources[0]?.originOf?.("url", scope())).toEqual({
      from: ["var.key"],
      open: "https://x.example/",
    });
    expect(desired?.outputs?.[0]?.evaluate(scope())).toMatchObject({
      value: "https://x.example/abcdefgh",
      origin: { from: ["var.key"] },
    });
  });

  it("that are ephemeral are only allowed where no value is recorded", () => {
    const variable = { pw: { ephemeral: true } };
    const variables = given({ TF_VAR_pw: "hunter2hunter2" });
    expect(linesOf(password("${var.pw}", variable), { variables })).toEqual([]);
    const wrong: Json = {
      provider: PROVIDER,
      variable,
      locals: { d: "${var.pw}" },
      resource: { hosting_service: { a: { ...SERVICE, domain: "${local.d}" } } },
    };
    expect(linesOf(wrong, { variables })).toEqual([expect.stringContaining("cannot use local.d, which is ephemeral")]);
    expect(linesOf({ variable, output: { x: { value: "${var.pw}", sensitive: true } } }, { variables })).toEqual([
      expect.stringContaining("is ephemeral"),
    ]);
  });

  it("cannot be keys", () => {
    const stack: Json = {
      variable: { keys: { sensitive: true, type: "set(string)" } },
      resource: {
        hosting_webhook: { w: { for_each: "${var.keys}", url: "https://x.example", events: ["invoice.paid"] } },
      },
    };
    expect(linesOf(stack, { variables: given({ TF_VAR_keys: '["a"]' }) })).toEqual([
      expect.stringContaining("`for_each` cannot be a secret"),
    ]);
  });
});
