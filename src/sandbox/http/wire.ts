/** Answers that go wrong on the wire: below HTTP, where a framework cannot go. */
import type { ServerResponse } from "node:http";

/** An answer as it is written. */
export interface Outgoing {
  status: number;
  body: string | undefined;
  headers: Record<string, string>;
}

type NodeResponse = Pick<ServerResponse, "socket" | "writeHead" | "write">;

/** Closes the connection without any answer. */
export function cut(outgoing: NodeResponse): void {
  outgoing.socket?.destroy();
}

/** Sends the headers, which promise the whole body, and half of it; then closes the connection. */
export function cutMidBody(outgoing: NodeResponse, answer: Outgoing): void {
  const bytes = Buffer.from(answer.body ?? "");
  outgoing.writeHead(answer.status, { ...answer.headers, "Content-Length": String(bytes.length) });
  outgoing.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => outgoing.socket?.destroySoon());
}
