import type { MessageInitShape } from "@bufbuild/protobuf";
import { escapeText, type Json, remedyText } from "../../../core/model/index.ts";
import { decodeValue, encodeValue } from "../codec/dynamic.ts";
import { FunctionError } from "../contract.ts";
import { functions } from "../functions/index.ts";
import { CallFunction_RequestSchema, CallFunction_ResponseSchema } from "../wire/tfplugin6.gen.ts";
import type { Calls } from "./connection.ts";
import { failureOf } from "./diagnostics.ts";
import { unary } from "./unary.ts";

type Answer = MessageInitShape<typeof CallFunction_ResponseSchema>;

const byName = new Map(functions.map((one) => [one.name, one]));

/** Calls a function by its name. Runs without a configuration; null and unknown arguments do not get here. */
function call(name: string, packed: readonly Uint8Array[]): Answer {
  const called = byName.get(name);
  if (called === undefined) return failed(`This provider has no function ${name}`);
  const { parameters, returns } = called;
  if (packed.length !== parameters.length) {
    return failed(`${name} takes ${parameters.length} arguments, not ${packed.length}`);
  }
  const args = parameters.map(({ type }, i) => decodeValue(packed[i] ?? new Uint8Array(), type) as Json);
  return { result: { msgpack: encodeValue(called.call(args), returns) } };
}

/** A failure of a function has one text, which Terraform ends with a full stop, and the argument that it is about. */
function failed(text: string, argument?: number): Answer {
  return { error: { text: escapeText(text), ...(argument !== undefined && { functionArgument: BigInt(argument) }) } };
}

function explained(error: unknown): Answer {
  if (error instanceof FunctionError) return failed(error.message, error.argument);
  return failed(
    failureOf(error)
      .map(({ summary, remedies }) => [summary, remedyText(remedies)].filter(Boolean).join(". "))
      .join("\n"),
  );
}

/** The call of a function. */
export const calls: Calls = {
  CallFunction: unary(CallFunction_RequestSchema, CallFunction_ResponseSchema, ({ name, arguments: args }) => {
    try {
      return call(
        name,
        args.map(({ msgpack }) => msgpack),
      );
    } catch (error) {
      return explained(error);
    }
  }),
};
