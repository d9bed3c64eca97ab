import { describe, expect, it } from "vitest";
import { exactNumber, type Json, UNKNOWN, type Value } from "../../../../src/core/model/index.ts";
import { remoteStatesOf } from "../../../../src/fronts/stacks/index.ts";
import { desiredOf, line, linesOf, PROVIDER, read, readFiles, SERVICE, scope } from "./stacks.ts";

const meta = (path: string, stackTrace?: readonly string[]): Json => ({
  metadata: { path, uniqueId: path.replaceAll("/", "-"), ...(stackTrace && { stackTrace }) },
});

/** Stack as synthesized by `cdktf` 0.21: iterators, a variable, an import, a data source, outputs. */
const SYNTHESIZED: Json = {
  "//": { metadata: { backend: "local", stackName: "one", version: "0.21.0" }, outputs: { one: { id: "id" } } },
  data: { hosting_plans: { plans: { "//": meta("one/plans") } } },
  import: [{ id: "1001", to: "hosting_service.acme" }],
  output: {
    "cross-stack-output-hosting_serviceacmeid": { sensitive: true, value: "${hosting_service.acme.id}" },
    up: { description: "d", value: '${upper(join("-", [hosting_service.acme.domain, "x"]))}' },
  },
  provider: { hosting: [{ base_url: "https://api.example", project: "agency" }] },
  resource: {
    hosting_grant: {
      g: {
        "//": meta("one/g"),
        email: "${each.value}",
        for_each: '${toset(["b@x.example", "a@x.example"])}',
        permission: "manage",
        service_id: "${hosting_service.acme.id}",
      },
      gg: {
        "//": meta("one/gg"),
        email: "q@x.example",
        for_each: "${hosting_service.many}",
        permission: "manage",
        service_id: "${each.value.id}",
      },
    },
    hosting_service: {
      acme: {
        "//": meta("one/acme"),
        currency: "USD",
        domain: '${lower("WWW.acme.example")}',
        lifecycle: { prevent_destroy: true, ignore_changes: ["plan_id"], create_before_destroy: false },
        plan_id: "${var.plan}",
      },
      many: {
        "//": meta("one/many"),
        currency: "USD",
        depends_on: ["hosting_service.acme", "data.hosting_plans.plans"],
        domain: "${each.value.d}",
        for_each: { x: { d: "x.example" }, y: { d: "y.example" } },
        plan_id: 11,
      },
    },
  },
  terraform: {
    backend: { local: { path: "terraform.one.tfstate" } },
    required_providers: { hosting: { source: "hostform/hosting", version: "~> 1.0" } },
  },
  variable: { plan: { default: 11, type: "number" } },
};

