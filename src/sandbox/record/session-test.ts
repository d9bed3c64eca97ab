/** A session as a test of its own: a file for `node --test` that needs nothing but this package. */

import { isChange } from "../control/calls.ts";
import { unprocessable } from "../refusal.ts";
import { readSession, type Session, type SessionStep } from "./session.ts";
import { inWords } from "./verify.ts";

/**
 * The text of the test. It replays the session in a fresh sandbox and asserts that every answer is the same as in the
 * recording; a step is a test, so that a failure names it.
 * @throws Refusal (422) for anything but a session.
 */
export function sessionTest(given: Session | string): string {
  const session = readable(given);
  if (session.steps.length === 0) return EMPTY;
  return [IMPORTS, `const session = ${json(session)};`, REPLAY, ...session.steps.map(stepText), ""].join("\n");
}

/**
 * A session whose control steps all change something; others are never recorded.
 * @throws Refusal (422) for any other, and for anything but a session.
 */
export function readable(given: Session | string): Session {
  const session = readSession(given);
  for (const [at, step] of session.steps.entries()) {
    if (step.kind !== "control" || isChange(step.name)) continue;
    throw unprocessable(`Step ${at + 1}: the control has no function "${step.name}" that changes anything.`);
  }
  return session;
}

/** Name of a step in reports. */
export function titleOf(step: SessionStep): string {
  if (step.kind === "request") return `${step.method} ${step.path}`;
  return `${step.name}(${step.args.map((arg) => inWords(arg)).join(", ")})`;
}

function stepText(step: SessionStep, at: number): string {
  const options = step.overlapped ? `{ todo: "it overlapped with another step when it was recorded" }, ` : "";
  return `test(${json(`${at + 1} ${titleOf(step)}`)}, ${options}() => isRepeated(${at + 1}));`;
}

/** A value as JavaScript. JSON is, once the line ends that only JSON allows in texts are written out. */
function json(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  // In a literal, this name would not make a field but a prototype.
  return text.includes('"__proto__"') ? `JSON.parse(${escaped(JSON.stringify(text))})` : escaped(text);
}

function escaped(text: string): string {
  return text.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

const IMPORTS = `// A session with the sandbox of hostform, as a test: every answer must be the same as in the recording.
// Run it with: node --test FILE
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { replaySession } from "hostform/sandbox";
`;

const REPLAY = `
let differences = [];
before(async () => {
  differences = await replaySession(session);
});

function isRepeated(step) {
  assert.deepEqual(differences.filter((line) => line.startsWith("Step " + step + ",")), []);
}
`;

const EMPTY = `import { test } from "node:test";

test.skip("the session has no steps, so this proves nothing");
`;
