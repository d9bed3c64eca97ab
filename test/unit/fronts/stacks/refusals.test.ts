import { describe, expect, it } from "vitest";
import type { Json } from "../../../../src/core/model/index.ts";
import { linesOf, PROVIDER, read, SERVICE } from "./stacks.ts";

const service = (over: Readonly<Record<string, Json>>): Json => ({
  provider: PROVIDER,
  resource: { hosting_service: { a: { ...SERVICE, ...over } } },
});
const webhook = (over: Readonly<Record<string, Json>>): Json => ({
  resource: {
    hosting_service: { a: SERVICE, each: { ...SERVICE, for_each: { x: {} }, domain: "${each.key}.example" } },
    hosting_webhook: { w: { url: "https://x.example", events: ["invoice.paid"], ...over } },
  },
  provider: PROVIDER,
});
const output = (value: Json, over: Readonly<Record<string, Json>> = {}): Json => ({
  ...(service({}) as object),
  output: { x: { value, ...over } },
});

/** Rejected stacks, with the code and text of the error. Each stack has exactly one error. */
const REFUSED: readonly (readonly [what: string, stack: Json, code: string, words: RegExp])[] = [
  // Blocks
  ["modules", { module: { m: { source: "x" } } }, "config.unsupported", /`module` is not supported/],
  ["checks", { check: { c: {} } }, "config.unsupported", /`check` is not supported/],
  [
    "ephemeral resources",
    { ephemeral: { hosting_panel_sso: { s: {} } } },
    "config.unsupported",
    /`ephemeral` is not supported/,
  ],
  ["unknown blocks", { resuorce: {} }, "config.unknown_key", /Did you mean "resource"/],
  [
    "resources of others",
    { resource: { aws_s3_bucket: { b: {} } } },
    "config.unsupported",
    /aws_s3_bucket\.b is not a resource of hosting/,
  ],
  ["data sources of others", { data: { external: { e: {} } } }, "config.unsupported", /data\.external\.e is not/],
  [
    "misspelt types",
    { resource: { hosting_srevice: { b: {} } } },
    "config.unknown_key",
    /Did you mean "hosting_service"/,
  ],
  [
    "names that are none",
    { resource: { hosting_service: { "1a": SERVICE } } },
    "config.structure",
    /cannot be the name/,
  ],
  ["blocks that are none", { resource: { hosting_service: { a: "x" } } }, "config.structure", /must be an object/],
  [
    "an attribute that only the Terraform provider has",
    output("${hosting_service.a.price_text}"),
    "config.unsupported",
    /a\.price_text exists only in Terraform's provider/,
  ],
  // Terraform reports a missing label for each of these. The recorded resources must not count as removed.
  ["resources that are null", { resource: null }, "config.structure", /`resource` has no TYPE/],
  ["resources without any", { resource: {} }, "config.structure", /`resource` has no TYPE/],
  ["a list of no resources", { resource: [] }, "config.structure", /`resource` has no TYPE/],
  ["a list of empty resources", { resource: [{}] }, "config.structure", /`resource` has no TYPE/],
  ["a comment alone", { resource: { "//": "x" } }, "config.structure", /`resource` has no TYPE/],
  ["a type that is null", { resource: { hosting_service: null } }, "config.structure", /has no NAME/],
  ["a type without any", { resource: { hosting_service: {} } }, "config.structure", /has no NAME/],
  ["a type of no resources", { resource: { hosting_service: [] } }, "config.structure", /has no NAME/],
  ["data sources that are null", { data: { hosting_plans: null } }, "config.structure", /`data` has no NAME/],
  ["outputs that are null", { output: null }, "config.structure", /`output` has no NAME/],
  ["variables that are null", { variable: null }, "config.structure", /`variable` has no NAME/],
  ["providers that are null", { provider: null }, "config.structure", /`provider` has no NAME/],
  // terraform
  ["other backends", { terraform: { backend: { gcs: {} } } }, "config.unsupported", /backend "gcs"/],
  ["HCP Terraform", { terraform: { cloud: {} } }, "config.unsupported", /HCP Terraform/],
  [
    "backends of expressions",
    { terraform: { backend: { local: { path: "${var.x}" } } } },
    "config.expression",
    /cannot be expressions/,
  ],
  [
    "passwords of backends",
    { terraform: { backend: { http: { address: "https://x.example", password: "p" } } } },
    "config.secret",
    /"password"/,
  ],
  ["experiments", { terraform: { experiments: ["x"] } }, "config.unsupported", /experiments/],
  [
    "other providers",
    { terraform: { required_providers: { aws: { source: "hashicorp/aws" } } } },
    "config.unsupported",
    /provider "aws"/,
  ],
  [
    "a provider hosting of somebody else",
    { terraform: { required_providers: { hosting: { source: "other/hosting" } } } },
    "config.unsupported",
    /another source/,
  ],
  ["settings of other providers", { provider: { aws: {} } }, "config.unsupported", /provider "aws"/],
  // Resources
  ["provisioners", service({ provisioner: [{ "local-exec": {} }] }), "config.unsupported", /`provisioner`/],
  ["connections", service({ connection: {} }), "config.unsupported", /`connection`/],
  ["dynamic blocks", service({ dynamic: {} }), "config.unsupported", /`dynamic`/],
  ["preconditions", service({ lifecycle: { precondition: {} } }), "config.unsupported", /`precondition`/],
  ["postconditions", service({ lifecycle: [{ postcondition: [{}] }] }), "config.unsupported", /`postcondition`/],
  [
    "replace_triggered_by",
    service({ lifecycle: { replace_triggered_by: [] } }),
    "config.unsupported",
    /replace_triggered_by/,
  ],
  ["replace_on_change", service({ replace_on_change: true }), "config.unsupported", /replace_on_change/],
  [
    "ignoring what is none",
    service({ lifecycle: { ignore_changes: ["pln_id"] } }),
    "config.unknown_key",
    /Did you mean "plan_id"/,
  ],
  ["unknown attributes", service({ domian: "x" }), "config.unknown_key", /Did you mean "domain"/],
  ["what the API gives", service({ status: "active" }), "config.computed", /"status" is set by the API/],
  [
    "unknown parts of a nested object",
    webhook({ secret_output: { flie: "x" } }),
    "config.unknown_key",
    /Did you mean "file"/,
  ],
  ["an alias that is none", service({ provider: "hosting.eu" }), "provider.unknown", /alias "eu"/],
  ["providers that are none", service({ provider: "${var.x}" }), "config.structure", /`provider` must name/],
  [
    "depends_on of nothing",
    service({ depends_on: ["hosting_service.b"] }),
    "config.reference",
    /hosting_service\.b is declared/,
  ],
  ["depends_on of a module", service({ depends_on: ["module.m"] }), "config.reference", /not the address/],
  // Repetition
  ["count and for_each", webhook({ count: 1, for_each: {} }), "config.structure", /cannot be used together/],
  [
    "a count of the account",
    webhook({ count: "${length(hosting_service.a.id)}" }),
    "config.expression",
    /depends on hosting_service\.a\.id/,
  ],
  ["a negative count", webhook({ count: -1 }), "config.expression", /not negative/],
  ["a broken count", webhook({ count: 1.5 }), "config.expression", /whole number/],
  ["a huge count", webhook({ count: 20_001 }), "config.too_large", /more than 20000 instances/],
  ["for_each over a list", webhook({ for_each: ["a"] }), "config.expression", /must be an object, a map, or a set/],
  [
    "for_each over numbers",
    webhook({ for_each: "${toset([1, 2])}" }),
    "config.expression",
    /must be an object, a map, or a set/,
  ],
  [
    "for_each over ids",
    webhook({ for_each: "${toset([hosting_service.a.id])}" }),
    "config.expression",
    /hosting_service\.a\.id/,
  ],
  ["for_each without for_each", webhook({ url: "${each.value}" }), "config.reference", /only valid with `for_each`/],
  [
    "count.index without count",
    webhook({ url: "https://x${count.index}.example" }),
    "config.reference",
    /only valid with `count`/,
  ],
  // References
  [
    "undeclared resources",
    webhook({ url: "${hosting_service.b.id}" }),
    "config.reference",
    /Did you mean "hosting_service\.a"/,
  ],
  ["undeclared data sources", webhook({ url: "${data.hosting_plans.p.id}" }), "config.reference", /No data source/],
  ["undeclared locals", webhook({ url: "${local.x}" }), "config.reference", /No local "x"/],
  [
    "unknown attributes of others",
    webhook({ url: "${hosting_service.a.idd}" }),
    "config.reference",
    /has no attribute "idd"/,
  ],
  [
    "write-only attributes of others",
    webhook({ url: "${hosting_service.a.password}" }),
    "config.reference",
    /write-only/,
  ],
  [
    "what steers the provider",
    webhook({ url: "${hosting_service.a.replace_on_change}" }),
    "config.unsupported",
    /exists only in Terraform/,
  ],
  [
    "an index where there is one",
    webhook({ url: "${hosting_service.a[0].id}" }),
    "config.reference",
    /no instance \[0\]/,
  ],
  ["keys that do not exist", webhook({ url: '${hosting_service.each["y"].id}' }), "config.expression", /y/],
  ["where a command runs", webhook({ url: "${path.cwd}" }), "config.unsupported", /path\.cwd/],
  ["terraform.applying", webhook({ url: "${terraform.applying}" }), "config.unsupported", /terraform\.applying/],
  ["modules in expressions", webhook({ url: "${module.m.x}" }), "config.unsupported", /module\.m/],
  ["itself", webhook({ url: "${hosting_webhook.w.id}" }), "config.circle", /refers to itself/],
  ["functions of the moment", webhook({ url: "${timestamp()}" }), "config.expression", /timestamp/],
  ["tokens caught in arithmetic", service({ plan_id: -1.6e299 }), "config.expression", /token/],
  // Outputs
  [
    "outputs of secrets",
    { ...(webhook({}) as object), output: { s: { value: "${hosting_webhook.w.secret}" } } },
    "config.secret",
    /would show a secret/,
  ],
  ["outputs with preconditions", output(1, { precondition: {} }), "config.unsupported", /`precondition`/],
  ["ephemeral outputs", output(1, { ephemeral: true }), "config.unsupported", /ephemeral/],
  ["outputs without value", { output: { x: {} } }, "config.missing_attribute", /has no value/],
  // Imports, moves
  [
    "an import of nothing",
    { import: [{ to: "hosting_service.b", id: "1" }] },
    "config.reference",
    /hosting_service\.b is declared/,
  ],
  [
    "an import by an unknown id",
    { ...(service({}) as object), import: [{ to: "hosting_service.a", id: "${hosting_service.a.id}" }] },
    "config.expression",
    /must be a known string/,
  ],
  ...(
    [
      ["by a secret id", { to: "hosting_service.a", id: "${upper(var.s)}" }],
      ["into an instance with a secret key", { to: "hosting_service.a[var.s]", id: "1" }],
      ["for each of what is secret", { for_each: "${toset([var.s])}", to: "hosting_service.a", id: "${each.key}" }],
    ] as const
  ).map(([what, block]): (typeof REFUSED)[number] => [
    `an import ${what}, which addresses and messages show`,
    { ...(service({}) as object), variable: { s: { sensitive: true, default: "hush" } }, import: [block] },
    "config.expression",
    /of an `import` cannot be a secret/,
  ]),
  [
    "an import twice",
    {
      ...(service({}) as object),
      import: [
        { to: "hosting_service.a", id: "1" },
        { to: "hosting_service.a", id: "2" },
      ],
    },
    "config.duplicate",
    /imported twice/,
  ],
  [
    "an import of all instances",
    { ...(webhook({}) as object), import: [{ to: "hosting_service.each", id: "1" }] },
    "config.reference",
    /several instances/,
  ],
  [
    "moves of modules",
    { moved: [{ from: "module.m.hosting_service.a", to: "hosting_service.a" }] },
    "config.reference",
    /not the address/,
  ],
  [
    "removed instances",
    { removed: [{ from: "hosting_service.x[0]" }] },
    "config.reference",
    /must be a resource, not an instance/,
  ],
  [
    "removed with a provisioner",
    { removed: [{ from: "hosting_service.x", provisioner: {} }] },
    "config.unsupported",
    /`provisioner`/,
  ],
];

