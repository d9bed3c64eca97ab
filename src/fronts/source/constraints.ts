import type { DiagnosticCollector } from "./diagnostics.ts";
import { problem } from "./messages.ts";
import { type Entry, valueSpan } from "./tree.ts";

/** Parses version constraints in Terraform's notation: `>= 1.5`, `~> 1.11.0, != 1.11.3`. */

export interface Version {
  readonly numbers: readonly [major: number, minor: number, patch: number];
  /** Text after the first `-`. Empty for a release. */
  readonly prerelease: string;
}

/** Program that a constraint restricts. */
type Constrained = "terraform" | "hostform" | "provider";

/** A clause of a constraint: `>= 1.5`, `~> 1.11.0`, `1.12`. */
interface Clause {
  readonly operator: string;
  readonly version: Version;
  /** Number of version numbers in the clause. `~>` fixes all but the last. */
  readonly given: number;
}

const CLAUSE = /^(=|!=|>=?|<=?|~>)?\s*v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([\w.~-]+))?(?:\+[\w.-]+)?$/;

function clauseOf(text: string): Clause | undefined {
  const match = CLAUSE.exec(text.trim());
  if (match === null) return undefined;
  const [, operator = "=", major = "0", minor, patch, prerelease = ""] = match;
  const numbers = [Number(major), Number(minor ?? 0), Number(patch ?? 0)] as const;
  const given = minor === undefined ? 1 : patch === undefined ? 2 : 3;
  return { operator, version: { numbers, prerelease }, given };
}

/** Parses a constraint. Undefined after a reported error. */
export function constraintOf(
  entry: Entry,
  text: string,
  of: Constrained,
  diags: DiagnosticCollector,
): Clause[] | undefined {
  const parts = text.split(",");
  const clauses = parts.flatMap((part) => clauseOf(part) ?? []);
  if (clauses.length === parts.length) return clauses;
  return diags.add(valueSpan(entry), problem("config.structure/constraint", { of }));
}

/** Returns the next patch version. */
export const following = ({ numbers: [major, minor, patch] }: Version): Version => ({
  numbers: [major, minor, patch + 1],
  prerelease: "",
});

/** Returns true if a version is in the range of a clause. A pre-release is before its release. */
export function fulfils(version: Version, { operator, version: named, given }: Clause): boolean {
  const differing = version.numbers.findIndex((part, i) => part !== named.numbers[i]);
  const [a, b] = [version.prerelease, named.prerelease];
  const byPrerelease = a === b ? 0 : a === "" || (b !== "" && a > b) ? 1 : -1;
  const order = differing < 0 ? byPrerelease : (version.numbers[differing] ?? 0) - (named.numbers[differing] ?? 0);
  if (operator === "=") return order === 0;
  if (operator === "!=") return order !== 0;
  if (operator.startsWith("<")) return order < 0 || (order === 0 && operator === "<=");
  if (operator !== "~>") return order > 0 || (order === 0 && operator === ">=");
  return order >= 0 && (differing < 0 || differing >= Math.max(1, given - 1));
}

/**
 * Reports a constraint that excludes this version of hostform. As in Terraform, only an exact clause matches a pre-release.
 */
export function checkOwnVersion(
  entry: Entry,
  text: string,
  own: string,
  of: Exclude<Constrained, "terraform">,
  diags: DiagnosticCollector,
): void {
  const clauses = constraintOf(entry, text, of, diags);
  const ours = clauseOf(own)?.version;
  if (clauses === undefined || ours === undefined) return;
  const isAllowed = ours.prerelease === "" || clauses.some(({ operator }) => operator === "=");
  if (isAllowed && clauses.every((clause) => fulfils(ours, clause))) return;
  diags.add(valueSpan(entry), problem(`config.unsupported/${of}`, { text, own }));
}
