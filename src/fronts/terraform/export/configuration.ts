import path from "node:path";
import { VERSION } from "../../../core/api/version.ts";
import type { Kind, Kinds } from "../../../core/kinds/kind.ts";
import { circles } from "../../../core/model/graph.ts";
import {
  type Backend,
  type Desired,
  type DesiredOutput,
  type Diagnostic,
  type Guards,
  HostformError,
  isLoopback,
  isObject,
  type Json,
  type ProviderConfig,
  type RemovedBlock,
  resourceOf,
  type State,
} from "../../../core/model/index.ts";
import { PROVIDER_ADDRESS } from "../package.ts";
import type { TfAttribute, TfBlock, TfDocument, TfItem, TfValue } from "./document.ts";
import { problem } from "./messages.ts";
import { type ResourceContext, type WrittenResource, writeResource } from "./resource.ts";
import { type Attributes, addressCode, setItemWarning, tfValue, type Use, Variables, type Writing } from "./value.ts";

/** Source of a configuration. */
interface ConfigurationParts {
  readonly desired: Desired;
  /** State that decides which orders still need a name. */
  readonly state: State;
  readonly kinds: Kinds;
  /** Returns the attributes of a kind in Terraform. */
  attributesOf(kind: Kind): Attributes;
  /** Author and source for the first line: "hostform from hosting.yaml". */
  readonly origin: string;
  readonly places: Places;
  /** True if Terraform runs in the project's folder. */
  readonly inProject: boolean;
  /** Sources of sensitive values: `env.NAME`. */
  readonly hidden: ReadonlySet<string>;
  readonly insecureHttp: boolean;
}

/**
 * Converts a declaration to a Terraform configuration: the same resources at the same addresses, so that both use the same state.
 * Parts without a counterpart are in the diagnostics, and in a comment at their place. An error means that no configuration is
 * equivalent.
 */
export function terraformConfiguration(parts: ConfigurationParts): {
  readonly document: TfDocument;
  readonly diagnostics: readonly Diagnostic[];
} {
  const { desired, state, kinds, places, inProject } = parts;
  const variables = new Variables(parts.hidden);
  const context: ResourceContext = {
    variables,
    attributesOf: (type) => {
      const kind = kinds.get(type);
      return kind && parts.attributesOf(kind);
    },
    declared: new Map(desired.resources.map((resource) => [resource.address, resource])),
    state,
    inProject,
  };
  const groups = Map.groupBy(desired.resources, ({ address }) => resourceOf(address));
  const written = new Map<string, WrittenResource>();
  for (const [name, instances] of groups) {
    const kind = kinds.get(instances[0]?.type ?? "");
    if (kind !== undefined) written.set(name, writeResource(kind, name, instances, context));
  }
  const resources = [...written.values()].flatMap(({ blocks }) => blocks);
  const refactored = refactoringBlocks(desired);
  const outputs = outputBlocks(desired.outputs ?? [], context);
  const terraform = terraformBlock(desired, places, leastVersion(variables, [...resources, ...refactored]));
  const providers = providerBlocks(desired, places, parts.insecureHttp);
  const omitted = [guardsWarning(desired.guards), channelsWarning(desired)].filter((one) => one !== undefined);
  return {
    document: {
      comments: [...header(parts), ...omitted.map(({ summary, detail }) => `${summary}. ${detail}`)],
      blocks: [terraform.block, ...variables.blocks(), ...providers, ...resources, ...refactored, ...outputs.blocks],
    },
    diagnostics: [
      ...omitted,
      ...terraform.diagnostics,
      ...[...written.values()].flatMap(({ diagnostics }) => diagnostics),
      ...outputs.diagnostics,
      ...removedWarnings(desired),
      ...circular(written),
    ],
  };
}

function header({ desired, origin }: ConfigurationParts): string[] {
  const evaluated = desired.backend !== undefined || [...desired.providers.values()].some(({ baseUrl }) => baseUrl);
  return [
    `Written by ${origin}: the same resources at the same addresses.`,
    "`terraform plan` shows what `hostform plan` shows, on the same state.",
    ...(evaluated
      ? ["Values that accounts and backend read from the environment in YAML are written as they were at the export."]
      : []),
  ];
}

/** Returns the oldest Terraform that supports the configuration; undefined: every version that the provider supports. */
function leastVersion(variables: Variables, blocks: readonly TfBlock[]): string | undefined {
  if (variables.secrets) return "1.11";
  const has = (name: string) => blocks.some(({ block }) => block === name);
  return has("removed") ? "1.7" : has("import") ? "1.5" : undefined;
}

