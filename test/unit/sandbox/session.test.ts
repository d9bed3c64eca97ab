import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  PROFILE_SETS,
  type RequestStep,
  replaySession,
  type Session,
  sessionTest,
} from "../../../src/sandbox/index.ts";
import { StandIns } from "../../../src/sandbox/record/recorder.ts";
import fc, { character } from "../../support/fc.ts";
import { quickFolder } from "../../support/folder.ts";
import { activeService, ORDER, type Running, START, start } from "./harness.ts";
import { history, live as liveThrough } from "./history.ts";

/** A bit of everything that an answer can depend on. */
async function live(running: Running): Promise<Session> {
  const { send, sandbox } = running;
  const { control } = sandbox;
  await send("GET", "/plans?per_page=2");
  await send("POST", "/services", { key: "k", body: ORDER });
  await send("POST", "/services", { key: "k", body: ORDER });
  await send("POST", "/services", { body: ORDER });
  await send("POST", "/services", { key: "l", raw: '{"plan_id": 11,' });
  control.payInvoice(5003);
  control.advanceClock({ months: 1, days: 3 });
  await send("GET", "/invoices");
  control.create("tokens", { name: "second", abilities: ["view"], account: "agency" });
  await send("GET", "/services/1003", { token: control.list("tokens").at(-1)?.value ?? "" });
  await send("GET", "/services/1003", { token: null });
  await send("GET", "/services/1003/panel-sso");
  await send("POST", "/webhooks", { body: { url: "http://127.0.0.1:9/", events: ["service.suspended"] } });
  control.addFault({ operation: "listServices", phase: "mid-body" });
  await send("GET", "/services").catch(() => undefined);
  control.addFault({ path: "/services/*", phase: "after", drop: true });
  await send("POST", "/services/1003/suspend").catch(() => undefined);
  await send("GET", "/services/1003");
  control.freezeClock();
  expect(() => control.payInvoice(99)).toThrow("invoice 99");
  control.reset();
  await send("GET", "/services", { token: sandbox.tokens.customer });
  return control.session();
}

/** What a session holds of one request. */
function requestAt(session: Session, at: number): RequestStep {
  const step = session.steps.at(at);
  if (step?.kind !== "request") throw new Error(`Step ${at} is no request.`);
  return step;
}

