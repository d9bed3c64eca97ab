/**
 * A session: every request to the API with its answer, and every call of the control, in order and with the sandbox's time;
 * enough to replay it. It names tokens instead of holding them, and holds no secret of the user.
 */
import type { Settings } from "../options.ts";
import type { Profile } from "../profile/profile.ts";
import { unprocessable } from "../refusal.ts";
import { isText } from "../store/sound.ts";

export const SESSION_FORMAT = "hosting-sandbox-session";
export const SESSION_VERSION = 1;

export interface Session {
  format: typeof SESSION_FORMAT;
  version: number;
  /** The options to start the sandbox with again. */
  sandbox: SessionSandbox;
  /** The sandbox's time at the start. */
  started: string;
  /** Its data at the start, unless that follows from the seed: the text of a snapshot. */
  snapshot?: string;
  steps: SessionStep[];
  /** True when later steps were not kept. */
  cut_short?: boolean;
}

export type SessionSandbox = { profile: Partial<Profile>; idempotencyRetentionSeconds?: number } & Pick<
  Settings,
  "seed" | "rateLimit" | "jobSeconds" | "provisioningSeconds" | "noticeDays" | "autoPay"
>;

export type SessionStep = RequestStep | ControlStep;

export interface RequestStep {
  kind: "request";
  /** The sandbox's time. */
  at: string;
  method: string;
  /** With query. */
  path: string;
  /** Name of the token; null: none, or an unknown one. */
  token: string | null;
  idempotency_key?: string;
  /** A JSON body. */
  body?: unknown;
  /** Any other body. */
  raw?: string;
  answer: SessionAnswer;
  /** Another step ran at the same time; the replay does one after the other. */
  overlapped?: true;
}

export interface SessionAnswer {
  /** Null: the connection was cut before any answer. */
  status: number | null;
  /** The relevant ones, in small letters. */
  headers: Record<string, string>;
  /** A JSON body; absent when there was none. */
  body?: unknown;
  /** Any other body. */
  raw?: string;
  /** A fault changed it: only a part of the body may have arrived. */
  faulty?: true;
}

export interface ControlStep {
  kind: "control";
  at: string;
  /** Name of the function. */
  name: string;
  args: unknown[];
  /** The message of its refusal. */
  refused?: string;
  /** The sandbox's time afterwards, where the call reset the clock. */
  to?: string;
  overlapped?: true;
}

/** Stands for the address of the API in bodies, which differs each time. */
const ADDRESS = "http://sandbox.invalid";

const LIMITS = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];
const HEADERS = ["content-type", "retry-after", ...LIMITS, "allow", "www-authenticate"];

/**
 * The part of an answer that a replay compares.
 * @param addresses of the API, which occur in links.
 */
export function answerOf(
  answer: { status: number | null; headers: Readonly<Record<string, string>>; body: string | undefined },
  addresses: readonly string[],
): SessionAnswer {
  const said = Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name.toLowerCase(), value]));
  const headers = Object.fromEntries(
    HEADERS.flatMap((name) => (said[name] === undefined ? [] : [[name, said[name]]])),
  ) as Record<string, string>;
  let text = answer.body ?? "";
  for (const address of addresses) text = text.replaceAll(address, ADDRESS);
  return { status: answer.status, headers, ...content(text) };
}

/** A text as JSON where it is JSON. */
export function content(text: string): { body?: unknown; raw?: string } {
  if (text === "") return {};
  try {
    return { body: JSON.parse(text) as unknown };
  } catch {
    return { raw: text };
  }
}

/**
 * Reads a session, from an object or its JSON.
 * @throws Refusal (422) for anything else, and for one of another version.
 */
export function readSession(given: unknown): Session {
  const session = typeof given === "string" ? content(given).body : given;
  const { format, version, steps, sandbox, started } = Object(session) as Partial<Session>;
  if (format !== SESSION_FORMAT || !Array.isArray(steps) || Object(sandbox) !== sandbox || !isInstant(started)) {
    throw unprocessable(
      "This is not the session of a sandbox. GET /session of a recorded sandbox's control port gives one.",
    );
  }
  if (version !== SESSION_VERSION) {
    throw unprocessable(
      `This session is of version ${JSON.stringify(version)}; this sandbox reads version ${SESSION_VERSION}. ` +
        "Repeat it with the release that recorded it, or record a new one.",
    );
  }
  const strange = Object.entries(sandbox as object).find(
    ([name, value]) => !Object.hasOwn(OPTIONS, name) || !OPTIONS[name as keyof SessionSandbox](value),
  );
  if (strange !== undefined) {
    throw unprocessable(`This session has an unknown or wrong option "${strange[0]}" of the sandbox. Was it changed?`);
  }
  const broken = steps.findIndex((step) => !isStep(step));
  if (broken < 0) return session as Session;
  throw unprocessable(
    `Step ${broken + 1} of this session is neither a request nor a call of the control. Was it changed?`,
  );
}

/** The options that a session may hold, with their checks: a file must not decide where a sandbox writes or listens. */
const OPTIONS: Readonly<Record<keyof SessionSandbox, (value: unknown) => boolean>> = {
  seed: isText,
  profile: (value) => Object(value) === value && Object.values(value as object).every(isText),
  rateLimit: Number.isSafeInteger,
  idempotencyRetentionSeconds: Number.isSafeInteger,
  jobSeconds: Number.isSafeInteger,
  provisioningSeconds: Number.isSafeInteger,
  noticeDays: Number.isSafeInteger,
  autoPay: (value) => typeof value === "boolean",
};

function isInstant(value: unknown): boolean {
  return isText(value) && !Number.isNaN(Date.parse(value));
}

function isStep(given: unknown): boolean {
  const { kind, at, method, path, answer, name, args } = Object(given) as Partial<
    RequestStep & Omit<ControlStep, "kind">
  >;
  if (!isInstant(at)) return false;
  if ((kind as string) === "control") return typeof name === "string" && Array.isArray(args);
  // A path that does not begin with a slash could lead to another host.
  return kind === "request" && typeof method === "string" && /^\//.test(String(path)) && Object(answer) === answer;
}
