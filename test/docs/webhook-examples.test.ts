/** The receivers of `examples/webhooks`: type-checked, and run as they are against a sandbox that sends. */
import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtPackage } from "../support/built-package.ts";
import { startSandbox } from "../support/sandbox.ts";
import { root } from "./markdown.ts";

let folder = "";
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "hostform-webhook-examples-"));
  cpSync(path.join(root, "examples/webhooks"), folder, { recursive: true });
  const own = path.join(folder, "node_modules/hostform");
  mkdirSync(own, { recursive: true });
  // The types are those of the sources: only the whole build writes their declarations.
  const exports = {
    "./webhooks": { types: "./src/webhooks/index.ts", default: "./dist/webhooks/index.js" },
    "./webhooks/fetch": { types: "./src/webhooks/fetch.ts", default: "./dist/webhooks/fetch.js" },
  };
  writeFileSync(path.join(own, "package.json"), JSON.stringify({ type: "module", exports }));
  symlinkSync(path.join(root, "src"), path.join(own, "src"));
  symlinkSync(path.join(await builtPackage(), "dist"), path.join(own, "dist"));
  const { dependencies, devDependencies } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
  for (const name of Object.keys({ ...dependencies, ...devDependencies }).filter((one) => one !== "hostform")) {
    mkdirSync(path.dirname(path.join(folder, "node_modules", name)), { recursive: true });
    symlinkSync(path.join(root, "node_modules", name), path.join(folder, "node_modules", name));
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A program whose lines can be waited for. */
function start(file: string, env: Readonly<Record<string, string>>) {
  const child: ChildProcessByStdio<null, Readable, null> = spawn(process.execPath, [file], {
    cwd: folder,
    env: {
      PATH: path.dirname(process.execPath),
      NODE_OPTIONS: "--disable-warning=ExperimentalWarning",
      PORT: "0",
      ...env,
    },
    stdio: ["ignore", "pipe", "inherit"],
    timeout: 15_000,
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    line: async () => (await lines.next()).value as string | undefined,
    stop: () =>
      new Promise((resolve) => {
        child.once("exit", resolve);
        child.kill();
      }),
  };
}

describe("the receivers of examples/webhooks", () => {
  it("type-check in their own project", () => {
    const tsc = path.join(root, "node_modules/.bin/tsc");
    const options = ["--types", "node"];
    const { stdout } = spawnSync(process.execPath, [tsc, "-p", folder, "--singleThreaded", ...options], {
      encoding: "utf8",
    });
    expect(stdout).toBe("");
  });

  it.each(["node", "hono", "express"])("%s.ts takes what the sandbox sends, once, and nothing else", async (name) => {
    const sandbox = await startSandbox();
    const [customer] = sandbox.control.list("tokens").filter(({ value }) => value === sandbox.tokens.customer);
    const webhook = sandbox.control.create("webhooks", {
      account: customer?.customer_id ?? 0,
      url: "http://127.0.0.1:9/hooks",
      events: ["invoice.paid", "service.suspended"],
    });
    writeFileSync(path.join(folder, "signing.secret"), `${webhook.secret}\n`);
    const receiver = start(`${name}.ts`, { SIGNING_SECRETS: webhook.secret });
    try {
      const port = /^listening on port (\d+)$/.exec((await receiver.line()) ?? "")?.[1];
      const url = `http://127.0.0.1:${port}/hooks`;
      sandbox.control.change("webhooks", webhook.id, { url });

      const [invoice] = sandbox.control.list("invoices").filter((one) => one.customer_id === webhook.customer_id);
      const [paid] = sandbox.control.trigger("invoice.paid", { invoice_id: invoice?.id ?? 0 });
      await sandbox.control.settled();
      sandbox.control.replayDelivery(paid?.id ?? 0);
      await sandbox.control.settled();
      const headers = { "x-service-signature": "0".repeat(64) };
      expect((await fetch(url, { method: "POST", body: paid?.body ?? "", headers })).status).toBe(401);
      sandbox.control.trigger("service.suspended", { service_id: invoice?.order_id ?? 0 });
      await sandbox.control.settled();

      expect([await receiver.line(), await receiver.line(), await receiver.line()]).toEqual([
        `invoice.paid - look at invoice ${invoice?.id} of service ${invoice?.order_id}`,
        "refused: webhooks.bad_signature",
        `service.suspended - look at service ${invoice?.order_id}`,
      ]);
      expect(sandbox.control.list("deliveries").map(({ status }) => status)).toEqual(Array(3).fill("delivered"));
    } finally {
      await receiver.stop();
      await sandbox.close();
    }
  });
});
