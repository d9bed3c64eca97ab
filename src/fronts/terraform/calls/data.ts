/**
 * The calls about data sources, ephemeral resources and functions: decode, call the core, encode. The provider keeps nothing of an
 * ephemeral resource, so renewing and closing do nothing.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Attributes, escapeText, isError, type Json, type JsonObject } from "../../../core/model/index.ts";
import { decodeValue, encodeDynamic, encodeValue, withUnknown } from "../codec/dynamic.ts";
import { functions } from "../data/index.ts";
import { FunctionError } from "../index.ts";
import { terraformRemedies } from "../remedies.ts";
import { failureOf } from "../resource/notices.ts";
import type {
  CallFunction_ResponseSchema,
  DynamicValue,
  OpenEphemeralResource_Request,
} from "../wire/tfplugin6.gen.ts";
import { configured, validated } from "./block.ts";
import { type Calls, type Connection, Deferral, diagnosed, requireSession, rpcs, unary } from "./call.ts";

export const calls: Calls = {
  ValidateDataResourceConfig: unary(rpcs.validateDataResourceConfig, (request) => validated("data", request)),

  ReadDataSource: unary(rpcs.readDataSource, async (request, connection) => {
    const { value, ...found } = await readKnown("data", request, connection);
    return { ...found, state: value };
  }),

  ValidateEphemeralResourceConfig: unary(rpcs.validateEphemeralResourceConfig, (request) =>
    validated("ephemeral", request),
  ),

  OpenEphemeralResource: unary(rpcs.openEphemeralResource, async (request, connection) => {
    const { value, ...found } = await readKnown("ephemeral", request, connection);
    return { ...found, result: value };
  }),

  RenewEphemeralResource: unary(rpcs.renewEphemeralResource, () => ({})),

  CloseEphemeralResource: unary(rpcs.closeEphemeralResource, () => ({})),

  CallFunction: unary(rpcs.callFunction, ({ name, arguments: args }) => {
    try {
      return callFunction(
        name,
        args.map(({ msgpack }) => msgpack),
      );
    } catch (error) {
      if (error instanceof FunctionError) return functionFailure(error.message, error.argument);
      return functionFailure(textOf(error));
    }
  }),
};

/** Reads a data source. Terraform calls only when the whole configuration is known. */
async function readKnown(
  sort: "data" | "ephemeral",
  { typeName, config, clientCapabilities }: Request,
  connection: Connection,
) {
  let value: DynamicValue | undefined;
  const { warnings: noticed } = connection;
  const deferral = new Deferral(connection, sort === "ephemeral" ? clientCapabilities : undefined);
  let attributes: Attributes = {};
  const diagnostics = await diagnosed(
    deferral.instead(async () => {
      const { type, values, found } = configured(sort, typeName, config);
      attributes = type.schema.attributes;
      // Values that were unknown during validation are known now.
      if (!found.some(isError))
        value = encodeDynamic(await type.read(values as JsonObject, requireSession(connection)), attributes);
      return found;
    }),
    { noticed },
  );
  if (deferral.answer.deferred !== undefined) value = withUnknown(config, attributes);
  return { value, ...deferral.answer, diagnostics };
}

type Request = Pick<OpenEphemeralResource_Request, "typeName" | "config" | "clientCapabilities">;

type FunctionResponse = MessageInitShape<typeof CallFunction_ResponseSchema>;

/** Calls a function by its name. Terraform sends no null and no unknown arguments. */
function callFunction(name: string, packed: readonly Uint8Array[]): FunctionResponse {
  const called = functions.find((one) => one.name === name);
  if (called === undefined) return functionFailure(`This provider has no function ${name}`);
  const { parameters, returns } = called;
  if (packed.length !== parameters.length) {
    return functionFailure(`${name} takes ${parameters.length} arguments, not ${packed.length}`);
  }
  const args = parameters.map(({ type }, i) => {
    try {
      return decodeValue(packed[i] ?? new Uint8Array(), type) as Json;
    } catch (error) {
      throw new FunctionError(textOf(error), i);
    }
  });
  return { result: { msgpack: encodeValue(called.call(args), returns) } };
}

const textOf = (error: unknown) =>
  failureOf(error)
    .map((one) => [one.summary, terraformRemedies()(one)].filter(Boolean).join(". "))
    .join("\n");

/** Returns the failure of a function. @param text without a full stop, because Terraform adds it. @param argument index of the cause. */
function functionFailure(text: string, argument?: number): FunctionResponse {
  return { error: { text: escapeText(text), ...(argument !== undefined && { functionArgument: BigInt(argument) }) } };
}
