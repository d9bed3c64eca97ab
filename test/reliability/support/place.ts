/**
 * A project for tests of real processes and real connections: its clock is the real one, moved on by what runs in this
 * process sleep, and a proxy that severs connections may stand before its sandbox.
 */
import { mkdtemp } from "node:fs/promises";
import type { Sandbox, SandboxOptions } from "../../../src/sandbox/index.ts";
import { type TestClock, testClock } from "../../support/clock.ts";
import { quickFolder } from "../../support/folder.ts";
import { Project } from "../../support/project.ts";
import { startSandbox } from "../../support/sandbox.ts";
import { type SeveringProxy, startProxy } from "./severing-proxy.ts";

export interface PlaceOptions extends SandboxOptions {
  /** Puts a proxy between the commands and the sandbox. */
  readonly proxied?: boolean;
}

/** The longest that the client waits for an answer, by default. */
const WATCHDOG_MS = 30_000;

/** A clock that moves only by sleeps, whose watchdogs fire when the test says so. */
interface WatchedClock extends TestClock {
  /** The longest wait for an answer is over for every request that is under way. */
  bark(): void;
}

export function watchedClock(): WatchedClock {
  const base = testClock(Date.now());
  const waiting = new Set<() => void>();
  return {
    now: base.now,
    monotonic: base.monotonic,
    advance: base.advance,
    get slept() {
      return base.slept;
    },
    sleep: (ms, signal) =>
      ms === WATCHDOG_MS
        ? new Promise((resolve, reject) => {
            waiting.add(resolve);
            signal?.addEventListener("abort", () => {
              waiting.delete(resolve);
              reject(signal.reason);
            });
          })
        : base.sleep(ms, signal),
    bark: () => {
      base.advance(WATCHDOG_MS);
      for (const end of waiting) end();
      waiting.clear();
    },
  };
}

export class Place extends Project {
  readonly bark: () => void;
  readonly #proxy: SeveringProxy | undefined;

  constructor(dir: string, sandbox: Sandbox, clock: WatchedClock, proxy: SeveringProxy | undefined) {
    super(dir, sandbox, clock, {
      HOSTING_BASE_URL: proxy?.url ?? sandbox.url,
      HOSTING_TOKEN: sandbox.tokens.agency,
    });
    this.bark = clock.bark;
    this.#proxy = proxy;
  }

  get proxy(): SeveringProxy {
    if (this.#proxy === undefined) throw new Error("the place has no proxy");
    return this.#proxy;
  }

  /** Moves the clock on to the real time, by which other processes went. */
  catchUp(): void {
    this.clock.advance(Math.max(0, Date.now() - this.clock.now()));
  }

  override async close(): Promise<void> {
    await this.#proxy?.close();
    await super.close();
  }
}

/** Starts one; the caller closes it. Invoices pay themselves, orders are provisioned and jobs are done at once. */
export async function startPlace(declare: object, { proxied, ...options }: PlaceOptions = {}): Promise<Place> {
  const clock = watchedClock();
  let place: Place | undefined;
  const sandbox = await startSandbox({
    clock,
    sleep: async () => place?.onDelay(),
    rateLimit: 0,
    autoPay: true,
    provisioningSeconds: 0,
    jobSeconds: 0,
    ...options,
  });
  const proxy = proxied ? await startProxy(sandbox.url) : undefined;
  place = new Place(await mkdtemp(quickFolder("place")), sandbox, clock, proxy);
  await place.declare(declare);
  return place;
}
