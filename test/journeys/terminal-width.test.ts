import { mkdtemp, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { testClock } from "../support/clock.ts";
import { quickFolder } from "../support/folder.ts";
import { fakeIo } from "../support/io.ts";
import { runCli } from "../support/program.ts";
import { startSandbox } from "../support/sandbox.ts";
import { expectFit } from "../unit/report/fits.ts";

const SERVICES = Array.from({ length: 6 }, (_, i) => [
  `client-${i}-of-the-agency`,
  {
    plan_id: 11,
    currency: "USD",
    domain: `client-${i}.customer-of-an-agency.example`,
    grants: { "dev@acme.example": "view" },
  },
]);
const COMMANDS = [
  "plans",
  "validate",
  "plan",
  "apply --auto-approve",
  "services",
  "invoices",
  "show",
  "plan",
  "services 1003",
];

it("what a session prints fits a terminal of any width with no word broken, and is not wrapped in a pipe", async () => {
  const printed = async (columns?: number) => {
    const clock = testClock();
    const sandbox = await startSandbox({ clock, sleep: async () => undefined, rateLimit: 0, provisioningSeconds: 0 });
    onTestFinished(() => sandbox.close());
    const cwd = await mkdtemp(quickFolder("width"));
    await writeFile(
      path.join(cwd, "hosting.yaml"),
      JSON.stringify({ project: "acme", services: Object.fromEntries(SERVICES) }),
    );
    // Without progress lines, and with a ledger for each session.
    const quiet = { NO_COLOR: "1", CI: "1", HOSTFORM_LEDGER: "memory" };
    const env = { HOSTING_BASE_URL: sandbox.url, HOSTING_TOKEN: sandbox.tokens.agency, ...quiet };
    let text = "";
    for (const command of COMMANDS) {
      const io = fakeIo({
        cwd,
        clock,
        env,
        terminal: columns !== undefined,
        ...(columns !== undefined && { columns }),
      });
      const write = (part: string) => {
        text += part.replaceAll(new URL(sandbox.url).host, "api.host.example");
      };
      expect(await runCli(command.split(" "), { ...io, out: write, err: write }), text).toBe(0);
      clock.advance(60_000);
    }
    return text;
  };
  const piped = await printed();
  expect(piped).toMatch(/^ {2}# Shared Start for 1 month: .{60,}$/m);
  for (const columns of [60, 80, 120]) expectFit(piped, await printed(columns), columns);
});
