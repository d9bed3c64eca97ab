/** Runs the first command of the README. The command checks each of its steps itself. */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { expect, it } from "vitest";

const DEMO = path.resolve(import.meta.dirname, "../../scripts/demo.ts");
const TIMEOUT_MS = 120_000;

it(
  "npm run demo completes all its steps against the sandbox",
  () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [DEMO], { encoding: "utf8", timeout: TIMEOUT_MS });
    expect(status, `${stdout}${stderr}`).toBe(0);
    expect(stdout).toMatch(/Done\. \d+ API requests, 2 orders, none refused/);
  },
  TIMEOUT_MS,
);