describe("a synthesized stack", () => {
  const desired = desiredOf(SYNTHESIZED);
  const resource = (address: string) => {
    const found = desired.resources.find((one) => one.address === address);
    if (found === undefined) throw new Error(`no ${address}`);
    return found;
  };

  it("has an instance for each key, with readable addresses", () => {
    expect(Object.fromEntries(desired.resources.map(({ address, config }) => [address, config]))).toEqual({
      'hosting_grant.g["a@x.example"]': {
        email: "a@x.example",
        permission: "manage",
        service_id: "${hosting_service.acme.id}",
      },
      'hosting_grant.g["b@x.example"]': {
        email: "b@x.example",
        permission: "manage",
        service_id: "${hosting_service.acme.id}",
      },
      'hosting_grant.gg["x"]': {
        email: "q@x.example",
        permission: "manage",
        service_id: '${hosting_service.many["x"].id}',
      },
      'hosting_grant.gg["y"]': {
        email: "q@x.example",
        permission: "manage",
        service_id: '${hosting_service.many["y"].id}',
      },
      "hosting_service.acme": { currency: "USD", domain: "www.acme.example", plan_id: 11 },
      'hosting_service.many["x"]': { currency: "USD", domain: "x.example", plan_id: 11 },
      'hosting_service.many["y"]': { currency: "USD", domain: "y.example", plan_id: 11 },
    });
  });

  it("has dependencies for each instance: with an iterator over a resource, only that instance", () => {
    const references = (address: string) =>
      resource(address).references.map(({ reference, path }) => [
        path.join("."),
        reference.to === "resource" && reference.address,
        reference.to === "resource" && reference.path.join("."),
      ]);
    expect(references('hosting_grant.gg["y"]')).toEqual([
      ["service_id", 'hosting_service.many["y"]', "id"],
      ["", 'hosting_service.many["y"]', ""],
    ]);
    expect(references('hosting_grant.g["a@x.example"]')).toEqual([["service_id", "hosting_service.acme", "id"]]);
    expect(references('hosting_service.many["x"]')).toEqual([]);
    expect(resource('hosting_service.many["x"]').dependsOn).toEqual([
      "hosting_service.acme",
      "data.hosting_plans.plans",
    ]);
  });

  it("is evaluated with the values of its resources", () => {
    const known = scope({ 'hosting_service.many["x"]': { id: "7" } });
    expect(resource('hosting_grant.gg["x"]').evaluate("service_id", known)).toBe("7");
    expect(resource('hosting_grant.gg["y"]').evaluate("service_id", known)).toBe(UNKNOWN);
    expect(resource("hosting_service.acme").evaluate("plan_id", known)).toBe(11);
    expect(resource("hosting_service.acme").evaluate("coupon_code", known)).toBeNull();
  });

  it("includes lifecycle, imports, data sources, the backend and the provider", () => {
    expect(resource("hosting_service.acme")).toMatchObject({
      importId: "1001",
      lifecycle: { ignoreChanges: ["plan_id"], createBeforeDestroy: false },
    });
    expect(desired.preventDestroy).toMatchObject([
      { resource: "hosting_service.acme", range: { construct: "one/acme" } },
    ]);
    expect(desired.data).toMatchObject([{ address: "data.hosting_plans.plans", type: "hosting_plans", config: {} }]);
    expect(desired.backend).toMatchObject({ type: "local", settings: { path: "terraform.one.tfstate" } });
    expect(desired.providers.get("default")).toMatchObject({
      baseUrl: "https://api.example",
      tokenEnv: "HOSTING_TOKEN",
    });
    expect(desired).toMatchObject({ project: "agency", ordersNamedBy: "domain", files: ["cdk.tf.json"] });
  });

  it("has typed outputs, and marks secret outputs", () => {
    const known = scope({ "hosting_service.acme": { id: "7", domain: "www.acme.example" } });
    expect(desired.outputs?.map((one) => [one.name, one.sensitive, one.evaluate(known)])).toEqual([
      ["cross-stack-output-hosting_serviceacmeid", true, { value: "7", type: "string" }],
      ["up", false, { value: "WWW.ACME.EXAMPLE-X", type: "string" }],
    ]);
    expect(desired.outputs?.[1]?.evaluate(scope())).toEqual({ value: UNKNOWN, type: "string" });
  });
});

