/** Common steps of the API port and the control port: checks the host of a request, and reads its limited body as JSON. */
import { Refusal } from "../refusal.ts";

const LARGEST_BODY = 1_048_576;
/**
 * Maximum nesting of a body. A deeper value would overflow the stack later. No field of the specification has more than two
 * levels.
 */
const DEEPEST_BODY = 64;

const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

/**
 * Rejects a request with a host name that does not belong to this machine. The name of another site may resolve to this machine
 * (DNS rebinding), and its pages know the tokens of the default seed.
 * @param url of the request with its `Host`.
 * @param what the server, for the message.
 * @throws Refusal 403.
 */
export function requireOwnHost(url: string, what: string): void {
  if (LOOPBACK.includes(new URL(url).hostname)) return;
  throw new Refusal(403, `${what} answers to 127.0.0.1 and localhost only.`);
}

export interface RequestBody {
  /** The JSON value, the text if it is not JSON, or null without a body. */
  value: unknown;
  /** The text as received. Undefined without a body, and for a body that is too large. */
  text: string | undefined;
  /** Mistake in the body, which is thrown when the body is needed. */
  problem: Refusal | undefined;
}

/**
 * Returns the text of a body with at most this number of bytes (default 1 MiB). Does not keep a larger body in memory.
 * @throws Refusal 413 for a larger body.
 */
export async function readText(request: Request, most = LARGEST_BODY): Promise<string> {
  // The body of a GET request is never read. Skip it, because creating a web `Request` costs more than the response.
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

/** Parses a text as JSON. Returns `body` if the text is JSON, otherwise `raw`. Returns neither for an empty text. */
export function content(text: string): { body?: unknown; raw?: string } {
  if (text === "") return {};
  try {
    return { body: JSON.parse(text) as unknown };
  } catch {
    return { raw: text };
  }
}

/** Reads a body as JSON. Throws only if the request breaks off. */
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
 * Returns the JSON object of a request. A missing body counts as an empty object.
 * @throws Refusal 400 for any other value, 413 for a body that was too large.
 */
export function objectOf({ value, problem }: RequestBody): Record<string, unknown> {
  if (problem !== undefined) throw problem;
  if (value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) {
    throw new Refusal(400, "The request body must be a JSON object.");
  }
  return value as Record<string, unknown>;
}
