import type { Plan } from "../core/model/index.ts";
import { escapeLine } from "./escape.ts";
import type { Paint } from "./style.ts";

/** More moves than this are counted, not listed. */
const MOST = 50;

/** What is recorded under another address from now on (`moved`, or `count` that came or went). */
export function moveLines(plan: Plan, paint: Paint): string[] {
  const moved = plan.changes.filter(({ previousAddress }) => previousAddress !== undefined);
  if (moved.length === 0) return [];
  const more = moved.length - MOST;
  return [
    paint.bold("Recorded under another address from now on:"),
    ...moved
      .slice(0, MOST)
      .map(({ address, previousAddress = "" }) => escapeLine(`  ${previousAddress} -> ${address}`)),
    ...(more > 0 ? [`  and ${more} more`] : []),
    "",
  ];
}
