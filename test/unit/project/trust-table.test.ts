/**
 * Every key of every declaration format, and its permission in an untrusted declaration. The keys come from the
 * schemas and from the table of the stack reader. A key without an answer here fails. The tests then give each key the
 * values of an attacker, through the whole command.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { kinds } from "../../../src/core/kinds/index.ts";
import { type Attributes, isNested, isObject } from "../../../src/core/model/index.ts";
import { backendSettings } from "../../../src/fronts/source/index.ts";
import { KEYS, type Keys } from "../../../src/fronts/stacks/blocks.ts";
import { dataSources } from "../../../src/fronts/terraform/data/index.ts";
import { providerSchema } from "../../../src/fronts/terraform/provider/schema.ts";
import { schemaOf } from "../../../src/fronts/terraform/schema/of-kind.ts";
import { startCanary } from "../../support/canary.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { watchPaths } from "../../support/watched-paths.ts";
import { runIn } from "../cli/harness.ts";

/**
 * `harmless`: with any value, a plan sends requests only to the operator's host and prints the value. `refused`: the
 * key would name an address, a credential, a command or a backend. `inside`: only a path inside the project.
 * `unsupported`: no stack may contain the key.
 */
type Answer = "harmless" | "refused" | "inside" | "unsupported";

/** Parses lines of the form `prefix: names`. */
function answers(table: Readonly<Partial<Record<Answer, string>>>): Map<string, Answer> {
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
    project provider notify x-* moved removed import required_version state
    variables.*: type default description
    providers.*: requests_per_minute status_words.* idempotency_key_retention list_lag
    guards: max_orders max_spend.GEL max_spend.USD max_spend.EUR max_spend_month.GEL max_spend_month.USD max_spend_month.EUR max_orders_day max_removals max_removals_percent
    outputs.*: value description sensitive
    client_accounts.*: name company_name company_number vat_number currency deletion_policy provider client depends_on import template with replace
    defaults.client_accounts: name company_name company_number vat_number currency deletion_policy provider client depends_on
    defaults.domains: domain years currency nameserver_mode registrant_contact deletion_policy provider client depends_on
    defaults.migration_requests: domain order_id questions deletion_policy provider client depends_on
    defaults.services: plan_id currency domain term coupon_code reference suspended password_version deletion_policy provider client depends_on grants
    defaults.grants: permission expires_at depends_on
    defaults.webhooks: url events provider client depends_on
    templates.*: client company_name company_number coupon_code currency deletion_policy depends_on domain events grants import name nameserver_mode
    templates.*: order_id parameters password_version plan_id provider questions reference registrant_contact replace suspended template term url
    templates.*: vat_number with years
    domains.*: domain years currency nameserver_mode registrant_contact.* deletion_policy provider client depends_on import template with replace
    migration_requests.*: domain order_id questions.* deletion_policy provider client depends_on import template with replace
    services.*: plan_id currency domain term coupon_code reference suspended password_version deletion_policy provider client depends_on import template with replace
    services.*.grants.*: permission expires_at depends_on import
    services.*.secret_output.env_file: name
    webhooks.*: url events provider client depends_on import template with replace
    webhooks.*.secret_output.env_file: name`,
  refused: `
    providers.*: base_url token_env token_file money_scale
    backend.http: address update_method lock_address lock_method unlock_address unlock_method without_lock
    backend.pg: schema_name table_name index_name workspace
    backend.s3: bucket key region endpoints.s3 endpoint workspace workspace_key_prefix use_path_style force_path_style encrypt use_lockfile profile
    backend.s3: skip_credentials_validation skip_metadata_api_check skip_region_validation skip_requesting_account_id skip_s3_checksum
    defaults.services: password secret_output
    defaults.webhooks: secret_output
    templates.*: password secret_output
    services.*.password: env file command
    services.*.secret_output: command outside_project
    webhooks.*.secret_output: command outside_project`,
  inside: `
    include
    services.*.secret_output: file env_file.path
    webhooks.*.secret_output: file env_file.path`,
});

/** Keys of a stack, without the names of blocks: `output.value` stands for `output: {NAME: {value: …}}`. */
const STACK = answers({
  harmless: `
    stack: locals
    terraform: required_providers required_version provider_meta
    provider: alias version insecure_http project requests_per_minute status_words idempotency_key_retention list_lag
    variable: type default description sensitive nullable ephemeral validation.condition validation.error_message
    output: value description sensitive depends_on ephemeral
    import: id to for_each provider
    moved: from to
    removed: from lifecycle.destroy
    resource: count for_each depends_on provider
    resource.lifecycle: prevent_destroy ignore_changes create_before_destroy destroy enabled
    data.lifecycle: enabled
    resource.hosting_client_account: name company_name company_number vat_number currency deletion_policy replace_on_change timeouts.create
    resource.hosting_domain: domain years currency nameserver_mode registrant_contact deletion_policy replace_on_change timeouts.create
    resource.hosting_grant: service_id email permission expires_at timeouts.create timeouts.delete
    resource.hosting_migration_request: domain order_id questions deletion_policy replace_on_change timeouts.create
    resource.hosting_service: plan_id currency domain term coupon_code reference suspended password password_version deletion_policy
    resource.hosting_service: replace_on_change timeouts.create timeouts.update timeouts.delete
    resource.hosting_service.secret_output: env_file.name
    resource.hosting_webhook: url events timeouts.create timeouts.delete
    resource.hosting_webhook.secret_output: env_file.name
    data: count for_each depends_on provider
    data.hosting_domain_availability: domains
    data.hosting_client_accounts: name company_number vat_number currency
    data.hosting_grants: service_id email permission
    data.hosting_invoice: id invoice_number
    data.hosting_invoices: status paid unpaid currency order_id domain
    data.hosting_migration_request: id
    data.hosting_migration_requests: domain status order_id
    data.hosting_plan: plan_id name product_type currency billing_cycle
    data.hosting_plans: name product_type currency billing_cycle
    data.hosting_service: id domain
    data.hosting_services: phase status domain plan product_type billing_cycle currency
    data.hosting_webhooks: url events`,
  refused: `
    provider: base_url token token_env token_file money_scale
    terraform.backend.http: address update_method lock_address lock_method unlock_address unlock_method without_lock
    terraform.backend.pg: schema_name table_name index_name workspace
    terraform.backend.s3: bucket key region endpoints endpoint workspace workspace_key_prefix use_path_style force_path_style encrypt use_lockfile profile
    terraform.backend.s3: skip_credentials_validation skip_metadata_api_check skip_region_validation skip_requesting_account_id skip_s3_checksum
    terraform.backend.local: path
    data.terraform_remote_state: backend config workspace defaults depends_on provider
    resource.hosting_service.secret_output: command outside_project
    resource.hosting_webhook.secret_output: command outside_project`,
  inside: `
    resource.hosting_service.secret_output: file env_file.path
    resource.hosting_webhook.secret_output: file env_file.path`,
  unsupported: `
    stack: module check ephemeral action list
    terraform: cloud experiments encryption
    output: precondition
    resource: connection provisioner dynamic
    resource.lifecycle: precondition postcondition replace_triggered_by
    data: connection provisioner dynamic
    data.lifecycle: precondition postcondition replace_triggered_by
    data.terraform_remote_state: count for_each lifecycle
    import: connection provisioner identity
    moved: connection provisioner identity
    removed: connection provisioner identity`,
});

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

/** Returns the paths to the leaves of a JSON schema. `*` stands for any name. */
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

/** Returns the paths of Terraform's attributes, without attributes that only the API sets. */
function attributePaths(attributes: Attributes, at: string): string[] {
  return Object.entries(attributes).flatMap(([name, { type, optional, required }]) => {
    if (optional !== true && required !== true) return [];
    return isNested(type) ? attributePaths(type.attributes, `${at}.${name}`) : [`${at}.${name}`];
  });
}

const jsonSchema = JSON.parse(
  readFileSync(path.resolve(import.meta.dirname, "../../../schemas/hosting.schema.json"), "utf8"),
) as Schema;
/** Keys of the stack reader's table. A key whose own keys are listed holds no value. */
const languagePaths = Object.entries<Keys>(KEYS)
  .flatMap(([block, { known, refused }]) => [...known, ...refused].map((key) => `${block}.${key}`))
  .filter((key) => key !== "terraform.backend" && !(key.replace(/^stack\./, "") in KEYS));
const stackPaths = [
  ...languagePaths,
  ...attributePaths(providerSchema.attributes, "provider"),
  ...[...kinds.values()].flatMap((kind) => attributePaths(schemaOf(kind).attributes, `resource.${kind.type}`)),
  ...dataSources.flatMap(({ name, schema }) => attributePaths(schema.attributes, `data.${name}`)),
  ...Object.entries(backendSettings).flatMap(([type, { shape }]) =>
    Object.keys(shape).map((name) => `terraform.backend.${type}.${name}`),
  ),
  "terraform.backend.local.path",
];

it("every key has an answer", () => {
  expect([...YAML.keys()].sort()).toEqual(leaves(jsonSchema).sort());
  expect([...STACK.keys()].sort()).toEqual(stackPaths.sort());
});

const IN_ENVIRONMENT = "value-of-the-environment";
const IN_FILE = "line-of-a-file";
const TOKEN = "token-of-the-operator";

/** Records calls of the file system, with their paths. */
const done = watchPaths();

beforeAll(done.begin);
afterAll(done.end);
beforeEach(done.forget);

/** Returns a document with one value at a path. */
function nest(steps: readonly string[], value: unknown, base: unknown = {}): unknown {
  const [first, ...rest] = steps;
  if (first === undefined) return value;
  const object = isObject(base) ? base : {};
  return { ...object, [first]: nest(rest, value, object[first]) };
}

/** Required attributes of a block beside the tested key. */
const BLOCKS: Readonly<Record<string, object>> = {
  hosting_client_account: { name: "Acme" },
  hosting_domain: {
    domain: "acme.example",
    years: 1,
    currency: "USD",
    nameserver_mode: "default",
    registrant_contact: { name: "A" },
  },
  hosting_grant: { service_id: "1001", email: "dev@acme.example", permission: "view" },
  hosting_migration_request: { domain: "acme.example", questions: { source: "cpanel" } },
  hosting_service: { plan_id: 11, currency: "USD", domain: "www.acme.example" },
  hosting_webhook: { url: "https://hooks.example/x", events: ["invoice.paid"] },
};

/** Required attributes of data sources. */
const INPUTS: Readonly<Record<string, object>> = {
  hosting_domain_availability: { domains: ["acme.example"] },
  hosting_grants: { service_id: "1001" },
  hosting_invoice: { id: "1" },
  hosting_migration_request: { id: "1" },
  hosting_plan: { plan_id: 11 },
  hosting_service: { id: "1001" },
  terraform_remote_state: { backend: "http", config: { address: "https://x.example" } },
};

/** Returns templates or defaults, with a block that uses them. */
function expandedWith([section = "", at = "", attribute = ""]: readonly string[], value: unknown): object {
  const own = section === "defaults" ? at : attribute === "secret_output" ? "webhooks" : undefined;
  const kind = [...kinds.values()].find((one) =>
    own === undefined ? Object.hasOwn(one.attributes.shape, attribute) : (one.nested?.section ?? one.section) === own,
  );
  const isNested = kind?.nested !== undefined;
  const { [attribute]: _, ...block } = BLOCKS[
    isNested ? "hosting_service" : (kind?.type ?? "hosting_service")
  ] as Record<string, unknown>;
  const used = {
    ...block,
    ...(section === "templates" && { template: "one" }),
    ...(isNested && { grants: { "a@b.example": {} } }),
  };
  const top = isNested || kind === undefined ? "services" : kind.section;
  const named = section === "defaults" ? at : "one";
  return { project: "test", [section]: { [named]: { [attribute]: value } }, [top]: { one: used } };
}

function yamlWith(key: string, value: unknown): object {
  const [section = "", ...rest] = key.split(".");
  if (section === "templates" || section === "defaults") return expandedWith(key.split("."), value);
  const kind = [...kinds.values()].find((one) => one.section === section);
  const base = { project: "test", ...(kind && { [section]: { one: BLOCKS[kind.type] } }) };
  const names = rest.map((step) => (step !== "*" ? step : section === "providers" ? "default" : "one"));
  return nest([section.replace("*", "a"), ...names], completed(key, value), base) as object;
}

const OF_WEBHOOK = { resource: { hosting_webhook: { one: BLOCKS.hosting_webhook } } };
const VALIDATION = { condition: true, error_message: "No." };

/** Rest of a block with a tested key: without the key, a plan succeeds and prints the value. */
const AROUND: Readonly<Record<string, object>> = {
  locals: { locals: { one: "x" }, output: { all: { value: `\${local.one}` } } },
  variable: {
    variable: { one: { default: "x", validation: VALIDATION } },
    output: { all: { value: `\${var.one}` } },
  },
  output: { output: { one: { value: "x" } } },
  import: { ...OF_WEBHOOK, import: { id: "1001", to: "hosting_webhook.one" } },
  moved: { ...OF_WEBHOOK, moved: { from: "hosting_webhook.old", to: "hosting_webhook.one" } },
  removed: { removed: { from: "hosting_webhook.old" } },
};

/** Returns the position of a key in a stack, with names for the blocks. */
function placeIn(key: string): readonly [block: string, ...string[]] {
  const [block = "", second = "", ...rest] = key.split(".");
  if (block === "stack") return [second, "one"];
  if (block === "provider") return [block, "hosting", second, ...rest];
  if (block === "variable" || block === "output") return [block, "one", second, ...rest];
  if (block !== "resource" && block !== "data") return [block, second, ...rest];
  if (/^(?:hosting|terraform)_/.test(second)) return [block, second, "one", ...rest];
  return [block, block === "data" ? "hosting_webhooks" : "hosting_webhook", "one", second, ...rest];
}

function around([block, type = ""]: ReturnType<typeof placeIn>): object {
  const one = (block === "resource" ? BLOCKS : INPUTS)[type] ?? {};
  return {
    provider: { hosting: { project: "test" } },
    ...AROUND[block],
    ...((block === "resource" || block === "data") && { [block]: { [type]: { one } } }),
    ...(type.startsWith("hosting_") && block === "data" && { output: { all: { value: `\${data.${type}.one}` } } }),
  };
}

function stackWith(key: string, value: unknown): object {
  const place = placeIn(key);
  const stack = nest(place, completed(key, value), around(place));
  // Adds the default only if the value refers to the variable. A declared variable alone would be refused, because the
  // environment has a value for it.
  return (
    JSON.stringify(value).includes("var.who") ? nest(["variable", "who", "default"], "nobody", stack) : stack
  ) as object;
}

/** Completes a value that would be refused as incomplete: a command must be a list. */
function completed(key: string, value: unknown): unknown {
  return key.endsWith("command") && typeof value === "string" ? [value] : value;
}

/** Returns an attacker's values. For a key that is not harmless, the first value is a plausible abuse. */
function hostile(key: string, answer: Answer, evil: string, outside: string, template: string): unknown[] {
  if (answer === "harmless") return [evil, template.includes("env.") ? outside : `\${file("${outside}")}`, template];
  const usual: [RegExp, unknown][] = [
    [/^include$/, outside],
    [/module$/, { source: evil }],
    [/connection$/, { host: evil }],
    [/provisioner$/, { "local-exec": { command: `curl ${evil}` } }],
    [/money_scale$/, 4],
    [/(base_url|address)$/, evil],
    [/_method$/, "DELETE"],
    [/remote_state\.backend$/, "http"],
    [/remote_state\.workspace$/, "default"],
    [/(without_lock|encrypt|_path_style|use_lockfile|\.skip_\w+)$/, true],
    [/(schema_name|table_name|index_name|workspace|bucket|\.key|region|prefix|profile)$/, "other"],
    [/\.(?:endpoint|endpoints\.s3)$/, evil],
    [/\.endpoints$/, { s3: evil }],
    [/^(?:templates|defaults)\..*password$/, { env: "DEPLOY_NAME" }],
    [/^(?:templates|defaults)\..*secret_output$/, { command: ["cat", outside] }],
    [/(token_env|password\.env)$/, "DEPLOY_NAME"],
    [/token$/, "${var.who}"],
    [/(file|local\.path|env_file\.path)$/, outside],
    [/command$/, ["cat", outside]],
  ];
  const first = usual.find(([names]) => names.test(key))?.[1] ?? evil;
  return answer === "unsupported" ? [first] : [first, template];
}

interface Attack {
  readonly file: string;
  readonly args: readonly string[];
  readonly template: string;
  with(key: string, value: unknown): object;
}

async function attacked(key: string, answer: Answer, attack: Attack): Promise<void> {
  const [dir, away, host, evil] = [temporaryFolder(), temporaryFolder(), await startCanary(), await startCanary()];
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
    done.forget();
    const { code, stdout, stderr, io } = await runIn(dir, ["plan", "--untrusted", ...attack.args], { env });
    const [text, what] = [stdout + stderr, `${key}: ${JSON.stringify(value)}\n${stderr}`];
    expect(evil.requests, what).toEqual([]);
    expect(
      host.requests.filter((request) => !request.startsWith("GET ")),
      what,
    ).toEqual([]);
    // Not even a stat call: on Windows, a stat of a server's path signs on at that server.
    expect(done.with(away), what).toEqual([]);
    expect(done.changes(), what).toEqual([]);
    expect([readdirSync(dir), readdirSync(away)], what).toEqual([[attack.file], ["secret"]]);
    expect(text, what).not.toMatch(/value-of-the-environment|line-of-a-file|token-of-the-operator/);
    expect([io.ran, io.browsed], what).toEqual([[], []]);
    expect(text, what).not.toContain("a test must not");
    if (answer === "refused" || answer === "unsupported") expect(code, what).toBe(1);
    // The refusal's reason is the missing trust, or that no stack may contain the key.
    const reason = answer === "unsupported" ? /config\.unsupported/ : /trust\.(?:untrusted|file)/;
    if (answer !== "harmless" && nth === 0) expect([code, stderr], what).toEqual([1, expect.stringMatching(reason)]);
  }
  // Proves that the recorder sees hostform's reads.
  expect(done.with(path.join(dir, attack.file))).toEqual(expect.arrayContaining(["lstatSync", "open"]));
}

describe("an untrusted declaration in YAML cannot use", () => {
  it.each([...YAML])("%s (%s)", (key, answer) =>
    attacked(key, answer, { file: "hosting.yaml", args: [], template: `\${env.DEPLOY_NAME}`, with: yamlWith }),
  );
});

describe("an untrusted stack cannot use", () => {
  const attack: Attack = { file: "cdk.tf.json", args: ["--stack", "."], template: `\${var.who}`, with: stackWith };

  it.each([...STACK])("%s (%s)", (key, answer) => attacked(key, answer, attack));

  it("a key only where it is tried: what stands beside it is no mistake", async () => {
    const [dir, host] = [temporaryFolder(), await startCanary()];
    const env = { HOSTFORM_LEDGER: "memory", HOSTING_BASE_URL: host.url, HOSTING_TOKEN: TOKEN };
    const texts = new Set([...STACK.keys()].map((key) => JSON.stringify(around(placeIn(key)))));
    for (const text of texts) {
      writeFileSync(path.join(dir, attack.file), text);
      const { stderr } = await runIn(dir, ["plan", "--untrusted", "--stack", "."], { env });
      expect(stderr, text).not.toContain("[config.");
    }
    expect(host.requests).not.toEqual([]);
  });
});