describe("names", () => {
  it("are resolved through locals, including locals that depend on resources", () => {
    const { resources } = desiredOf({
      provider: PROVIDER,
      locals: { ids: "${{for key, one in hosting_service.all : key => one.id}}", first: '${local.ids["a"]}' },
      resource: {
        hosting_service: {
          all: { ...SERVICE, domain: "${each.key}.example", for_each: { a: {}, b: {} } },
        },
        hosting_grant: {
          one: { service_id: "${local.first}", email: "x@x.example", permission: "view" },
          each: {
            for_each: "${hosting_service.all}",
            service_id: "${local.ids[each.key]}",
            email: "${each.key}@x.example",
            permission: "view",
          },
        },
      },
    });
    const one = resources.find(({ address }) => address === "hosting_grant.one");
    const each = resources.find(({ address }) => address === 'hosting_grant.each["b"]');
    expect(one?.references.map(({ reference }) => reference.to === "resource" && reference.address)).toEqual([
      "hosting_service.all",
    ]);
    const first = scope({ 'hosting_service.all["a"]': { id: "1" }, 'hosting_service.all["b"]': { id: "2" } });
    expect(one?.evaluate("service_id", first)).toBe("1");
    expect(each?.evaluate("service_id", first)).toBe("2");
    expect(each?.config.service_id).toBe('${local.ids["b"]}');
  });

  it("are evaluated again if the scope changes", () => {
    const { resources } = desiredOf({
      provider: PROVIDER,
      locals: { id: "${hosting_service.a.id}" },
      resource: {
        hosting_service: { a: SERVICE },
        hosting_grant: { g: { service_id: "${local.id}", email: "x@x.example", permission: "view" } },
      },
    });
    const grant = resources.find(({ type }) => type === "hosting_grant");
    let id = "1";
    const changing = { resource: () => ({ id }), env: () => undefined };
    expect(grant?.evaluate("service_id", changing)).toBe("1");
    id = "2";
    expect(grant?.evaluate("service_id", changing)).toBe("2");
  });

  it("of a part of an object depend only on that part", () => {
    const { resources } = desiredOf({
      provider: PROVIDER,
      resource: {
        hosting_service: { a: SERVICE },
        hosting_grant: {
          g: {
            for_each: {
              x: { id: "${hosting_service.a.id}", mail: "x@x.example" },
              y: { id: "9", mail: "y@x.example" },
            },
            service_id: "${each.value.id}",
            email: "${each.value.mail}",
            permission: "view",
          },
        },
      },
    });
    expect(resources.filter(({ type }) => type === "hosting_grant").map(({ config }) => config)).toEqual([
      { service_id: '${each.value["x"].id}', email: "x@x.example", permission: "view" },
      { service_id: "9", email: "y@x.example", permission: "view" },
    ]);
  });

  it("of instances with `count` are lists", () => {
    const { resources } = desiredOf({
      provider: PROVIDER,
      resource: {
        hosting_service: { a: { ...SERVICE, count: 2, domain: "a${count.index}.example" } },
        hosting_grant: {
          last: { service_id: "${hosting_service.a[1].id}", email: "x@x.example", permission: "view" },
          all: { service_id: '${join("", hosting_service.a[*].id)}', email: "y@x.example", permission: "view" },
        },
      },
    });
    const known = scope({ "hosting_service.a[0]": { id: "1" }, "hosting_service.a[1]": { id: "2" } });
    const ids = resources.map(({ address, evaluate }) => [address, evaluate("service_id", known)]);
    expect(Object.fromEntries(ids)).toMatchObject({ "hosting_grant.last": "2", "hosting_grant.all": "12" });
    expect(resources.map(({ config }) => config.domain).filter(Boolean)).toEqual(["a0.example", "a1.example"]);
  });

  it("of another stack's outputs come from the reader of that stack", () => {
    const stack: Json = {
      data: {
        terraform_remote_state: {
          "cross-stack-reference-input-one": {
            backend: "local",
            config: { path: "terraform.one.tfstate" },
            workspace: "${terraform.workspace}",
          },
        },
      },
      resource: {
        hosting_grant: {
          g: {
            service_id: "${data.terraform_remote_state.cross-stack-reference-input-one.outputs.cross-stack-output-id}",
            email: "z@x.example",
            permission: "manage",
          },
        },
      },
    };
    const siblings = (value: Value) =>
      new Map<string, Value>([["cross-stack-reference-input-one", { "cross-stack-output-id": value }]]);
    const known = desiredOf(stack, { siblings: siblings("1001") });
    expect(known.resources[0]?.config.service_id).toBe("1001");
    expect(known.data).toEqual([]);
    const unknown = desiredOf(stack, { siblings: siblings(UNKNOWN) }).resources[0];
    expect(unknown?.evaluate("service_id", scope())).toBe(UNKNOWN);
    expect(unknown?.config.service_id).toContain("cross-stack-output-id}");
    expect(linesOf(stack)).toEqual([
      "cdk.tf.json:16:26 config.reference The outputs of data.terraform_remote_state.cross-stack-reference-input-one are not known",
    ]);
  });
});

describe("values", () => {
  it("are converted to the type of their attribute, and null is not declared", () => {
    const { resources } = desiredOf({
      provider: PROVIDER,
      variable: { coupon: { default: null } },
      resource: {
        hosting_service: {
          a: { ...SERVICE, plan_id: "11", term: "${6 + 6}", coupon_code: "${var.coupon}", suspended: null },
        },
        hosting_webhook: {
          w: {
            url: "https://x.example",
            events: ["invoice.paid", "invoice.created", "invoice.paid"],
            secret_output: { file: "s" },
          },
        },
      },
    });
    expect(resources.map(({ config }) => config)).toEqual([
      { ...SERVICE, plan_id: 11, term: 12 },
      { url: "https://x.example", events: ["invoice.created", "invoice.paid"], secret_output: { file: "s" } },
    ]);
    expect(resources[0]?.evaluate("term", scope())).toBe(12);
  });

  it("are rejected if they have another type", () => {
    expect(
      linesOf({ provider: PROVIDER, resource: { hosting_service: { a: { ...SERVICE, term: "monthly" } } } }),
    ).toEqual([expect.stringMatching(/^cdk\.tf\.json:\d+:\d+ config\.expression term: a number is required/)]);
  });
});

