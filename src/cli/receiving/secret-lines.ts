/**
 * The lines of a file of signing secrets. In: its text. Out: the secrets, or why it is no such file. What a line of another
 * file would be worth as a secret, anybody can guess (`}`, `# production`), so one such line refuses all of it. Pure.
 */

import { WEBHOOK_SECRET } from "../../core/api/one-time.ts";

/** Why a text cannot be what it is taken for, and what to do about it. */
export interface Unfit {
  readonly detail: string;
  readonly fix: string;
}

/** A file with more lines than this is not a list of secrets. */
const MOST_LINES = 20;

/** Whoever can try a shorter one, finds it. */
const SHORTEST = 8;

const ALONE = "Name a file that holds the webhook's signing secret and nothing else: one on each line.";
const FROM_ENV = "Load it into the environment (`set -a; . ./FILE`) and name the variable: --secret-env NAME.";

/** Forms of lines that no secret has. Each is said of "it". */
const OTHERS: readonly (readonly [form: RegExp, detail: string, fix: string])[] = [
  [/^(?:#|\/\/|;|--|<!)/, "It has comments, and each line would be a secret.", ALONE],
  [
    /^(?:export\s+)?[A-Za-z_][\w.-]*\s*=\s*[^=\s]/,
    "It has lines of the form NAME=value, so it is no file of secrets alone.",
    FROM_ENV,
  ],
  [/^[{}[\]]|^"[^"]*"\s*:/, "It looks like JSON, and each line would be a secret.", ALONE],
  [/^["'`]|["'`],?$/, "A secret stands in quotes there, which would be part of it.", "Take the quotes off."],
  [/\s/, "It has lines of several words, so it is no file of secrets alone.", ALONE],
];

/** The secrets: one on each line, so that there can be two of them while one takes the place of the other. */
export function linesOf(text: string): readonly string[] {
  return text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** Why these lines are not taken for secrets; undefined when they are. */
export function unfitLines(lines: readonly string[]): Unfit | undefined {
  if (lines.length === 0)
    return { detail: "It is empty.", fix: "Put the webhook's signing secret there, one on each line." };
  if (lines.length > MOST_LINES) {
    return { detail: `It has ${lines.length} lines, and each would be a secret.`, fix: ALONE };
  }
  for (const [form, detail, fix] of OTHERS) {
    if (lines.some((line) => form.test(line))) return { detail, fix };
  }
  return lines.map(unfitSecret).find((unfit) => unfit !== undefined);
}

/** Why a text is not taken for a secret, wherever it stands; undefined when it is. */
export function unfitSecret(secret: string): Unfit | undefined {
  const fix = "Give the secret that the API showed when the webhook was registered.";
  if (secret.length < SHORTEST) {
    return { detail: `What stands there is shorter than ${SHORTEST} characters: anybody could guess it.`, fix };
  }
  if (WEBHOOK_SECRET.masked.test(secret) || /^<.*>$/.test(secret)) {
    return { detail: "What stands there is in the place of a secret, and anybody could guess it.", fix };
  }
  return undefined;
}
