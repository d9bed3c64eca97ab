/**
 * Moves from resources of other providers (`moved` blocks). The provider is not configured then, so the new state contains only the ids of
 * its object. The refresh that follows reads the object like an import.
 */
import { type Kind, namedBy } from "../../../core/kinds/index.ts";
import { equal, isObject, type Json, type JsonObject } from "../../../core/model/index.ts";
import { problem, refuse } from "../messages.ts";
import { schemaOf } from "../schema/of-kind.ts";

/** Resource types by the last part of their path in the API (§4). */
const COLLECTIONS = new Map([
  ["services", "hosting_service"],
  ["grants", "hosting_grant"],
  ["webhooks", "hosting_webhook"],
  ["accounts", "hosting_client_account"],
  ["migration-requests", "hosting_migration_request"],
  ["domains", "hosting_domain"],
]);

/** Readers of ids, by the type of the source. */
const SOURCES: Readonly<Record<string, (kind: Kind, state: JsonObject) => JsonObject | undefined>> = {
  restapi_object: ofPath,
  null_resource: (kind, { triggers }) => ofValues(kind, [triggers]),
  terraform_data: (kind, { input, triggers_replace }) => ofValues(kind, [input, triggers_replace].map(dynamic)),
};

/**
 * Returns the state of a resource that replaces a resource of another provider. Contains the id and the parent, and no guess.
 * @throws HostformError `terraform.move` if the source does not identify one object of the kind.
 */
export function movedState(kind: Kind, source: string, state: JsonObject): JsonObject {
  const sources = Object.keys(SOURCES);
  const { noun, parent } = kind;
  if (!sources.includes(source)) refuse(problem("terraform.move/source", { source, sources }));
  const ids = SOURCES[source]?.(kind, state);
  if (ids === undefined) return refuse(problem("terraform.move/no_id", { source, noun, parent }));
  return { ...Object.fromEntries(Object.keys(schemaOf(kind).attributes).map((name) => [name, null])), ...ids };
}

/** Returns the ids of an object by its path and id in the API. */
function ofPath(kind: Kind, { path, id }: JsonObject): JsonObject | undefined {
  const { noun, type } = kind;
  const [, parent, last = ""] =
    /^(?:(?:.*\/)?api\/v1)?\/?(?:services\/([^/]+)\/)?([\w-]+)\/?$/.exec(String(path)) ?? [];
  const found = COLLECTIONS.get(last);
  if (found !== type || (parent === undefined) !== (kind.parent === undefined))
    refuse(problem("terraform.move/kind", { path: String(path), noun, found }));
  return idsOf(kind, id, parent);
}

/** Returns the ids in the values that a user chose. Several different objects are no id. */
function ofValues(kind: Kind, values: readonly (Json | undefined)[]): JsonObject | undefined {
  const { parent = "", nested: { keyAttribute = "" } = {} } = kind;
  const found = values.filter(isObject).map((one) => {
    const { id, [keyAttribute]: name, [parent]: of } = one as JsonObject;
    return idsOf(kind, id ?? name, of);
  });
  const [ids, ...others] = found.filter((one) => one !== undefined);
  return others.every((one) => equal(one, ids)) ? ids : undefined;
}

/** Returns the ids, if they identify one object. An id may contain its parent, like an import id. */
function idsOf(kind: Kind, given: Json | undefined, of: Json | undefined): JsonObject | undefined {
  const text = (value: Json | undefined) =>
    Number.isSafeInteger(value) || (typeof value === "string" && value !== "") ? String(value) : undefined;
  const { id, parent } = namedBy(kind, text(given) ?? "", text(of));
  if (id === "") return undefined;
  if (kind.parent === undefined) return { id };
  return parent === undefined ? undefined : { id, [kind.parent]: parent };
}

/** Returns a value of any type. Terraform writes its type beside it. */
const dynamic = (given: Json | undefined) => (isObject(given) ? (given as JsonObject).value : undefined);
