import type { Remediable, RemedyText } from "../../src/core/model/index.ts";
import { fixOf } from "./remedies.ts";

/** Returns a value for a golden file, with one line for each part. Omits null and empty parts. Renders remedies. */
export function fullText(value: object, remedies: RemedyText = fixOf): string {
  const isEmpty = (part: unknown) => part === null || (typeof part === "object" && Object.keys(part).length === 0);
  const compact = (_: string, part: unknown): unknown =>
    typeof part !== "object" || part === null || Array.isArray(part)
      ? part
      : Object.fromEntries(
          Object.entries(part)
            // All changes of a kind have the same words.
            .filter(([name, item]) => name !== "words" && !isEmpty(item))
            .map(([name, item]) => (name === "remedies" ? ["fix", remedies(part as Remediable)] : [name, item])),
        );
  return Object.entries(value)
    .flatMap(([name, part]) => (Array.isArray(part) ? part.map((item) => [name, item]) : [[name, part]]))
    .map(([name, part]) => `${name} ${JSON.stringify(part, compact)}`)
    .join("\n");
}
