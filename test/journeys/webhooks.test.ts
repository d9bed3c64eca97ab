/**
 * The real command between a sandbox that sends events and an application in its own process, during a rotation of the
 * secret: every event arrives exactly once, and no forged event arrives.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, expect, it } from "vitest";
import { signatureOf } from "../../src/webhooks/index.ts";
import { quickFolder } from "../support/folder.ts";
import { builtProgram } from "../support/program.ts";
import { profileOfRun, startSandbox } from "../support/sandbox.ts";

const root = path.resolve(import.meta.dirname, "../..");
const APP_SECRET = "whsec_that-the-application-knows-0123";
const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()));
});

/** A program in its own process, read line by line. */
class Program {
  readonly lines: string[] = [];
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  #over = false;
  #wake: () => void = () => undefined;

  constructor(args: readonly string[], env: Readonly<Record<string, string>>, cwd: string) {
    const flags = ["--disable-warning=ExperimentalWarning"];
    const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
    this.#child = spawn(process.execPath, [...flags, ...args], { cwd, env: { PATH, NODE_COMPILE_CACHE, ...env } });
    let rest = "";
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        const parts = (rest + text).split("\n");
        rest = parts.pop() ?? "";
        this.lines.push(...parts);
        this.#wake();
      });
    }
    this.#ended = new Promise((resolve) => this.#child.once("close", resolve));
    void this.#ended.then(() => {
      this.#over = true;
      this.#wake();
    });
    ends.push(async () => {
      this.#child.kill("SIGKILL");
      await this.#ended;
    });
  }

  /** Returns the first line that matches. */
  async line(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      for (const line of this.lines) {
        const found = pattern.exec(line);
        if (found !== null) return found;
      }
      if (this.#over) throw new Error(`It has ended, without ${pattern}:\n${this.lines.join("\n")}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Sends a signal. Returns the exit code. */
  end(signal: NodeJS.Signals): Promise<number | null> {
    this.#child.kill(signal);
    return this.#ended;
  }
}

it("forwards every event exactly once, through a rotation of the secret, and nothing forged", async () => {
  const dir = await mkdtemp(quickFolder("webhooks"));
  ends.push(() => rm(dir, { recursive: true, force: true }));
  const now = Date.parse("2026-11-22T08:00:00Z");
  // The sandbox sends each event twice, as a queue may do.
  const sandbox = await startSandbox({
    clock: { now: () => now },
    rateLimit: 0,
    ...profileOfRun({ deliveries: ["twice"] }),
  });
  ends.push(() => sandbox.close());
  const { control } = sandbox;
  const secretFile = path.join(dir, "hook.secret");
  const keep = (...secrets: string[]) => writeFile(secretFile, `${secrets.join("\n")}\n`, { mode: 0o600 });

  const application = new Program([path.join(root, "test/support/webhook-receiver.ts")], { APP_SECRET }, dir);
  const [, appPort] = await application.line(/^receiving (\d+)$/);
  await keep("whsec_not_registered_yet");
  const args = ["webhooks", "listen", "--json", "--secret-file", "hook.secret", "--forward-secret-env", "APP_SECRET"];
  const main = await builtProgram();
  const listen = new Program([main, ...args, "--forward-to", `http://127.0.0.1:${appPort}/`], { APP_SECRET }, dir);
  const [, url = ""] = await listen.line(/"url":"(http:[^"]+)"/);

  const registered = await fetch(`${sandbox.url}/api/v1/webhooks`, {
    method: "POST",
    headers: { authorization: `Bearer ${sandbox.tokens.agency}`, "content-type": "application/json" },
    body: JSON.stringify({ url, events: ["service.suspended"] }),
  });
  expect(registered.status).toBe(201);
  const [webhook] = control.list("webhooks");
  if (webhook === undefined) throw new Error("no webhook was registered");
  await keep(webhook.secret);

  const services = control.seedServices({ count: 60, plan_id: 11 }).map(({ id }) => id);
  const suspend = (from: number, to: number) => {
    for (const id of services.slice(from, to)) control.suspendService(id);
  };
  const forge = async (id: number, secret: string) => {
    const body = JSON.stringify({ event: "service.suspended", data: { id }, timestamp: "2026-11-22T08:00:00+00:00" });
    const headers = { "x-service-signature": signatureOf(body, secret) };
    return (await fetch(url, { method: "POST", body, headers })).status;
  };

  suspend(0, 20);
  await control.settled();
  expect(await forge(1, "a guess")).toBe(401);

  // The secret rotates during the deliveries: the sender uses the new secret at once, and the receiver reads it later.
  const sending = control.settled();
  suspend(20, 30);
  const { secret: renewed } = control.rotateSecret(webhook.id);
  suspend(30, 40);
  await sending;
  await control.settled();
  const refused = control.list("deliveries").filter(({ status }) => status === "pending");
  expect(refused.length, "some were refused, and wait for their retry").toBeGreaterThan(0);
  await keep(webhook.secret, renewed);
  expect(await forge(2, "another guess")).toBe(401);
  suspend(40, 50);
  control.advanceClock({ seconds: 10 });
  await control.settled();
  await keep(renewed);
  suspend(50, 60);
  control.advanceClock({ minutes: 30 });
  await control.settled();
  expect(await forge(3, webhook.secret), "the old one has had its day").toBe(401);

  expect(control.list("deliveries").filter(({ status }) => status !== "delivered")).toEqual([]);
  expect(control.list("deliveries")).toHaveLength(120);
  expect(await listen.end("SIGINT")).toBe(0);
  expect(await application.end("SIGTERM")).toBe(0);

  const handled = application.lines.filter((line) => !line.startsWith("receiving"));
  expect(handled.toSorted()).toEqual(services.map((id) => `handled service.suspended ${id}`).toSorted());
  const documents = listen.lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  const forwarded = documents
    .filter(({ outcome }) => outcome === "forwarded")
    .map(({ service_id }) => Number(service_id));
  expect(forwarded.toSorted((a, b) => a - b)).toEqual(services);
  expect(documents.some(({ outcome }) => outcome === "duplicate")).toBe(true);
  for (const secret of [webhook.secret, renewed, APP_SECRET]) expect(listen.lines.join("\n")).not.toContain(secret);
});
