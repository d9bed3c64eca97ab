/**
 * Every key of every format of a declaration, and what an untrusted one may do with it. The keys are taken from the schemas: one
 * that has no answer here fails. Each is then given what an attacker would write there, end to end.
 */
import fs, { readFileSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { backendSettings } from "../../../src/declare/index.ts";
import { BLOCK_TYPES } from "../../../src/declare/stack/module.ts";
import { OUTPUT_ARGUMENTS } from "../../../src/declare/stack/outputs.ts";
import { REMOTE_STATE_ARGUMENTS } from "../../../src/declare/stack/remote-states.ts";
import { VARIABLE_ARGUMENTS } from "../../../src/declare/stack/variables.ts";
import { kinds } from "../../../src/kinds/index.ts";
import { type Attributes, isNested, isObject } from "../../../src/model/index.ts";
import { dataSources } from "../../../src/terraform/data/index.ts";
import { providerSchema } from "../../../src/terraform/provider/schema.ts";
import { schemaOf } from "../../../src/terraform/schema/of-kind.ts";
import { startCanary } from "../../support/canary.ts";
import { folder, runIn } from "./harness.ts";

/**
 * `harmless`: whatever stands there, a plan asks the operator's host alone and shows what is written. `refused`: it would name an
 * address, a credential, a command or a backend. `inside`: a path of the project, and no other.
 */
type Answer = "harmless" | "refused" | "inside";

/** `prefix: names` in each line. */
function answers(table: Readonly<Record<Answer, string>>): Map<string, Answer> {
  const lines = Object.entries(table).flatMap(([answer, text]) =>
    text
      .trim()
      .split("\n")
      .map((line) => [answer as Answer, line.trim()] as const),
  );
  return new Map(
    lines.flatMap(([answer, line]) => {
      const [, prefix = "", names = ""] = /^(?:(\S+): )?(.*)$/.exec(line) ?? [];
      return names.split(" ").map((name): [string, Answer] => [prefix === "" ? name : `${prefix}.${name}`, answer]);
    }),
  );
}

const YAML = answers({
  harmless: `
    project provider x-*
    providers.*: requests_per_minute status_words.* idempotency_key_retention list_lag money_scale
    guards: max_orders max_spend.GEL max_spend.USD max_spend.EUR max_removals max_removals_percent
    outputs.*: value description sensitive
    client_accounts.*: name company_name company_number vat_number currency deletion_policy provider depends_on import
    domains.*: domain years currency nameserver_mode registrant_contact.* deletion_policy provider depends_on import
    migration_requests.*: domain order_id questions.* deletion_policy provider depends_on import
    services.*: plan_id currency domain term coupon_code reference suspended password_version deletion_policy provider depends_on import
    services.*.grants.*: permission expires_at depends_on import
    services.*.secret_output.env_file: name
    webhooks.*: url events provider depends_on import
    webhooks.*.secret_output.env_file: name`,
  refused: `
    providers.*: base_url token_env token_file
    backend.http: address update_method lock_address lock_method unlock_address unlock_method without_lock
    backend.pg: schema_name workspace
    services.*.password: env file command
    services.*.secret_output: command outside_project
    webhooks.*.secret_output: command outside_project`,
  inside: `
    services.*.secret_output: file env_file.path
    webhooks.*.secret_output: file env_file.path`,
});

const STACK = answers({
  harmless: `
    provider.hosting: insecure_http project requests_per_minute status_words idempotency_key_retention list_lag money_scale
    variable.one: type default description sensitive nullable ephemeral validation
    output.one: value description sensitive depends_on ephemeral
    resource.hosting_client_account: name company_name company_number vat_number currency deletion_policy replace_on_change timeouts.create
    resource.hosting_domain: domain years currency nameserver_mode registrant_contact deletion_policy replace_on_change timeouts.create
    resource.hosting_grant: service_id email permission expires_at timeouts.create timeouts.delete
    resource.hosting_migration_request: domain order_id questions deletion_policy replace_on_change timeouts.create
    resource.hosting_service: plan_id currency domain term coupon_code reference suspended password password_version deletion_policy
    resource.hosting_service: replace_on_change timeouts.create timeouts.update timeouts.delete
    resource.hosting_service.secret_output: env_file.name
    resource.hosting_webhook: url events timeouts.create timeouts.delete
    resource.hosting_webhook.secret_output: env_file.name`,
  refused: `
    provider.hosting: base_url token token_env token_file
    terraform.backend.http: address update_method lock_address lock_method unlock_address unlock_method without_lock
    terraform.backend.pg: schema_name workspace
    terraform.backend.local: path
    data.terraform_remote_state: backend config workspace defaults depends_on provider
    resource.hosting_service.secret_output: command outside_project
    resource.hosting_webhook.secret_output: command outside_project`,
  inside: `
    resource.hosting_service.secret_output: file env_file.path
    resource.hosting_webhook.secret_output: file env_file.path`,
});

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

/** The paths of a JSON schema that end; `*` is any name. */
function leaves(schema: Schema, at: readonly string[] = []): string[] {
  const { properties = {}, patternProperties = {}, additionalProperties: others } = schema;
  const patterns = Object.keys(patternProperties).map((pattern) => pattern.replace(/^\^(.*)$/, "$1*"));
  const below = [
    ...[...(schema.oneOf ?? []), ...(schema.anyOf ?? []), ...(schema.allOf ?? [])].flatMap((one) => leaves(one, at)),
    ...Object.entries(properties).flatMap(([key, one]) => leaves(one, [...at, key])),
    ...patterns.map((key) => [...at, key].join(".")),
    ...(isObject(others) ? leaves(others as Schema, [...at, "*"]) : []),
  ];
  const own = at.join(".");
  const deeper = below.filter((one) => one !== own);
  return [...new Set(deeper.length > 0 || own === "" ? deeper : [own])];
}

/** The same of Terraform's schemas, without what only the API gives. */
function attributePaths(attributes: Attributes, at: string): string[] {
  return Object.entries(attributes).flatMap(([name, { type, optional, required }]) => {
    if (optional !== true && required !== true) return [];
    return isNested(type) ? attributePaths(type.attributes, `${at}.${name}`) : [`${at}.${name}`];
  });
}

const jsonSchema = JSON.parse(
  readFileSync(path.resolve(import.meta.dirname, "../../../schemas/hosting.schema.json"), "utf8"),
) as Schema;
const stackPaths = [
  ...attributePaths(providerSchema.attributes, "provider.hosting"),
  ...[...kinds.values()].flatMap((kind) => attributePaths(schemaOf(kind).attributes, `resource.${kind.type}`)),
  ...Object.entries(backendSettings).flatMap(([type, { shape }]) =>
    Object.keys(shape).map((name) => `terraform.backend.${type}.${name}`),
  ),
  "terraform.backend.local.path",
  ...VARIABLE_ARGUMENTS.map((name) => `variable.one.${name}`),
  ...OUTPUT_ARGUMENTS.map((name) => `output.one.${name}`),
  ...REMOTE_STATE_ARGUMENTS.map((name) => `data.terraform_remote_state.${name}`),
];
/** Blocks that hold addresses and ids of resources alone, and values. */
const WITHOUT_KEYS = ["locals", "import", "moved", "removed"];

it("every key has an answer", () => {
  expect([...YAML.keys()].sort()).toEqual(leaves(jsonSchema).sort());
  expect([...STACK.keys()].sort()).toEqual(stackPaths.sort());
  const blocks = new Set([...STACK.keys()].map((key) => key.split(".")[0]));
  expect([...blocks, ...WITHOUT_KEYS].sort()).toEqual(Object.keys(BLOCK_TYPES).sort());
});

const IN_ENVIRONMENT = "value-of-the-environment";
const IN_FILE = "line-of-a-file";
const TOKEN = "token-of-the-operator";

/** Files that were opened. */
const opened: string[] = [];
const real = { open: fs.promises.open, readFile: fs.promises.readFile, readFileSync: fs.readFileSync };

beforeAll(() => {
  const seen =
    <A extends unknown[], R>(step: (...args: A) => R) =>
    (...args: A): R => {
      opened.push(String(args[0]));
      return step(...args);
    };
  Object.assign(fs.promises, { open: seen(real.open), readFile: seen(real.readFile) });
  Object.assign(fs, { readFileSync: seen(real.readFileSync) });
  syncBuiltinESMExports();
});
afterAll(() => {
  Object.assign(fs.promises, { open: real.open, readFile: real.readFile });
  Object.assign(fs, { readFileSync: real.readFileSync });
  syncBuiltinESMExports();
});
beforeEach(() => {
  opened.length = 0;
});

/** A document with one value at a path. */
function nest(steps: readonly string[], value: unknown, base: unknown = {}): unknown {
  const [first, ...rest] = steps;
  if (first === undefined) return value;
  const object = isObject(base) ? base : {};
  return { ...object, [first]: nest(rest, value, object[first]) };
}

/** What a block needs beside the key that is tried. */
const BLOCKS: Readonly<Record<string, object>> = {
  hosting_client_account: { name: "Acme" },
  hosting_domain: { domain: "acme.example", years: 1, currency: "USD", registrant_contact: { name: "A" } },
  hosting_grant: { service_id: "1001", email: "dev@acme.example", permission: "view" },
  hosting_migration_request: { domain: "acme.example", questions: { source: "cpanel" } },
  hosting_service: { plan_id: 11, currency: "USD", domain: "www.acme.example" },
  hosting_webhook: { url: "https://hooks.example/x", events: ["invoice.paid"] },
};

function yamlWith(key: string, value: unknown): object {
  const [section = "", ...rest] = key.split(".");
  const kind = [...kinds.values()].find((one) => one.section === section);
  const base = { project: "test", ...(kind && { [section]: { one: BLOCKS[kind.type] } }) };
  const names = rest.map((step) => (step !== "*" ? step : section === "providers" ? "default" : "one"));
  return nest([section.replace("*", "a"), ...names], completed(key, value), base) as object;
}

function stackWith(key: string, value: unknown): object {
  const [block = "", type = "", ...rest] = key.split(".");
  const base = {
    variable: { who: { type: "string", default: "nobody" } },
    provider: { hosting: { project: "test" } },
    ...(block === "resource" && { resource: { [type]: { one: BLOCKS[type] } } }),
    ...(block === "data" && {
      data: { [type]: { one: { backend: "http", config: { address: "https://x.example" } } } },
    }),
    ...(block === "output" && { output: { one: { value: "x" } } }),
  };
  const names = block === "resource" || block === "data" ? [type, "one", ...rest] : [type, ...rest];
  return nest([block, ...names], completed(key, value), base) as object;
}

/** A name where a path is tried, and the other way round: half a place is refused for being half. */
function completed(key: string, value: unknown): unknown {
  return key.endsWith("command") && typeof value === "string" ? [value] : value;
}

/** What an attacker writes; where the key is not harmless, first what it would be abused with if it were allowed. */
function hostile(key: string, answer: Answer, evil: string, outside: string, template: string): unknown[] {
  if (answer === "harmless") return key.startsWith("data.") ? [evil, template] : [evil, outside, template];
  const usual: [RegExp, unknown][] = [
    [/(base_url|address)$/, evil],
    [/_method$/, "DELETE"],
    [/without_lock$/, true],
    [/(schema_name|workspace)$/, "other"],
    [/(token_env|password\.env)$/, "DEPLOY_NAME"],
    [/token$/, "${var.who}"],
    [/(file|local\.path|env_file\.path)$/, outside],
    [/command$/, ["cat", outside]],
  ];
  return [usual.find(([names]) => names.test(key))?.[1] ?? evil, template];
}

interface Attack {
  readonly file: string;
  readonly args: readonly string[];
  readonly template: string;
  with(key: string, value: unknown): object;
}

async function attacked(key: string, answer: Answer, attack: Attack): Promise<void> {
  const [dir, away, host, evil] = [await folder(), await folder(), await startCanary(), await startCanary()];
  const outside = path.join(away, "secret");
  writeFileSync(outside, `${IN_FILE}\n`, { mode: 0o600 });
  const env = {
    HOSTFORM_LEDGER: "memory",
    HOSTING_BASE_URL: host.url,
    HOSTING_TOKEN: TOKEN,
    DEPLOY_NAME: IN_ENVIRONMENT,
    TF_VAR_who: IN_ENVIRONMENT,
  };
  for (const [nth, value] of hostile(key, answer, evil.url, outside, attack.template).entries()) {
    writeFileSync(path.join(dir, attack.file), JSON.stringify(attack.with(key, value)));
    const { code, stdout, stderr, io } = await runIn(dir, ["plan", "--untrusted", ...attack.args], { env });
    const [text, what] = [stdout + stderr, `${key}: ${JSON.stringify(value)}\n${stderr}`];
    expect(evil.requests, what).toEqual([]);
    expect(
      host.requests.filter((request) => !request.startsWith("GET ")),
      what,
    ).toEqual([]);
    expect(
      opened.filter((file) => file.startsWith(away)),
      what,
    ).toEqual([]);
    expect(text, what).not.toMatch(/value-of-the-environment|line-of-a-file|token-of-the-operator/);
    expect([io.ran, io.browsed], what).toEqual([[], []]);
    expect(text, what).not.toContain("a test must not");
    if (answer === "refused") expect(code, what).toBe(1);
    // What it is refused for is that it is not trusted.
    if (answer !== "harmless" && nth === 0)
      expect([code, stderr], what).toEqual([1, expect.stringMatching(/trust\.(?:untrusted|file)/)]);
  }
  // What hostform reads is seen at all.
  expect(opened.some((file) => file.endsWith(attack.file))).toBe(true);
}

describe("an untrusted declaration in YAML cannot use", () => {
  it.each([...YAML])("%s (%s)", (key, answer) =>
    attacked(key, answer, { file: "hosting.yaml", args: [], template: `\${env.DEPLOY_NAME}`, with: yamlWith }),
  );
});

describe("an untrusted stack cannot use", () => {
  it.each([...STACK])("%s (%s)", (key, answer) =>
    attacked(key, answer, { file: "cdk.tf.json", args: ["--stack", "."], template: `\${var.who}`, with: stackWith }),
  );
});

describe("an untrusted stack cannot read", () => {
  const inputs = dataSources.flatMap(({ name, schema }) => attributePaths(schema.attributes, `data.${name}`));

  it.each(inputs)("anything but the operator's account by %s", (key) => {
    const [, type = "", name = ""] = key.split(".");
    const withData = (_: string, value: unknown) => ({
      variable: { who: { type: "string" } },
      data: { [type]: { one: { [name]: value } } },
      output: { all: { value: `\${data.${type}.one}` } },
    });
    return attacked(key, "harmless", {
      file: "cdk.tf.json",
      args: ["--stack", "."],
      template: `\${var.who}`,
      with: withData,
    });
  });
});