/** Returns the blocks `moved` and `removed`. */
function refactoringBlocks({ moved = [], removed = [] }: Desired): TfBlock[] {
  const address = (name: string, value: string): TfAttribute => ({ name, value: { code: addressCode(value) } });
  return [
    ...moved.map(({ from, to }) => ({ block: "moved", body: [[address("from", from), address("to", to)]] })),
    ...removed.filter(namesAll).map(({ from, destroy }) => {
      const lifecycle = { block: "lifecycle", body: [[{ name: "destroy", value: destroy }]] };
      return { block: "removed", body: [[address("from", from)], [lifecycle]] };
    }),
  ];
}

const namesAll = ({ from }: RemovedBlock) => from === resourceOf(from);

/** Warns about a single forgotten instance, because Terraform cannot forget it: a `removed` block concerns all instances of a resource. */
function removedWarnings({ removed = [] }: Desired): Diagnostic[] {
  return removed
    .filter((block) => !namesAll(block) && !block.destroy)
    .map(({ from, range }) => problem("config.unsupported", { from, range }));
}

function guardsWarning(guards: Guards | undefined): Diagnostic | undefined {
  if (guards === undefined) return undefined;
  const { ranges = {}, maxOrders, maxSpend, maxSpendMonth, maxOrdersDay, maxRemovals, maxRemovalsPercent } = guards;
  const amounts = (spend = {}) =>
    Object.entries(spend)
      .map(([currency, amount]) => `${currency} ${amount}`)
      .join(", ") || undefined;
  const limits = Object.entries({
    max_orders: maxOrders,
    max_spend: amounts(maxSpend),
    max_spend_month: amounts(maxSpendMonth),
    max_orders_day: maxOrdersDay,
    max_removals: maxRemovals,
    max_removals_percent: maxRemovalsPercent,
  }).flatMap(([name, limit]) => (limit === undefined ? [] : [`${name}: ${limit}`]));
  const [range] = Object.values(ranges);
  if (limits.length === 0) return undefined;
  return problem("terraform.export/guards", { limits: limits.join("; "), range });
}

const channelsWarning = ({ notify }: Desired): Diagnostic | undefined => notify && problem("terraform.export/channels");

/** Reports cycles between resources. Such a cycle can exist although the instances have none. */
function circular(written: ReadonlyMap<string, WrittenResource>): Diagnostic[] {
  const graph = new Map([...written].map(([name, { needs }]) => [name, [...needs.keys()].filter((to) => to !== name)]));
  return circles(graph).map(({ nodes }): Diagnostic => {
    const [first = ""] = nodes;
    const last = nodes.at(-1) ?? first;
    const range = written.get(last)?.needs.get(first);
    return problem("terraform.export/circle", { nodes: [...nodes, first], address: last, range });
  });
}

/** The folders of a configuration. */
interface Places {
  /** Absolute path of Terraform's folder. */
  readonly folder: string;
  /** Absolute path of the base of the accounts' relative paths. */
  readonly base: string;
  /** Absolute path of the state file. */
  readonly state: string;
}

/** Returns the block `terraform { … }` with the provider and the backend. @param least minimum version of Terraform. */
export function terraformBlock(
  { backend }: Desired,
  places: Places,
  least: string | undefined,
): { block: TfBlock; diagnostics: Diagnostic[] } {
  const version = VERSION.replace(/-.*$/, "");
  const hosting = Object.entries({ source: PROVIDER_ADDRESS, version: `~> ${version}` });
  const required: TfItem = { block: "required_providers", body: [[{ name: "hosting", value: { map: hosting } }]] };
  const { block, diagnostics } = backendBlock(backend, places);
  const oldest: TfItem[] = least === undefined ? [] : [{ name: "required_version", value: `>= ${least}` }];
  return { block: { block: "terraform", body: [oldest, [required], [block]] }, diagnostics };
}

/** Returns the backend block. A declaration has the same backends as Terraform. A state file becomes the backend `local`. */
function backendBlock(backend: Backend | undefined, places: Places): { block: TfBlock; diagnostics: Diagnostic[] } {
  if (backend === undefined) {
    const file = relativePath(places.state, places.folder);
    const comments = ["The state of hostform itself. Do not let Terraform and hostform write it at the same time."];
    const block = { block: "backend", labels: ["local"], comments, body: [[{ name: "path", value: file }]] };
    return { block, diagnostics: [] };
  }
  const { type, settings, range } = backend;
  const diagnostics: Diagnostic[] = [];
  const { workspace = "default", without_lock, ...own } = settings;
  if (workspace !== "default")
    diagnostics.push(problem("terraform.export/workspace", { workspace: String(workspace), range }));
  if (without_lock === true) diagnostics.push(problem("terraform.export/without_lock", { range }));
  const comments = diagnostics.map(({ summary, remedies = [] }) => [summary, ...remedies].join(". "));
  const items = Object.entries(own).map(([name, value]): TfItem => ({ name, value: value as TfValue }));
  return { block: { block: "backend", labels: [type], comments, body: [items] }, diagnostics };
}

/**
 * Returns the `provider` blocks of the declared accounts, and of the default account if a resource uses it.
 * @throws HostformError for an account without a token: Terraform would use another account's token.
 */
