import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Agent } from "undici";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Clock, type Diagnostic, systemClock } from "../../../../../src/core/model/index.ts";
import { createS3Backend, createStateStore, type StateStore } from "../../../../../src/core/record/index.ts";
import { testClock } from "../../../../support/clock.ts";
import { saying } from "../../../../support/remedies.ts";
import { type Fault, KEY, KEYS, type Lie, S3Server } from "../../../../support/s3-server.ts";
import { countingUuids, diagnosticOf, resource } from "../builders.ts";

const request = { command: "apply", timeoutMs: 0 };
const SERVICE = "hosting_service.a";
const LOCK = `${KEY}.tflock`;
const connections = new Agent();
let stores = 0;

async function started(): Promise<S3Server> {
  const server = await S3Server.start();
  onTestFinished(() => server.close());
  return server;
}

interface Parts {
  readonly clock?: Clock;
  readonly warnings?: Diagnostic[];
  readonly kept?: string[];
  readonly region?: string;
  readonly secret?: string;
  readonly key?: string;
  readonly writeHeaders?: Record<string, string>;
}

function backendAt(url: string, parts: Parts = {}, uuid = countingUuids(`id${++stores}`)) {
  return createS3Backend({
    bucket: new URL("/states/", url),
    key: parts.key ?? KEY,
    region: parts.region ?? "eu-test-1",
    credentials: { accessKeyId: KEYS.id, secretAccessKey: parts.secret ?? KEYS.secret, sessionToken: KEYS.token },
    writeHeaders: parts.writeHeaders ?? {},
    clock: parts.clock ?? testClock(),
    uuid,
    contender: { pid: 4711, user: "nino", host: "ci-1" },
    connect: async () => connections,
    mostBytes: 100_000,
    warn: (diagnostic) => parts.warnings?.push(diagnostic),
    keep: async (text) => void parts.kept?.push(text),
  });
}

function storeAt({ url }: S3Server, parts: Parts = {}): StateStore {
  const uuid = countingUuids(`id${++stores}`);
  return createStateStore(async () => backendAt(url, parts, uuid), uuid);
}

const opened = (server: S3Server, parts: Parts = {}) => storeAt(server, parts).open({ ...request, write: true });

const write = async (store: StateStore, ...ids: string[]) => {
  const open = await store.open({ ...request, write: true });
  try {
    for (const id of ids) await open.put(resource(SERVICE, id));
  } finally {
    await open.close();
  }
};

const idIn = (server: S3Server, key = KEY) =>
  JSON.parse(server.body(key) ?? "{}").resources?.[0]?.instances[0].attributes.id;

/** Returns a fault for the first request whose line begins with this text. */
function once(begin: string, fault: Fault): S3Server["fault"] {
  let left = 1;
  return (line) => (line.startsWith(begin) && left-- > 0 ? fault : undefined);
}

