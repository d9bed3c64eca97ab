import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { connectTo, type PgModule, parsePgServer } from "../../../../src/core/local/index.ts";
import { saying } from "../../../support/remedies.ts";
import { diagnosticOf } from "../record/builders.ts";

/** Stands in for the package. Tests check only its connection settings. Each query after the first throws `failing`. */
function fakePackage(failing?: Error) {
  const settings: Record<string, unknown>[] = [];
  let queries = 0;
  class Client {
    constructor(config: Record<string, unknown>) {
      settings.push(config);
    }
    on() {}
    async connect() {}
    async end() {}
    async query() {
      if (failing !== undefined && ++queries > 1) throw failing;
      return { rows: [] };
    }
  }
  return { settings, from: async () => ({ Client }) as unknown as PgModule };
}

const serverOf = (parameters: string, host = "db.example") =>
  parsePgServer({ PG_CONN_STR: `postgres://u:p@${host}/d${parameters}` }, "nino");

describe("a connection", () => {
  let folder = "";
  const file = (name: string) => join(folder, name);
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "hostform-pg-"));
    for (const name of ["ca", "cert", "key"]) writeFileSync(file(name), `${name} of a test`);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const tlsOf = async (parameters: string, host?: string) => {
    const { settings, from } = fakePackage();
    await connectTo(serverOf(parameters, host), "test", { from });
    return settings[0]?.ssl;
  };

  test("is encrypted as PostgreSQL's own clients do it", async () => {
    const ca = () => `sslrootcert=${file("ca")}`;
    expect(await tlsOf("?sslmode=disable")).toBe(false);
    expect(await tlsOf("")).toEqual({ rejectUnauthorized: true });
    expect(await tlsOf("", "localhost")).toEqual({ rejectUnauthorized: false });
    // With a given root certificate, `require` also verifies the server's certificate. Only verify-full verifies its
    // name.
    const chain = { ca: "ca of a test", rejectUnauthorized: true, checkServerIdentity: expect.any(Function) };
    expect(await tlsOf(`?sslmode=require&${ca()}`)).toEqual(chain);
    expect(await tlsOf(`?sslmode=verify-ca&${ca()}`)).toEqual(chain);
    expect(await tlsOf("?sslmode=verify-full")).toEqual({ rejectUnauthorized: true });
    expect(await tlsOf(`?sslmode=verify-full&sslcert=${file("cert")}&sslkey=${file("key")}`)).toEqual({
      cert: "cert of a test",
      key: "key of a test",
      rejectUnauthorized: true,
    });
  });

  test("through a socket is not encrypted: it does not leave the machine", async () => {
    expect(await tlsOf("", "%2Frun%2Fpostgresql")).toBe(false);
  });

  test("a certificate that cannot be read is named", async () => {
    expect(await diagnosticOf(() => tlsOf("?sslrootcert=/no/such.pem"))).toMatchObject({
      code: "state.backend",
      detail: expect.stringContaining("/no/such.pem: ENOENT"),
    });
  });

  /** A server that accepts connections and sends nothing. */
  const hanging = async (onConnection: (socket: Socket) => void = () => undefined) => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket.on("error", () => undefined));
      onConnection(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
    const { port } = server.address() as AddressInfo;
    return parsePgServer({ PG_CONN_STR: `postgres://u:p@127.0.0.1:${port}/d?sslmode=disable` }, "nino");
  };

  test("to a server that hangs ends after the configured time", async () => {
    const server = await hanging();
    expect(await diagnosticOf(() => connectTo(server, "test", { timeoutMs: 20 }))).toMatchObject({
      code: "state.backend",
      summary: "The database cannot be reached",
    });
  });

  test("to a server that hangs is left by Ctrl-C at once", async () => {
    const stop = new AbortController();
    const server = await hanging(() => stop.abort(new Error("Ctrl-C")));
    await expect(connectTo(server, "test", { signal: stop.signal })).rejects.toThrow("Ctrl-C");
  });

  test("gives no password in clear text to a server that proves nothing", async () => {
    const got: Buffer[] = [];
    const server = await hanging((socket) => {
      socket.on("data", (data) => got.push(data));
      // AuthenticationCleartextPassword
      socket.once("data", () => socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3])));
    });
    const password = "a-password-of-a-test";
    expect(await diagnosticOf(() => connectTo({ ...server, password }, "test"))).toMatchObject({
      code: "state.backend",
      summary: expect.stringContaining("asks for the password in clear text"),
      remedies: saying(expect.stringContaining("scram-sha-256")),
    });
    expect(Buffer.concat(got).toString("latin1")).not.toContain(password);
  });

  test("has the time that is set for statements, too", async () => {
    const { settings, from } = fakePackage();
    await connectTo(serverOf(""), "test", { from, timeoutMs: 5_000 });
    expect(settings[0]).toMatchObject({ connectionTimeoutMillis: 5_000, query_timeout: 5_000 });
  });

  test("is bounded in time, and its name is plain", async () => {
    const { settings, from } = fakePackage();
    await connectTo(serverOf(""), "hostform 1 apply ნინო@ci", { from });
    expect(settings[0]).toMatchObject({
      application_name: "hostform 1 apply ????@ci",
      connectionTimeoutMillis: 10_000,
      query_timeout: 40_000,
    });
  });

  test("to a database that does not exist says that, and what to do", async () => {
    const unknown = Object.assign(new Error('database "d" does not exist'), { code: "3D000" });
    const from = async () =>
      ({
        Client: class {
          on() {}
          async end() {}
          async connect() {
            throw unknown;
          }
        },
      }) as unknown as PgModule;
    expect(await diagnosticOf(() => connectTo(serverOf(""), "test", { from }))).toMatchObject({
      code: "state.backend",
      summary: "The database does not exist",
      detail: expect.stringContaining('3D000: database "d" does not exist'),
      remedies: saying(expect.stringContaining("Create it")),
    });
  });

  test.each([
    ["a refused statement", "42501", false],
    ["a statement that took too long", "57014", false],
    ["the end by an administrator", "57P01", true],
    ["the end of an idle session", "57P05", true],
    ["a connection that broke", "EPIPE", true],
    ["no answer in time", undefined, true],
  ])("%s ends the session or not", async (_, code, over) => {
    const { from } = fakePackage(Object.assign(new Error("words"), code && { code }));
    const database = await connectTo(serverOf(""), "test", { from });
    expect(database.lost).toBeUndefined();
    await expect(database.query("SELECT 1")).rejects.toThrow("words");
    expect(database.lost !== undefined).toBe(over);
  });
});
