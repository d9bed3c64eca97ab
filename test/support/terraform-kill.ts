/**
 * A preload (`node --import`) for the provider's processes. It counts the operations with effects outside of the
 * process. Before one of them, it kills Terraform, or Terraform and its own process, with SIGKILL. No handler runs, and no
 * buffer is flushed.
 * HOSTFORM_DOOM `FOLDER`: folder in which each process has its number and logs its operations.
 * HOSTFORM_DOOM_AT `PROCESS NTH WHOM`: number of the process in the command (from 1), number of its operation, and
 * `terraform` or `both`.
 */
import { appendFileSync, mkdirSync } from "node:fs";
import http2 from "node:http2";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import path from "node:path";
import { DatabaseSync, StatementSync } from "node:sqlite";

// biome-ignore lint/suspicious/noExplicitAny: what is wrapped has any signature.
type Operation = (...args: any[]) => any;

const folder = process.env.HOSTFORM_DOOM ?? "";
const [wantedProcess, wantedNth, whom = "both"] = (process.env.HOSTFORM_DOOM_AT ?? "").split(" ");

/** Returns the first number that no other process has taken. */
function ordinal(): number {
  for (let number = 1; ; number++) {
    try {
      mkdirSync(path.join(folder, `process-${number}`));
      return number;
    } catch {
      // Another process has this number.
    }
  }
}

const own = ordinal();
const terraform = process.ppid;
let count = 0;

function pass(label: string): void {
  count += 1;
  appendFileSync(path.join(folder, "operations"), `${own} ${count} ${label.replaceAll(/\s+/g, " ")}\n`);
  if (String(own) !== wantedProcess || String(count) !== wantedNth) return;
  process.kill(terraform, "SIGKILL");
  if (whom !== "terraform") process.kill(process.pid, "SIGKILL");
}

function wrap(
  owner: object,
  name: string,
  label: (args: readonly unknown[], self: unknown) => string | undefined,
): void {
  const methods = owner as Record<string, Operation>;
  const original = methods[name];
  if (original === undefined) throw new Error(`there is no ${name} to wrap`);
  methods[name] = function (this: unknown, ...args: unknown[]) {
    const words = label(args, this);
    if (words !== undefined) pass(words);
    return original.apply(this, args);
  };
}

/** Returns true for connections to the API. Connections to Terraform have another type. */
const isOutgoing = (self: unknown) => (self as net.Socket).remotePort !== undefined;

wrap(net.Socket.prototype, "write", ([chunk], self) =>
  isOutgoing(self) ? `sends ${String(chunk).slice(0, 60).split("\r\n")[0]}` : undefined,
);
const { read } = net.Socket.prototype;
net.Socket.prototype.read = function (this: net.Socket, ...args) {
  const chunk = read.apply(this, args);
  if (chunk !== null && isOutgoing(this)) pass(`reads ${String(chunk).slice(0, 15)}`);
  return chunk;
};
wrap(DatabaseSync.prototype, "exec", ([text]) => `database: ${String(text).slice(0, 40)}`);
// The effects of a transaction become visible to other processes only with its commit.
wrap(StatementSync.prototype, "run", (_, self) => {
  const { sourceSQL } = self as StatementSync;
  return /^(?:BEGIN|COMMIT)/.test(sourceSQL) ? `database: ${sourceSQL}` : undefined;
});

const { createSecureServer } = http2;
http2.createSecureServer = ((...args: Parameters<typeof createSecureServer>) => {
  const server = createSecureServer(...args);
  server.prependListener("stream", (stream, headers) => {
    const call = path.basename(headers[":path"] ?? "");
    wrap(stream, "end", () => `answers ${call}`);
  });
  return server;
}) as typeof createSecureServer;
syncBuiltinESMExports();
