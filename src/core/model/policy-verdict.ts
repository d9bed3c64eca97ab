// The parts of a plan that come from its policy.
import type { SourceRange } from "./errors.ts";

/** A host or a domain that the project has not had before. */
export interface NewName {
  readonly what: "receives events" | "gets access";
  /** A-labels. */
  readonly name: string;
  readonly addresses: readonly string[];
}

/** Verdict of a policy on a plan. The sentence holds words of the declaration. */
export interface PolicyVerdict {
  readonly level: "deny" | "warn";
  /** The rule, or `function`. */
  readonly rule: string;
  readonly file: string;
  readonly address?: string;
  /** Without a full stop. */
  readonly sentence: string;
  readonly range?: SourceRange;
}
