import { endpoints } from "../../../core/api/endpoints.ts";
import type { CallOptions, Mutation, MutationName, Writer } from "../../../core/api/index.ts";
import { ApiError } from "../../../core/model/index.ts";

/** The time that `timeouts` gives an operation. */
export interface Limit {
  /** Nothing leaves after it, in milliseconds since the epoch. */
  readonly until: number;
  /** `timeouts.create`. */
  readonly name: string;
}

/** A writer that sends nothing new after Ctrl-C, nor when the time is over; what has left is waited for. */
export function stoppable(writer: Writer, stop: AbortSignal, limit?: Limit): Writer {
  return {
    perform<E extends MutationName>(mutation: Mutation<E>, options: CallOptions = {}) {
      if (stop.aborted) {
        const summary = "Terraform was stopped: the request was not sent";
        const { endpoint } = mutation;
        throw new ApiError({ code: "api.cancelled", summary, endpoint, reached: "no", remedies: ["Apply again."] });
      }
      const moments = [options.notAfter, limit?.until].filter((each) => each !== undefined);
      const notAfter = moments.length > 0 ? { notAfter: Math.min(...moments) } : {};
      const sending = writer.perform(mutation, { ...options, stop, ...notAfter });
      return limit === undefined ? sending : sending.catch((error: unknown) => ranOut(error, mutation, limit));
    },
  };
}

/** The time was the user's, and it was spent in the line for the request budget; unless it was that of a key, which no `timeouts` lengthens. */
function ranOut(error: unknown, { endpoint }: Mutation<MutationName>, { name }: Limit): never {
  if (!(error instanceof ApiError) || error.diagnostics[0]?.code !== "api.too_late") throw error;
  if (endpoints[endpoint].repeat === "keyed" && error.reached === "maybe") throw error;
  throw new ApiError(
    {
      code: "api.too_late",
      summary: `\`${name}\` ran out while the request waited for the request budget (60 a minute for a token)`,
      endpoint: error.endpoint,
      reached: error.reached,
      remedies: [`Apply again, or give it longer: \`${name}\`.`],
    },
    { cause: error },
  );
}
