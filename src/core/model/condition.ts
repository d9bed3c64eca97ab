import type { Code } from "./codes.ts";
import { type Diagnostic, warningOf } from "./errors.ts";
import type { Remedy } from "./remedy.ts";

type NameIn<Each> = Each extends `condition.${infer Name}` ? Name : never;

/** Names of conditions. Each has a code of its own, `condition.NAME`, with its meaning. */
export type ConditionName = NameIn<Code>;

/** A state of an object in the account that needs attention and that no change of the plan ends. */
export interface Condition {
  readonly address: string;
  readonly condition: ConditionName;
  readonly summary: string;
  readonly detail?: string;
  readonly remedies?: readonly Remedy[];
}

/** A condition as a warning, where a report has no place for conditions. */
export const conditionWarning = ({ condition, summary, ...parts }: Condition): Diagnostic =>
  warningOf(`condition.${condition}`, summary, parts);

/** The inverse of {@link conditionWarning}. */
export function conditionOf({ code, address = "", summary, detail, remedies }: Diagnostic): Condition {
  const condition = code.slice(code.indexOf(".") + 1) as ConditionName;
  return {
    address,
    condition,
    summary,
    ...(detail !== undefined && { detail }),
    ...(remedies !== undefined && { remedies }),
  };
}