describe("positions", () => {
  const stack = (stackTrace?: readonly string[]): Json => ({
    resource: {
      hosting_grant: {
        g: { "//": meta("one/site/g", stackTrace), service_id: "1", email: "${var.mail}", permission: "view" },
      },
    },
  });

  it.each([
    ["new Grant (/app/node_modules/lib/grant.js:9:1)", "new Site (/app/main.ts:12:34)", "/app/main.ts:12:34"],
    ["Object.<anonymous> (file:///app/main.ts:5:6)", "node:internal/x:1:1", "/app/main.ts:5:6"],
    ["node:internal/modules:1:2", "    at /app/main.cjs:7:8", "/app/main.cjs:7:8"],
  ])("are lines of the program if the metadata contains them: %s", (first, second, place) => {
    expect(linesOf(stack([first, second]))).toEqual([
      `${place} one/site/g config.reference No variable "mail" is declared.`,
    ]);
  });

  it("of a set's elements are the position of the set, because its order differs from the text", () => {
    const [webhook] = desiredOf({
      resource: { hosting_webhook: { w: { url: "https://x.example", events: ["invoice.paid", "invoice.created"] } } },
    }).resources;
    expect(webhook?.locate(["events", 0])).toMatchObject({ line: 6, column: 19 });
    expect(webhook?.locate(["url"])).toMatchObject({ line: 5, column: 16 });
    expect(webhook?.locate([])).toMatchObject({ line: 4, column: 7 });
  });

  it("count the characters of an escaped text in the source", () => {
    const text = String.raw`{"output": {"x": {"value": "\u00e9 \"${"$"}{var.nope}"}}}`;
    const { diagnostics } = read(text);
    const [range] = diagnostics.map((one) => one.range);
    expect(text.slice((range?.column ?? 0) - 1, (range?.endColumn ?? 0) - 1)).toBe("var.nope");
  });
});

describe("blocks beside resources", () => {
  it("adopt instances by their keys", () => {
    const { resources } = desiredOf({
      provider: PROVIDER,
      locals: { ids: { x: "1001", y: "1002" } },
      resource: {
        hosting_service: { all: { ...SERVICE, for_each: "${local.ids}", domain: "${each.key}.example" } },
        hosting_webhook: { w: { count: 2, url: "https://x.example/${count.index}", events: ["invoice.paid"] } },
      },
      import: [
        { for_each: "${local.ids}", to: "hosting_service.all[each.key]", id: "${each.value}" },
        { to: "hosting_webhook.w[1]", id: "${100 + 1}" },
      ],
    });
    expect(resources.map(({ address, importId }) => [address, importId])).toEqual([
      ['hosting_service.all["x"]', "1001"],
      ['hosting_service.all["y"]', "1002"],
      ["hosting_webhook.w[0]", undefined],
      ["hosting_webhook.w[1]", "101"],
    ]);
  });

  it("contain moves and removals", () => {
    const { moved, removed } = desiredOf({
      moved: [{ from: "hosting_service.old", to: 'hosting_service.new["a"]' }],
      removed: [
        { from: "hosting_service.gone", lifecycle: { destroy: false } },
        { from: "hosting_grant.gone", lifecycle: [{ destroy: true }] },
        { from: "hosting_webhook.gone" },
      ],
    });
    expect(moved).toMatchObject([{ from: "hosting_service.old", to: 'hosting_service.new["a"]', range: { line: 3 } }]);
    expect(removed).toMatchObject([
      { from: "hosting_service.gone", destroy: false },
      { from: "hosting_grant.gone", destroy: true },
      { from: "hosting_webhook.gone", destroy: true },
    ]);
  });

  it("read data sources, including several of one", () => {
    const { data, resources } = desiredOf({
      provider: PROVIDER,
      data: {
        hosting_plan: {
          p: { for_each: '${toset(["Start", "Pro"])}', name: "${each.key}", depends_on: ["hosting_webhook.w"] },
        },
      },
      resource: {
        hosting_webhook: { w: { url: "https://x.example", events: ["invoice.paid"] } },
        hosting_service: { a: { ...SERVICE, plan_id: '${data.hosting_plan.p["Pro"].plan_id}' } },
      },
    });
    expect(data?.map(({ address, config, dependsOn }) => [address, config, dependsOn])).toEqual([
      ['data.hosting_plan.p["Pro"]', { name: "Pro" }, ["hosting_webhook.w"]],
      ['data.hosting_plan.p["Start"]', { name: "Start" }, ["hosting_webhook.w"]],
    ]);
    const [service] = resources.filter(({ type }) => type === "hosting_service");
    expect(service?.references.map(({ reference }) => reference.to === "resource" && reference.address)).toEqual([
      'data.hosting_plan.p["Pro"]',
    ]);
    expect(service?.evaluate("plan_id", scope({ 'data.hosting_plan.p["Pro"]': { plan_id: 12 } }))).toBe(12);
  });

  it("name the remote states for their readers", () => {
    const text = JSON.stringify({
      data: {
        terraform_remote_state: {
          one: { backend: "local", config: { path: "x.tfstate" }, workspace: "${terraform.workspace}" },
        },
      },
    });
    expect(remoteStatesOf([{ path: "cdk.tf.json", text }])).toMatchObject([
      {
        name: "one",
        backend: "local",
        config: { path: "x.tfstate" },
        workspace: "${terraform.workspace}",
        range: { line: 1 },
      },
    ]);
    expect(remoteStatesOf([{ path: "cdk.tf.json", text: "{" }])).toEqual([]);
  });
});

