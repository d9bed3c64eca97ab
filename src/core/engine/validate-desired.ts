import { normalize } from "node:path";
import { type Kind, type Kinds, matches } from "../kinds/kind.ts";
import { problem } from "../messages/index.ts";
import {
  type Desired,
  type DesiredResource,
  type Diagnostic,
  type EnvVars,
  hasUnknown,
  isObject,
  UNKNOWN,
  type ValueObject,
} from "../model/index.ts";
import { removedErrors } from "./meta-arguments.ts";
import { moveErrors } from "./moves.ts";
import { kindsOf, resolveConfig, scopeOf } from "./resolve-config.ts";

/**
 * Validates a complete declaration without the account: every value, the `moved` and `removed` blocks, and duplicates within
 * an account. A domain declared twice would be ordered twice. Two orders with the same reference would be one order. Two
 * secrets with the same destination would overwrite each other.
 */
export function validateDesired(desired: Desired, all: Kinds, env: EnvVars): Diagnostic[] {
  const kinds = kindsOf(desired, all);
  const diagnostics: Diagnostic[] = [];
  const scope = scopeOf(() => UNKNOWN, env);
  const byKey = new Map<string, Known[]>();
  const byReference = new Map<string, DesiredResource>();
  const destinations = new Destinations();
  for (const resource of desired.resources) {
    const kind = kinds.get(resource.type);
    if (kind === undefined) continue;
    const { config, diagnostics: own } = resolveConfig(kind, resource, scope);
    diagnostics.push(...own, ...destinations.add(resource, config));

    const twin = twinOf(resource, kind, config, byKey);
    const reference = kind.orderReference?.(config) ?? (kind.creation === "keyed" ? resource.address : undefined);
    // References are unique within one account. Two accounts may use the same reference.
    const order = JSON.stringify([resource.provider, reference ?? null]);
    const first = reference === undefined ? undefined : byReference.get(order);
    if (reference !== undefined && first === undefined) byReference.set(order, resource);
    // Report only the duplicate object. Two declarations of one object usually have the same reference.
    const { address } = resource;
    if (twin !== undefined) {
      const place = twin.resource.locate([]);
      diagnostics.push(
        problem("config.duplicate/thing", {
          address,
          other: twin.resource.address,
          noun: kind.noun,
          domain: typeof config.domain === "string" ? config.domain : undefined,
          place: place && `${place.file}:${place.line}:${place.column}`,
          range: resource.locate([]),
        }),
      );
    } else if (reference !== undefined && first !== undefined) {
      const about = { address, other: first.address, reference: JSON.stringify(reference) };
      const attribute = ["reference"];
      const range = resource.locate(attribute);
      diagnostics.push(problem("config.duplicate/reference", { ...about, attribute, range }));
    }
  }
  return [...diagnostics, ...moveErrors(desired), ...removedErrors(desired)];
}

interface Known {
  readonly resource: DesiredResource;
  readonly config: ValueObject;
}

/** Returns an earlier declaration of the same object in the same account. Otherwise adds this declaration. */
function twinOf(
  resource: DesiredResource,
  kind: Kind,
  config: ValueObject,
  byKey: Map<string, Known[]>,
): Known | undefined {
  const natural = kind.naturalKey(config);
  if (natural === undefined) return undefined;
  const bucket = JSON.stringify([kind.type, resource.provider, resource.config[kind.parent ?? ""] ?? null, natural]);
  const others = byKey.get(bucket) ?? [];
  const twin = others.find((other) => matches(kind, config, other.config));
  others.push({ resource, config });
  byKey.set(bucket, others);
  return twin;
}

/** Destination of a secret: a file, or one line of a file if it has a name. */
interface Destination {
  readonly path: string;
  readonly name?: string;
}

/** Collects the destinations of declared secrets. Reports a secret that would overwrite an earlier one, or be overwritten. */
class Destinations {
  readonly #taken = new Map<string, { readonly destination: Destination; readonly resource: DesiredResource }[]>();

  add(resource: DesiredResource, config: ValueObject): Diagnostic[] {
    const destination = destinationOf(config);
    if (destination === undefined) return [];
    const others = this.#taken.get(destination.path) ?? [];
    this.#taken.set(destination.path, [...others, { destination, resource }]);
    const twin = others.find((other) => overlap(other.destination, destination));
    if (twin === undefined) return [];
    const about = { address: resource.address, other: twin.resource.address, attribute: ["secret_output"] };
    return [problem("config.duplicate/place", { ...about, range: resource.locate(["secret_output"]) })];
  }
}

/** Commands are not compared, because they may handle two secrets in any way. */
function destinationOf({ secret_output: output }: ValueObject): Destination | undefined {
  if (!isObject(output) || hasUnknown(output as ValueObject)) return undefined;
  const { file, env_file: line } = output;
  if (typeof file === "string") return { path: normalize(file) };
  return isObject(line) ? { path: normalize(String(line.path)), name: String(line.name) } : undefined;
}

/** Replacing a whole file deletes the lines of other secrets. */
const overlap = (a: Destination, b: Destination) => a.name === undefined || b.name === undefined || a.name === b.name;