describe("an invalid stack", () => {
  it.each(REFUSED)("is rejected for %s", (_, stack, code, words) => {
    const { desired, diagnostics } = read(stack);
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    expect(errors.map((one) => [one.code, one.summary])).toEqual([[code, expect.stringMatching(words)]]);
    expect(errors[0]?.range).toBeDefined();
    expect(desired).toBeUndefined();
  });

  it("gets all its errors in one run, in the order of the positions", () => {
    const places = linesOf({
      ...(service({ domian: "x", plan_id: "${nope(1)}", currency: "${var.c}" }) as object),
      output: { x: { value: "${local.y}" } },
    });
    expect(places.map((one) => one.replace(/^\S+:(\d+):\d+ (\S+) .*$/, "$1 $2"))).toEqual([
      "12 config.expression",
      "13 config.reference",
      "15 config.unknown_key",
      "21 config.reference",
    ]);
  });

  it("gets an error for an unsupported construct with its name and expression", () => {
    const [mistake] = read(
      webhook({ "//": { metadata: { path: "agency/hook", uniqueId: "w" } }, url: "https://${timestamp()}.example" }),
    ).diagnostics;
    expect(mistake?.range?.construct).toBe("agency/hook");
    expect(mistake?.detail).toBe("The expression is https://${timestamp()}.example");
  });

  it("gets only one warning about timeouts", () => {
    const { desired, diagnostics } = read({
      provider: PROVIDER,
      resource: {
        hosting_service: {
          a: { ...SERVICE, timeouts: { create: "5m" } },
          b: { ...SERVICE, domain: "b.example", timeouts: { create: "5m" }, replace_on_change: false },
        },
      },
    });
    expect(diagnostics.map(({ severity, summary }) => [severity, summary])).toEqual([
      ["warning", expect.stringContaining("`timeouts` is ignored")],
    ]);
    expect(desired?.resources).toHaveLength(2);
  });
});

it("an error in an output names the output, and names as they are written", () => {
  const { diagnostics } = read(output("${uuid()}", { "//": { metadata: { path: "app/x", uniqueId: "x" } } }));
  expect(diagnostics).toMatchObject([
    {
      summary: expect.stringMatching(/^value: uuid: this function of Terraform is not supported/),
      address: "output.x",
      range: { construct: "app/x" },
    },
  ]);
  const local = read({ ...(service({}) as object), locals: { y: "${timestamp()}" } });
  expect(local.diagnostics[0]?.summary).toMatch(/^timestamp: /);
});

it("a null resource is no resource, as in Terraform", () => {
  expect(linesOf({ provider: PROVIDER, resource: { hosting_service: { a: null, b: SERVICE } } })).toEqual([]);
});
