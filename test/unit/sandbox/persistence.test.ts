import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SandboxOptionError, type SandboxOptions } from "../../../src/sandbox/index.ts";
import { startSandbox } from "../../support/sandbox.ts";
import { ORDER, START, start } from "./harness.ts";

let folder: string;
let data: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sandbox-"));
  data = join(folder, "sandbox.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a data file", () => {
  test("belongs to its owner only, with its side files, because it contains tokens and secrets", async () => {
    await start({ data });
    const modes = readdirSync(folder).map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]);
    expect(modes).toEqual(readdirSync(folder).map((name) => [name, "600"]));
    expect(modes).not.toEqual([]);
  });

  test("lets the next sandbox continue: records, keys, queue, clock, tokens, secrets", async () => {
    const first = await start({ data, seed: "one" });
    const ordered = await first.send("POST", "/services", { key: "k", body: ORDER });
    const hook = { body: { url: "https://x.example/", events: ["invoice.paid"] } };
    const secret = (await first.send("POST", "/webhooks", hook)).body.data.secret;
    first.sandbox.control.advanceClock({ hours: 2 });
    first.sandbox.control.payInvoice(ordered.body.data.invoice.id);
    const before = first.sandbox.control.state();
    await first.sandbox.close();

    const second = await start({ data });
    expect(second.sandbox.control.state()).toEqual(before);
    expect(second.sandbox.tokens).toEqual(first.sandbox.tokens);
    expect((await second.send("POST", "/services", { key: "k", body: ORDER })).text).toBe(ordered.text);
    second.sandbox.control.advanceClock({ seconds: 1 });
    expect(second.sandbox.control.get("services", ordered.body.data.id).status).toBe("active");
    // The seed in the file determines the secrets, so a restart does not change the next secrets.
    const uninterrupted = await start({ seed: "one" });
    expect((await uninterrupted.send("POST", "/webhooks", hook)).body.data.secret).toBe(secret);
    const expected = (await uninterrupted.send("POST", "/webhooks", hook)).body.data.secret;
    expect((await second.send("POST", "/webhooks", hook)).body.data.secret).toBe(expected);
    const next = await second.send("POST", "/services", { key: "k2", body: ORDER });
    expect(next.body.data.id).toBe(ordered.body.data.id + 1);
  });

  test("stores deletions and resets too", async () => {
    const first = await start({ data });
    first.sandbox.control.remove("services", 1001);
    await first.sandbox.close();
    const second = await start({ data });
    expect(second.sandbox.control.list("services").map((one) => one.id)).toEqual([1002]);
    second.sandbox.control.reset();
    await second.sandbox.close();
    const third = await start({ data });
    expect(third.sandbox.control.list("services").map((one) => one.id)).toEqual([1001, 1002]);
  });

  test("contains an order before its response is sent, so a crash loses nothing", async () => {
    const first = await start({ data });
    const ordered = await first.send("POST", "/services", { key: "k", body: ORDER });
    // The first sandbox still holds the file open, so the current files equal those after a kill.
    const left = join(folder, "left.db");
    for (const suffix of ["", "-wal"]) if (existsSync(data + suffix)) copyFileSync(data + suffix, left + suffix);
    const second = await start({ data: left });
    expect((await second.send("POST", "/services", { key: "k", body: ORDER })).text).toBe(ordered.text);
    expect(second.sandbox.control.list("services")).toEqual(first.sandbox.control.list("services"));
  });

  test("contains no trace of a rejected request", async () => {
    const first = await start({ data });
    const before = first.sandbox.control.state();
    expect((await first.send("POST", "/services", { key: "k", body: { ...ORDER, term: 2 } })).status).toBe(422);
    await first.sandbox.close();
    expect((await start({ data })).sandbox.control.state()).toEqual(before);
  });

  const unusable: { why: string; prepare: () => Promise<SandboxOptions>; hint: string }[] = [
    {
      why: "it was made from another seed",
      prepare: async () => {
        await (await start({ data, seed: "one" })).sandbox.close();
        return { data, seed: "two" };
      },
      hint: 'from the seed "one", not "two"',
    },
    {
      why: "another sandbox holds it",
      prepare: async () => {
        await start({ data });
        return { data };
      },
      hint: "locked",
    },
    {
      why: "it is no database",
      prepare: async () => {
        writeFileSync(data, "project: acme\n".repeat(100));
        return { data };
      },
      hint: "not a database",
    },
    {
      why: "a journal lies beside it, which may name any file for SQLite to delete",
      prepare: async () => {
        writeFileSync(`${data}-journal`, "");
        return { data };
      },
      hint: "-journal lies beside it",
    },
    { why: "its folder is missing", prepare: async () => ({ data: join(data, "x", "y.db") }), hint: "ENOENT" },
  ];
  test.each(unusable)("is rejected with a sentence if $why", async ({ prepare, hint }) => {
    const options = await prepare();
    const failure = await start(options).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SandboxOptionError);
    expect((failure as Error).message).toContain(hint);
  });
});

