/**
 * Sandbox of all tests. Validates every API request, response and event against `schemas/openapi.yaml`. A violation
 * fails the test that closes the sandbox.
 */
import { expect, onTestFailed } from "vitest";
import { type Sandbox, type SandboxOptions, startSandbox as start } from "../../src/sandbox/index.ts";
import { completeProfile, type Profile, type ProfileSwitch, profileText } from "../../src/sandbox/profile/profile.ts";
import { drawnProfile } from "./drawn-profile.ts";
import { validator } from "./openapi/validate.ts";

/** Validation of a sandbox. */
interface Watch {
  readonly profile: Profile;
  readonly violations: string[];
  /** Reason why violations are allowed. Undefined if they fail the test. */
  excuse: string | undefined;
}

const watches = new WeakMap<Sandbox, Watch>();

/** Maximum number of reported violations. */
const MOST = 20;

/** Values of profile switches that a test requires. The first value is preferred. */
export type Pinned = { readonly [K in ProfileSwitch]?: readonly Profile[K][] };

/**
 * Envelopes whose lists mark their last page. With the other envelopes, a client reads until an incomplete page, which
 * needs one more request. For tests that count requests or select a request by its number.
 */
export const ENDING_LISTS = ["laravel", "data_meta", "items_pagination", "named_has_more", "flat"] as const;

/**
 * Returns a usable profile. If a host returns nothing for an empty list, hostform can use the host only if lists with
 * items have no other fields.
 */
export const withKnownForm = (profile: Partial<Profile>): Partial<Profile> =>
  profile.empty_list === "nothing" || (profile.empty_list === "map" && profile.envelope === "array")
    ? { ...profile, envelope: "data_only" }
    : profile;

/**
 * Returns the profile of the suite, which `npm run test:long profiles` sets. The test's own values have priority. With
 * `drawn`, each test has a random profile that depends on its name and the seed, and reports the profile if it fails.
 * @param pinned Allowed values of switches. If the suite's value is not allowed, the first allowed value replaces it.
 */
export function profileOfRun(pinned: Pinned = {}): { readonly profile: Profile } {
  const { HOSTFORM_PROFILE: given, HOSTFORM_SEED: seed = "1" } = process.env;
  const test = expect.getState().currentTestName;
  const chosen = given === "drawn" ? drawnProfile(seed, test ?? "") : completeProfile(given);
  const profile: Record<string, string> = { ...withKnownForm(chosen) };
  for (const [name, values] of Object.entries(pinned) as [ProfileSwitch, readonly string[]][]) {
    const [first] = values;
    if (first !== undefined && !values.includes(profile[name] ?? "")) profile[name] = first;
  }
  const whole = profile as Profile;
  if (given === "drawn" && test !== undefined) {
    onTestFailed(() => void process.stderr.write(`With HOSTFORM_PROFILE=${profileText(whole)}: ${test}\n`));
  }
  return { profile: whole };
}

/** Starts a sandbox with validation. Its `close` throws an Error with the violations. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const watch: Watch = { profile: completeProfile(options.profile), violations: [], excuse: undefined };
  const { profile, violations } = watch;
  const sandbox = await start({
    ...options,
    observe: (exchange) => {
      options.observe?.(exchange);
      if (violations.length >= MOST) return;
      violations.push(...validator().exchange(exchange, { profile }));
      const { method, url, status, faulty } = exchange;
      // The document allows server errors. Without a fault, a server error of the sandbox is a defect.
      if (status !== null && status >= 500 && !faulty)
        violations.push(`${method} ${url} → ${status}: no fault made it fail`);
    },
  });
  const { close } = sandbox;
  let closing: Promise<void> | undefined;
  sandbox.close = () => {
    closing ??= (async () => {
      try {
        violations.push(...eventsOf(sandbox, profile));
      } finally {
        await close();
      }
      if (violations.length === 0 || watch.excuse !== undefined) return;
      throw new Error(`schemas/openapi.yaml was violated:\n${[...new Set(violations)].join("\n")}`);
    })();
    return closing;
  };
  sandbox[Symbol.asyncDispose] = sandbox.close;
  watches.set(sandbox, watch);
  return sandbox;
}

/** Allows violations in a test that causes them, for example by invalid records. */
export function excuseViolations(sandbox: Sandbox, why: string): void {
  const watch = watches.get(sandbox);
  if (watch !== undefined) watch.excuse = why;
}

/** Returns the violations so far. */
export function violationsOf(sandbox: Sandbox): readonly string[] {
  return watches.get(sandbox)?.violations ?? [];
}

function eventsOf(sandbox: Sandbox, profile: Profile): string[] {
  return sandbox.control.list("deliveries").flatMap(({ event, body }) =>
    validator()
      .delivery(body, undefined, profile)
      .map((said) => `${event}: ${said}`),
  );
}
