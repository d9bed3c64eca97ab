/** Common steps of both ports with a request: checks its host, and reads its body, bounded, as JSON. */
import { Refusal } from "../refusal.ts";

const LARGEST_BODY = 1_048_576;
/** Deeper values would overflow the stack later; no field of the specification nests deeper than two. */
const DEEPEST_BODY = 64;

const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

/**
 * Refuses a request under any other name than this machine's: the name of another site may resolve here (DNS rebinding), and
 * its pages know the tokens of the default seed.
 * @param url of the request, with its `Host`. @param what the server, for the message. @throws Refusal 403.
 */
export function requireOwnHost(url: string, what: string): void {
  if (LOOPBACK.includes(new URL(url).hostname)) return;
  throw new Refusal(403, `${what} answers to 127.0.0.1 and localhost only.`);
}

export interface RequestBody {
  /** The JSON value; the text when it is not JSON; null when there is none. */
  value: unknown;
  /** The text as received; undefined for none, and for a body that is too large. */
  text: string | undefined;
  /** Kept until the body is needed. */
  problem: Refusal | undefined;
}

/**
 * The text of a body of at most so many bytes (default 1 MiB); a larger one is not kept in memory.
 * @throws Refusal 413 for a larger one.
 */
export async function readText(request: Request, most = LARGEST_BODY): Promise<string> {
  // Nobody reads the body of a GET. The server would make a request of the web's kind to say so, which costs more than the answer.
  if (request.method === "GET" || request.method === "HEAD") return "";
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > most) throw new Refusal(413, `The request body is larger than ${most} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Parses a text as JSON: `body` where it is JSON, else `raw`; neither for an empty text. */
export function content(text: string): { body?: unknown; raw?: string } {
  if (text === "") return {};
  try {
    return { body: JSON.parse(text) as unknown };
  } catch {
    return { raw: text };
  }
}

/** Reads a body as JSON. Only a request that breaks off is an error here. */
export async function readBody(request: Request): Promise<RequestBody> {
  let text: string;
  try {
    text = await readText(request);
  } catch (error) {
    if (error instanceof Refusal) return { value: null, text: undefined, problem: error };
    throw error;
  }
  if (text.trim() === "") return { value: null, text: text === "" ? undefined : text, problem: undefined };
  const { body: value, raw } = content(text);
  if (raw !== undefined) return { value: raw, text, problem: new Refusal(400, "The request body is not valid JSON.") };
  if (!tooDeep(value, DEEPEST_BODY)) return { value, text, problem: undefined };
  return { value: null, text, problem: new Refusal(400, "The request body is nested too deeply.") };
}

function tooDeep(value: unknown, left: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return left === 0 || Object.values(value).some((inner) => tooDeep(inner, left - 1));
}

/**
 * The JSON object of a request; no body at all counts as an empty one.
 * @throws Refusal 400 for anything else, 413 for a body that was too large.
 */
export function objectOf({ value, problem }: RequestBody): Record<string, unknown> {
  if (problem !== undefined) throw problem;
  if (value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) {
    throw new Refusal(400, "The request body must be a JSON object.");
  }
  return value as Record<string, unknown>;
}
