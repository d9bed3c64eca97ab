/** What can be done about a diagnostic. */
export type Remedy = string;

/** What can be done, as one text; undefined where nothing is known. */
export function remedyText(remedies: readonly Remedy[] | undefined): string | undefined {
  return remedies === undefined || remedies.length === 0 ? undefined : remedies.join(" ");
}
