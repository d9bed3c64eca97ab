/** `kill -9` of the real process while the answer to an order is on its way; then the same command again. */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { builtProgram } from "../support/program.ts";
import { profileOfRun, startSandbox } from "../support/sandbox.ts";

const MAIN = await builtProgram();
const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/**
 * Two sites, and two servers that only their key distinguishes. The servers are ordered first: what became of the
 * order of one, the list cannot show for certain, so the user says it.
 */
const DECLARATION = `project: kill
services:
  site-a: { plan_id: 11, currency: USD, domain: a.kill.example }
  box-a: { plan_id: 31, currency: USD }
  site-b: { plan_id: 11, currency: USD, domain: b.kill.example }
  box-b: { plan_id: 31, currency: USD }
`;

describe("an apply that is killed", () => {
  // The servers are orders 1 and 2, the sites 3 and 4.
  it.each([2, 3])(
    "while it waits for the answer to order %i orders nothing twice when it is run again",
    async (nth) => {
      // The answer is withheld for as long as the process lives.
      let answer = () => {};
      let arrived = () => {};
      const onTheWay = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      const sleep = () =>
        new Promise<void>((resolve) => {
          answer = resolve;
          arrived();
        });
      const sandbox = await startSandbox({ rateLimit: 0, sleep, ...profileOfRun() });
      const dir = await mkdtemp(path.join(tmpdir(), "hostform-kill-"));
      ends.push(
        () => sandbox.close(),
        () => rm(dir, { recursive: true, force: true }),
      );
      await writeFile(path.join(dir, "hosting.yaml"), DECLARATION);
      const env = { ...process.env, HOSTING_BASE_URL: sandbox.url, HOSTING_TOKEN: sandbox.tokens.agency };
      const hostform = (...args: string[]) =>
        spawn(process.execPath, [MAIN, ...args], { cwd: dir, env, stdio: "ignore" });
      const apply = () => hostform("apply", "--auto-approve", "--parallelism", "1");
      const ended = (child: ReturnType<typeof apply>) =>
        new Promise<number | string | null>((resolve) => child.on("close", (code, signal) => resolve(code ?? signal)));

      sandbox.control.addFault({ method: "POST", path: "/services", nth, phase: "after", delayMs: 1 });
      const first = apply();
      const killed = ended(first);
      await onTheWay;
      first.kill("SIGKILL");
      expect(await killed).toBe("SIGKILL");
      answer();

      const ours = () => sandbox.control.list("services").filter(({ customer_id }) => customer_id === 1);
      if (nth <= 2) {
        expect(await ended(apply())).toBe(1);
        const address = nth === 1 ? "hosting_service.box-a" : "hosting_service.box-b";
        expect(await ended(hostform("resolve", address, "--adopt", String(ours()[nth - 1]?.id)))).toBe(0);
      }
      expect(await ended(apply())).toBe(0);
      expect(ours()).toHaveLength(4);
      const orders = sandbox.control
        .requests()
        .filter(({ method, path: to }) => method === "POST" && to === "/api/v1/services");
      expect(orders, "nothing was sent again: the list shows it").toHaveLength(4);
      expect(new Set(orders.map(({ idempotency_key: key, body }) => JSON.stringify([key, body]))).size).toBe(4);
    },
  );
});
