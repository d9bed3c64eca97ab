/**
 * Replays a session: a fresh sandbox, the same calls and requests at the same instants, and where the answers differ.
 * Must not: deliver events (the receivers may belong to someone else by now), wait in real time, trust the session (it may
 * come from a file).
 */
import type { Control } from "../control/control.ts";
import type { SandboxOptions } from "../options.ts";
import { unprocessable } from "../refusal.ts";
import { type Sandbox, startSandbox } from "../start.ts";
import { answerOf, type ControlStep, type RequestStep, type Session, type SessionAnswer } from "./session.ts";
import { readable, titleOf } from "./session-test.ts";
import { difference, inWords } from "./verify.ts";

/**
 * Replays a session in a fresh sandbox. Returns a line for each difference between the answers: number and name of the step,
 * the place, the new value and the recorded one. No line: all answers are the same.
 * @param changes options that differ from the recording, to see their effect.
 * @throws Refusal (422) for anything but a session of this version; SandboxOptionError for options that cannot be used.
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
      if (step.kind === "control" && step.to !== undefined) time = Date.parse(step.to);
      else {
        const { now, frozen } = sandbox.control.clock();
        // A frozen clock is already there.
        if (!frozen) time += Date.parse(step.at) - Date.parse(now);
      }
      const differences = step.kind === "control" ? callAgain(sandbox, step) : await askAgain(sandbox, step);
      const overlapped = step.overlapped ? " (it overlapped with another step when it was recorded)" : "";
      found.push(...differences.map((text) => `Step ${at + 1}, ${titleOf(step)}: ${text}${overlapped}`));
      await sandbox.control.settled();
    }
    return found;
  } finally {
    await sandbox.close();
  }
}

function callAgain({ control }: Sandbox, { name, args, refused }: ControlStep): string[] {
  let now: string | undefined;
  try {
    (control[name as keyof typeof control] as (...args: unknown[]) => unknown)(...args);
  } catch (error) {
    now = error instanceof Error ? error.message : String(error);
  }
  if (now === refused) return [];
  // A refused snapshot is not kept, and its stand-in may be refused for another reason.
  if (name === "restore" && now !== undefined && refused !== undefined) return [];
  if (now === undefined) return [`it succeeded, and was refused in the recording: ${refused}`];
  return [
    refused === undefined ? `it was refused: ${now}` : `it was refused with ${inWords(now)}, not ${inWords(refused)}`,
  ];
}

async function askAgain(sandbox: Sandbox, step: RequestStep): Promise<string[]> {
  const before = step.answer;
  const answer = await send(sandbox, step);
  const wrong = [
    difference(before.status, answer.status, "status"),
    difference(before.headers, answer.headers, "headers", true),
    // The body of an answer that a fault cut does not arrive.
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
  if (found === undefined) throw unprocessable(`The session names a token "${unique}" that does not exist.`);
  return found.value;
}