function providerBlocks(desired: Desired, places: Places, insecureHttp: boolean): TfBlock[] {
  const { providers, resources, project } = desired;
  const used = new Set(resources.map(({ provider }) => provider));
  const wanted = [...providers.values()].filter(({ alias, range }) => range !== undefined || used.has(alias));
  const needed = wanted.length > 0 ? wanted : [{ alias: "default" }];
  return needed.map((provider) => ({
    block: "provider",
    labels: ["hosting"],
    ...commentsOf(provider),
    body: [settingsOf(provider, project, places, insecureHttp)],
  }));
}

/** Names the settings that an account reads from the environment. */
function commentsOf({ alias, baseUrl, tokenEnv, tokenFile }: ProviderConfig): { comments?: readonly string[] } {
  const silent = [
    ...(baseUrl === undefined ? ["the address is HOSTING_BASE_URL"] : []),
    ...(alias === "default" && tokenEnv === undefined && tokenFile === undefined ? ["the token is HOSTING_TOKEN"] : []),
  ];
  return silent.length === 0 ? {} : { comments: [`From the environment: ${silent.join(", ")}.`] };
}

function settingsOf(provider: ProviderConfig, project: string, places: Places, insecureHttp: boolean): TfItem[] {
  const { alias, baseUrl, tokenEnv, tokenFile, requestsPerMinute, statusWords, moneyScale } = provider;
  const { keyLifetimeMs, listLagMs } = provider;
  if (alias !== "default" && tokenEnv === undefined && tokenFile === undefined) {
    throw new HostformError([problem("provider.token", { alias, range: provider.range })]);
  }
  const file = tokenFile === undefined ? undefined : path.resolve(places.base, tokenFile);
  const plain = baseUrl !== undefined && insecureHttp && isPlain(new URL(baseUrl));
  const settings: [string, TfValue | undefined][] = [
    ["alias", alias === "default" ? undefined : alias],
    ["project", project],
    ["base_url", baseUrl],
    ["insecure_http", plain ? true : undefined],
    // A file takes precedence.
    ["token_env", file === undefined ? tokenEnv : undefined],
    ["token_file", file && relativePath(file, places.folder, tokenFile)],
    ["requests_per_minute", requestsPerMinute],
    ["status_words", statusWords && { map: Object.entries(statusWords) }],
    ["idempotency_key_retention", timeText(keyLifetimeMs)],
    ["list_lag", timeText(listLagMs)],
    ["money_scale", moneyScale],
  ];
  return settings.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
}

const isPlain = (url: URL) => url.protocol === "http:" && !isLoopback(url);

/** Returns a path relative to a folder; an absolute path stays unchanged. */
function relativePath(file: string, from: string, given?: string): string {
  if (given !== undefined && path.isAbsolute(given)) return given;
  return path.relative(from, file).replaceAll(path.sep, "/");
}

/** Writes milliseconds in the largest unit with a whole number: `24h`. */
function timeText(ms: number | undefined): string | undefined {
  if (ms === undefined) return undefined;
  const units = [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["m", 60_000],
  ] as const;
  const unit = units.find(([, size]) => ms % size === 0);
  return unit === undefined ? `${ms / 1000}s` : `${ms / unit[1]}${unit[0]}`;
}

/**
 * Returns the `output` blocks of a configuration, with the names and values of the YAML, and an error for each output of another
 * language, which Terraform's language cannot express.
 */
function outputBlocks(
  outputs: readonly DesiredOutput[],
  writing: Pick<Writing, "variables" | "attributesOf">,
): { readonly blocks: readonly TfBlock[]; readonly diagnostics: readonly Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const blocks = outputs.flatMap((output) => {
    const { name, description, sensitive, config, range } = output;
    if (config === undefined) {
      diagnostics.push(problem("terraform.export/output", { name, range }));
      return [];
    }
    const onUse = (use: Use) => diagnostics.push(...setItemWarning(`The output ${name}`, use, writing, { range }));
    const items: TfItem[] = [
      ...(description === undefined ? [] : [{ name: "description", value: description }]),
      { name: "value", value: written(config, { ...writing, onUse }) },
      ...(sensitive ? [{ name: "sensitive", value: true }] : []),
    ];
    return [{ block: "output", labels: [name], body: [items] }];
  });
  return { blocks, diagnostics };
}

/** Converts the value of an output. The value keeps its type of YAML, because an output has no schema. */
function written(value: Json, writing: Writing): TfValue {
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => written(item, writing));
  if (isObject(value)) {
    const entries = Object.entries(value as { readonly [key: string]: Json });
    return { map: entries.map(([key, part]) => [key, written(part, writing)]) };
  }
  return typeof value === "string"
    ? tfValue(value, "string", { path: [], secret: false }, writing)
    : (value as Exclude<typeof value, object> | null);
}
