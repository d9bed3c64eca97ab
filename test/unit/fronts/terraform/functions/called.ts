import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Value } from "../../../../../src/core/model/index.ts";
import { newConnection } from "../../../../../src/fronts/terraform/calls/call.ts";
import { calls } from "../../../../../src/fronts/terraform/calls/data.ts";
import { decodeValue, encodeValue } from "../../../../../src/fronts/terraform/codec/dynamic.ts";
import {
  CallFunction_RequestSchema,
  CallFunction_ResponseSchema,
} from "../../../../../src/fronts/terraform/wire/tfplugin6.gen.ts";

/** Calls a function as Terraform does: without a configured provider. */
export async function called(name: string, args: readonly Value[]) {
  const request = create(CallFunction_RequestSchema, {
    name,
    arguments: args.map((argument) => ({
      msgpack: encodeValue(argument, typeof argument === "number" ? "number" : "string"),
    })),
  });
  const bytes = await calls.CallFunction?.(
    toBinary(CallFunction_RequestSchema, request),
    newConnection({ env: {}, log: () => {} }),
  );
  const { result, error } = fromBinary(CallFunction_ResponseSchema, bytes ?? new Uint8Array());
  return { result: result && decodeValue(result.msgpack, "string"), error };
}
