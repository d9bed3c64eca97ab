import type { Remediable, Remedy } from "../../src/core/model/index.ts";
import { yamlRemedies } from "../../src/fronts/yaml/remedies.ts";

/** What a diagnostic says is to be done, as it reads for a declaration in YAML. */
export function fixOf(diagnostic: Remediable | undefined): string | undefined {
  return diagnostic && yamlRemedies(diagnostic);
}

/**
 * Stands for remedies that read as a text, or as a matcher of texts asks: `{ remedies: saying(expect.stringContaining("…")) }`.
 * @param address of the resource that they are about.
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