describe("several files", () => {
  it("may not declare one block twice", () => {
    const one = JSON.stringify({ provider: PROVIDER, resource: { hosting_service: { a: SERVICE } }, locals: { x: 1 } });
    const { diagnostics } = readFiles({ "a.tf.json": one, "b.tf.json": one });
    expect(diagnostics.map(line).filter((each) => each.startsWith("b."))).toEqual([
      "b.tf.json:1:14 config.duplicate The provider without an alias is declared twice",
      "b.tf.json:1:79 config.duplicate hosting_service.a is declared twice",
      "b.tf.json:1:155 config.duplicate local.x is declared twice",
    ]);
  });

  // Without these types, a set would become a tuple. `for_each` would get other keys, the resources would get other addresses, and
  // hostform would order services again.
  it("have the types in their state", () => {
    const R = "data.terraform_remote_state.one.outputs";
    const stack = {
      terraform: {},
      data: { terraform_remote_state: { one: { backend: "local", config: { path: "one.tfstate" } } } },
      output: {
        set: { value: `\${${R}.s == toset(["a", "b"])}` },
        list: { value: `\${${R}.l == tolist([1, 2])}` },
        tuple: { value: `\${${R}.l == [1, 2]}` },
        map: { value: `\${${R}.m == tomap({a = 1})}` },
        keys: { value: `\${[for key, item in ${R}.s : key]}` },
        open: { value: `\${${R}.u}` },
        sum: { value: `\${format("%v %.20f", ${R}.big + 1, ${R}.long)}` },
      },
    };
    const outputs: Value = {
      s: ["a", "b"],
      l: [1, 2],
      m: { a: 1 },
      u: UNKNOWN,
      big: exactNumber("123456789012345678901") as number,
      long: exactNumber("0.123456789012345678901") as number,
    };
    const types: Readonly<Record<string, Json>> = {
      s: ["set", "string"],
      l: ["list", "number"],
      m: ["map", "number"],
      big: "number",
      long: "number",
    };
    const given = { siblings: new Map<string, Value>([["one", outputs]]), siblingTypes: new Map([["one", types]]) };
    const reported = desiredOf(stack, given).outputs?.map(({ name, evaluate }) => [name, evaluate(scope()).value]);
    expect(Object.fromEntries(reported ?? [])).toEqual({
      set: true,
      list: true,
      tuple: false,
      map: true,
      keys: ["a", "b"],
      open: UNKNOWN,
      sum: "1.23456789012345678902e+20 0.12345678901234567890",
    });
  });
});