describe("a state in S3", () => {
  it("is probed, locked, written under conditions, confirmed and unlocked", async () => {
    const server = await started();
    await write(storeAt(server), "1", "2");
    const probe = `states/${KEY}.probe`;
    const [lock, state] = [`states/${LOCK}`, `states/${KEY}`];
    expect(server.sent()).toEqual([
      `PUT ${probe}`,
      `PUT ${probe} if-none-match`,
      `PUT ${probe} if-match`,
      `PUT ${probe} if-match`,
      `DELETE ${probe}`,
      `PUT ${lock} if-none-match`,
      `GET ${state}`,
      ...[`GET ${lock}`, `PUT ${state} if-none-match`],
      ...[`GET ${lock}`, `PUT ${state} if-match`],
      `GET ${state}`,
      ...[`GET ${lock}`, `DELETE ${lock}`],
    ]);
    expect([...server.objects.keys()]).toEqual([KEY]);
    expect(idIn(server)).toBe("2");
    await write(storeAt(server), "3");
    expect(server.sent(), "this process has probed the bucket").not.toContain(`PUT ${probe}`);
    const open = await storeAt(server).open({ ...request, write: false });
    expect(open.state.resources.get(SERVICE)?.attributes.id).toBe("3");
    expect(server.sent()).toEqual([`GET ${state}`]);
  });

  it("sends the headers of the encryption at the store with each write", async () => {
    const server = await started();
    await write(storeAt(server, { writeHeaders: { "x-amz-server-side-encryption": "AES256" } }), "1");
    expect(server.objects.get(KEY)?.headers["x-amz-server-side-encryption"]).toBe("AES256");
  });

  it("signs keys with special characters", async () => {
    const server = await started();
    const key = "env:/ä b/c+d!'()*%/acme.tfstate";
    await write(storeAt(server, { key }), "1");
    expect(idIn(server, key)).toBe("1");
  });

  it("rejects a second run with the name of the holder, and the run cannot write", async () => {
    const server = await started();
    const first = await opened(server);
    expect(await diagnosticOf(() => opened(server))).toMatchObject({
      code: "state.locked",
      detail: expect.stringMatching(/process 4711 \(apply\), nino@ci-1.*since 2026-11-21.*lock ID id\d+-/),
      remedies: saying(expect.stringContaining("force-unlock")),
    });
    await first.close();
    await write(storeAt(server), "1");
    expect(idIn(server)).toBe("1");
  });

  it("reports the lock of Terraform", async () => {
    const server = await started();
    server.write(
      LOCK,
      JSON.stringify({ ID: "0b7f", Operation: "OperationTypeApply", Who: "ana@laptop", Created: "2026" }),
    );
    expect(await diagnosticOf(() => opened(server))).toMatchObject({
      code: "state.locked",
      detail: expect.stringContaining("ana@laptop"),
    });
  });

  it("detects a lock that force-unlock freed before the next write", async () => {
    const server = await started();
    const kept: string[] = [];
    const open = await opened(server, { kept });
    await open.put(resource(SERVICE, "1"));
    const { holder } = await storeAt(server).forceUnlock();
    expect(holder?.who).toBe("nino@ci-1");
    expect(await diagnosticOf(() => open.put(resource(SERVICE, "2")))).toMatchObject({
      code: "state.lost_lock",
      detail: expect.stringContaining("acme.tfstate.tflock does not exist."),
    });
    const other = await opened(server);
    server.sent();
    expect((await diagnosticOf(() => open.close()))?.code).toBe("state.lost_lock");
    expect(server.sent(), "the lock of the other run stays").toEqual([]);
    expect(kept.map((text) => JSON.parse(text).resources[0].instances[0].attributes.id)).toEqual(["2"]);
    expect(idIn(server)).toBe("1");
    await other.close();
  });

  it("never overwrites the state of a writer that did not lock", async () => {
    for (const before of [[], ["1"]]) {
      const server = await started();
      const open = await opened(server);
      for (const id of before) await open.put(resource(SERVICE, id));
      server.write(KEY, "another state");
      const refused = await diagnosticOf(() => open.put(resource(SERVICE, "2")));
      expect(refused).toMatchObject({ code: "state.lost_lock", summary: expect.stringContaining("Another program") });
      expect(server.body(KEY)).toBe("another state");
    }
  });

  it("never creates a state again that another program deleted", async () => {
    const server = await started();
    const open = await opened(server);
    await open.put(resource(SERVICE, "1"));
    server.objects.delete(KEY);
    expect((await diagnosticOf(() => open.put(resource(SERVICE, "2"))))?.code).toBe("state.lost_lock");
    expect(server.body(KEY)).toBeUndefined();
  });

  it("proves lock and version before the decision about a create", async () => {
    const server = await started();
    const open = await opened(server);
    await open.put(resource(SERVICE, "1"));
    await open.proveLock();
    server.write(KEY, "another state");
    expect((await diagnosticOf(() => open.proveLock()))?.code).toBe("state.lost_lock");
  });

  it("force-unlock rejects another id, and frees a lock without a readable holder", async () => {
    const server = await started();
    const open = await opened(server);
    const refused = await diagnosticOf(() => storeAt(server).forceUnlock("other"));
    expect(refused).toMatchObject({ code: "state.locked", summary: expect.stringContaining("the ID other") });
    await open.close();
    server.write(LOCK, "not a notice");
    expect((await diagnosticOf(() => storeAt(server).forceUnlock()))?.summary).toContain(
      "does not name the process with the lock",
    );
    await storeAt(server).forceUnlock("any");
    expect(server.body(LOCK)).toBeUndefined();
  });
});

