import { type Code, codes } from "./codes.ts";
import { type Diagnostic, warningOf } from "./errors.ts";
import type { Invoice } from "./payment.ts";
import type { Remedy } from "./remedy.ts";

type NameIn<Each> = Each extends `condition.${infer Name}` ? Name : never;

/** Name of a condition. Each has a code, `condition.NAME`, with its meaning. A live object without problems has none. */
export type ConditionName = NameIn<Code>;

const PREFIX = "condition.";

/** All names, in the order of the codes. */
export const CONDITION_NAMES: readonly ConditionName[] = Object.keys(codes).flatMap((code) =>
  code.startsWith(PREFIX) ? [code.slice(PREFIX.length) as ConditionName] : [],
);

/** A problem of an object in the account that no change of the plan solves. One object can have several. */
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
  /** Time when an apply first saw the condition (ISO 8601). */
  readonly since?: string;
}

/** Facts of a condition in addition to its texts. */
export type ConditionFacts = Pick<Condition, "domain" | "invoice" | "others" | "since">;

/** Returns a condition as a warning, for reports without conditions. */
export const conditionWarning = ({ condition, summary, detail, remedies, address }: Condition): Diagnostic =>
  warningOf(`condition.${condition}`, summary, { detail, remedies, address });

/** Returns the condition for a warning with its texts. */
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

/** Sections of a status that are names for `--fail-on`. A plan lists only a part of the account, and fails with pending creates. */
export const STATUS_NAMES = ["undeclared", "billed", "overdue", "webhooks", "pending"] as const;

/** Names for `--fail-on`: all conditions, `drift` for any difference, and sections of a status. */
export const FAIL_ON = [...CONDITION_NAMES, "drift", ...STATUS_NAMES] as const;
export type FailOn = (typeof FAIL_ON)[number];
