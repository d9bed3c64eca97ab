import { type Diagnostic, isObject, type ValueObject } from "../../../core/model/index.ts";

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/;

/** A duration as Terraform's users write it (`90s`, `1h30m`), in milliseconds; undefined for anything else. */
export function durationMs(text: string): number | undefined {
  if (!DURATION.test(text)) return undefined;
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g);
  return [...parts].reduce((sum, [, number = "0", unit = "s"]) => sum + Number(number) * (UNITS[unit] ?? 0), 0);
}

/** The limit that `timeouts` sets for an operation, in milliseconds; undefined when it sets none. */
export function timeoutOf(attributes: ValueObject, operation: "create" | "update" | "delete"): number | undefined {
  const { timeouts } = attributes;
  const text = isObject(timeouts) ? timeouts[operation] : undefined;
  return typeof text === "string" ? durationMs(text) : undefined;
}

/** What is wrong with the `timeouts` of a declaration. */
export function checkTimeouts({ timeouts }: ValueObject): Diagnostic[] {
  if (!isObject(timeouts)) return [];
  return Object.entries(timeouts).flatMap(([name, value]): Diagnostic[] => {
    if (typeof value !== "string" || durationMs(value) !== undefined) return [];
    return [
      {
        severity: "error",
        code: "config.invalid_value",
        summary: `timeouts.${name}: expected a duration such as "90s", "20m" or "1h30m"`,
        detail: `The value is ${JSON.stringify(value.slice(0, 80))}.`,
        attribute: ["timeouts", name],
      },
    ];
  });
}
