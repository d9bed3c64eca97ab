import { type Code, codes } from "./codes.ts";
import { type Diagnostic, warningOf } from "./errors.ts";
import type { Invoice } from "./payment.ts";
import type { Remedy } from "./remedy.ts";

type NameIn<Each> = Each extends `condition.${infer Name}` ? Name : never;

/** Names of conditions. Each has a code of its own, `condition.NAME`, with its meaning. A live object has none. */
export type ConditionName = NameIn<Code>;

const PREFIX = "condition.";

/** All names, in the order of the codes. */
export const CONDITION_NAMES: readonly ConditionName[] = Object.keys(codes).flatMap((code) =>
  code.startsWith(PREFIX) ? [code.slice(PREFIX.length) as ConditionName] : [],
);

/** A state of an object in the account that needs attention and that no change of the plan ends. One object can have several. */
export interface Condition {
  readonly address: string;
  readonly condition: ConditionName;
  readonly summary: string;
  readonly detail?: string;
  readonly remedies?: readonly Remedy[];
  /** Domain of the object. */
  readonly domain?: string;
  /** Unpaid invoice that the condition is about. */
  readonly invoice?: Invoice;
  /** Further unpaid invoices of the object. */
  readonly others?: readonly Invoice[];
  /** Time at which an apply saw it first (ISO 8601). */
  readonly since?: string;
}

/** The facts of a condition beside its texts. */
export type ConditionFacts = Pick<Condition, "domain" | "invoice" | "others" | "since">;

/** A condition as a warning, where a report has no place for conditions. */
export const conditionWarning = ({ condition, summary, detail, remedies, address }: Condition): Diagnostic =>
  warningOf(`condition.${condition}`, summary, { detail, remedies, address });

/** The condition whose texts a warning has. */
export function conditionOf({ code, address = "", summary, detail, remedies }: Diagnostic): Condition {
  const condition = code.slice(PREFIX.length) as ConditionName;
  return {
    address,
    condition,
    summary,
    ...(detail !== undefined && { detail }),
    ...(remedies !== undefined && { remedies }),
  };
}

/** Names on which a run can fail: those of conditions, and `drift` for any difference. */
export const FAIL_ON = [...CONDITION_NAMES, "drift"] as const;
export type FailOn = (typeof FAIL_ON)[number];
