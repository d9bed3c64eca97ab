// Resolves a declaration: kinds, expressions, and values from secret sources.
import { type Kind, type Kinds, namedByDomain } from "../kinds/kind.ts";
import { type ApplyContext, attributesOf, type SecretOutputs, validate } from "../lifecycle/index.ts";
import { problem, raise } from "../messages/index.ts";
import {
  type Desired,
  type DesiredResource,
  type Diagnostic,
  type EnvVars,
  type EvalScope,
  ExpressionError,
  hasOpenHost,
  hiddenText,
  type JsonObject,
  located,
  type Origin,
  type Origins,
  type SecretSource,
  sourcePlace,
  UNKNOWN,
  type Value,
  type ValueObject,
} from "../model/index.ts";

/**
 * Returns a scope that evaluates references with `lookup`. Addresses without a result are unknown.
 * @param origins Returns the sensitive attributes of a resource.
 */
export function scopeOf(
  lookup: (address: string) => Value | undefined,
  env: EnvVars,
  origins: (address: string) => Origins | undefined = () => undefined,
): EvalScope {
  return {
    resource: (address) => lookup(address) ?? UNKNOWN,
    env: (name) => env[name],
    origins: (address) => origins(address) ?? {},
  };
}

/** Returns the sensitive declared attributes with their sources. */
export function declaredOrigins(
  { config, originOf }: Pick<DesiredResource, "config" | "originOf">,
  scope: EvalScope,
): Origins {
  if (originOf === undefined) return {};
  const found = Object.keys(config).map((name) => [name, originOf(name, scope)] as const);
  return Object.fromEntries(found.filter((one): one is [string, Origin] => one[1] !== undefined));
}

/** Declared attributes as values, and their mistakes. */
interface ResolvedConfig {
  readonly config: ValueObject;
  readonly diagnostics: readonly Diagnostic[];
}

/** Resolved resources without expressions. Validation, reading and planning reuse these. */
const constants = new WeakMap<DesiredResource, { readonly kind: Kind; readonly resolved: ResolvedConfig }>();

/** Evaluates and validates the declared attributes. Every diagnostic has its location. */
export function resolveConfig(kind: Kind, resource: DesiredResource, scope: EvalScope): ResolvedConfig {
  const known = constants.get(resource);
  if (known?.kind === kind) return known.resolved;
  const resolved = resolve(kind, resource, scope);
  if (resource.isConstant) constants.set(resource, { kind, resolved });
  return resolved;
}

function resolve(kind: Kind, resource: DesiredResource, scope: EvalScope): ResolvedConfig {
  const evaluated: Record<string, Value> = {};
  const diagnostics: Diagnostic[] = [];
  for (const name of Object.keys(resource.config)) {
    try {
      evaluated[name] = resource.evaluate(name, scope);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      evaluated[name] = UNKNOWN;
      const { address } = resource;
      diagnostics.push(problem("config.expression", { name, message: error.message, address, attribute: [name] }));
    }
  }
  // Values from a secret source are unknown until a request needs them.
  for (const name of resource.sources?.keys() ?? []) evaluated[name] = UNKNOWN;
  diagnostics.push(...refusedOrigins(kind, resource, scope));
  const checked = validate(kind, evaluated, resource.address);
  diagnostics.push(...checked.diagnostics.map((diagnostic) => discreet(diagnostic, resource, scope)));
  return {
    config: checked.values,
    diagnostics: diagnostics.map((diagnostic) => located(diagnostic, resource.locate(diagnostic.attribute ?? []))),
  };
}

/** Returns errors about sensitive values that approvers must see. */
function refusedOrigins(kind: Kind, resource: DesiredResource, scope: EvalScope): Diagnostic[] {
  return attributesOf(kind).flatMap(({ name, meta: { decisive } }) => {
    const origin = decisive && resource.config[name] !== undefined && resource.originOf?.(name, scope);
    if (!origin || (decisive === "host" && hasOpenHost(origin))) return [];
    return [problem("config.sensitive", { address: resource.address, name, from: origin.from })];
  });
}

/** Replaces a sensitive value in a message with its source. */
function discreet(diagnostic: Diagnostic, resource: DesiredResource, scope: EvalScope): Diagnostic {
  const origin = resource.originOf?.(String(diagnostic.attribute?.[0]), scope);
  if (diagnostic.code !== "config.invalid_value" || origin === undefined) return diagnostic;
  return { ...diagnostic, detail: `The value is hidden ${hiddenText(origin)}.` };
}

/** Reads a value from its declared source, at most once per run and source. @throws HostformError `secret.source`. */
export type SourceReader = (source: SecretSource) => Promise<string>;

/** Returns the attributes for a plan. A value from a secret source is `true`. */
export function declaredAttributes({ config, sources }: DesiredResource): JsonObject {
  if (sources === undefined) return config;
  return { ...config, ...Object.fromEntries([...sources.keys()].map((name) => [name, true])) };
}

/** Access to secrets during an apply. */
export interface Secrets {
  /** Writes one-time secrets outside of the state. If undefined, secrets stay in the state. */
  readonly secretOutputs?: SecretOutputs;
  /** Reads secret values. */
  readonly readSource?: SourceReader;
}

/** Returns the secrets of one resource. */
export function secretsOf(
  kind: Kind,
  resource: DesiredResource | undefined,
  { secretOutputs, readSource: read }: Secrets,
): NonNullable<ApplyContext["secrets"]> {
  return {
    ...(secretOutputs && { outputs: secretOutputs }),
    ...(resource && read && { read: (name) => readSource(kind, resource, name, read) }),
  };
}

/**
 * Reads a value from its secret source and validates it.
 * @throws HostformError `secret.source`; the message never contains the value.
 */
async function readSource(
  kind: Kind,
  { address, sources }: DesiredResource,
  name: string,
  read: SourceReader,
): Promise<string> {
  const source = sources?.get(name);
  if (source === undefined) throw new Error(`${name} of ${address} has no source to read`);
  const value = await read(source);
  const issue = kind.attributes.shape[name]?.safeParse(value).error?.issues[0];
  if (issue === undefined) return value;
  const about = { address, name, issue: issue.message, place: sourcePlace(source), attribute: [name] };
  raise("secret.source/invalid", about);
}

const cache = new WeakMap<Kinds, Kinds>();

/** Returns the kinds for a declaration. Front ends differ in the name of an order without `reference`: address or domain. */
export function kindsOf({ ordersNamedBy = "address" }: Pick<Desired, "ordersNamedBy">, kinds: Kinds): Kinds {
  if (ordersNamedBy === "address") return kinds;
  const known = cache.get(kinds);
  if (known !== undefined) return known;
  const named: Kinds = new Map([...kinds].map(([type, kind]): [string, Kind] => [type, namedByDomain(kind)]));
  cache.set(kinds, named);
  return named;
}

export function kindOf(address: string, kinds: Kinds): Kind | undefined {
  return kinds.get(address.slice(0, address.indexOf(".")));
}
