import { isObject } from "../model/index.ts";
import { describeEndpoint, type EndpointName, endpoints } from "./endpoints.ts";
import { FailedAttempt } from "./failure.ts";

/** A 2xx answer that cannot be understood: what was expected, what came, from which endpoint. */
export function malformed(
  endpoint: EndpointName,
  what: { readonly came: string; readonly expected?: string; readonly transient?: boolean; readonly status?: number },
): FailedAttempt {
  return new FailedAttempt(endpoint, {
    code: "api.malformed",
    summary: `The API's answer to ${describeEndpoint(endpoint)} could not be understood`,
    reached: endpoints[endpoint].repeat === "safe" ? "answered" : "maybe",
    status: what.status,
    detail: `Expected ${what.expected ?? "JSON"}; what came was ${what.came}.`,
    fix: "Check that the base URL is the API's and not a page of a proxy; report the shape if it is.",
    transient: what.transient ?? false,
  });
}

/** A 2xx answer to a create that names nothing of what was created: that of a job, for example. */
export function accepted(endpoint: EndpointName, noun: string, came: string): FailedAttempt {
  return new FailedAttempt(endpoint, {
    code: "api.accepted",
    summary: `The API accepted ${describeEndpoint(endpoint)} and did not say what it made`,
    reached: "maybe",
    detail: `Expected ${noun} with an id; what came was ${came}.`,
    fix: "Look at the list before anything is sent again: it may be made by a job.",
  });
}

/** The form of a value without its contents, which may be secret: `an object with "id", "status"`. */
export function formOf(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : `a list of ${value.length}`;
  if (value === null) return "null";
  if (!isObject(value)) return `a ${typeof value}`;
  const keys = Object.keys(value);
  if (keys.length === 0) return "an empty object";
  const shown = keys.slice(0, 8).map((key) => JSON.stringify(key.slice(0, 40)));
  return `an object with ${shown.join(", ")}${keys.length > shown.length ? ", …" : ""}`;
}
