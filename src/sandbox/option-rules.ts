/** What each option of a sandbox may be: it is started from JavaScript as well, where nothing checks types. */
import { didYouMean } from "./nearest.ts";
import { SandboxOptionError } from "./option-error.ts";
import type { SandboxOptions } from "./options.ts";

type Rule = readonly [fits: (value: unknown) => boolean, words: string];

const isText = (value: unknown): value is string => typeof value === "string";
const isPlain = (value: unknown): value is object => typeof value === "object" && value !== null;
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

const text: Rule = [isText, "a text"];
const flag: Rule = [(value) => typeof value === "boolean", "true or false"];
const work: Rule = [(value) => typeof value === "function", "a function"];
const whole = (most: number): Rule => [
  (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most,
  `a whole number from 0 to ${most}`,
];

/** A century: dates beyond it are soon longer than the specification has them. */
const LONGEST_DAYS = 36_525;
const seconds = whole(LONGEST_DAYS * 86_400);
/** Timers wait no longer. */
const milliseconds = whole(2 ** 31 - 1);

const RULES: Readonly<Record<keyof SandboxOptions, Rule>> = {
  port: whole(65_535),
  controlPort: whole(65_535),
  seed: text,
  data: [(value) => isText(value) && value !== "", "the path of a file"],
  clock: [
    (value) => isText(value) || (isPlain(value) && typeof (value as { now?: unknown }).now === "function"),
    "an instant such as 2026-11-21T10:00:00Z, or an object with a function now",
  ],
  alarm: flag,
  sleep: work,
  rateLimit: whole(1_000_000),
  idempotencyRetentionSeconds: seconds,
  jobSeconds: seconds,
  provisioningSeconds: seconds,
  processingMs: milliseconds,
  noticeDays: whole(LONGEST_DAYS),
  deliverTo: [(value) => isText(value) || isTexts(value), "a text, or a list of hosts"],
  deliveryTimeoutMs: milliseconds,
  snapshot: text,
  record: flag,
  observe: work,
  autoPay: flag,
  rendering: [isPlain, "an object"],
  // `completeProfile` says what is wrong with one.
  profile: [() => true, ""],
};

/** @throws SandboxOptionError for an option that there is none of, or that holds something else than it can. */
export function checkOptions(options: unknown): void {
  if (!isPlain(options)) throw new SandboxOptionError("The options of a sandbox are an object.");
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(RULES, name)) {
      const names = Object.keys(RULES);
      const meant = didYouMean(name, names) || ` The options are ${names.join(", ")}.`;
      throw new SandboxOptionError(`A sandbox has no option "${name}".${meant}`);
    }
    const [fits, words] = RULES[name as keyof SandboxOptions];
    if (value !== undefined && !fits(value))
      throw new SandboxOptionError(`${name} must be ${words}, not ${inWords(value)}.`);
  }
  const { record, rendering } = options as SandboxOptions;
  if (record && rendering !== undefined) {
    throw new SandboxOptionError("A session does not hold a rendering. Leave record or rendering out.");
  }
}

function inWords(value: unknown): string {
  if (typeof value === "function") return "a function";
  return typeof value === "number" ? String(value) : (JSON.stringify(value)?.slice(0, 60) ?? String(value));
}
