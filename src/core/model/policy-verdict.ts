// Results of a policy in a plan.
import type { SourceRange } from "./errors.ts";

/** A host or domain that is new to the project. */
export interface NewName {
  readonly what: "receives events" | "gets access";
  /** Name as A-labels. */
  readonly name: string;
  readonly addresses: readonly string[];
}

/** Verdict of a policy about a plan. The sentence contains words of the declaration. */
export interface PolicyVerdict {
  readonly level: "deny" | "warn";
  /** Name of the rule, or `function`. */
  readonly rule: string;
  readonly file: string;
  readonly address?: string;
  /** Sentence without a full stop. */
  readonly sentence: string;
  readonly range?: SourceRange;
}
