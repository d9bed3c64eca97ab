/**
 * A preload (`node --import`) for the real program: it counts the operations by which a run leaves traces outside of
 * itself, and dies by SIGKILL at one of them. No handler runs, nothing is flushed: what the system has by then is what
 * remains. Or it is frozen there by SIGSTOP, until a SIGCONT.
 *
 * HOSTFORM_KILL `KIND NTH MOMENT`: die at the NTH (from 1) operation of that kind, `before` it, `after` it, or, for a
 * write to a file, `halfway`: only the first half of the bytes is written.
 * HOSTFORM_KILL_SIGNAL: another signal than SIGKILL, such as SIGINT of Ctrl-C. The run goes on.
 * HOSTFORM_PAUSE `KIND NTH MOMENT`: be frozen there. File descriptor 3 gets a line before that.
 * HOSTFORM_PAUSE_CLOCKS `WALL MONOTONIC`: at the wake, the clocks show so many milliseconds more than passed.
 * HOSTFORM_KILL_TALLY `FILE`: at the end of the run, write to FILE what could be died at: `{KIND: [label, …]}`.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import path from "node:path";

/** What is counted. `receive` is a chunk of bytes that the system hands over from a connection. */
export const POINT_KINDS = ["open", "write", "sync", "rename", "remove", "send", "receive"] as const;
/** What is counted beside that for pauses: `commit` ends a change of the store. */
export type PointKind = (typeof POINT_KINDS)[number] | "commit";
export type Moment = "before" | "halfway" | "after";
export type Tally = Record<PointKind, string[]>;

// biome-ignore lint/suspicious/noExplicitAny: what is wrapped has any signature.
type Operation = (...args: any[]) => any;

const { HOSTFORM_KILL, HOSTFORM_KILL_SIGNAL, HOSTFORM_PAUSE, HOSTFORM_PAUSE_CLOCKS = "0 0" } = process.env;
const [wantedKind, wantedNth = "0", wantedMoment = "before"] = (HOSTFORM_KILL ?? HOSTFORM_PAUSE ?? "").split(" ");
const { writeSync } = fs;
const tally = Object.fromEntries([...POINT_KINDS, "commit"].map((kind) => [kind, []])) as unknown as Tally;
/** What the runtime's own functions do among themselves is not the program's doing. */
let within = false;

/** Counts an operation. @returns the moment at which to die, if this is the one. */
function pass(kind: PointKind, label: string): Moment | undefined {
  if (within) return undefined;
  tally[kind].push(label);
  return kind === wantedKind && tally[kind].length === Number(wantedNth) ? (wantedMoment as Moment) : undefined;
}

/** The system ends the process before the call returns, or freezes it: then the call returns at the wake. */
function strike(): void {
  if (HOSTFORM_PAUSE !== undefined) freeze();
  else if (HOSTFORM_KILL_SIGNAL !== undefined) process.kill(process.pid, HOSTFORM_KILL_SIGNAL);
  else {
    process.kill(process.pid, "SIGKILL");
    throw new Error("SIGKILL did not end the process");
  }
}

function freeze(): void {
  writeSync(3, "frozen\n");
  process.kill(process.pid, "SIGSTOP");
  const [wallMs = 0, monotonicMs = 0] = HOSTFORM_PAUSE_CLOCKS.split(" ").map(Number);
  const [wall, monotonic] = [Date.now, performance.now.bind(performance)];
  Date.now = () => wall() + wallMs;
  performance.now = () => monotonic() + monotonicMs;
}

const nameOf = (target: unknown): string =>
  typeof target === "number" ? `fd ${target}` : path.basename(String(target));
const half = (content: string | Uint8Array): Uint8Array => {
  const bytes = Buffer.from(content);
  return bytes.subarray(0, Math.floor(bytes.length / 2));
};

/** The names of the files that handles were opened on. */
const opened = new WeakMap<object, string>();

/** @param content the place of the content among the arguments, for operations that write. */
function wrapPromise(owner: object, name: string, kind: PointKind, counts = (_: unknown[]) => true, content?: number) {
  const methods = owner as Record<string, Operation>;
  const original = methods[name];
  if (original === undefined) return;
  methods[name] = async function (this: object | undefined, ...args: unknown[]) {
    const target = (this && opened.get(this)) ?? nameOf(args[0]);
    const moment = counts(args) ? pass(kind, `${name} ${target}`) : undefined;
    if (moment === "before") strike();
    if (moment === "halfway" && content !== undefined) {
      await original.apply(this, args.with(content, half(args[content] as string)));
      strike();
    }
    try {
      const result = await original.apply(this, args);
      if (name === "open") opened.set(result, target);
      return result;
    } finally {
      // Whether or not it succeeded.
      if (moment === "after") strike();
    }
  };
}

