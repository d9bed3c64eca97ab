import { describe, expect, it } from "vitest";
import { environmentState, parseDeclaration } from "../../../../src/fronts/yaml/index.ts";
import { fixOf } from "../../../support/remedies.ts";
import { kinds, reported } from "./fakes.ts";

const FILE = "environments/production.yaml";

/** Parses a declaration whose line 1 is `project: p`. */
function inEnvironment(declared: string, environment?: string, env: Record<string, string> = {}) {
  return parseDeclaration([{ path: "hosting.yaml", text: `project: p\n${declared}` }], {
    kinds,
    env,
    version: "0.3.1",
    ...(environment !== undefined && { environment: { path: FILE, text: environment } }),
  });
}

const configOf = ({ desired }: ReturnType<typeof inEnvironment>, nth = 0) => desired?.resources[nth]?.config;

describe("variables", () => {
  const VARIABLES = "variables: {plan: {type: number, default: 11}, suffix: {}, on: {type: boolean, default: true}}\n";
  const SITE = "services: {www: {plan_id: '${var.plan}', domain: 'www.${var.suffix}'}}\n";

  it("use the values of the environment, then their defaults, and keep their types", () => {
    expect(configOf(inEnvironment(VARIABLES + SITE, "variables: {suffix: acme.example}"))).toEqual({
      plan_id: 11,
      domain: "www.acme.example",
    });
    expect(configOf(inEnvironment(VARIABLES + SITE, "variables: {suffix: 12, plan: 13}"))).toEqual({
      plan_id: 13,
      domain: "www.12",
    });
  });

  it.each([
    [
      "in a template",
      "templates: {t: {domain: '${var.suffix}'}}\nservices: {a: {template: t}}",
      { domain: "x.example" },
    ],
    [
      "as a parameter of a template",
      "templates: {t: {parameters: {d: }, domain: '${d}.example'}}\nservices: {a: {template: t, with: {d: '${var.suffix}'}}}",
      { domain: "x.example.example" },
    ],
    [
      "in defaults",
      "defaults: {services: {domain: '${var.suffix}'}}\nservices: {a: {plan_id: 1}}",
      { plan_id: 1, domain: "x.example" },
    ],
    ["in a list", "webhooks: {a: {url: u, events: ['${var.suffix}', b]}}", { url: "u", events: ["x.example", "b"] }],
    ["beside the environment", "services: {a: {domain: '${var.suffix}-${env.X}'}}", { domain: "x.example-${env.X}" }],
    ["escaped", "services: {a: {domain: '$${var.suffix}'}}", { domain: "$${var.suffix}" }],
    ["with spaces", "services: {a: {domain: '${ var.suffix }'}}", { domain: "x.example" }],
  ])("are used %s", (_, declared, config) => {
    const read = inEnvironment(`variables: {suffix: {}}\n${declared}`, "variables: {suffix: x.example}", { X: "1" });
    expect(reported(read.diagnostics)).toEqual([]);
    expect(configOf(read)).toEqual(config);
  });

  it("with null omit the attribute", () => {
    const read = inEnvironment("variables: {d: {default: null}}\nservices: {a: {plan_id: 1, domain: '${var.d}'}}");
    expect(reported(read.diagnostics)).toEqual([]);
    expect(configOf(read)).toEqual({ plan_id: 1, domain: null });
  });

  it("form no expression with the surrounding text", () => {
    const read = inEnvironment(
      "variables: {a: {default: '{env.SECRET}'}}\nservices: {www: {domain: 'x$${var.a}', term: 1}, b: {domain: '${var.c}${var.a}'}}\n",
    );
    // `$${` is an escaped `${`.
    expect(read.partial?.resources[0]?.config).toEqual({ domain: "x$${var.a}", term: 1 });
    const joined = inEnvironment(
      "variables: {a: {default: '{env.SECRET}'}, d: {default: $}}\nservices: {www: {domain: '${var.d}${var.a}'}}\n",
    );
    expect(configOf(joined)).toEqual({ domain: "$${env.SECRET}" });
  });

  it.each([
    [
      "no value",
      VARIABLES + SITE,
      "variables: {}",
      '2:48 config.missing_attribute: The variable "suffix" has no value',
    ],
    [
      "a value of another type",
      VARIABLES + SITE,
      "variables: {suffix: a, plan: x}",
      '1:30 config.invalid_value: The variable "plan" must be a number',
    ],
    [
      "a map as its value",
      VARIABLES + SITE,
      "variables: {suffix: {a: 1}}",
      '1:21 config.invalid_value: The variable "suffix" must be a string',
    ],
    [
      "a value that is not declared",
      VARIABLES + SITE,
      "variables: {suffix: a, plam: 1}",
      '1:24 config.unknown_key: No variable "plam" is declared. Did you mean "plan"?',
    ],
    [
      "no declaration",
      "services: {www: {domain: '${var.sufix}'}}\nvariables: {suffix: {default: a}}",
      "",
      '2:27 config.reference: No variable "sufix" is declared. Did you mean "suffix"?',
    ],
    [
      "an unknown key",
      "variables: {a: {typ: string}}",
      "",
      '2:17 config.unknown_key: A variable has no "typ". Did you mean "type"?',
    ],
    [
      "an unknown type",
      "variables: {a: {type: list}}",
      "",
      '2:23 config.structure: The type of the variable "a" must be string, number, boolean',
    ],
    [
      "null inside a text",
      "variables: {a: {default: null}}\nservices: {b: {domain: 'x${var.a}'}}",
      "",
      '3:26 config.expression: The variable "a" is null and cannot be part of a string',
    ],
    [
      "a long value",
      `variables: {a: {default: ${"x".repeat(1001)}}}`,
      "",
      '2:26 config.invalid_value: The variable "a" must be at most 1000 characters',
    ],
    [
      "the form of a list",
      "variables: [a]",
      "",
      "2:12 config.structure: `variables` must be a map of variables by name",
    ],
  ])("with %s are an error at its position", (_, declared, environment, error) => {
    const read = inEnvironment(declared, environment);
    expect(reported(read.diagnostics)).toEqual([error]);
    expect(read.desired).toBeUndefined();
  });

  it("without a value name the file that should contain it", () => {
    const [missing] = inEnvironment("variables: {a: {}}", "guards: {max_orders: 1}").diagnostics;
    expect(fixOf(missing)).toBe(
      `Write \`a: VALUE\` under \`variables\` in ${FILE}, or give the variable a \`default\`.`,
    );
    const [without] = inEnvironment("variables: {a: {}}").diagnostics;
    expect(fixOf(without)).toContain("`hostform -e NAME plan`");
  });
});

