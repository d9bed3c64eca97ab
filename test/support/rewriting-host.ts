/**
 * A host in front of the sandbox that rewrites its responses. For gaps of the specification without a profile switch.
 */
import { createServer, type IncomingMessage } from "node:http";
import { listening } from "./listening.ts";

/**
 * Starts the host. The test closes the host at its end.
 * @param rewrite Returns the new JSON value of a response. `method` is the method of the request.
 * @returns The base URL.
 */
export async function rewritingHost(
  target: string,
  rewrite: (answer: unknown, method: string) => unknown,
): Promise<string> {
  const server = createServer(async (request, response) => {
    const { method = "GET", url = "/", headers } = request;
    const { host: _, connection: __, "content-length": ___, ...passed } = headers;
    const body = method === "GET" ? undefined : await bodyOf(request);
    const answer = await fetch(new URL(url, target), {
      method,
      headers: passed as Record<string, string>,
      redirect: "manual",
      ...(body !== undefined && body.length > 0 && { body }),
    }).catch(() => undefined);
    // If the sandbox drops the connection, this host drops it also.
    if (answer === undefined) return void response.destroy();
    const text = await answer.text();
    const {
      "content-length": ____,
      "content-encoding": _____,
      connection: ______,
      ...forwarded
    } = Object.fromEntries(answer.headers);
    response.writeHead(answer.status, forwarded);
    response.end(
      text.startsWith("{") || text.startsWith("[") ? JSON.stringify(rewrite(JSON.parse(text), method)) : text,
    );
  });
  return await listening(server);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

/** Returns the value with replaced status words, at every depth. */
export function withStatusWords(value: unknown, words: Readonly<Record<string, unknown>>): unknown {
  if (Array.isArray(value)) return value.map((item) => withStatusWords(item, words));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, item]) => {
    const other = name === "status" && typeof item === "string" && Object.hasOwn(words, item);
    return [name, other ? words[item as string] : withStatusWords(item, words)];
  });
  return Object.fromEntries(entries);
}

/** Returns the value with each field of these names rewritten, at every depth. Undefined keeps the field. */
export function rewritten(answer: unknown, names: Readonly<Record<string, (value: unknown) => unknown>>): unknown {
  if (Array.isArray(answer)) return answer.map((item) => rewritten(item, names));
  if (typeof answer !== "object" || answer === null) return answer;
  const entries = Object.entries(answer).map(([name, value]) => {
    const other = names[name]?.(value);
    return [name, other === undefined ? rewritten(value, names) : other];
  });
  return Object.fromEntries(entries);
}