function wrapSync(owner: object, name: string, kind: PointKind, counts = (_: unknown[]) => true, content?: number) {
  const methods = owner as Record<string, Operation>;
  const original = methods[name];
  if (original === undefined) return;
  methods[name] = function (this: unknown, ...args: unknown[]) {
    const moment = counts(args) ? pass(kind, `${name} ${nameOf(args[0])}`) : undefined;
    if (moment === "before") strike();
    const outer = within;
    within = true;
    try {
      if (moment === "halfway" && content !== undefined) {
        original.apply(this, args.with(content, half(args[content] as string)));
        strike();
      }
      return original.apply(this, args);
    } finally {
      within = outer;
      if (moment === "after") strike();
    }
  };
}

const { O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND } = fs.constants;
function opensForWriting([, flags = "r"]: unknown[]): boolean {
  if (typeof flags === "number") return (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND)) !== 0;
  return flags !== "r" && flags !== "rs";
}
/** Standard output and error are not what the run leaves behind. */
const toFile = ([target]: unknown[]) => typeof target !== "number" || target > 2;

const sample = await fs.promises.open(process.execPath);
const handle = Object.getPrototypeOf(sample);
await sample.close();
for (const name of ["sync", "datasync"]) wrapPromise(handle, name, "sync");
for (const name of ["write", "writeFile", "appendFile"]) wrapPromise(handle, name, "write", undefined, 0);
wrapPromise(handle, "truncate", "write");
// First of all, so that handles know their names.
wrapPromise(fs.promises, "open", "open", opensForWriting);
for (const name of ["writeFile", "appendFile"]) wrapPromise(fs.promises, name, "write", undefined, 1);
wrapPromise(fs.promises, "truncate", "write");
wrapPromise(fs.promises, "rename", "rename");
for (const name of ["unlink", "rm"]) wrapPromise(fs.promises, name, "remove");

wrapSync(fs, "openSync", "open", opensForWriting);
for (const name of ["writeFileSync", "appendFileSync", "writeSync"]) wrapSync(fs, name, "write", toFile, 1);
wrapSync(fs, "ftruncateSync", "write");
for (const name of ["fsyncSync", "fdatasyncSync"]) wrapSync(fs, name, "sync");
for (const name of ["renameSync", "linkSync"]) wrapSync(fs, name, "rename");
for (const name of ["unlinkSync", "rmSync"]) wrapSync(fs, name, "remove");
syncBuiltinESMExports();

/** The end of a change of the store, which is durable then: a prepared statement. */
function wrapCommits(database: Record<string, Operation>): void {
  const prepare = database.prepare as Operation;
  database.prepare = function (this: unknown, sql: string, ...rest: unknown[]) {
    const statement = prepare.call(this, sql, ...rest);
    if (sql !== "COMMIT") return statement;
    const run = statement.run.bind(statement);
    statement.run = () => {
      const moment = pass("commit", "commit");
      if (moment === "before") strike();
      const result = run();
      if (moment === "after") strike();
      return result;
    };
    return statement;
  };
}
if (HOSTFORM_PAUSE !== undefined || process.env.HOSTFORM_KILL_TALLY !== undefined) {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  wrapCommits(process.getBuiltinModule("node:sqlite").DatabaseSync.prototype as never);
  process.emitWarning = emitWarning;
}

/** Pipes are sockets to Node, too; those of this program are its output. */
const isConnection = (socket: net.Socket) => socket.remoteAddress !== undefined;
const socketMethods = net.Socket.prototype as unknown as Record<string, Operation>;

for (const name of ["_write", "_writev"]) {
  const original = socketMethods[name];
  if (original === undefined) continue;
  socketMethods[name] = function (this: net.Socket, ...args: unknown[]) {
    const moment = isConnection(this) ? pass("send", firstLine(args[0])) : undefined;
    if (moment === "before") strike();
    const result = original.apply(this, args);
    if (moment === "after") strike();
    return result;
  };
}

const push = socketMethods.push as Operation;
socketMethods.push = function (this: net.Socket, ...args: unknown[]) {
  const counts = args[0] instanceof Uint8Array && isConnection(this);
  const moment = counts ? pass("receive", firstLine(args[0])) : undefined;
  if (moment === "before") strike();
  const result = push.apply(this, args);
  // Afterwards is when the program has dealt with the bytes, as far as it does so without waiting for anything else.
  if (moment === "after") setImmediate(strike);
  return result;
};

/** `POST /api/v1/services HTTP/1.1` of what is sent, `HTTP/1.1 201 Created` of what comes. */
function firstLine(sent: unknown): string {
  const first = Array.isArray(sent) ? sent[0]?.chunk : sent;
  return (
    Buffer.from(first ?? "")
      .toString("latin1")
      .split("\r\n", 1)[0]
      ?.slice(0, 80) ?? ""
  );
}

const tallyFile = process.env.HOSTFORM_KILL_TALLY;
if (tallyFile !== undefined) {
  process.on("exit", () => {
    within = true;
    fs.writeFileSync(tallyFile, JSON.stringify(tally));
  });
}