describe("a lost response", () => {
  const LOSSES: [string, Fault][] = [
    ["of a write", { broken: "after" }],
    ["of a request that did not arrive", { broken: "before" }],
    ["with 500", { status: 500 }],
    ["with 409 for a simultaneous request", { status: 409, code: "ConditionalRequestConflict" }],
  ];
  for (const begin of [`PUT states/${KEY} `, `PUT states/${LOCK}`, `DELETE states/${LOCK}`, `GET states/${KEY}`]) {
    it.each(LOSSES)(`%s to ${begin} is neither a lost lock nor a second write`, async (_, fault) => {
      const server = await started();
      const warnings: Diagnostic[] = [];
      server.fault = once(begin, fault);
      await write(storeAt(server, { warnings }), "1", "2");
      expect(warnings).toEqual([]);
      expect([...server.objects.keys()]).toEqual([KEY]);
      expect(idIn(server)).toBe("2");
    });
  }

  it("to a write that never arrives is an error, and the next write still knows the version", async () => {
    const server = await started();
    const open = await opened(server);
    await open.put(resource(SERVICE, "1"));
    server.fault = (line) => (line.startsWith(`PUT states/${KEY} `) ? { broken: "before" } : undefined);
    expect(await diagnosticOf(() => open.put(resource(SERVICE, "2")))).toMatchObject({ code: "state.unwritable" });
    server.fault = () => undefined;
    await open.put(resource(SERVICE, "3"));
    await open.close();
    expect(idIn(server)).toBe("3");
  });

  it("to a write that another run overwrote is a lost lock", async () => {
    const server = await started();
    const open = await opened(server);
    server.fault = once(`PUT states/${KEY} `, { broken: "after" });
    server.onWrite = (key) => {
      server.onWrite = () => undefined;
      if (key === KEY) server.write(KEY, "another state");
    };
    expect((await diagnosticOf(() => open.put(resource(SERVICE, "1"))))?.code).toBe("state.lost_lock");
    expect(server.body(KEY)).toBe("another state");
  });
});

