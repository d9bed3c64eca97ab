/**
 * Compares the output on a page with the real output. Both sides have equal dates, ids and durations, and a line `…`
 * matches any lines.
 */

const zeros = (text: string) => text.replace(/\d/g, "0");

/** A progress line of apply. Concurrent changes have any order. */
const PROGRESS = /^\S+(?: ?\[[^\]]*\])?: (?:Creat|Modif|Destr|Forg|Import|Still|Adopt|Suspen|Unsuspen)/;

const RULES: readonly (readonly [RegExp, (text: string) => string])[] = [
  [/\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?)?/g, zeros],
  [/\bINV-\d+-\d+/g, zeros],
  [/\[id=\d+\]/g, zeros],
  [/\b(?:service|grant) \d+\b/g, zeros],
  [/\bid\s+= "\d+"/g, zeros],
  [/127\.0\.0\.1:\d+/g, () => "127.0.0.1:PORT"],
  [/\bafter \d+m?s\b/g, () => "after 0s"],
  [/\b\d+ requests? in (?:under 1|\d+) s\b/g, () => "N requests in N s"],
  [/\b\d+ ms\b/g, () => "N ms"],
  // The number depends on the requests of the previous minute.
  [/\b\d+ of 60 left\b/g, () => "N of 60 left"],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, () => "UUID"],
  [/\b[0-9a-f]{64}\b/g, () => "DIGEST"],
  [/\bed25519:[\w+/]{43}=/g, () => "KEY"],
  [/\([0-9a-f]{12}\)/g, () => "(COMMIT)"],
  [/Node \d+\.\d+\.\d+, \w+-\w+/g, () => "Node VERSION, PLATFORM"],
];

/** Returns the lines of an output. Replaces values that differ between runs with fixed values. */
export function steadyLines(text: string): string[] {
  const lines = RULES.reduce((result, [pattern, replace]) => result.replace(pattern, replace), text)
    .split("\n")
    .map((line) => line.trimEnd());
  while (lines.at(-1) === "") lines.pop();
  return sortRuns(lines);
}

function sortRuns(lines: readonly string[]): string[] {
  const sorted: string[] = [];
  let run: string[] = [];
  for (const line of [...lines, undefined]) {
    if (line !== undefined && PROGRESS.test(line)) run.push(line);
    else {
      sorted.push(...run.toSorted(), ...(line === undefined ? [] : [line]));
      run = [];
    }
  }
  return sorted;
}

const isGap = (line: string) => line.trim() === "…";

/** Decides whether the output on the page equals the real output. */
export function agrees(shown: string, real: string): boolean {
  return matches(steadyLines(shown), steadyLines(real));
}

function matches(shown: readonly string[], real: readonly string[]): boolean {
  const [first] = shown;
  if (first === undefined) return real.length === 0;
  if (isGap(first)) {
    for (let skip = 0; skip <= real.length; skip++) if (matches(shown.slice(1), real.slice(skip))) return true;
    return false;
  }
  return real[0] === first && matches(shown.slice(1), real.slice(1));
}

/** Decides whether the output on the page omits lines. */
export function hasGaps(shown: string): boolean {
  return shown.split("\n").some(isGap);
}
