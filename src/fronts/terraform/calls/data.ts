/**
 * The calls about what Terraform only reads: data sources, ephemeral resources, functions. Each decodes the request, asks
 * the core, and encodes its answer. Nothing of an ephemeral resource is kept, so there is nothing to renew or to close.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Diagnostic, escapeText, fail, isError, type Json, type JsonObject } from "../../../core/model/index.ts";
import { decodeDynamic, decodeValue, encodeDynamic, encodeValue } from "../codec/dynamic.ts";
import { type CheckedDataSource, dataSources, ephemeralResources, functions } from "../data/index.ts";
import { type EphemeralResource, FunctionError } from "../index.ts";
import { terraformRemedies } from "../remedies.ts";
import { refersToPending } from "../resource/notices.ts";
import {
  CallFunction_RequestSchema,
  CallFunction_ResponseSchema,
  CloseEphemeralResource_RequestSchema,
  CloseEphemeralResource_ResponseSchema,
  type DynamicValue,
  OpenEphemeralResource_RequestSchema,
  OpenEphemeralResource_ResponseSchema,
  ReadDataSource_RequestSchema,
  ReadDataSource_ResponseSchema,
  RenewEphemeralResource_RequestSchema,
  RenewEphemeralResource_ResponseSchema,
  ValidateDataResourceConfig_RequestSchema,
  ValidateDataResourceConfig_ResponseSchema,
  ValidateEphemeralResourceConfig_RequestSchema,
  ValidateEphemeralResourceConfig_ResponseSchema,
} from "../wire/tfplugin6.gen.ts";
import { type Calls, failureOf, requireSession, toDiagnostics, unary } from "./call.ts";

export const calls: Calls = {
  ValidateDataResourceConfig: unary(
    ValidateDataResourceConfig_RequestSchema,
    ValidateDataResourceConfig_ResponseSchema,
    async ({ typeName, config }) => ({
      diagnostics: await diagnosed(() => {
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
      const diagnostics = await diagnosed(async () => {
        const { schema, check, read } = sourceOf(typeName);
        // Terraform reads once everything is known.
        const known = (decodeDynamic(config, schema.attributes) ?? {}) as JsonObject;
        // What was unknown when the configuration was checked is known by now.
        const found = [...refersToPending(known), ...(check?.(known) ?? [])];
        if (!found.some(isError)) {
          state = encodeDynamic(await read(known, requireSession(connection)), schema.attributes);
        }
        return found;
      });
      return { ...(state !== undefined && { state }), diagnostics };
    },
  ),

  ValidateEphemeralResourceConfig: unary(
    ValidateEphemeralResourceConfig_RequestSchema,
    ValidateEphemeralResourceConfig_ResponseSchema,
    async ({ typeName, config }) => ({
      diagnostics: await diagnosed(() => {
        // The schema says all: what fits it is right.
        decodeDynamic(config, ephemeralOf(typeName).schema.attributes);
        return [];
      }),
    }),
  ),

  OpenEphemeralResource: unary(
    OpenEphemeralResource_RequestSchema,
    OpenEphemeralResource_ResponseSchema,
    async ({ typeName, config }, connection) => {
      let result: DynamicValue | undefined;
      const diagnostics = await diagnosed(async () => {
        const { schema, open } = ephemeralOf(typeName);
        // Terraform opens once everything is known.
        const known = (decodeDynamic(config, schema.attributes) ?? {}) as JsonObject;
        const unsettled = refersToPending(known);
        if (unsettled.length === 0) {
          result = encodeDynamic(await open(known, requireSession(connection)), schema.attributes);
        }
        return unsettled;
      });
      return { ...(result !== undefined && { result }), diagnostics };
    },
  ),

  RenewEphemeralResource: unary(
    RenewEphemeralResource_RequestSchema,
    RenewEphemeralResource_ResponseSchema,
    ({ private: mark }) => (mark === undefined ? {} : { private: mark }),
  ),

  CloseEphemeralResource: unary(
    CloseEphemeralResource_RequestSchema,
    CloseEphemeralResource_ResponseSchema,
    () => ({}),
  ),

  CallFunction: unary(CallFunction_RequestSchema, CallFunction_ResponseSchema, ({ name, arguments: args }) => {
    try {
      return callFunction(
        name,
        args.map(({ msgpack }) => msgpack),
      );
    } catch (error) {
      if (error instanceof FunctionError) return functionFailure(error.message, error.argument);
      const texts = failureOf(error).map((one) => [one.summary, terraformRemedies()(one)].filter(Boolean).join(". "));
      return functionFailure(texts.join("\n"));
    }
  }),
};

const sources = new Map(dataSources.map((source) => [source.name, source]));

function sourceOf(name: string): CheckedDataSource {
  return sources.get(name) ?? fail("internal", `This provider has no data source ${name}`);
}

const ephemerals = new Map(ephemeralResources.map((resource) => [resource.name, resource]));

function ephemeralOf(name: string): EphemeralResource {
  return ephemerals.get(name) ?? fail("internal", `This provider has no ephemeral resource ${name}`);
}

/** The diagnostics of a step, those of its failure included. */
async function diagnosed(step: () => readonly Diagnostic[] | Promise<readonly Diagnostic[]>) {
  try {
    return toDiagnostics(await step());
  } catch (error) {
    return toDiagnostics(failureOf(error));
  }
}

type FunctionResponse = MessageInitShape<typeof CallFunction_ResponseSchema>;

const functionsByName = new Map(functions.map((one) => [one.name, one]));

/** Calls a function by its name. Runs without a configuration; null and unknown arguments do not get here. */
function callFunction(name: string, packed: readonly Uint8Array[]): FunctionResponse {
  const called = functionsByName.get(name);
  if (called === undefined) return functionFailure(`This provider has no function ${name}`);
  const { parameters, returns } = called;
  if (packed.length !== parameters.length) {
    return functionFailure(`${name} takes ${parameters.length} arguments, not ${packed.length}`);
  }
  const args = parameters.map(({ type }, i) => decodeValue(packed[i] ?? new Uint8Array(), type) as Json);
  return { result: { msgpack: encodeValue(called.call(args), returns) } };
}

/** A failure of a function has one text, which Terraform ends with a full stop, and the argument that it is about. */
function functionFailure(text: string, argument?: number): FunctionResponse {
  return { error: { text: escapeText(text), ...(argument !== undefined && { functionArgument: BigInt(argument) }) } };
}
