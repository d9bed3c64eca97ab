import type { Remediable, Remedy } from "../../src/core/model/index.ts";
import { yamlRemedies } from "../../src/fronts/yaml/remedies.ts";

/** Returns the fix of a diagnostic, as a YAML declaration shows it. */
export function fixOf(diagnostic: Remediable | undefined): string | undefined {
  return diagnostic && yamlRemedies(diagnostic);
}

/**
 * Returns a matcher for remedies by their rendered text: `{ remedies: saying(expect.stringContaining("…")) }`.
 * @param text The exact text, or a matcher of texts.
 * @param address Address of the resource in the remedies.
 */
export function saying(text: unknown, address?: string) {
  const isMatcher = (value: unknown): value is { asymmetricMatch(other: unknown): boolean } =>
    typeof value === "object" && value !== null && "asymmetricMatch" in value;
  return {
    asymmetricMatch(remedies: readonly Remedy[] | undefined): boolean {
      const fix = fixOf({ remedies: remedies ?? [], ...(address !== undefined && { address }) });
      return isMatcher(text) ? text.asymmetricMatch(fix) : fix === text;
    },
    toString: () => "saying",
    toAsymmetricMatcher: () => `saying ${String(isMatcher(text) ? text : JSON.stringify(text))}`,
  };
}
