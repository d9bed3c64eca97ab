import type { Json } from "../../src/core/model/index.ts";
import type { Sandbox } from "../../src/sandbox/index.ts";

/** A response to a GET that neither contains a list nor proves that a collection is empty. */
export type NoList = readonly [status: number, body: Json, headers: Readonly<Record<string, string>> | undefined];

/** At least one response of each class. The last three have status 200, like a list. */
export const NO_LISTS: readonly NoList[] = [
  ...[201, 202, 203, 205, 206, 207].map((status): NoList => [status, [], undefined]),
  [202, {}, undefined],
  [206, [], { "content-range": "items 0-0/31" }],
  [200, { data: null }, undefined],
  [200, {}, undefined],
  [200, null, undefined],
];

/** Replaces the response to each GET of these paths. */
export function hide(control: Sandbox["control"], paths: readonly string[], [status, body, headers]: NoList): void {
  // A fault without a body sends a message. A text is sent unchanged.
  const json = { "content-type": "application/json" };
  const sent = body === null ? { body: "null", headers: json } : { body, ...(headers && { headers }) };
  for (const path of paths) control.addFault({ method: "GET", path, phase: "before", status, ...sent, times: 99 });
}
