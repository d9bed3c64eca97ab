/**
 * Common steps of the API and the control: checks the host of a request, and reads its body as JSON, up to a maximum size.
 */
import { Refusal } from "../refusal.ts";

const LARGEST_BODY = 1_048_576;
/**
 * Maximum nesting of a body, because a deeper value could overflow the call stack. Fields of the specification have at most
 * two levels.
 */
const DEEPEST_BODY = 64;

const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

/**
 * Rejects a request with a foreign host name. A name of another site may resolve to this machine (DNS rebinding), and its
 * pages know the tokens of the default seed.
 * @param url URL of the request, with its `Host`.
 * @param what Name of the server, for the message.
 * @throws Refusal 403
 */
export function requireOwnHost(url: string, what: string): void {
  if (LOOPBACK.includes(new URL(url).hostname)) return;
  throw new Refusal(403, `${what} answers to 127.0.0.1 and localhost only.`);
}

export interface RequestBody {
  /** JSON value of the body, its text if it is not JSON, or null without a body. */
  value: unknown;
  /** Text as received. Undefined without a body, and if the body is too large. */
  text: string | undefined;
  /** Error of the body. It is thrown only if the body is needed. */
  problem: Refusal | undefined;
}

/**
 * Returns the text of a body.
 * @param most Maximum size in bytes, by default 1 MiB.
 * @throws Refusal 413 for a larger body, which is not kept in memory
 */
export async function readText(request: Request, most = LARGEST_BODY): Promise<string> {
  // The body of a GET is never read. Creating a web `Request` would cost more than the response.
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

/** Returns `body` if the text is JSON, otherwise `raw`. Neither for an empty text. */
export function content(text: string): { body?: unknown; raw?: string } {
  if (text === "") return {};
  try {
    return { body: JSON.parse(text) as unknown };
  } catch {
    return { raw: text };
  }
}

/** Reads a body as JSON. Throws only if the request ends before its body. */
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
 * Returns the JSON object of a body. Without a body, an empty object.
 * @throws Refusal 400 for any other value, 413 if the body was too large
 */
export function objectOf({ value, problem }: RequestBody): Record<string, unknown> {
  if (problem !== undefined) throw problem;
  if (value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) {
    throw new Refusal(400, "The request body must be a JSON object.");
  }
  return value as Record<string, unknown>;
}