describe("a session", () => {
  test("done again gives the same answers, by any clock", async () => {
    // The system's clock goes on in the middle of things; the second one leaps with each look.
    let now = START;
    for (const clock of [undefined, { now: () => START }, { now: () => (now += 777) }, "2026-11-21T10:00:00Z"]) {
      const running = await start({
        record: true,
        rateLimit: 60,
        profile: "timestamps=micros_z",
        ...(clock && { clock }),
      });
      const session = await live(running);
      expect(session.steps).toHaveLength(22);
      expect(await replaySession(session)).toEqual([]);
      expect(await replaySession(JSON.stringify(session))).toEqual([]);
    }
  });

  test("of any history, under any rules, is the same when it is done again", async () => {
    await fc.assert(
      fc.asyncProperty(history, fc.constantFrom(...Object.keys(PROFILE_SETS)), async (steps, profile) => {
        let now = START;
        const clock = { now: () => (now += 13) };
        const sleep = async (): Promise<void> => undefined;
        const running = await start({ record: true, clock, sleep, profile, rateLimit: 20, deliverTo: "nowhere" });
        await liveThrough(running, steps);
        expect(await replaySession(running.sandbox.control.session())).toEqual([]);
        await running.sandbox.close();
      }),
      { numRuns: 20 },
    );
  });

  test("says at which step and in which field something is another", async () => {
    const session = await live(await start({ record: true }));
    expect(await replaySession(session, { profile: "status=upper_snake" })).toEqual(
      expect.arrayContaining([
        'Step 2, POST /api/v1/services: answer.body.data.status is "PENDING_PAYMENT", not "pending"',
      ]),
    );
    expect(await replaySession(session, { rateLimit: 3 })).toEqual(
      expect.arrayContaining([
        'Step 1, GET /api/v1/plans?per_page=2: headers.x-ratelimit-limit is "3", where nothing was expected',
      ]),
    );
    const other = await replaySession(session, { seed: "another" });
    expect(other).toEqual([
      expect.stringContaining("answer.body.data.url"),
      expect.stringContaining("answer.body.data.secret"),
    ]);
    const changed = structuredClone(session);
    changed.steps = changed.steps.filter((step) => step.kind === "request" || step.args[0] !== 5003);
    expect((await replaySession(changed))[0]).toMatch(/^Step 7, GET \/api\/v1\/invoices: answer\.body\.data\[0\]/);
    const refused = changed.steps.find((step) => step.kind === "control" && step.refused !== undefined);
    if (refused?.kind === "control") delete refused.refused;
    expect(await replaySession(changed)).toEqual(
      expect.arrayContaining([expect.stringMatching(/payInvoice\(99\): it was refused: There is no invoice 99/)]),
    );
  });

  test("begins with a snapshot when it did not begin with a fresh sandbox", async () => {
    const first = await start();
    activeService(first);
    first.sandbox.control.advanceClock({ days: 3 });
    const running = await start({ record: true, snapshot: first.sandbox.control.snapshot() });
    await running.send("GET", "/services");
    running.sandbox.control.restore(first.sandbox.control.snapshot());
    await running.send("GET", "/services");
    const session = running.sandbox.control.session();
    expect(requestAt(session, -1).answer.body).toMatchObject({ data: [{ id: 1003 }] });
    expect(await replaySession(session)).toEqual([]);
  });

  test("repeats requests that overlapped one after the other, and says so", async () => {
    let release: () => void = () => undefined;
    const slow = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { sandbox, send } = await start({ record: true, processingMs: 1, sleep: () => slow });
    const first = send("POST", "/services", { key: "k", body: ORDER });
    await expect.poll(() => sandbox.control.requests().length).toBe(1);
    expect((await send("POST", "/services", { key: "k", body: ORDER })).status).toBe(409);
    release();
    await first;
    const session = sandbox.control.session();
    expect(session.steps).toMatchObject([{ overlapped: true }, { overlapped: true }]);
    expect(await replaySession(session)).toEqual(
      [
        expect.stringMatching(/^Step 2, POST \/api\/v1\/services: status is 201, not 409 \(it overlapped/),
        expect.stringContaining("answer.body.message"),
        expect.stringContaining("answer.body.data"),
      ].slice(0, 2),
    );
  });

  test("delivers nothing when it is done again", async () => {
    const running = await start({ record: true });
    await running.send("POST", "/webhooks", { body: { url: "http://127.0.0.1:9/", events: ["invoice.created"] } });
    await running.send("POST", "/services", { key: "k", body: ORDER });
    const { sandbox } = await start({ deliverTo: "nowhere" });
    sandbox.control.create("webhooks", { url: "http://127.0.0.1:9/", events: ["invoice.created"] });
    sandbox.control.seedServices({ account: "agency" });
    sandbox.control.trigger("invoice.created");
    await sandbox.control.settled();
    expect(sandbox.control.list("deliveries")).toMatchObject([{ status: "blocked" }]);
    expect(await replaySession(running.sandbox.control.session())).toEqual([]);
  });

  test("is refused when nobody records, and over HTTP comes in two forms", async () => {
    const { sandbox } = await start();
    expect(() => sandbox.control.session()).toThrow("--record FILE");
    const running = await start({ record: true });
    await running.send("GET", "/plans");
    const get = (query: string): Promise<Response> => fetch(`${running.sandbox.controlUrl}/session${query}`);
    expect(await (await get("")).json()).toEqual(running.sandbox.control.session());
    expect(await (await get("?format=test")).text()).toBe(sessionTest(running.sandbox.control.session()));
    expect((await get("?format=xml")).status).toBe(422);
  });
});

describe("as a test", () => {
  async function run(text: string): Promise<{ code: number; out: string }> {
    const folder = mkdtempSync(quickFolder("session"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const library = pathToFileURL(path.resolve(import.meta.dirname, "../../../src/sandbox/index.ts")).href;
    const file = path.join(folder, "session.test.mjs");
    writeFileSync(file, text.replace('"hostform/sandbox"', JSON.stringify(library)));
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    try {
      const ran = promisify(execFile)(process.execPath, ["--test", file], { env, timeout: 15_000 });
      return { code: 0, out: (await ran).stdout };
    } catch (error) {
      return { code: 1, out: (error as { stdout: string }).stdout };
    }
  }

  test("it passes unchanged, and fails at the step where the sandbox answers otherwise", async () => {
    const session = await live(await start({ record: true, rateLimit: 60 }));
    session.sandbox.profile = {};
    const text = sessionTest(session);
    const [good, bad] = await Promise.all([
      run(text),
      run(text.replace('"status": "pending"', '"status": "sleeping"')),
    ]);
    expect(good, good.out).toMatchObject({ code: 0 });
    expect(good.out).toMatch(/pass 22\b/);
    expect(bad.code).toBe(1);
    expect(bad.out).toMatch(/fail 1\b/);
    expect(bad.out).toContain("2 POST /api/v1/services");
  });

  test("without a step it ends all the same, and with options that cannot be it fails", async () => {
    const session = (await start({ record: true })).sandbox.control.session();
    const step = { kind: "control", at: session.started, name: "freezeClock", args: [] as unknown[] } as const;
    const [empty, broken] = await Promise.all([
      run(sessionTest(session)),
      run(sessionTest({ ...session, steps: [step], sandbox: { ...session.sandbox, rateLimit: -1 } })),
    ]);
    expect(empty, empty.out).toMatchObject({ code: 0 });
    expect(empty.out).toMatch(/skipped 1\b/);
    expect(broken.code).toBe(1);
    expect(broken.out).toContain("rateLimit must be");
  });
});

describe("secrets", () => {
  test("what was typed in as one is not in the session, and does not change the answers", async () => {
    const { sandbox, send } = await start({ record: true });
    const id = activeService({ sandbox, send });
    const typed = "correct-horse-battery";
    await send("POST", `/services/${id}/password`, { body: { password: typed } });
    await send("POST", `/services/${id}/password`, { body: { password: "short" } });
    await send("POST", `/services/${id}/password`, { raw: `{"password": "${typed}` });
    await send("POST", "/migration-requests", {
      body: { domain: "a.example", ftp_password: typed, old_api_key: 7_654_321 },
    });
    await send("GET", "/migration-requests");
    // The specification leaves the names open, and URLs have places of their own.
    const pins = { pass: `1${typed}`, ssh: { passwd: `2${typed}`, privateKey: `3${typed}` }, login: `me:${typed}` };
    await send("POST", "/migration-requests", { body: { domain: "b.example", ...pins, pin: 7_654_321 } });
    const url = `https://me:${typed}@127.0.0.1:9/hooks?api_token=${typed}&page=1`;
    await send("POST", "/webhooks", { body: { url, events: ["invoice.paid"] } });
    await send("GET", "/webhooks");
    await send("GET", `/plans?password=${typed}&page=1`);
    await send("POST", "/services", { key: "k", raw: `pass=${typed}` });
    const token = sandbox.tokens.agency;
    await send("GET", `/plans?x=${token}`);
    await send("POST", "/services", { key: `order-${token}`, body: ORDER });
    sandbox.control.setMigrationCredentials(501, { host: "old.example", username: "me", password: typed });
    sandbox.control.change("tokens", 3, { value: `live-${typed}` });
    await send("GET", "/plans", { token: `live-${typed}` });
    await send("GET", "/plans", { token: `unknown-${typed}` });
    sandbox.control.restore(sandbox.control.snapshot());
    await send("GET", "/plans", { token: `live-${typed}` });
    await send("POST", "/services", { key: `order-${token}`, body: ORDER });
    const text = JSON.stringify(sandbox.control.session());
    for (const secret of [typed, "7654321"]) expect(text.includes(secret), secret).toBe(false);
    expect(text.includes("&page=1")).toBe(true);
    // The sandbox's own tokens follow from its seed; a snapshot needs them.
    const spoken = sandbox.control.session().steps.filter((step) => step.kind === "request" || step.name !== "restore");
    expect(JSON.stringify(spoken).includes(token)).toBe(false);
    expect(await replaySession(text)).toEqual([]);
    expect(sessionTest(text)).not.toContain(typed);
  });

  test("typed in while requests failed at random, they are not in the snapshots of it either", async () => {
    const { sandbox, send } = await start({ record: true, profile: "flaky" });
    const typed = "correct-horse-battery";
    for (let i = 0; i < 40; i++) {
      const body = { password: `${typed}${i}` };
      await send("POST", "/services/1001/password", { body, token: sandbox.tokens.customer }).catch(() => undefined);
    }
    const snapshot = sandbox.control.snapshot();
    expect(JSON.parse(snapshot).weather.failures).not.toEqual([]);
    expect(snapshot).not.toContain(typed);
    sandbox.control.restore(snapshot);
    expect(JSON.stringify(sandbox.control.session())).not.toContain(typed);
  });

  test("stand-ins are as long as what they stand for, and the same for the same", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: character }), { minLength: 1, maxLength: 5 }), (secrets) => {
        const standIns = new StandIns();
        for (const password of [...secrets, ...secrets]) {
          const { password: standIn } = standIns.replace({ password }) as { password: string };
          expect([...standIn]).toHaveLength([...password].length);
          expect(standIns.replace([{ a: { password } }])).toEqual([{ a: { password: standIn } }]);
          expect(standIns.replaceEchoes({ password, name: password })).toEqual({ password: standIn, name: password });
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe("what is no session is refused", () => {
  test.each([
    ["no JSON", "x", "not the session of a sandbox"],
    ["nothing", null, "not the session of a sandbox"],
    ["a snapshot", { format: "hosting-sandbox-snapshot", version: 1 }, "not the session of a sandbox"],
    ["a newer one", { version: 2 }, "of version 2; this sandbox reads version 1"],
    [
      "a step to another host",
      { steps: [{ kind: "request", at: new Date(START), method: "GET", path: "@evil.example/", answer: {} }] },
      "Step 1",
    ],
    ["a place to write to", { sandbox: { seed: "s", data: "/tmp/elsewhere.sqlite" } }, 'option "data"'],
    ["a port", { sandbox: { seed: "s", port: 80 } }, 'option "port"'],
    ["a seed that is none", { sandbox: { seed: 5 } }, 'option "seed"'],
    ["a profile that is none", { sandbox: { profile: { ids: 5 } } }, 'option "profile"'],
    ["no sandbox", { sandbox: null }, "not the session of a sandbox"],
    ["a step without time", { steps: [{ kind: "control", name: "reset", args: [] }] }, "Step 1"],
  ])("%s", async (_, given, hint) => {
    const { sandbox } = await start({ record: true });
    const session = typeof given === "object" && given !== null ? { ...sandbox.control.session(), ...given } : given;
    await expect(replaySession(JSON.stringify(session))).rejects.toThrow(hint);
    expect(() => sessionTest(JSON.stringify(session))).toThrow(hint);
  });

  test("a word that is none of the control's does nothing", async () => {
    const { sandbox } = await start({ record: true });
    const session = sandbox.control.session();
    const at = new Date(START).toISOString();
    session.steps.push(
      { kind: "control", at, name: "constructor", args: [] },
      { kind: "control", at, name: "__proto__", args: [] },
    );
    await expect(replaySession(session)).rejects.toThrow("constructor");
  });
});