describe("an environment", () => {
  it("replaces settings of providers, and adds providers", () => {
    const { desired, own, diagnostics } = inEnvironment(
      "providers: {default: {base_url: https://a.example, token_file: t, money_scale: 2, status_words: {Up: live}}}\n",
      "providers: {default: {base_url: https://b.example, token_file: null, token_env: B, status_words: {Off: gone}}, more: {token_env: C}}",
    );
    expect(reported(diagnostics)).toEqual([]);
    expect(desired?.providers.get("default")).toMatchObject({
      baseUrl: "https://b.example",
      tokenEnv: "B",
      moneyScale: 2,
      statusWords: { Up: "live", Off: "gone" },
    });
    expect(desired?.providers.get("default")?.tokenFile).toBeUndefined();
    expect(desired?.providers.get("more")).toMatchObject({ tokenEnv: "C" });
    expect(own?.providers.get("default")).toMatchObject({ baseUrl: "https://a.example", tokenFile: "t" });
    expect([...(own?.providers.keys() ?? [])]).toEqual(["default"]);
  });

  it("finds a token file beside the file that refers to it", () => {
    const here = inEnvironment("", "providers: {default: {token_file: token}}");
    expect(here.desired?.providers.get("default")?.tokenFile).toBe("environments/token");
    const there = inEnvironment("providers: {default: {token_file: token}}", "providers: {default: {money_scale: 2}}");
    expect(there.desired?.providers.get("default")?.tokenFile).toBe("token");
  });

  it("changes single limits", () => {
    const { desired } = inEnvironment("guards: {max_orders: 1, max_removals: 2}", "guards: {max_orders: 5}");
    expect(desired?.guards).toMatchObject({ maxOrders: 5, maxRemovals: 2 });
    expect(inEnvironment("", "guards: {max_orders: 5}").desired?.guards).toMatchObject({ maxOrders: 5 });
  });

  it("has its own state", () => {
    const pg = "backend: {pg: {workspace: all}}\n";
    expect(inEnvironment(pg, "backend: {pg: {workspace: prod}}").backend).toMatchObject({
      settings: { workspace: "prod" },
    });
    expect(inEnvironment(pg, "state: prod.tfstate").backend).toBeUndefined();
    expect(reported(inEnvironment(pg, "guards: {}").diagnostics)).toContain(
      "2:1 config.structure: All environments would share the state of this `backend`",
    );
    const shared = inEnvironment(
      "variables: {w: {}}\nbackend: {pg: {workspace: '${var.w}'}}\n",
      "variables: {w: production}",
    );
    expect(shared.backend).toMatchObject({ settings: { workspace: "production" } });
    expect(environmentState({ path: FILE, text: "state: states/prod.tfstate" })).toBe("states/prod.tfstate");
    expect(environmentState({ path: FILE, text: "state: [" })).toBeUndefined();
  });

  it.each([
    ["an unknown section", "services: {}", '1:1 config.unknown_key: An environment has no "services".'],
    ["a list", "- a", "1:1 config.structure: The file of an environment must be a map"],
    [
      "two documents",
      "guards: {max_orders: 1}\n---\nguards: {max_orders: 2}\n",
      "3:1 config.structure: The file of an environment has more than one document",
    ],
    [
      "a backend and a state",
      "backend: {pg: {}}\nstate: a",
      "2:1 config.duplicate: An environment has a `backend` or a `state` file",
    ],
    ["an expression as its state", "state: '${env.X}'", "1:8 config.structure: `state` must be the path of a file"],
    ["providers in a list", "providers: [a]", "1:12 config.structure: `providers` must be a map by name"],
    [
      "a token",
      "providers: {default: {token: abc}}",
      '1:23 config.secret: "token" would put an API token into the declaration',
    ],
  ])("that is %s is an error", (_, text, error) => {
    const read = inEnvironment("services: {a: {plan_id: 1}}", text);
    expect(reported(read.diagnostics)).toContain(error);
    expect(read.diagnostics[0]?.range?.file).toBe(FILE);
    expect(read.desired).toBeUndefined();
  });
});

describe("required_version", () => {
  it.each([">= 0.3", "~> 0.3.0", "0.3.1", ">= 0.1, < 1"])("%s allows 0.3.1", (text) => {
    expect(reported(inEnvironment(`required_version: "${text}"\n`).diagnostics)).toEqual([]);
  });

  it.each([
    [">= 0.4", "2:19 config.unsupported: This project requires hostform >= 0.4; this is 0.3.1"],
    ["latest", "2:19 config.structure: `required_version` is not a version constraint"],
  ])("%s is the only error, whatever other errors exist", (text, error) => {
    const read = inEnvironment(`required_version: "${text}"\nnonsense: 1\nservices: {a: {b: c}}\n`, "nonsense: 1");
    expect(reported(read.diagnostics)).toEqual([error]);
    expect(read.backend).toBe("unclear");
  });
});
