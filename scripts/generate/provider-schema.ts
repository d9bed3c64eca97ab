import { catalogue, catalogueJson } from "../../src/fronts/terraform/catalogue.ts";

/** `schemas/provider.json`: what `terraform providers schema -json` prints for the provider. */
export function providerSchemaJson(): string {
  return `${JSON.stringify(catalogueJson(catalogue), null, 2)}\n`;
}
