/** A PostgreSQL server for one test: in a temporary folder, on loopback, ended by its process id. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { Client } from "pg";
import { POSTGRES } from "./programs.ts";

const USER = "hostform";
/** Password with characters that a connection URL must encode. */
const PASSWORD = "canary/p@ss-of-postgres";

/** User for the server if the tests run as root, because the server refuses to run as root. */
const unprivileged = (() => {
  if (process.getuid?.() !== 0) return {};
  const users = new Map(
    readFileSync("/etc/passwd", "utf8")
      .split("\n")
      .map((line) => [line.split(":")[0], line.split(":")]),
  );
  const user = users.get("postgres") ?? users.get("nobody");
  return user === undefined ? undefined : { uid: Number(user[2]), gid: Number(user[3]) };
})();

export interface Postgres {
  readonly password: string;
  readonly port: number;
  /**
   * Creates an empty database.
   * @returns The database's PG_CONN_STR.
   */
  database(): Promise<string>;
  /** Executes one statement at the database of a connection string. */
  query(connection: string, sql: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /**
   * Copies the tables of the store in a database.
   * @returns A function that restores the copy, as a dump does: in new tables.
   */
  backup(connection: string): Promise<() => Promise<unknown>>;
  /** Ends the server at once, as a crash does, and starts it again after a pause. */
  restart(pauseMs: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startPostgres(): Promise<Postgres> {
  if (POSTGRES.path === undefined) throw new Error("PostgreSQL is missing");
  if (unprivileged === undefined) throw new Error("PostgreSQL refuses root, and /etc/passwd has no user to run it as");
  const binaries = path.dirname(POSTGRES.path);
  const folder = mkdtempSync(path.join(tmpdir(), "hostform-postgres-"));
  const passwordFile = path.join(folder, "password");
  writeFileSync(passwordFile, PASSWORD);
  const data = path.join(folder, "data");
  mkdirSync(data);
  if (unprivileged.uid !== undefined) {
    for (const file of [folder, passwordFile, data]) chownSync(file, unprivileged.uid, unprivileged.gid);
  }
  const how = { ...unprivileged, cwd: folder, env: { PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC" } };
  const options = [
    "--auth=scram-sha-256",
    `--username=${USER}`,
    `--pwfile=${passwordFile}`,
    "--encoding=UTF8",
    "--no-sync",
  ];
  execFileSync(path.join(binaries, "initdb"), ["-D", data, ...options], { ...how, stdio: "pipe" });
  const port = await freePort();
  const settings = {
    listen_addresses: "127.0.0.1",
    port,
    unix_socket_directories: folder,
    fsync: "off",
    max_connections: 400,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const run = () =>
    spawn(path.join(binaries, "postgres"), ["-D", data, ...flags], { ...how, stdio: ["ignore", "ignore", "pipe"] });
  let server = run();
  const stop = async () => {
    await end(server);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await listening(server);
  } catch (error) {
    await stop();
    throw error;
  }
  const connection = (name: string) =>
    `postgres://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${name}?sslmode=disable`;
  let databases = 0;
  const query: Postgres["query"] = async (at, sql, values = []) => {
    const client = new Client({ connectionString: at });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql, values)).rows;
    } finally {
      await client.end();
    }
  };
  return {
    password: PASSWORD,
    port,
    query,
    stop,
    backup: async (at) => {
      await query(at, "CREATE SCHEMA backup");
      for (const { tablename: name } of await query(
        at,
        "SELECT tablename FROM pg_tables WHERE schemaname = 'hostform'",
      )) {
        await query(at, `CREATE TABLE backup.${name} (LIKE hostform.${name} INCLUDING ALL)`);
        await query(at, `INSERT INTO backup.${name} SELECT * FROM hostform.${name}`);
      }
      return () => query(at, "DROP SCHEMA hostform CASCADE; ALTER SCHEMA backup RENAME TO hostform");
    },
    restart: async (pauseMs) => {
      await end(server);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      server = run();
      await listening(server);
    },
    database: async () => {
      const name = `states_${++databases}`;
      await query(connection("postgres"), `CREATE DATABASE ${name}`);
      return connection(name);
    },
  };
}

/** Resolves when the server reports on standard error that it is ready. */
function listening(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = "";
    server.stderr?.on("data", (chunk) => {
      log += chunk;
      if (log.includes("ready to accept connections")) resolve();
    });
    server.once("error", reject);
    server.once("exit", (code) => reject(new Error(`postgres ended with ${code}:\n${log}`)));
  });
}

function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    server.once("exit", () => resolve());
    // Ends the server at once, because nobody needs its clients and its data any longer.
    server.kill("SIGQUIT");
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
