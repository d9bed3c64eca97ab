/** Runs the receivers of `examples/webhooks` against a sandbox that sends events. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startSandbox } from "../support/sandbox.ts";
import { root } from "./markdown.ts";
import { linkPackage } from "./shell.ts";

let folder = "";
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "hostform-webhook-examples-"));
  cpSync(path.join(root, "examples/webhooks"), folder, { recursive: true });
  await linkPackage(folder);
  mkdirSync(path.join(folder, "node_modules/@hono"));
  for (const name of ["@hono/node-server", "express", "hono"])
    symlinkSync(path.join(root, "node_modules", name), path.join(folder, "node_modules", name));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts a program. The caller can wait for lines of its output. */
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
  it.each(["node", "hono", "express"])(
    "%s.ts handles each event of the sandbox once, and rejects other requests",
    async (name) => {
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
    },
  );
});