describe("a store that lies", () => {
  it.each<Lie>(["if-none-match", "if-match"])("about %s is rejected before anything changes", async (lie) => {
    const server = await started();
    server.lies.add(lie);
    server.write(LOCK, '{"ID":"of-terraform"}');
    server.write(KEY, "the state");
    for (const action of [() => opened(server), () => storeAt(server).forceUnlock()]) {
      expect(await diagnosticOf(action)).toMatchObject({
        code: "state.backend",
        summary: "The store ignores conditions of writes, so two runs could overwrite each other",
        detail: expect.stringContaining(`With ${lie}: PUT`),
      });
    }
    expect([server.body(KEY), server.body(LOCK), server.objects.size]).toEqual([
      "the state",
      '{"ID":"of-terraform"}',
      2,
    ]);
  });

  it("is not confused with a store that rejects every condition or has no permission", async () => {
    const server = await started();
    server.fault = (line) => (line.endsWith("if-match") ? { status: 501, code: "NotImplemented" } : undefined);
    expect((await diagnosticOf(() => opened(server)))?.summary).toContain("(501)");
    server.fault = (line) => (line.startsWith("PUT") ? { status: 403, code: "AccessDenied" } : undefined);
    expect((await diagnosticOf(() => opened(server)))?.summary).toContain("the store rejects the request (403)");
  });

  it("by stale reads loses no state: the first write is rejected", async () => {
    const server = await started();
    await write(storeAt(server), "1", "2");
    server.lies.add("stale");
    server.objects.delete(LOCK);
    const before = server.body(KEY);
    expect((await diagnosticOf(() => write(storeAt(server), "3")))?.code).toMatch(/^state\.(lost_lock|locked)$/);
    expect(server.body(KEY)).toBe(before);
  });

  it("about a write is detected at the end of the run", async () => {
    const server = await started();
    server.lies.add("forgets");
    const lost = await diagnosticOf(() => write(storeAt(server), "1"));
    expect(lost).toMatchObject({ code: "state.unwritable", summary: expect.stringContaining("but not stored") });
  });

  it("in the form of s3rver, which accepts the signature and ignores conditions, is rejected", async () => {
    const directory = mkdtempSync(path.join(tmpdir(), "hostform-s3rver-"));
    const { default: S3rver } = await import("@20minutes/s3rver" as string);
    const server = new S3rver({
      port: 0,
      address: "127.0.0.1",
      silent: true,
      directory,
      configureBuckets: [{ name: "states", configs: [] }],
    });
    const { port } = await server.run();
    onTestFinished(async () => {
      await server.close();
      rmSync(directory, { recursive: true });
    });
    const backend = createS3Backend({
      bucket: new URL(`http://127.0.0.1:${port}/states/`),
      key: KEY,
      region: "us-east-1",
      credentials: { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" },
      writeHeaders: {},
      clock: systemClock,
      uuid: countingUuids(),
      contender: { pid: 4711, user: "nino", host: "ci-1" },
      connect: async () => connections,
      warn: () => undefined,
    });
    expect(await backend.text.read()).toBeUndefined();
    expect(await diagnosticOf(() => backend.lock.acquire(request))).toMatchObject({
      summary: "The store ignores conditions of writes, so two runs could overwrite each other",
    });
  });
});

describe("the history beside a state in S3", () => {
  const line = (at: number) => JSON.stringify({ at });
  it("appends lines under a condition, and replaces them", async () => {
    const server = await started();
    const { history } = backendAt(server.url);
    expect(await history?.read()).toEqual([]);
    await history?.prove();
    await history?.append(line(1));
    await history?.append(line(2));
    expect(server.body(`${KEY}.history`)).toBe('{"at":1}\n{"at":2}\n');
    expect(server.sent().filter((sent) => sent.startsWith("PUT") && !/if-/.test(sent))).toEqual([]);
    await history?.replace([line(3)]);
    expect(await history?.read()).toEqual([line(3)]);
  });

  it("rejects a line after another writer", async () => {
    const server = await started();
    const { history } = backendAt(server.url);
    await history?.append(line(1));
    server.fault = (sent) => {
      if (sent.startsWith("PUT") && sent.includes("history")) server.write(`${KEY}.history`, "other\n");
      return undefined;
    };
    expect((await diagnosticOf(() => history?.append(line(2))))?.code).toBe("state.lost_lock");
    expect(server.body(`${KEY}.history`)).toBe("other\n");
  });
});

describe("responses outside the protocol", () => {
  it.each([
    ["a wrong secret", { secret: "wrong" }, /rejects the request \(403\)/, "SignatureDoesNotMatch"],
    ["a wrong region", { region: "eu-other-1" }, /rejects the request \(403\)/, "AuthorizationHeaderMalformed"],
  ])("%s", async (_, parts, summary, detail) => {
    const server = await started();
    const refused = await diagnosticOf(() => storeAt(server, parts).open({ ...request, write: false }));
    expect(refused).toMatchObject({ code: "state.backend", summary: expect.stringMatching(summary) });
    expect(refused?.detail).toContain(detail);
    expect(JSON.stringify(refused)).not.toContain(KEYS.token);
  });

  it.each<[string, Fault, RegExp]>([
    ["a missing bucket", { status: 404, code: "NoSuchBucket" }, /rejects the request \(404\)/],
    ["a 404 of another server", { status: 404, body: "Not found" }, /rejects the request \(404\)/],
    ["another region", { status: 301, code: "PermanentRedirect" }, /rejects the request \(301\)/],
    ["a redirect", { status: 307, location: "https://elsewhere.example/" }, /rejects the request \(307\)/],
    ["a login page", { status: 200, body: "<!doctype html><p>Sign in" }, /HTML page/],
    ["an expired session", { status: 400, code: "ExpiredToken" }, /rejects the request \(400\)/],
    ["a state of any size", { status: 200, body: "x".repeat(100_001) }, /too large/],
  ])("%s is an error, and never an empty state", async (_, fault, summary) => {
    const server = await started();
    server.fault = () => fault;
    const refused = await diagnosticOf(() => storeAt(server).open({ ...request, write: false }));
    expect(refused?.summary).toMatch(summary);
    expect(refused?.code).toBe("state.backend");
  });
});
