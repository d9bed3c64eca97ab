import type { Remediable, RemedyText } from "../../src/core/model/index.ts";
import { fixOf } from "./remedies.ts";

/** A value for a golden file: in one line for each of its parts, without what is null or empty; remedies as they read. */
export function fullText(value: object, remedies: RemedyText = fixOf): string {
  const isEmpty = (part: unknown) => part === null || (typeof part === "object" && Object.keys(part).length === 0);
  const compact = (_: string, part: unknown): unknown =>
    typeof part !== "object" || part === null || Array.isArray(part)
      ? part
      : Object.fromEntries(
          Object.entries(part)
            // The words of a kind are the same in each of its changes.
            .filter(([name, item]) => name !== "words" && !isEmpty(item))
            .map(([name, item]) => (name === "remedies" ? ["fix", remedies(part as Remediable)] : [name, item])),
        );
  return Object.entries(value)
    .flatMap(([name, part]) => (Array.isArray(part) ? part.map((item) => [name, item]) : [[name, part]]))
    .map(([name, part]) => `${name} ${JSON.stringify(part, compact)}`)
    .join("\n");
}
