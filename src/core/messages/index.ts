/**
 * The catalogue: every message of the core, by its code. In: a name and typed parameters. Out: a diagnostic. One file for
 * each subject. Must not: import any folder but `core/model`, or mention a command, flag or line of a declaration. Remedies
 * are data.
 */
import {
  type Condition,
  type ConditionFacts,
  conditionOf,
  type Diagnostic,
  fractionIn,
  HostformError,
} from "../model/index.ts";
import { accounts } from "./accounts.ts";
import { conditions } from "./conditions.ts";
import { creates } from "./creates.ts";
import { declaration } from "./declaration.ts";
import { limits } from "./limits.ts";
import { locks } from "./locks.ts";
import { mandateLimits } from "./mandate-limits.ts";
import { mandates } from "./mandates.ts";
import { type Given, problemsOf, type Raise, raiseOf } from "./message.ts";
import { objects } from "./objects.ts";
import { processes } from "./processes.ts";
import { requests } from "./requests.ts";
import { secretPlaces } from "./secret-places.ts";
import { states } from "./states.ts";

export type { MissingState } from "./accounts.ts";
export type { Doing } from "./locks.ts";
export { doubtOf } from "./requests.ts";

/** Every message of the core. Each name is in only one file. */
export const catalogue = {
  ...objects,
  ...creates,
  ...conditions,
  ...accounts,
  ...declaration,
  ...limits,
  ...mandateLimits,
  ...processes,
  ...requests,
  ...states,
  ...locks,
  ...mandates,
  ...secretPlaces,
};

/**
 * Creates a diagnostic. The compiler rejects an unknown name and wrong parameters.
 * @example problem("plan.gone/import", { address: "hosting_service.www", noun: "service", object: "1004", how: "does not
 * exist" })
 */
export const problem = problemsOf(catalogue);

/** Throws a HostformError with one message of the catalogue. */
export const raise: Raise<typeof catalogue> = raiseOf(catalogue);

type OfCondition<Name> = Name extends `condition.${infer Rest}` ? Rest : never;

/** Creates a condition: `conditionFor("offline/withdrawn", …)`. @param facts Parts in addition to its texts. */
export const conditionFor = <Name extends OfCondition<keyof typeof catalogue>>(
  name: Name,
  given: Given<(typeof catalogue)[`condition.${Name}`]>,
  facts: ConditionFacts = {},
): Condition => ({ ...conditionOf(problem(`condition.${name}`, given as never)), ...facts });

/** A record with amounts as the API sent it. */
interface Amounted {
  readonly id?: string | null;
  readonly raw?: unknown;
}

/** Returns the error about an amount that contradicts `money_scale`. Undefined if none does. @param of "plan", "invoice". */
export function scaleProblem(scale: number | undefined, of: string, { id, raw }: Amounted): Diagnostic | undefined {
  const found = fractionIn(scale, raw);
  return found && problem("api.money_scale", { scale: scale ?? 0, of, id: id ?? "without an id", ...found });
}

/** Rejects records that contradict `money_scale`. @throws HostformError `api.money_scale`. */
export function requireScale(scale: number | undefined, of: string, records: readonly Amounted[]): void {
  for (const record of records) {
    const found = scaleProblem(scale, of, record);
    if (found !== undefined) throw new HostformError([found]);
  }
}
