/**
 * The sandbox of all tests: every exchange with its API is held against `schemas/openapi.yaml`, and so is every event that
 * it sent. A violation fails the test that closes the sandbox.
 */
import { expect, onTestFailed } from "vitest";
import { type Sandbox, type SandboxOptions, startSandbox as start } from "../../src/sandbox/index.ts";
import { completeProfile, type Profile, type ProfileSwitch, profileText } from "../../src/sandbox/profile/profile.ts";
import { drawnProfile } from "./drawn-profile.ts";
import { validator } from "./openapi/validate.ts";

/** What is known of a sandbox that is watched. */
interface Watch {
  readonly profile: Profile;
  readonly violations: string[];
  /** Why violations are let pass; undefined: they are not. */
  excuse: string | undefined;
}

const watches = new WeakMap<Sandbox, Watch>();

/** Beyond it the list says nothing new. */
const MOST = 20;

/** Values of switches that a test needs, the one to take first: what it is about is said by a server like that alone. */
export type Pinned = { readonly [K in ProfileSwitch]?: readonly Profile[K][] };

/**
 * Lists that say where they end. The others are read until a page is short, which costs a request more: for tests that count
 * requests, or name one by its number.
 */
export const ENDING_LISTS = ["laravel", "data_meta", "items_pagination", "named_has_more", "flat"] as const;

/** A host that has nothing in place of an empty list can only be used where lists with rows have no more around them. */
export const withKnownForm = (profile: Partial<Profile>): Partial<Profile> =>
  profile.empty_list === "nothing" || (profile.empty_list === "map" && profile.envelope === "array")
    ? { ...profile, envelope: "data_only" }
    : profile;

/**
 * The profile that suites run under which any must pass: `npm run test:long profiles` sets it, a test's own goes before it.
 * With `drawn` each test has another one, by its name and the seed, and says which if it fails.
 * @param pinned the values that a switch may have; where the run has another one, it is the first of them.
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

/** Starts a sandbox that is watched. @throws (its `close`) Error with the violations. */
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
      // The document allows servers to fail; this one does so by a fault, or it has a defect.
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

/** Lets violations pass in a test that makes them: by changing records to what no server would send, for example. */
export function excuseViolations(sandbox: Sandbox, why: string): void {
  const watch = watches.get(sandbox);
  if (watch !== undefined) watch.excuse = why;
}

/** The violations so far. */
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
