/**
 * Sessions done again: a fresh sandbox, the same words and requests at the same instants, and where the answers differ.
 * Must not: deliver events (the receivers of then may be somebody else's now), wait in real time, trust the session (it
 * may come from a file).
 */
import type { Control } from "../control/control.ts";
import type { SandboxOptions } from "../options.ts";
import { Refusal } from "../refusal.ts";
import { type Sandbox, startSandbox } from "../start.ts";
import {
  answerOf,
  type ControlStep,
  type RequestStep,
  type Session,
  type SessionAnswer,
  type SessionStep,
} from "./session.ts";
import { readable, titleOf } from "./session-test.ts";
import { difference, inWords } from "./verify.ts";

/**
 * Repeats a session in a fresh sandbox and gives back what was answered differently, a line for each difference: number and
 * name of the step, the place, what it is and what it was. No line: everything was the same.
 * @param changes options that are not as they were then, to see what they change.
 * @throws Refusal (422) for what is not a session, or one of another version; SandboxOptionError for options that cannot be used.
 */
export async function replaySession(session: Session | string, changes: SandboxOptions = {}): Promise<string[]> {
  const { sandbox: options, snapshot, started, steps } = readable(session);
  let time = Date.parse(started);
  const { seed, ...rest } = options;
  const sandbox = await startSandbox({
    ...rest,
    // A snapshot brings its own.
    ...(snapshot === undefined ? { seed } : { snapshot }),
    clock: { now: () => time },
    sleep: async () => undefined,
    deliverTo: "nowhere",
    ...changes,
  });
  try {
    const found: string[] = [];
    for (const [at, step] of steps.entries()) {
      time = step.kind === "control" && step.to !== undefined ? Date.parse(step.to) : time + untilThen(sandbox, step);
      const differences = step.kind === "control" ? speak(sandbox, step) : await ask(sandbox, step);
      const overlapped = step.overlapped ? " (it overlapped with another step then)" : "";
      found.push(...differences.map((text) => `Step ${at + 1}, ${titleOf(step)}: ${text}${overlapped}`));
      await sandbox.control.settled();
    }
    return found;
  } finally {
    await sandbox.close();
  }
}

/** How far the sandbox's clock is from the instant of the step. One that stands still stands at the right place. */
function untilThen({ control }: Sandbox, { at }: SessionStep): number {
  const { now, frozen } = control.clock();
  return frozen ? 0 : Date.parse(at) - Date.parse(now);
}

/** Says the word to the control again. */
function speak({ control }: Sandbox, { name, args, refused }: ControlStep): string[] {
  let now: string | undefined;
  try {
    (control[name as keyof typeof control] as (...args: unknown[]) => unknown)(...args);
  } catch (error) {
    now = error instanceof Error ? error.message : String(error);
  }
  if (now === refused) return [];
  // The text of a snapshot that was refused is not kept, so that another sentence may fit what stands in for it.
  if (name === "restore" && now !== undefined && refused !== undefined) return [];
  if (now === undefined) return [`it was done, where it was refused: ${refused}`];
  return [
    refused === undefined ? `it was refused: ${now}` : `it was refused with ${inWords(now)}, not ${inWords(refused)}`,
  ];
}

/** Sends the request again. */
async function ask(sandbox: Sandbox, step: RequestStep): Promise<string[]> {
  const before = step.answer;
  const answer = await send(sandbox, step);
  const wrong = [
    difference(before.status, answer.status, "status"),
    difference(before.headers, answer.headers, "headers", true),
    // Of an answer that a fault has cut, the body does not arrive.
    before.faulty && answer.body === undefined && answer.raw === undefined
      ? undefined
      : difference({ body: before.body, raw: before.raw }, { body: answer.body, raw: answer.raw }, "answer", true),
  ];
  return wrong.flatMap((text) => text ?? []);
}

async function send({ url, control }: Sandbox, step: RequestStep): Promise<SessionAnswer> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (step.token !== null) headers.authorization = `Bearer ${tokenOf(control, step.token)}`;
  if (step.idempotency_key !== undefined) headers["idempotency-key"] = step.idempotency_key;
  const body = step.raw ?? (step.body === undefined ? null : JSON.stringify(step.body));
  let response: Response;
  try {
    response = await fetch(`${url}${step.path}`, { method: step.method, headers, body, redirect: "manual" });
  } catch {
    return { status: null, headers: {} };
  }
  const text = await response.text().catch(() => undefined);
  return answerOf({ status: response.status, headers: Object.fromEntries(response.headers), body: text }, [url]);
}

/** The value of the token of that name: `agency`, or `agency#7` for a later one of the same name. */
function tokenOf(control: Control, unique: string): string {
  const [name, id] = unique.split("#");
  const found = control
    .list("tokens")
    .find((token) => token.name === name && (id === undefined || token.id === Number(id)));
  if (found === undefined) throw new Refusal(422, `The session speaks of a token "${unique}" that is not there.`);
  return found.value;
}
