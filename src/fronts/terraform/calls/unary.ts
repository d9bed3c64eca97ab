import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import type { Call, Connection } from "./connection.ts";

/**
 * A call from its two messages: decodes the request, encodes what `answer` gives.
 *
 * @param answer what the user should know of a failure is a diagnostic in its result; it throws only what is a defect.
 */
export function unary<I extends DescMessage, O extends DescMessage>(
  input: I,
  output: O,
  answer: (
    request: MessageShape<I>,
    connection: Connection,
    cancelled?: AbortSignal,
  ) => MessageInitShape<O> | Promise<MessageInitShape<O>>,
): Call {
  return async (request, connection, cancelled) =>
    toBinary(output, create(output, await answer(fromBinary(input, request), connection, cancelled)));
}
