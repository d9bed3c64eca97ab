import type { Json } from "../../src/core/model/index.ts";
import type { Sandbox } from "../../src/sandbox/index.ts";

/** An answer to a GET that neither holds a list nor proves that a collection is empty. */
export type NoList = readonly [status: number, body: Json, headers: Readonly<Record<string, string>> | undefined];

/** At least one answer of each class. The last three have the status of a list. */
export const NO_LISTS: readonly NoList[] = [
  ...[201, 202, 203, 205, 206, 207].map((status): NoList => [status, [], undefined]),
  [202, {}, undefined],
  [206, [], { "content-range": "items 0-0/31" }],
  [200, { data: null }, undefined],
  [200, {}, undefined],
  [200, null, undefined],
];

/** Answers each GET of these paths so. */
export function hide(control: Sandbox["control"], paths: readonly string[], [status, body, headers]: NoList): void {
  // A fault without a body has a message; a text is sent as it is.
  const json = { "content-type": "application/json" };
  const sent = body === null ? { body: "null", headers: json } : { body, ...(headers && { headers }) };
  for (const path of paths) control.addFault({ method: "GET", path, phase: "before", status, ...sent, times: 99 });
}
