/**
 * Whether a snapshot can be lived in. Its digest says that nothing was changed by accident; who writes one by hand can give
 * it a digest as well.
 */
import { PROFILE_SWITCHES } from "../profile/profile.ts";
import { isSound } from "../store/sound.ts";
import { COLLECTION_NAMES } from "../store/records.ts";

const isText = (value: unknown): value is string => typeof value === "string";
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isPair = (value: unknown): value is [unknown, unknown] => Array.isArray(value) && value.length === 2;
const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

type Parts = Readonly<Record<"seed" | "clock" | "collections" | "rate" | "faults" | "weather", unknown>>;

/** The part of it that cannot be, for a sentence; undefined when all can. */
export function brokenPart({ seed, clock, collections, rate, faults, weather }: Parts): string | undefined {
  if (!isText(seed)) return "its seed";
  if (!isPlain(clock) || !isSound("clock", "now_at", clock.now) || typeof clock.frozen !== "boolean")
    return "its clock";
  if (!isPlain(collections)) return "its collections";
  for (const name of COLLECTION_NAMES) {
    const broken = brokenRow(name, collections[name]);
    if (broken !== undefined) return `${broken} in ${name}`;
  }
  if (!isPlain(rate) || !isRates(rate)) return "its rate windows";
  if (!isPlain(faults) || !isCount(faults.last) || !isFaults(faults.faults)) return "its faults";
  if (!isPlain(weather) || !isText(weather.seed) || !isCount(weather.number)) return "its weather";
  const { failures } = weather;
  const isWeather =
    Array.isArray(failures) && failures.every((one) => isPair(one) && isText(one[0]) && isCount(one[1]));
  return isWeather ? undefined : "its weather";
}

function brokenRow(collection: string, rows: unknown): string | undefined {
  if (!Array.isArray(rows)) return "the records";
  const ids = new Set<unknown>();
  for (const row of rows) {
    if (!isPlain(row) || !(isText(row.id) || isCount(row.id)) || ids.has(row.id)) return "a record";
    ids.add(row.id);
    const field = Object.entries(row).find(([name, value]) => !isSound(collection, name, value));
    if (field !== undefined) return `the ${field[0]} of a record`;
  }
  return undefined;
}

function isRates({ rule, budgets }: Record<string, unknown>): boolean {
  const isKnown = (PROFILE_SWITCHES.rate as readonly unknown[]).includes(rule);
  const isKept = (kept: unknown) => Array.isArray(kept) && kept.every((one) => Number.isFinite(one));
  return isKnown && Array.isArray(budgets) && budgets.every((one) => isPair(one) && isCount(one[0]) && isKept(one[1]));
}

/** What the faults themselves say is checked where they are put back. */
function isFaults(faults: unknown): boolean {
  const isFault = (one: unknown) => isPlain(one) && [one.id, one.seen, one.fired].every(isCount);
  return Array.isArray(faults) && faults.every(isFault);
}
