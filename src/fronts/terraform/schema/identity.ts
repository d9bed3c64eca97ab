/** Identity of a resource: the values by which Terraform recognizes an object, in its state, its plans and its import blocks. */
import { create } from "@bufbuild/protobuf";
import { type Kind, kinds } from "../../../core/kinds/index.ts";
import { type JsonObject, PENDING_CREATE, type ValueObject } from "../../../core/model/index.ts";
import type { Attribute, Schema } from "../../../core/model/schema.ts";
import { decodeDynamic, encodeDynamic } from "../codec/dynamic.ts";
import type { ProviderSession } from "../index.ts";
import {
  type ResourceIdentityData,
  ResourceIdentityDataSchema,
  type ResourceIdentitySchema,
  ResourceIdentitySchemaSchema,
} from "../wire/tfplugin6.gen.ts";
import { typeBytes } from "./proto.ts";

const ORIGIN =
  "Origin of the API, such as `https://panel.example`. Default in an import block: the origin of the provider's `base_url`. Each loopback address has the origin `http://localhost`.";

const cache = new WeakMap<Kind, Schema>();

/**
 * Returns the identity's schema of a kind: `id`, the parent's id, and `origin`. `required` and `optional` apply to import blocks.
 * Cached.
 */
export function identitySchemaOf(kind: Kind): Schema {
  const known = cache.get(kind);
  if (known !== undefined) return known;
  const { parent, nested, noun } = kind;
  const one = (description: string, more: Partial<Attribute>): Attribute => ({ type: "string", description, ...more });
  const outer = kinds.get(nested?.in ?? "")?.noun ?? "parent";
  const schema: Schema = {
    version: 0,
    description: `Identity of a ${noun}.`,
    attributes: {
      id: one(`Id of the ${noun}.`, { required: true }),
      ...(parent !== undefined && { [parent]: one(`Id of the ${outer}.`, { required: true }) }),
      origin: one(ORIGIN, { optional: true }),
    },
  };
  cache.set(kind, schema);
  return schema;
}

/** Returns the identity of an object. Undefined for a pending create and for unknown values. Clients of protocol 6.8 skip the identity. */
export function identityIn(
  kind: Kind,
  attributes: ValueObject,
  session: Pick<ProviderSession, "account">,
): ResourceIdentityData | undefined {
  const { origin, ...own } = identitySchemaOf(kind).attributes;
  const ids = Object.keys(own).map((name) => [name, attributes[name]] as const);
  if (!ids.every(([, value]) => typeof value === "string" && value !== PENDING_CREATE)) return undefined;
  // A session that waits for its configuration has no account yet.
  return encodeIdentity(kind, { ...(Object.fromEntries(ids) as JsonObject), origin: session.account.origin ?? null });
}

export const encodeIdentity = (kind: Kind, identity: JsonObject | null): ResourceIdentityData =>
  create(ResourceIdentityDataSchema, { identityData: encodeDynamic(identity, identitySchemaOf(kind).attributes) });

/** The inverse of {@link encodeIdentity}. */
export const decodeIdentity = (kind: Kind, data: ResourceIdentityData | undefined): JsonObject | null =>
  decodeDynamic(data?.identityData, identitySchemaOf(kind).attributes) as JsonObject | null;

export function toProtoIdentity({ version, attributes }: Schema): ResourceIdentitySchema {
  return create(ResourceIdentitySchemaSchema, {
    version: BigInt(version),
    identityAttributes: Object.entries(attributes).map(([name, { type, description, required, optional }]) => ({
      name,
      type: typeBytes(type as "string"),
      description,
      requiredForImport: required ?? false,
      optionalForImport: optional ?? false,
    })),
  });
}
