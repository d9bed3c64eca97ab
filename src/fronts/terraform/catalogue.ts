import { kinds } from "../../core/kinds/index.ts";
import { dataSources } from "./data/index.ts";
import { ephemeralResources } from "./ephemeral/index.ts";
import { functions } from "./functions/index.ts";
import { providerSchema } from "./provider/schema.ts";
import type { Catalogue } from "./schema/json.ts";
import { schemaOf } from "./schema/of-kind.ts";

/** Everything that the provider offers, from the lists that say what there is. */
export const catalogue: Catalogue = {
  provider: providerSchema,
  resources: new Map([...kinds.values()].map((kind) => [kind.type, schemaOf(kind)])),
  dataSources: new Map(dataSources.map(({ name, schema }) => [name, schema])),
  ephemeral: new Map(ephemeralResources.map(({ name, schema }) => [name, schema])),
  functions: new Map(functions.map((one) => [one.name, one])),
};
