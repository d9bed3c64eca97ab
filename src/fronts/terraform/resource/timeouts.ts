/**
 * How long an operation may take (`timeouts`), and the writer that keeps to it and to a stop.
 */

import { endpoints } from "../../../core/api/endpoints.ts";
import type { CallOptions, Mutation, MutationName, Writer } from "../../../core/api/index.ts";
import { ApiError, type Diagnostic, isObject, type ValueObject } from "../../../core/model/index.ts";

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/;

/** A duration as Terraform's users write it (`90s`, `1h30m`), in milliseconds; undefined for anything else. */
export function durationMs(text: string): number | undefined {
  if (!DURATION.test(text)) return undefined;
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g);
  return [...parts].reduce((sum, [, number = "0", unit = "s"]) => sum + Number(number) * (UNITS[unit] ?? 0), 0);
}

/** The limit that `timeouts` sets for an operation, in milliseconds; undefined when it sets none. */
export function timeoutOf(attributes: ValueObject, operation: "create" | "update" | "delete"): number | undefined {
  const { timeouts } = attributes;
  const text = isObject(timeouts) ? timeouts[operation] : undefined;
  return typeof text === "string" ? durationMs(text) : undefined;
}

/** What is wrong with the `timeouts` of a declaration. */
export function checkTimeouts({ timeouts }: ValueObject): Diagnostic[] {
  if (!isObject(timeouts)) return [];
  return Object.entries(timeouts).flatMap(([name, value]): Diagnostic[] => {
    if (typeof value !== "string" || durationMs(value) !== undefined) return [];
    return [
      {
        severity: "error",
        code: "config.invalid_value",
        summary: `timeouts.${name}: expected a duration such as "90s", "20m" or "1h30m"`,
        detail: `The value is ${JSON.stringify(value.slice(0, 80))}.`,
        attribute: ["timeouts", name],
      },
    ];
  });
}

/** The time that `timeouts` gives an operation. */
interface Limit {
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
