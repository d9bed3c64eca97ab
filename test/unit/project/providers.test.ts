/** Providers that one process opens several times, as `watch` does at each check. */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import * as cliParts from "../../../src/cli/parts.ts";
import { Providers } from "../../../src/project/providers.ts";
import { testClock } from "../../support/clock.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { fakeIo } from "../../support/io.ts";
import { openedOn } from "../../support/opened.ts";
import { startSandbox } from "../../support/sandbox.ts";

const BUDGET = 3;

/**
 * A process with a sandbox that refuses requests above its limit. Each check opens the providers, reads one list and
 * closes the providers.
 */
async function started(env: Record<string, string>) {
  const clock = testClock();
  const sandbox = await startSandbox({ clock, rateLimit: BUDGET });
  const fake = fakeIo({ clock, env: { HOSTING_BASE_URL: sandbox.url, HOSTING_TOKEN: sandbox.tokens.agency, ...env } });
  const { project } = openedOn(cliParts, fake, {}, { dir: ".", state: "hosting.tfstate" });
  const look = async () => {
    const configs = new Map([["default", { alias: "default", requestsPerMinute: BUDGET }]]);
    const providers = new Providers(configs, project, {});
    const { client } = await providers.use("default");
    await client.webhooks.list().all();
    await providers.close();
  };
  return { clock, sandbox, look, stderr: fake.stderr };
}

describe("checks of one process", () => {
  const unusable = () => {
    const file = path.join(temporaryFolder(), "file");
    writeFileSync(file, "");
    return path.join(file, "below");
  };

  it.each([
    ["is switched off", () => ({ HOSTFORM_LEDGER: "memory" }), 0],
    ["is not there, for a sandbox", () => ({}), 0],
    ["cannot be written", () => ({ HOSTFORM_STATE_HOME: unusable() }), 1],
    ["is shared", () => ({ HOSTFORM_STATE_HOME: temporaryFolder() }), 0],
  ])("keep to one rate limit if the ledger %s, with one warning", async (_, env, said) => {
    const { clock, sandbox, look, stderr } = await started(env());
    await using _sandbox = sandbox;
    for (let at = 0; at < 4 * BUDGET; at++) await look();
    const { control } = sandbox;
    expect(control.requests().filter(({ status }) => status === 429)).toEqual([]);
    expect(clock.slept).toBeGreaterThan(3 * 60_000);
    expect(stderr().match(/provider\.ledger/g) ?? []).toHaveLength(said);
  });
});
