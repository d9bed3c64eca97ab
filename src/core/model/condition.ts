import { type Code, codes } from "./codes.ts";
import { type Diagnostic, warningOf } from "./errors.ts";
import type { Invoice } from "./payment.ts";
import type { Remedy } from "./remedy.ts";

type NameIn<Each> = Each extends `condition.${infer Name}` ? Name : never;

/** Name of a condition. Its code is `condition.NAME`. A live object without problems has no condition. */
export type ConditionName = NameIn<Code>;

const PREFIX = "condition.";

/** All names, in the order of the codes. */
export const CONDITION_NAMES: readonly ConditionName[] = Object.keys(codes).flatMap((code) =>
  code.startsWith(PREFIX) ? [code.slice(PREFIX.length) as ConditionName] : [],
);

/** A problem of an object that no change of the plan solves. One object may have several. */
export interface Condition {
  readonly address: string;
  readonly condition: ConditionName;
  readonly summary: string;
  readonly detail?: string;
  readonly remedies?: readonly Remedy[];
  readonly domain?: string;
  /** Unpaid invoice of the condition. */
  readonly invoice?: Invoice;
  /** Further unpaid invoices of the object. */
  readonly others?: readonly Invoice[];
  /** Time when an apply first reported the condition (ISO 8601). */
  readonly since?: string;
}

/** Parts of a condition in addition to its texts. */
export type ConditionFacts = Pick<Condition, "domain" | "invoice" | "others" | "since">;

/** Converts a condition to a warning, for reports without conditions. */
export const conditionWarning = ({ condition, summary, detail, remedies, address }: Condition): Diagnostic =>
  warningOf(`condition.${condition}`, summary, { detail, remedies, address });

/** Converts a warning to a condition. */
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

/** Names of status sections for `--fail-on`. A plan cannot report these. */
export const STATUS_NAMES = ["undeclared", "billed", "overdue", "webhooks", "pending"] as const;

/** All names for `--fail-on`: conditions, `drift` for any difference, and sections of a status. */
export const FAIL_ON = [...CONDITION_NAMES, "drift", ...STATUS_NAMES] as const;
export type FailOn = (typeof FAIL_ON)[number];