describe("the seed", () => {
  async function play(seed: string): Promise<unknown> {
    const running = await start({ seed });
    const { send, sandbox } = running;
    const [vps] = sandbox.control.seedServices({ plan_id: 31 });
    const texts: string[] = [];
    for (const [method, path, body] of [
      ["POST", "/services", ORDER],
      ["POST", "/webhooks", { url: "https://x.example/", events: ["invoice.paid"] }],
      ["POST", `/services/${vps?.id}/password`, undefined],
      ["GET", `/services/${vps?.id}/panel-sso`, undefined],
    ] as const) {
      texts.push((await send(method, path, { key: "k", body })).text.replaceAll(sandbox.url, "URL"));
    }
    return { texts, tokens: sandbox.tokens, state: sandbox.control.state() };
  }

  test("gives the same data, tokens and secrets if it is the same", async () => {
    expect(await play("a")).toEqual(await play("a"));
  });

  test("gives other tokens and secrets if it is another", async () => {
    const [a, b] = [JSON.stringify(await play("a")), JSON.stringify(await play("b"))];
    for (const pattern of [/sandbox-agency-token-\w+/, /whsec_\w+/, /sign-on\/\w+/]) {
      expect(a.match(pattern)?.[0]).toEqual(expect.any(String));
      expect(a.match(pattern)?.[0]).not.toBe(b.match(pattern)?.[0]);
    }
  });

  test("creates an agency without services and a customer with two, both paid and due in the future", async () => {
    const { send, sandbox } = await start();
    expect((await send("GET", "/services")).body.data).toEqual([]);
    const { data } = (await send("GET", "/services", { token: sandbox.tokens.customer })).body;
    expect(data).toHaveLength(2);
    for (const service of data) expect(Date.parse(service.next_due_date)).toBeGreaterThan(START);
    const invoices = (await send("GET", "/invoices", { token: sandbox.tokens.customer })).body.data;
    expect(invoices.map((one: { status: string }) => one.status)).toEqual(["paid", "paid"]);
  });
});

describe("startSandbox", () => {
  test("needs no options: it uses memory, the system's clock, 60 requests a minute", async () => {
    const before = Date.now();
    const sandbox = await startSandbox();
    const { now } = sandbox.control.state();
    const headers = { authorization: `Bearer ${sandbox.tokens.viewer}` };
    const answer = await fetch(`${sandbox.url}/api/v1/plans`, { headers });
    await sandbox.close();
    expect(Date.parse(now)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(now)).toBeLessThanOrEqual(Date.now());
    expect(answer.headers.get("x-ratelimit-remaining")).toBe("59");
    for (const url of [sandbox.url, sandbox.controlUrl]) expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  test.each([
    [{ rateLimit: -1 }, "rateLimit"],
    [{ jobSeconds: 0.5 }, "jobSeconds"],
    [{ port: Number.NaN }, "port"],
  ])("refuses %j", async (options, hint) => {
    await expect(start(options)).rejects.toThrow(hint);
  });

  test("reports a port that is in use", async () => {
    const { sandbox } = await start();
    const port = Number(new URL(sandbox.url).port);
    await expect(start({ port })).rejects.toThrow(`port ${port}: it is in use`);
  });

  test("releases both ports on close", async () => {
    const { sandbox } = await start();
    await sandbox.close();
    const [port, controlPort] = [sandbox.url, sandbox.controlUrl].map((url) => Number(new URL(url).port));
    const again = await start({ port: port ?? 0, controlPort: controlPort ?? 0 });
    expect(again.sandbox.url).toBe(sandbox.url);
  });
});
