import { kinds } from "../../core/kinds/index.ts";
import { type Attribute, type Attributes, isNested, type Schema, typeJson } from "../../core/model/schema.ts";
import { dataSources, ephemeralResources, functions } from "./data/index.ts";
import { listResources } from "./data/lists.ts";
import type { ProviderFunction } from "./index.ts";
import { PROVIDER_ADDRESS } from "./package.ts";
import { providerSchema } from "./provider/schema.ts";
import { actions } from "./resource/action.ts";
import { identitySchemaOf } from "./schema/identity.ts";
import { schemaOf } from "./schema/of-kind.ts";

/** Schemas of the provider, by name. Function names lack the prefix `provider::hosting::`. */
export const catalogue = {
  provider: providerSchema,
  resources: new Map([...kinds.values()].map((kind) => [kind.type, schemaOf(kind)])),
  /** Identities of resources; `required` and `optional` apply to import blocks. */
  identities: new Map([...kinds.values()].map((kind) => [kind.type, identitySchemaOf(kind)])),
  dataSources: new Map(dataSources.map(({ name, schema }) => [name, schema])),
  ephemeral: new Map(ephemeralResources.map(({ name, schema }) => [name, schema])),
  lists: new Map(listResources.map(({ name, schema }) => [name, schema])),
  functions: new Map(functions.map((one) => [one.name, one])),
  actions: new Map(actions.map(({ name, schema }) => [name, schema])),
};

export type Catalogue = typeof catalogue;

type JsonTree = { readonly [key: string]: unknown };

/**
 * Returns the catalogue in the format of `terraform providers schema -json`, for generators of bindings and documentation. Keys are in
 * Terraform's alphabetical order.
 */
export function catalogueJson(all: Catalogue): JsonTree {
  return {
    format_version: "1.0",
    provider_schemas: {
      [PROVIDER_ADDRESS]: {
        provider: schemaJson(all.provider),
        resource_schemas: each(all.resources, schemaJson),
        data_source_schemas: each(all.dataSources, schemaJson),
        ephemeral_resource_schemas: each(all.ephemeral, schemaJson),
        list_resource_schemas: each(all.lists, schemaJson),
        functions: each(all.functions, functionJson),
        resource_identity_schemas: each(all.identities, identityJson),
        action_schemas: each(all.actions, ({ description, attributes }) => ({
          block: blockJson({ description, attributes }),
        })),
      },
    },
  };
}

const each = <T>(of: ReadonlyMap<string, T>, json: (one: T) => JsonTree): JsonTree =>
  Object.fromEntries([...of].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, one]) => [name, json(one)]));

const schemaJson = ({ version, ...block }: Schema): JsonTree => ({ version, block: blockJson(block) });

const blockJson = ({ description, attributes }: Omit<Schema, "version">): JsonTree => ({
  attributes: attributesJson(attributes),
  description,
  description_kind: "markdown",
});

const identityJson = ({ version, attributes }: Schema): JsonTree => ({
  version,
  attributes: each(new Map(Object.entries(attributes)), ({ type, description, required, optional }) => ({
    type: isNested(type) ? undefined : typeJson(type),
    description,
    ...(required && { required_for_import: true }),
    ...(optional && { optional_for_import: true }),
  })),
});

const attributesJson = (attributes: Attributes) => each(new Map(Object.entries(attributes)), attributeJson);

/** Removes false values, as Terraform does. */
function attributeJson(attribute: Attribute): JsonTree {
  const { type, description, required, optional, computed, sensitive, writeOnly } = attribute;
  return {
    ...(isNested(type)
      ? { nested_type: { attributes: attributesJson(type.attributes), nesting_mode: type.nesting } }
      : { type: typeJson(type) }),
    description,
    description_kind: "markdown",
    ...(required && { required }),
    ...(optional && { optional }),
    ...(computed && { computed }),
    ...(sensitive && { sensitive }),
    ...(writeOnly && { write_only: true }),
  };
}

const functionJson = ({ description, summary, parameters, returns }: ProviderFunction): JsonTree => ({
  description,
  summary,
  return_type: typeJson(returns),
  ...(parameters.length > 0 && {
    parameters: parameters.map(({ name, type, description: of }) => ({ name, description: of, type: typeJson(type) })),
  }),
});
