import { describe, expect, test } from "vitest";
import { openStore } from "../../../../src/core/api/open-store.ts";
import { nameOfServer, parsePgServer, requireVerified } from "../../../../src/core/local/index.ts";
import { attempt, HostformError } from "../../../../src/core/model/index.ts";
import { fc, runs } from "../../../support/fc.ts";
import { diagnosticOf } from "../record/builders.ts";

const tls = { mode: "verify-full", rootCert: undefined, cert: undefined, key: undefined };
const variable = "PG_CONN_STR";
const parse = (text: string, env = {}) => parsePgServer({ PG_CONN_STR: text, ...env }, "nino");

describe("PG_CONN_STR", () => {
  test.each([
    ["an address", "postgres://u:p@db.example:6432/states"],
    ["the longer scheme", "postgresql://u:p@db.example:6432/states"],
    ["pairs", "host=db.example port=6432 user=u password=p dbname=states"],
    ["pairs in quotes, with space", "  host = 'db.example' port=6432 user='u' password='p'  dbname=states "],
  ])("%s", (_, text) => {
    const login = { host: "db.example", port: 6432, user: "u", password: "p", database: "states" };
    expect(parse(text)).toEqual({ ...login, tls, variable });
  });

  test("passwords may contain any character", () => {
    expect(parse("postgres://u:a%40b%2Fc%25@h/d").password).toBe("a@b/c%");
    expect(parse(String.raw`host=h password='a b\'c\\d'`).password).toBe(String.raw`a b'c\d`);
    expect(parse(String.raw`host=h password=a\ b=c`).password).toBe("a b=c");
  });

  test("missing settings come from libpq's variables, then from its defaults", () => {
    const env = { PGHOST: "h", PGPORT: "7", PGUSER: "v", PGPASSWORD: "q", PGDATABASE: "e", PGSSLMODE: "verify-full" };
    const full = { host: "h", port: 7, user: "v", password: "q", database: "e", tls, variable };
    expect(parse("", env)).toEqual(full);
    expect(parse("postgres://u@db.example", env)).toEqual({ ...full, host: "db.example", user: "u" });
    expect(parse("postgres://db.example")).toMatchObject({ port: 5432, user: "nino", database: "nino", password: "" });
    expect(parse("dbname=d")).toMatchObject({ host: "localhost", database: "d" });
  });

  test("another variable is named in its messages", async () => {
    const wrong = () => parsePgServer({ HOSTFORM_STORE: "host=h port=none" }, "nino", "HOSTFORM_STORE");
    expect(await diagnosticOf(wrong)).toMatchObject({ summary: "The port of HOSTFORM_STORE is invalid" });
  });

  test("sockets and addresses", () => {
    expect(parse("postgres:///d?host=/run/postgresql").host).toBe("/run/postgresql");
    expect(parse("postgres://%2Frun%2Fpostgresql/d").host).toBe("/run/postgresql");
    const six = parse("postgres://[::1]:5433/d");
    expect(six).toMatchObject({ host: "::1", port: 5433 });
    expect(nameOfServer(six)).toBe("[::1]:5433/d");
  });

  test("TLS is on unless sslmode disables it, and the server never decides", () => {
    expect(parse("postgres://h/d").tls.mode).toBe("verify-full");
    for (const here of ["localhost", "127.0.0.1", "127.8.8.8", "[::1]"])
      expect(parse(`postgres://${here}/d`).tls.mode, here).toBe("require");
    expect(parse("postgres:///d?host=/run/postgresql").tls.mode).toBe("require");
    expect(parse("postgres://h/d?sslmode=disable").tls.mode).toBe("disable");
    const files = "sslmode=verify-ca&sslrootcert=/ca.pem&sslcert=/c.pem&sslkey=/k.pem";
    expect(parse(`postgres://h/d?${files}`).tls).toEqual({
      mode: "verify-ca",
      rootCert: "/ca.pem",
      cert: "/c.pem",
      key: "/k.pem",
    });
    for (const mode of ["prefer", "allow", "DISABLE"]) {
      expect(() => parse(`host=h sslmode=${mode}`), mode).toThrow("sslmode");
    }
  });

  describe("a password in a URL", () => {
    /** Characters that end a part of a URL, and characters that occur in no message. */
    const passwords = fc
      .string({ unit: fc.constantFrom(..."@#/?:&=%\\[] 7qxz"), minLength: 1, maxLength: 24 })
      .filter((text) => /[@#/?]/.test(text));
    const urlOf = (password: string) => `postgres://u:${password}@db.example:6432/states?sslmode=verify-full`;
    /** Returns the reading of a URL, or the text of all its messages. */
    const read = (variable: string, url: string) => {
      const env = { HOSTFORM_STATE_HOME: "/nonexistent", [variable]: url };
      const account = { baseUrl: "https://api.example", token: "t" };
      const messageOf = (error: unknown) => {
        if (error instanceof HostformError) return JSON.stringify(error.diagnostics) + error.message;
        throw error;
      };
      return {
        server: attempt(() => parsePgServer(env, "nino", variable), messageOf),
        store: attempt(() => openStore({ ...account, env, isBesideState: true }).file, messageOf),
      };
    };

    test.each(["PG_CONN_STR", "HOSTFORM_STORE"])("is whole or refused in %s, and no message has a part of it", (of) => {
      const known = Object.values(read(of, "postgres://h:none/d")).join();
      fc.assert(
        fc.property(passwords, (password) => {
          const { server, store } = read(of, urlOf(password));
          // `%` and two digits are an escape in each reading.
          if (typeof server !== "string" && !/%\d\d/.test(password)) {
            const login = { host: "db.example", port: 6432, user: "u", password, database: "states" };
            expect(server).toMatchObject(login);
            expect(store).toBe("db.example:6432/states");
          }
          const text = `${typeof server === "string" ? server : nameOfServer(server)}${store}`;
          for (let at = 0; at + 4 <= password.length; at++) {
            const part = password.slice(at, at + 4);
            if (!known.includes(part)) expect(text).not.toContain(part);
          }
        }),
        { numRuns: runs(300) },
      );
    });

    test("arrives whole if it is percent-encoded", () => {
      fc.assert(
        fc.property(passwords, (password) => {
          const login = { host: "db.example", port: 6432, user: "u", password, database: "states" };
          expect(parse(urlOf(encodeURIComponent(password)))).toMatchObject(login);
        }),
        { numRuns: runs(300) },
      );
    });

    test.each(["a#b", "1/b", "1?b", "1#b", "x@other.example:7/b", "x@other.example?b", "x@other.example#b"])(
      "is refused if it is %s, with the way to write it",
      async (password) => {
        for (const variable of ["PG_CONN_STR", "HOSTFORM_STORE"])
          expect(await diagnosticOf(() => parsePgServer({ [variable]: urlOf(password) }, "", variable))).toMatchObject({
            summary: `${variable} is not a valid URL`,
            remedies: expect.arrayContaining(["Percent-encode the password."]),
          });
      },
    );

    test("may contain an @, as with Terraform, because the last one ends it", () => {
      expect(parse(urlOf("p@ss@other.example"))).toMatchObject({ host: "db.example", password: "p@ss@other.example" });
    });
  });

  test.each([
    ["nothing", "", /is not set/],
    ["a text", "canary", /malformed/],
    ["a quote that does not end", "host=h password='canary", /malformed/],
    ["an address with a bad escape", "postgres://u:canary%zz@h/d", /not a valid URL/],
    ["an address with a slash in the password", "postgres://u:can/ary@h/d", /not a valid URL|host/],
    ["a port that is none", "host=h password=canary port=99999", /port/],
  ])("%s is refused without repeating it", async (_, text, summary) => {
    const diagnostic = await diagnosticOf(() => parse(text));
    expect(diagnostic).toMatchObject({ code: "state.backend", summary: expect.stringMatching(summary) });
    expect(JSON.stringify(diagnostic)).not.toMatch(/canary|can\/ary/);
  });
});

describe("a connection to another machine", () => {
  const check = (host: string, mode: string, env = {}) => requireVerified(parse(`host=${host} sslmode=${mode}`), env);

  test.each(["disable", "require", "verify-ca"])("with sslmode=%s needs HOSTFORM_PG_INSECURE=1", async (mode) => {
    for (const host of ["db.example", "10.0.0.7", "localhost.evil.example", "127.0.0.1.evil.example", "::2"]) {
      const refused = await diagnosticOf(async () => check(host, mode));
      expect(refused?.code, host).toBe("state.backend");
      expect(JSON.stringify(refused?.remedies), host).toContain("sslmode=verify-full");
      expect(() => check(host, mode, { HOSTFORM_PG_INSECURE: "yes" }), host).toThrow();
      check(host, mode, { HOSTFORM_PG_INSECURE: "1" });
    }
    for (const host of ["localhost", "127.0.0.1", "::1", "/run/postgresql"]) check(host, mode);
  });

  test("needs no setting if it verifies the whole certificate", () => check("db.example", "verify-full"));
});
