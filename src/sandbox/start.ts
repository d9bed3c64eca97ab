/** Starts a sandbox with its two ports and its timer. */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { begin } from "./beginning.ts";
import { SandboxClock } from "./clock.ts";
import { type Control, controlOf } from "./control/control.ts";
import { controlApp } from "./control/routes.ts";
import { EventSender } from "./events/sender.ts";
import { BackgroundFaults, Faults } from "./faults.ts";
import { apiApp } from "./http/api.ts";
import { Journal } from "./http/journal.ts";
import { RateWindows } from "./http/rate.ts";
import { Agenda } from "./lifecycle/agenda.ts";
import { settle } from "./lifecycle/billing.ts";
import { checkOptions, completeOptions, type SandboxOptions } from "./options.ts";
import { completeProfile } from "./profile/profile.ts";
import { SandboxOptionError } from "./refusal.ts";
import { seedOf } from "./seed.ts";
import { openSqlite } from "./store/sqlite.ts";
import { Store } from "./store/store.ts";
import type { World } from "./world.ts";

export interface Sandbox {
  /** Base URL of the API, without /api/v1. */
  url: string;
  controlUrl: string;
  /**
   * `agency`: on the Manage track, Growth tier, with all abilities. `customer`: of another customer account, with all
   * abilities. `viewer`: of the agency's account, with the ability to view. An imported account has no `customer`: "".
   */
  tokens: { agency: string; customer: string; viewer: string };
  /** Control in this process. */
  control: Control;
  /** Closes connections, ports and the data file. A second call has no effect. */
  close(): Promise<void>;
  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** @throws SandboxOptionError for unusable options: unknown profile values, ports in use, a foreign data file */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  checkOptions(options);
  const settings = completeOptions(options, completeProfile(options.profile));
  const { port = 0, controlPort = 0 } = options;
  const store = new Store(options.data === undefined ? undefined : await openSqlite(options.data));
  const parts: { close(): Promise<void> }[] = [];
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= Promise.all(parts.map((part) => part.close())).then(() => store.close());
    return closing;
  };
  try {
    keepSeed(store, options, settings);
    const clock = new SandboxClock(settings.clock, store);
    const faults = new Faults(settings);
    const sender = new EventSender({ settings, store, clock, faults });
    const world: World = {
      settings,
      store,
      clock,
      agenda: new Agenda(store),
      sender,
      rate: new RateWindows(settings.rateLimit, settings.profile.rate),
      inFlight: new Set(),
      journal: new Journal(),
      faults,
      backgroundFaults: new BackgroundFaults(settings.seed, settings.profile),
      url: "",
    };
    const alarm = typeof options.clock === "object" ? undefined : alarmOf(world);
    parts.push({
      close: () => {
        alarm?.stop();
        return sender.close();
      },
    });
    store.onUndo = () => world.agenda.forget();
    store.onCommit = () => {
      sender.wake();
      alarm?.set();
    };

    begin(world, options);
    let tokens = tokensOf(store);
    const control = controlOf(world);

    const api = await listen(apiApp(world).fetch, port);
    parts.push(api);
    world.url = api.url;
    const controlListener = await listen(controlApp(control, world).fetch, controlPort);
    parts.push(controlListener);
    return {
      url: api.url,
      controlUrl: controlListener.url,
      // A snapshot of another seed changes the tokens. A revoked token keeps its value here.
      get tokens() {
        tokens = tokensOf(store, tokens);
        return tokens;
      },
      control,
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Takes the seed of a filled data file. Its time cannot be frozen by an option.
 * @throws SandboxOptionError for another seed or a frozen clock
 */
function keepSeed(store: Store, options: SandboxOptions, settings: World["settings"]): void {
  const kept = seedOf(store);
  if (kept === undefined) return;
  if (settings.frozenAt !== undefined) {
    throw new SandboxOptionError("The data file continues at its own time. Remove the clock, or use a new file.");
  }
  if (options.seed !== undefined && options.seed !== kept) {
    throw new SandboxOptionError(
      `The data file was made from the seed "${kept}", not "${options.seed}". Remove the seed, or use a new file.`,
    );
  }
  settings.seed = kept;
}

function tokensOf(store: Store, before?: Sandbox["tokens"]): Sandbox["tokens"] {
  const value = (name: keyof Sandbox["tokens"]): string =>
    store.table("tokens").find((token) => token.name === name)?.value ?? before?.[name] ?? "";
  return { agency: value("agency"), customer: value("customer"), viewer: value("viewer") };
}

/**
 * Listens on 127.0.0.1. Port 0 selects any free port.
 * @throws SandboxOptionError if the port is not available
 */
async function listen(
  fetch: Parameters<typeof createAdaptorServer>[0]["fetch"],
  port: number,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createAdaptorServer({ fetch, overrideGlobalObjects: false }) as Server;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const why = error.code === "EADDRINUSE" ? "it is in use" : error.message;
      reject(
        new SandboxOptionError(
          `The sandbox cannot listen on port ${port}: ${why}. Choose another port, or 0 for any free port.`,
        ),
      );
    });
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Maximum wait of a timer in milliseconds, about 23 days. */
const LONGEST_MS = 2_000_000_000;

/**
 * Returns the only timer of a sandbox. It fires when the next step is due by the system clock. `settle` then performs the
 * step.
 */
function alarmOf(world: World) {
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  /** Sets the timer. Called whenever the next step may have changed. */
  const set = (): void => {
    clearTimeout(timer);
    const { agenda, clock, sender } = world;
    if (closed || clock.frozen) return;
    // Due deliveries are being sent. After them, `set` is called again.
    const next = Math.min(agenda.first()?.at ?? Number.POSITIVE_INFINITY, sender.next ?? Number.POSITIVE_INFINITY);
    if (next === Number.POSITIVE_INFINITY) return;
    timer = setTimeout(ring, Math.min(Math.max(1, next - clock.now()), LONGEST_MS)).unref();
  };
  const ring = (): void => {
    world.store.transaction(() => settle(world));
    world.sender.wake();
    set();
  };
  const stop = (): void => {
    closed = true;
    clearTimeout(timer);
  };
  return { set, stop };
}
