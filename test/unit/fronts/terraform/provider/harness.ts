/** Opens sessions of the provider in a test's environment. */
import { expect, onTestFinished } from "vitest";
import { type Diagnostic, HostformError, type ValueObject } from "../../../../../src/core/model/index.ts";
import type { ProviderSession } from "../../../../../src/fronts/terraform/index.ts";
import { providerSchema } from "../../../../../src/fronts/terraform/provider/schema.ts";
import { openSession, type SessionOptions } from "../../../../../src/fronts/terraform/provider/session.ts";
import type { Sandbox } from "../../../../../src/sandbox/index.ts";
import { testClock } from "../../../../support/clock.ts";
import { startSandbox } from "../../../../support/sandbox.ts";
import { complete } from "../account.ts";

export const TOKEN = "17|Zk3vY0pQ8sT2uW5xA7bC9dE1fG4hJ6kL";
export const BASE = { base_url: "https://api.example" };

export async function sandboxed(): Promise<Sandbox> {
  const sandbox = await startSandbox({ rateLimit: 0 });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

/** Opens a session. `warnings` are its warnings. */
export async function open(
  given: ValueObject,
  over: Partial<SessionOptions> = {},
): Promise<{ session: ProviderSession; warnings: readonly Diagnostic[] }> {
  const warnings: Diagnostic[] = [];
  const session = await openSession(complete(providerSchema.attributes, given), {
    stop: new AbortController().signal,
    env: {},
    terraformVersion: "1.11.4",
    clock: testClock(),
    onWarning: (warning) => warnings.push(warning),
    ...over,
  });
  onTestFinished(() => session.close());
  return { session, warnings };
}

/** Returns the diagnostics of a session that fails to open. Checks that they contain no token. */
export async function failure(given: ValueObject, over: Partial<SessionOptions> = {}): Promise<readonly Diagnostic[]> {
  const error = await open(given, over).catch((caught: unknown) => caught);
  if (!(error instanceof HostformError)) throw new Error("it did not fail", { cause: error });
  expect(JSON.stringify(error.diagnostics)).not.toContain(TOKEN.slice(3));
  return error.diagnostics;
}
