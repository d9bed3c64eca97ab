import { type Diagnostic, type Remedy, remedyText } from "../../src/core/model/index.ts";

/** What a diagnostic says is to be done, as its reader sees it. */
export function fixOf(diagnostic: Pick<Diagnostic, "remedies"> | undefined): string | undefined {
  return remedyText(diagnostic?.remedies);
}

/** Stands for remedies that read as a text, or as a matcher of texts asks: `{ remedies: saying(expect.stringContaining("…")) }`. */
export function saying(text: unknown) {
  const isMatcher = (value: unknown): value is { asymmetricMatch(other: unknown): boolean } =>
    typeof value === "object" && value !== null && "asymmetricMatch" in value;
  return {
    asymmetricMatch(remedies: readonly Remedy[] | undefined): boolean {
      const fix = fixOf(remedies === undefined ? {} : { remedies });
      return isMatcher(text) ? text.asymmetricMatch(fix) : fix === text;
    },
    toString: () => "saying",
    toAsymmetricMatcher: () => `saying ${String(isMatcher(text) ? text : JSON.stringify(text))}`,
  };
}
