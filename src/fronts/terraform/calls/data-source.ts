import { type Diagnostic, fail, isError, type JsonObject } from "../../../core/model/index.ts";
import { decodeDynamic, encodeDynamic } from "../codec/dynamic.ts";
import { type CheckedDataSource, dataSources } from "../data/index.ts";
import {
  type DynamicValue,
  ReadDataSource_RequestSchema,
  ReadDataSource_ResponseSchema,
  ValidateDataResourceConfig_RequestSchema,
  ValidateDataResourceConfig_ResponseSchema,
} from "../wire/tfplugin6.gen.ts";
import { type Calls, requireSession } from "./connection.ts";
import { failureOf, inDoubt, toDiagnostics } from "./diagnostics.ts";
import { unary } from "./unary.ts";

const byName = new Map(dataSources.map((source) => [source.name, source]));

function sourceOf(name: string): CheckedDataSource {
  return byName.get(name) ?? fail("internal", `This provider has no data source ${name}`);
}

/** The diagnostics of a step, those of its failure included. */
async function told(step: () => Promise<readonly Diagnostic[]>) {
  return toDiagnostics(await step().catch((error: unknown) => failureOf(error)));
}

/** The calls about data sources: decode, ask the core, encode. */
export const calls: Calls = {
  ValidateDataResourceConfig: unary(
    ValidateDataResourceConfig_RequestSchema,
    ValidateDataResourceConfig_ResponseSchema,
    async ({ typeName, config }) => ({
      diagnostics: await told(async () => {
        const source = sourceOf(typeName);
        return source.check?.(decodeDynamic(config, source.schema.attributes) ?? {}) ?? [];
      }),
    }),
  ),

  ReadDataSource: unary(
    ReadDataSource_RequestSchema,
    ReadDataSource_ResponseSchema,
    async ({ typeName, config }, connection) => {
      let state: DynamicValue | undefined;
      const diagnostics = await told(async () => {
        const { schema, check, read } = sourceOf(typeName);
        // Terraform reads once everything is known.
        const known = (decodeDynamic(config, schema.attributes) ?? {}) as JsonObject;
        // What was unknown when the configuration was checked is known by now.
        const found = [...inDoubt(known), ...(check?.(known) ?? [])];
        if (!found.some(isError)) {
          state = encodeDynamic(await read(known, requireSession(connection)), schema.attributes);
        }
        return found;
      });
      return { ...(state !== undefined && { state }), diagnostics };
    },
  ),
};
