/** A session as a test of its own: a file for `node --test` that needs nothing but this package. */

import { isChange } from "../control/recorded.ts";
import { Refusal } from "../refusal.ts";
import { type RequestStep, readSession, type Session, type SessionStep } from "./session.ts";
import { inWords } from "./verify.ts";

/**
 * The text of the test. It repeats the session in a fresh sandbox and asserts that every answer is what it was; a step is a
 * test, so that a failure names it.
 * @throws Refusal (422) for what is not a session.
 */
export function sessionTest(given: Session | string): string {
  const { sandbox, snapshot, started, steps } = readable(given);
  const { seed, ...options } = sandbox;
  const start = { ...options, ...(snapshot === undefined ? { seed } : { snapshot }) };
  // Without a test, nothing would end the sandbox.
  if (steps.length === 0) return `${HEAD}\ntest.skip("nothing was asked of the sandbox, so this proves nothing");\n`;
  return [HEAD, `before(() => start(${json(started)}, ${json(start)}));\n`, ...steps.map(stepText)].join("\n");
}

/**
 * A session that holds no words to the control but those that are written down.
 * @throws Refusal (422) for any other, and for what is no session.
 */
export function readable(given: Session | string): Session {
  const session = readSession(given);
  for (const [at, step] of session.steps.entries()) {
    if (step.kind !== "control" || isChange(step.name)) continue;
    throw new Refusal(422, `Step ${at + 1}: the control has no word "${step.name}" that changes anything.`);
  }
  return session;
}

/** What a step is called where it is reported. */
export function titleOf(step: SessionStep): string {
  if (step.kind === "request") return `${step.method} ${step.path}`;
  return `${step.name}(${step.args.map((arg) => inWords(arg)).join(", ")})`;
}

function stepText(step: SessionStep, at: number): string {
  const name = json(`${at + 1} ${titleOf(step)}`);
  const options = step.overlapped ? `{ todo: "it overlapped with another step when it was recorded" }, ` : "";
  if (step.kind === "request") {
    return `test(${name}, ${options}() => request(${json(step.at)}, ${json(asked(step))}, ${json(step.answer)}));\n`;
  }
  const { kind: _, overlapped: _overlapped, ...word } = step;
  return `test(${name}, ${options}() => control(${json(word)}));\n`;
}

function asked({ method, path, token, idempotency_key, body, raw }: RequestStep): Partial<RequestStep> {
  return {
    method,
    path,
    token,
    ...(idempotency_key !== undefined && { idempotency_key }),
    ...(body !== undefined && { body }),
    ...(raw !== undefined && { raw }),
  };
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

/** What every such file begins with. It has no backslash and no backtick, being a template here. */
const HEAD = `// A session with the sandbox of hostform, as a test: every answer must be what it was.
// Run it with: node --test FILE
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startSandbox } from "hostform/sandbox";

/** Moved by the instants of the session alone. */
let time = 0;
let sandbox;

async function start(instant, options) {
  time = Date.parse(instant);
  const clock = { now: () => time };
  sandbox = await startSandbox({ ...options, clock, sleep: async () => {}, deliverTo: "nowhere" });
}

after(() => sandbox?.close());

function at(instant) {
  const { now, frozen } = sandbox.control.clock();
  if (!frozen) time += Date.parse(instant) - Date.parse(now);
}

/** Says a word to the control, which must be refused with that sentence or, if it is null, not at all. */
async function control({ at: instant, to, name, args, refused = null }) {
  if (to === undefined) at(instant);
  else time = Date.parse(to);
  let sentence = null;
  try {
    sandbox.control[name](...args);
  } catch (error) {
    sentence = error.message;
  }
  if (name === "restore" && refused !== null) assert.notEqual(sentence, null);
  else assert.equal(sentence, refused);
  await sandbox.control.settled();
}

function valueOf(token) {
  const [name, id] = token.split("#");
  return sandbox.control.list("tokens").find((one) => one.name === name && (id ?? String(one.id)) === String(one.id)).value;
}

/** Sends a request, which must be answered like that. */
async function request(instant, { method, path, token, idempotency_key, body, raw }, answer) {
  at(instant);
  const headers = { accept: "application/json" };
  if (token !== null) headers.authorization = "Bearer " + valueOf(token);
  if (idempotency_key !== undefined) headers["idempotency-key"] = idempotency_key;
  const sent = raw ?? (body === undefined ? null : JSON.stringify(body));
  let response = null;
  try {
    response = await fetch(sandbox.url + path, { method, headers, body: sent, redirect: "manual" });
  } catch {
    // The connection was cut.
  }
  await sandbox.control.settled();
  assert.equal(response?.status ?? null, answer.status);
  if (response === null) return;
  for (const [name, value] of Object.entries(answer.headers)) assert.equal(response.headers.get(name), value, name);
  let text = null;
  try {
    text = (await response.text()).replaceAll(sandbox.url, "http://sandbox.invalid");
  } catch (error) {
    // Of an answer that a fault has cut, the body does not arrive.
    if (!answer.faulty) throw error;
    return;
  }
  if (answer.body === undefined) assert.equal(text, answer.raw ?? "");
  else assert.deepEqual(JSON.parse(text), answer.body);
}
`;
