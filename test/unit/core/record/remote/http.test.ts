import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Agent } from "undici";
import { afterEach, describe, expect, test } from "vitest";
import type { Clock, Diagnostic } from "../../../../../src/core/model/index.ts";
import { createHttpBackend, createStateStore, type StateStore } from "../../../../../src/core/record/index.ts";
import { testClock } from "../../../../support/clock.ts";
import { temporaryFolder } from "../../../../support/folder.ts";
import { type Flavour, HttpBackend, type HttpBackendOptions } from "../../../../support/http-backend.ts";
import { fixOf, saying } from "../../../../support/remedies.ts";
import { countingUuids, diagnosticOf, resource } from "../builders.ts";

const request = { command: "apply", timeoutMs: 0 };
const SERVICE = "hosting_service.a";
const servers: HttpBackend[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function start(options: HttpBackendOptions = {}): Promise<HttpBackend> {
  const server = await HttpBackend.start(options);
  servers.push(server);
  return server;
}

interface Parts {
  readonly clock?: Clock;
  readonly credentials?: { username: string; password: string };
  readonly withoutLock?: boolean;
  readonly locked?: boolean;
  readonly pid?: number;
  readonly host?: string;
  /** Folder with the signs of life of the machine's processes. */
  readonly lifeSigns?: string;
  readonly warnings?: Diagnostic[];
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** States that the server refused. */
  readonly kept?: string[];
}

const connections = new Agent();
let stores = 0;

function storeAt(server: HttpBackend, parts: Parts = {}): StateStore {
  const { lock_address, lock_method = "LOCK", unlock_method = "UNLOCK" } = server.settings;
  const uuid = countingUuids(`id${++stores}`);
  const place = () =>
    createHttpBackend({
      address: new URL(server.url),
      updateMethod: "POST",
      lock:
        parts.locked === false
          ? undefined
          : {
              address: new URL(lock_address ?? ""),
              method: lock_method,
              unlockAddress: new URL(lock_address ?? ""),
              unlockMethod: unlock_method,
            },
      withoutLock: parts.withoutLock ?? false,
      credentials: parts.credentials,
      clock: parts.clock ?? testClock(),
      timeoutMs: parts.timeoutMs,
      signal: parts.signal,
      uuid,
      contender: { pid: parts.pid ?? 4711, user: "nino", host: parts.host ?? "ci-1" },
      ...(parts.lifeSigns && { lifeSigns: parts.lifeSigns }),
      connect: async () => connections,
      mostBytes: 100_000,
      warn: (diagnostic) => parts.warnings?.push(diagnostic),
      keep: async (text) => void parts.kept?.push(text),
    });
  return createStateStore(async () => place(), uuid);
}

const write = async (store: StateStore, ...ids: string[]) => {
  const open = await store.open({ ...request, write: true });
  try {
    for (const id of ids) await open.put(resource(SERVICE, id));
  } finally {
    await open.close();
  }
};

const idIn = (server: HttpBackend) => JSON.parse(server.state ?? "{}").resources?.[0]?.instances[0].attributes.id;

describe.each<Flavour>(["plain", "gitlab"])("a state at a server (%s)", (flavour) => {
  test("each change is the whole state at the server, under the lock", async () => {
    const server = await start({ flavour });
    await write(storeAt(server), "1", "2");
    const [lock, unlock] = flavour === "gitlab" ? ["POST", "DELETE"] : ["LOCK", "UNLOCK"];
    expect(server.sent()).toEqual([
      `${lock} /state/lock`,
      "GET /state",
      // Before each write, hostform reads the state that it replaces. At the end, it reads the state that it wrote.
      "GET /state",
      "POST /state?ID",
      "GET /state",
      "POST /state?ID",
      "GET /state",
      `${unlock} /state/lock`,
    ]);
    expect(server.lock).toBeUndefined();
    expect(idIn(server)).toBe("2");
    const open = await storeAt(server).open({ ...request, write: false });
    expect(open.state.resources.get(SERVICE)?.attributes.id).toBe("2");
    await open.close();
  });

  test("a second run is refused with the name of the holder, and does not write", async () => {
    const server = await start({ flavour });
    const first = await storeAt(server, { pid: 1 }).open({ ...request, write: true });
    const diagnostic = await diagnosticOf(() => storeAt(server, { pid: 2 }).open({ ...request, write: true }));
    expect(diagnostic).toMatchObject({
      code: "state.locked",
      detail: expect.stringMatching(/nino@ci-1.*since 2026-11-21.*lock ID id\d+-1/),
      remedies: saying(expect.stringContaining("force-unlock")),
    });
    // GitLab returns the requester's own fields. Only id, name and time belong to the holder of the lock.
    if (flavour === "plain") expect(diagnostic?.detail).toContain("process 1 (apply)");
    else expect(diagnostic?.detail).not.toMatch(/process|apply/);
    await first.close();
    await write(storeAt(server), "1");
    expect(idIn(server)).toBe("1");
  });

  test("a write under a lock that was taken over is refused by the server, and nothing follows", async () => {
    const server = await start({ flavour });
    const kept: string[] = [];
    const open = await storeAt(server, { kept }).open({ ...request, write: true });
    await open.put(resource(SERVICE, "1"));
    await storeAt(server).forceUnlock();
    const other = await storeAt(server).open({ ...request, write: true });
    const diagnostic = await diagnosticOf(() => open.put(resource(SERVICE, "2")));
    expect(diagnostic).toMatchObject({
      code: "state.lost_lock",
      detail: expect.stringMatching(
        /Now: lock ID id\d+-1, nino@ci-1[\s\S]*Not in the state: hosting_service.a \(id 2\)/,
      ),
    });
    server.sent();
    expect((await diagnosticOf(() => open.close()))?.code).toBe("state.lost_lock");
    // hostform sends no further write and no unlock, because another run holds the lock.
    expect(server.sent()).toEqual([]);
    expect(kept.map((text) => JSON.parse(text).resources[0].instances[0].attributes.id)).toEqual(["2"]);
    expect(idIn(server)).toBe("1");
    await other.close();
  });

  test("an answer that was lost is no second write, and no lost lock", async () => {
    const server = await start({ flavour });
    const open = await storeAt(server).open({ ...request, write: true });
    let broken = 0;
    server.fault = (line) => (line.startsWith("POST /state?ID") && ++broken === 1 ? { broken: "after" } : undefined);
    await open.put(resource(SERVICE, "1"));
    expect(idIn(server)).toBe("1");
    await open.put(resource(SERVICE, "2"));
    await open.close();
    expect(idIn(server)).toBe("2");
  });

  test("the lost answer to a lock is not taken for another's lock", async () => {
    const server = await start({ flavour });
    let broken = 0;
    server.fault = (line) => (line.endsWith("/lock") && ++broken === 1 ? { broken: "after" } : undefined);
    await write(storeAt(server), "1");
    expect(broken).toBeGreaterThan(1);
    expect(server.lock).toBeUndefined();
  });

  test("the lost answer to an unlock is not reported as a failure", async () => {
    const server = await start({ flavour });
    const unlock = flavour === "gitlab" ? "DELETE" : "UNLOCK";
    let broken = 0;
    server.fault = (line) => (line.startsWith(unlock) && ++broken === 1 ? { broken: "after" } : undefined);
    const warnings: Diagnostic[] = [];
    await write(storeAt(server, { warnings }), "1");
    expect(server.lock).toBeUndefined();
    expect(warnings).toEqual([]);
  });

  test("force-unlock frees the lock of the holder that the server names", async () => {
    const server = await start({ flavour });
    await storeAt(server).open({ ...request, write: true });
    const { holder, alive } = await storeAt(server).forceUnlock();
    expect(holder?.who).toBe("nino@ci-1");
    expect(alive).toBeUndefined();
    expect(server.lock).toBeUndefined();
    expect(await storeAt(server).forceUnlock()).toEqual({ holder: undefined, alive: undefined });
    expect(server.lock).toBeUndefined();
  });

  test("force-unlock with the id of another lock frees nothing", async () => {
    const server = await start({ flavour });
    await storeAt(server).open({ ...request, write: true });
    const diagnostic = await diagnosticOf(() => storeAt(server).forceUnlock("other"));
    expect(diagnostic).toMatchObject({ code: "state.locked", summary: expect.stringContaining("the ID other") });
    expect(server.lock).toBeDefined();
  });
});

describe("a run that is stopped between its reading and its write", () => {
  test("reads again, and writes nothing over the state of a run that has ended meanwhile", async () => {
    const server = await start();
    const base = testClock();
    let stopped: (() => void) | undefined;
    const clock: Clock = {
      ...base,
      monotonic: () => {
        // Stops the run at the first clock read after the GET of the state.
        if (server.requests.at(-1)?.line === "GET /state") stopped?.();
        return base.monotonic();
      },
    };
    const slow = await storeAt(server, { clock }).open({ ...request, write: true });
    await slow.put(resource(SERVICE, "1"));
    await storeAt(server).forceUnlock();
    const others = JSON.stringify({ ...JSON.parse(server.state ?? ""), serial: 9, resources: [] });
    stopped = () => {
      stopped = undefined;
      server.state = others;
      base.advance(5_001);
    };
    server.sent();
    expect(await diagnosticOf(() => slow.put(resource(SERVICE, "2")))).toMatchObject({ code: "state.lost_lock" });
    expect(server.state).toBe(others);
    await diagnosticOf(() => slow.close());
  });

  test("of a server that takes longer each time, writes after three readings", async () => {
    const server = await start();
    const base = testClock();
    const clock: Clock = {
      ...base,
      monotonic: () => {
        base.advance(6_000);
        return base.monotonic();
      },
    };
    const open = await storeAt(server, { clock }).open({ ...request, write: true });
    server.sent();
    await open.put(resource(SERVICE, "1"));
    expect(server.sent()).toEqual(["GET /state", "GET /state", "GET /state", "POST /state?ID"]);
    await open.close();
    expect(idIn(server)).toBe("1");
  });
});

describe.each<Flavour>(["plain", "gitlab"])("the proof that a run holds the lock (%s)", (flavour) => {
  test("is the text that it wrote last: a server may accept the id of a freed lock", async () => {
    const server = await start({ flavour });
    const slow = await storeAt(server).open({ ...request, write: true });
    await slow.put(resource(SERVICE, "1"));
    server.sent();
    await slow.proveLock();
    expect(server.sent()).toEqual(["GET /state"]);
    await storeAt(server).forceUnlock();
    await slow.proveLock();
    await write(storeAt(server), "2");
    expect(server.lock).toBeUndefined();
    expect(slow.lostLock(), "nothing shows that here").toBeUndefined();
    expect(await diagnosticOf(() => slow.proveLock())).toMatchObject({ code: "state.lost_lock" });
    await diagnosticOf(() => slow.close());
    expect(idIn(server)).toBe("2");
  });

  test("is missing while the server does not answer, and the lock is not lost", async () => {
    const server = await start({ flavour });
    const open = await storeAt(server).open({ ...request, write: true });
    await open.put(resource(SERVICE, "1"));
    server.fault = (line) => (line.startsWith("GET") ? { status: 403 } : undefined);
    expect(await diagnosticOf(() => open.proveLock())).toMatchObject({ code: "state.backend" });
    server.fault = () => undefined;
    await open.put(resource(SERVICE, "2"));
    await open.close();
    expect(idIn(server)).toBe("2");
  });
});

describe.each<Flavour>(["plain", "gitlab"])("a run that was killed while it held the lock (%s)", (flavour) => {
  /** A killed run: the server still has its lock, and its sign of life has no process. */
  async function killed(lifeSigns: string) {
    const server = await start({ flavour });
    const open = await storeAt(server, { lifeSigns }).open({ ...request, write: true });
    const [sign = ""] = readdirSync(lifeSigns);
    const { lock } = server;
    await open.close();
    expect(readdirSync(lifeSigns), "a run that ends leaves no sign").toEqual([]);
    server.lock = lock;
    writeFileSync(path.join(lifeSigns, sign), "");
    return server;
  }

  test("does not keep the next run on the same machine out", async () => {
    const lifeSigns = temporaryFolder();
    const server = await killed(lifeSigns);
    const warnings: Diagnostic[] = [];
    await write(storeAt(server, { lifeSigns, warnings }), "1");
    expect(idIn(server)).toBe("1");
    expect(server.lock).toBeUndefined();
    expect(warnings).toMatchObject([
      { severity: "warning", code: "state.locked", summary: expect.stringContaining("Released the lock") },
    ]);
    expect(readdirSync(lifeSigns)).toEqual([]);
  });

  test.each([
    ["on another machine", { lifeSigns: true, host: "ci-2" }],
    ["where no sign of it is", { lifeSigns: false }],
  ])("keeps a run %s out", async (_, { lifeSigns: same, ...parts }) => {
    const lifeSigns = temporaryFolder();
    const server = await killed(lifeSigns);
    const other = storeAt(server, { lifeSigns: same ? lifeSigns : temporaryFolder(), ...parts });
    expect(await diagnosticOf(() => other.open({ ...request, write: true }))).toMatchObject({ code: "state.locked" });
    expect(server.lock).toBeDefined();
  });

  test("is not mixed up with one that lives", async () => {
    const lifeSigns = temporaryFolder();
    const server = await start({ flavour });
    const living = await storeAt(server, { lifeSigns }).open({ ...request, write: true });
    const other = storeAt(server, { lifeSigns });
    expect(await diagnosticOf(() => other.open({ ...request, write: true }))).toMatchObject({ code: "state.locked" });
    expect(readdirSync(lifeSigns), "who was refused leaves no sign").toHaveLength(1);
    await living.put(resource(SERVICE, "1"));
    await living.close();
    expect(idIn(server)).toBe("1");
  });
});

describe("a server that answers that it stored the state, and did not", () => {
  const lying = async () => {
    const server = await start();
    await write(storeAt(server), "1");
    server.fault = (line) => (line.startsWith("POST /state?ID") ? { status: 200 } : undefined);
    return server;
  };

  test("is found out at the end of the run, and the state is kept", async () => {
    const server = await lying();
    const kept: string[] = [];
    const open = await storeAt(server, { kept }).open({ ...request, write: true });
    await open.put(resource(SERVICE, "2"));
    expect(await diagnosticOf(() => open.close())).toMatchObject({
      code: "state.unwritable",
      summary: "A write of the state was accepted, but not stored",
    });
    expect(server.lock, "the lock is free again").toBeUndefined();
    server.fault = () => undefined;
    await storeAt(server).push(kept[0] ?? "", { ...request, force: false });
    expect(idIn(server), "what was kept can be pushed").toBe("2");
  });

  test("is found out before the next write, so that no second order leaves", async () => {
    const server = await lying();
    const open = await storeAt(server).open({ ...request, write: true });
    await open.put(resource(SERVICE, "2"));
    expect(await diagnosticOf(() => open.put(resource(SERVICE, "3")))).toMatchObject({
      code: "state.unwritable",
      detail: expect.stringContaining("Not in the state: hosting_service.a (id 3)"),
    });
  });

  test("that does not answer at the end is warned of: the write was accepted", async () => {
    const server = await start();
    const warnings: Diagnostic[] = [];
    const open = await storeAt(server, { warnings }).open({ ...request, write: true });
    await open.put(resource(SERVICE, "1"));
    server.fault = (line) => (line.startsWith("GET") ? { status: 503 } : undefined);
    await open.close();
    expect(warnings).toMatchObject([{ code: "state.backend", severity: "warning" }]);
  });
});

describe("a server that does not say who holds the state", () => {
  test("is believed that somebody does, and the lock can be freed by its id", async () => {
    const server = await start({ silent: true });
    await storeAt(server).open({ ...request, write: true });
    const refused = await diagnosticOf(() => storeAt(server).open({ ...request, write: true }));
    expect(refused).toMatchObject({
      code: "state.locked",
      detail: expect.stringContaining("does not name the holder"),
    });
    const unnamed = await diagnosticOf(() => storeAt(server).forceUnlock());
    expect(unnamed).toMatchObject({
      code: "state.locked",
      remedies: saying(expect.stringContaining("force-unlock LOCK-ID")),
    });
    await storeAt(server).forceUnlock(String(server.lock?.ID));
    expect(server.lock).toBeUndefined();
  });
});

describe("a backend without a lock", () => {
  test("is refused for writing, and can be read", async () => {
    const server = await start();
    const diagnostic = await diagnosticOf(() => storeAt(server, { locked: false }).open({ ...request, write: true }));
    expect(diagnostic).toMatchObject({
      code: "state.backend",
      remedies: saying(expect.stringContaining("without_lock")),
    });
    expect(await storeAt(server, { locked: false }).pull()).toBeUndefined();
    expect((await diagnosticOf(() => storeAt(server, { locked: false }).forceUnlock()))?.code).toBe("state.backend");
  });

  test("looks before each write whether another program wrote", async () => {
    const server = await start();
    const open = await storeAt(server, { locked: false, withoutLock: true }).open({ ...request, write: true });
    await open.put(resource(SERVICE, "1"));
    expect(server.sent()).toEqual(["GET /state", "GET /state", "POST /state"]);
    // The same content in another layout is the same state.
    server.state = JSON.stringify(JSON.parse(server.state ?? ""));
    await open.put(resource(SERVICE, "2"));
    server.state = server.state?.replace('"2"', '"3"');
    expect(await diagnosticOf(() => open.put(resource(SERVICE, "4")))).toMatchObject({ code: "state.lost_lock" });
    expect(idIn(server)).toBe("3");
  });
});

describe("answers that are not a state", () => {
  const page = { status: 200, type: "text/html; charset=utf-8", body: "<!doctype html><h1>Log in</h1>" };

  test.each([
    ["a page", page, /HTML page/, /proxy or a login page/],
    ["a page that calls itself JSON", { ...page, type: "application/json" }, /HTML page/, /login page/],
    ["401", { status: 401 }, /rejects the credentials \(401\)/, /TF_HTTP_USERNAME/],
    ["403", { status: 403, body: '{"message":"403 Forbidden"}' }, /lack the permission/, /TF_HTTP_PASSWORD/],
    [
      "a redirect",
      { status: 302, location: "https://sso.example/x?token=t" },
      /redirects to https:\/\/sso.example\/x \(302\)/,
      /target of the redirect/,
    ],
    ["5xx that stays", { status: 503 }, /fails \(503\)/, /later/],
    ["another 4xx", { status: 418 }, /unexpected status \(418\)/, /URL/],
  ])("%s: nothing is taken for a state", async (_, fault, summary, fix) => {
    const server = await start();
    server.fault = (line) => (line.startsWith("GET") ? fault : undefined);
    const diagnostic = await diagnosticOf(() => storeAt(server).open({ ...request, write: true }));
    expect(diagnostic).toMatchObject({
      code: "state.backend",
      summary: expect.stringMatching(summary),
      remedies: saying(expect.stringMatching(fix)),
    });
    expect(JSON.stringify(diagnostic)).not.toContain("token=t");
    expect(server.lock, "the lock is free again").toBeUndefined();
  });

  test.each([204, 404])("%i is no state", async (status) => {
    const server = await start();
    server.fault = () => ({ status });
    expect(await storeAt(server).pull()).toBeUndefined();
  });

  test("a state that is damaged at the server has no file beside it", async () => {
    const server = await start();
    server.fault = (line) =>
      line.startsWith("GET") ? { status: 200, type: "application/json", body: "{}x" } : undefined;
    const fix = fixOf(await diagnosticOf(() => storeAt(server).open({ ...request, write: false })));
    expect(fix).toBe(
      "Restore it from version control or a backup. The server may keep earlier versions, as GitLab does.",
    );
  });

  test("a page in answer to a write is no write", async () => {
    const server = await start();
    const open = await storeAt(server).open({ ...request, write: true });
    server.fault = (line) => (line.startsWith("POST") ? page : undefined);
    expect(await diagnosticOf(() => open.put(resource(SERVICE, "1")))).toMatchObject({
      code: "state.backend",
      detail: expect.stringContaining("Not in the state: hosting_service.a (id 1)"),
    });
  });

  test("what is larger than a state can be is not read to its end", async () => {
    const server = await start();
    server.fault = () => ({ status: 200, body: " ".repeat(100_001) });
    const diagnostic = await diagnosticOf(() => storeAt(server).pull());
    expect(diagnostic).toMatchObject({
      code: "state.backend",
      summary: expect.stringContaining("too large for a state"),
    });
    server.fault = () => ({ status: 200, body: " ".repeat(100_000) });
    expect(await storeAt(server).pull()).toHaveLength(100_000);
  });
});

describe("a server that hangs", () => {
  test.each(["LOCK", "GET", "POST"])("in answer to %s is given up after the time that is set", async (method) => {
    const server = await start();
    const clock = testClock();
    server.fault = (line) => (line.startsWith(method) ? { hangs: "before" } : undefined);
    const before = clock.now();
    const diagnostic = await diagnosticOf(() => write(storeAt(server, { clock, timeoutMs: 5_000 }), "1"));
    expect(diagnostic).toMatchObject({
      code: expect.stringMatching(/^state\.(?:backend|unwritable)$/),
      detail: expect.stringContaining("no answer within 5 s"),
    });
    expect(clock.now() - before).toBeLessThan(method === "POST" ? 31_000 : 6_000);
  });

  test.each([
    ["LOCK", "before"],
    ["LOCK", "after"],
    ["GET", "before"],
  ] as const)(
    "in answer to %s (%s it was carried out) is left by Ctrl-C at once, with the lock free",
    async (method, hangs) => {
      const server = await start();
      const stop = new AbortController();
      server.fault = (line) => {
        if (!line.startsWith(method)) return undefined;
        setImmediate(() => stop.abort(new Error("Ctrl-C")));
        return { hangs };
      };
      const store = storeAt(server, { signal: stop.signal });
      await expect(store.open({ ...request, write: true, signal: stop.signal })).rejects.toThrow("Ctrl-C");
      expect(server.lock).toBeUndefined();
    },
  );

  test("and does not free the lock either when the run is left: the next one on this machine frees it", async () => {
    const server = await start();
    const lifeSigns = temporaryFolder();
    const stop = new AbortController();
    server.fault = (line) => {
      if (line.startsWith("LOCK")) setImmediate(() => stop.abort(new Error("Ctrl-C")));
      return line.startsWith("LOCK") ? { hangs: "after" } : { broken: "before" };
    };
    const opening = storeAt(server, { lifeSigns }).open({ ...request, write: true, signal: stop.signal });
    await expect(opening).rejects.toThrow("Ctrl-C");
    expect(server.lock).toBeDefined();
    server.fault = () => undefined;
    await write(storeAt(server, { lifeSigns }), "1");
    expect(idIn(server)).toBe("1");
  });
});

describe("a server that fails for a while", () => {
  test.each([500, 502, 503, 429])("%i is tried again, with growing pauses", async (status) => {
    const server = await start();
    const clock = testClock();
    server.fault = (_, nth) => (nth <= 3 ? { status } : undefined);
    expect(await storeAt(server, { clock }).pull()).toBeUndefined();
    expect(server.requests).toHaveLength(4);
    expect(clock.slept).toBe(7_000);
  });

  test("a write that never arrives says what is not recorded, and comes with the next one", async () => {
    const server = await start();
    const open = await storeAt(server).open({ ...request, write: true });
    server.fault = () => ({ broken: "before" });
    expect(await diagnosticOf(() => open.put(resource(SERVICE, "1")))).toMatchObject({
      code: "state.unwritable",
      detail: expect.stringContaining("Not in the state: hosting_service.a (id 1)"),
    });
    server.fault = () => undefined;
    await open.close();
    expect(idIn(server)).toBe("1");
  });

  test("a lock that cannot be freed is reported", async () => {
    const server = await start();
    const warnings: Diagnostic[] = [];
    const open = await storeAt(server, { warnings }).open({ ...request, write: true });
    server.fault = () => ({ status: 500 });
    await open.close();
    expect(warnings).toMatchObject([
      { severity: "warning", code: "state.backend", detail: expect.stringMatching(/^Lock ID id\d+-1: .*\(500\)/) },
    ]);
  });
});

describe("waiting for the lock", () => {
  test("ends with the signal, and the lock that came with it is freed", async () => {
    const server = await start();
    const stop = new AbortController();
    server.fault = () => {
      stop.abort(new Error("stopped"));
      return undefined;
    };
    const opening = storeAt(server).open({ ...request, write: true, signal: stop.signal });
    await expect(opening).rejects.toThrow("stopped");
    expect(server.sent()).toEqual(["LOCK /state/lock", "UNLOCK /state/lock"]);
    expect(server.lock).toBeUndefined();
  });
});

describe("credentials", () => {
  const credentials = { username: "gitlab-ci-token", password: "s3cret-pässword" };

  test("stand in no message", async () => {
    const server = await start({ credentials: "x:y" });
    const diagnostic = await diagnosticOf(() => storeAt(server, { credentials }).open({ ...request, write: true }));
    expect(diagnostic?.summary).toContain("401");
    const text = JSON.stringify(diagnostic);
    expect(text).not.toContain(credentials.password);
    expect(text).not.toContain(Buffer.from(`${credentials.username}:${credentials.password}`).toString("base64"));
  });
});