describe("the version of the language", () => {
  const requiring = (required: Json): Json => ({
    provider: PROVIDER,
    terraform: { required_version: required },
    output: { x: { value: '${true || tobool("wrong")}' } },
  });
  const older = (stack: Json, over = {}) => linesOf(stack, over).some((one) => one.includes("config.expression"));

  it.each([
    [">= 1.5", "1.12"],
    ["~> 1.11", "1.12"],
    ["~> 1", "1.12"],
    ["!= 1.11.0", "1.12"],
    [">= 1.5, < 2.0.0", "1.12"],
    ["1.14.2", "1.12"],
    ["<= 1.12", "1.12"],
    ["< 1.12", "1.11"],
    ["< 1.12.0", "1.11"],
    ["<= 1.11.9", "1.11"],
    ["= v1.11.4", "1.11"],
    ["~> 1.11.0", "1.11"],
    ["> 1.11.3, < 1.12", "1.11"],
    ["!= 1.11.0, ~> 1.11.0", "1.11"],
    [">= 1.5, ~> 1.11.0", "1.11"],
  ])("is the newest that `%s` allows: %s", (required, language) => {
    expect(older(requiring(required))).toBe(language === "1.11");
    expect(linesOf(requiring(required)).filter((one) => one.includes("required_version"))).toEqual([]);
  });

  it.each([">= 9.0", "~> 0.15", "< 1.0", ">= 1.11, < 1.11", "= 2.0.0", "~> 1.12.0, != 1.12, < 1.12.1"])(
    "is an error if it excludes each version that hostform computes like: %s",
    (required) => {
      expect(linesOf(requiring(required)).join()).toContain(
        `config.unsupported \`required_version\` (${required}) allows no Terraform version`,
      );
    },
  );

  it("is an error in the block that excludes what another block allows", () => {
    const { diagnostics } = readFiles({
      "a.tf.json": JSON.stringify({ provider: PROVIDER, terraform: { required_version: "~> 1.11.0" } }),
      "b.tf.json": JSON.stringify({ terraform: { required_version: ">= 1.12" } }),
    });
    expect(diagnostics.map(line)).toEqual([expect.stringMatching(/^b\.tf\.json:1:\d+ config\.unsupported/)]);
  });

  it("is an error if the command names a language that it excludes", () => {
    expect(linesOf(requiring(">= 1.12"), { language: "1.11" })[0]).toContain("(>= 1.12) allows no Terraform version");
    expect(linesOf(requiring("< 1.12"), { language: "1.12" })[0]).toContain("(< 1.12) allows no Terraform version");
  });

  it("is the one that the command names, whatever the stack says", () => {
    expect(older(requiring("~> 1.11.0"), { language: "1.12" })).toBe(false);
    expect(older(requiring(">= 1.12"), { language: "1.11" })).toBe(true);
  });

  it.each(["newest", ">= x", "1.2.3.4.5", "", ">= 1.11,", ">= 1.5 < 2", ">= 1.11.0-beta1", 7])(
    "refuses %s",
    (required) => {
      expect(linesOf(requiring(required)).join()).toMatch(/cdk\.tf\.json:\d+:\d+ config\.structure `required_version`/);
    },
  );
});

describe("the version of the provider", () => {
  const requiring = (required: Json): Json => ({
    provider: PROVIDER,
    terraform: { required_providers: { hosting: { source: "hostform/hosting", version: required } } },
  });

  it.each([
    ["1.4.2", "~> 1.0"],
    ["1.4.2", "~> 1"],
    ["1.4.2", ">= 1.4, != 1.4.1, < 1.5"],
    ["1.4.2", "~> 1.4.0"],
    ["1.4.2", "1.4.2"],
    ["1.4.2", ">= 1.4.2-rc1"],
    ["1.5.0-rc1", "1.5.0-rc1"],
  ])("%s is one that `%s` allows", (version, required) => {
    expect(linesOf(requiring(required), { version })).toEqual([]);
  });

  it.each([
    ["1.4.2", ">= 9.0"],
    ["1.4.2", "~> 2"],
    ["1.4.2", "~> 1.3.0"],
    ["1.4.2", "~> 0.9"],
    ["1.4.2", "!= 1.4.2"],
    ["1.4.2", "= 1.4.2-rc1"],
    ["1.4.2", ">= 1.0, < 1.4"],
    ["1.5.0-rc1", ">= 1.4"],
    ["1.5.0-rc1", "1.5.0"],
  ])("%s is an error where `%s` excludes it", (version, required) => {
    expect(linesOf(requiring(required), { version })).toEqual([
      expect.stringContaining(`The stack requires version ${required} of the provider hosting; this is ${version}`),
    ]);
  });

  it.each(["newest", "", ">= 1.0,", "1.*"])("is an error where the constraint is `%s`", (required) => {
    expect(linesOf(requiring(required)).join()).toContain("config.structure The version of the provider hosting");
  });
});
