/**
 * The calls about data sources, ephemeral resources and functions: decode, call the core, encode. The provider keeps nothing of an
 * ephemeral resource, so renewing and closing do nothing.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Diagnostic, escapeText, isError, type Json, type JsonObject } from "../../../core/model/index.ts";
import { decodeDynamic, decodeValue, encodeDynamic, encodeValue, withUnknown } from "../codec/dynamic.ts";
import { checkSource } from "../data/define.ts";
import { dataSources, ephemeralResources, functions } from "../data/index.ts";
import { type DataSource, FunctionError } from "../index.ts";
import { problem, refuse } from "../messages.ts";
import { terraformRemedies } from "../remedies.ts";
import { failureOf, refersToPending } from "../resource/notices.ts";
import type {
  CallFunction_ResponseSchema,
  DynamicValue,
  OpenEphemeralResource_Request,
} from "../wire/tfplugin6.gen.ts";
import { type Calls, type Connection, Deferral, diagnosed, requireSession, rpcs, unary } from "./call.ts";

export const calls: Calls = {
  ValidateDataResourceConfig: unary(rpcs.validateDataResourceConfig, (request) => checked("data", request)),

  ReadDataSource: unary(rpcs.readDataSource, async (request, connection) => {
    const { value, ...found } = await readKnown("data", request, connection);
    return { ...found, state: value };
  }),

  ValidateEphemeralResourceConfig: unary(rpcs.validateEphemeralResourceConfig, (request) =>
    checked("ephemeral", request),
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

async function checked(sort: Sort, { typeName, config }: { typeName: string; config?: DynamicValue }) {
  const check = () => {
    const source = sourceOf(sort, typeName);
    return checkSource(source, decodeDynamic(config, source.schema.attributes) ?? {}, sort);
  };
  return { diagnostics: await diagnosed(check) };
}

/** Reads a data source. Terraform calls only when the whole configuration is known. */
async function readKnown(sort: Sort, { typeName, config, clientCapabilities }: Request, connection: Connection) {
  let value: DynamicValue | undefined;
  const { warnings: noticed } = connection;
  const deferral = new Deferral(connection, sort === "ephemeral" ? clientCapabilities : undefined);
  const diagnostics = await diagnosed(
    deferral.instead(async () => {
      const source = sourceOf(sort, typeName);
      const { schema, read } = source;
      const known = (decodeDynamic(config, schema.attributes) ?? {}) as JsonObject;
      // Values that were unknown during validation are known now.
      const found: Diagnostic[] = [...refersToPending(known), ...checkSource(source, known, sort)];
      if (!found.some(isError)) value = encodeDynamic(await read(known, requireSession(connection)), schema.attributes);
      return found;
    }),
    { noticed },
  );
  if (deferral.answer.deferred !== undefined) value = withUnknown(config, sourceOf(sort, typeName).schema.attributes);
  return { value, ...deferral.answer, diagnostics };
}

type Request = Pick<OpenEphemeralResource_Request, "typeName" | "config" | "clientCapabilities">;

type Sort = "data" | "ephemeral";

const sourceOf = (sort: Sort, name: string): DataSource =>
  (sort === "data" ? dataSources : ephemeralResources).find((one) => one.name === name) ??
  refuse(problem("internal/absent", { what: `source ${name}` }));

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
