/**
 * A complete, stateful implementation of the Hosting Automation API, for demonstrations and tests. In: options, HTTP
 * requests on the API port, wishes on the control port. Out: answers as the specification has them; where it is silent,
 * as the profile says. Must not: import anything else of this project (it is written from the specification alone, so
 * that it cannot agree with a mistake of the client), listen on anything but 127.0.0.1, use timers for what the clock decides.
 */
import { apiApp } from "./api.ts";
import { SandboxClock } from "./clock.ts";
import { type Control, controlOf } from "./control/control.ts";
import { controlApp } from "./control/routes.ts";
import { Faults } from "./faults.ts";
import { Journal } from "./journal.ts";
import { type Listener, listen } from "./listen.ts";
import { SandboxOptionError } from "./option-error.ts";
import { completeOptions, type SandboxOptions, wholeNumber } from "./options.ts";
import { completeProfile } from "./profile.ts";
import { RateWindows } from "./rate.ts";
import { plant, seedOf } from "./seed.ts";
import { Store } from "./store.ts";
import type { World } from "./world.ts";

export type { OpenCollection } from "./control/collections.ts";
export type { Control, SandboxState, Span } from "./control/control.ts";
export type { NewRecord } from "./control/create.ts";
export type { ServiceSeed } from "./control/seed-services.ts";
export type { Fault, FaultPhase, FaultRequest } from "./faults.ts";
export type { RequestEntry } from "./journal.ts";
export { SandboxOptionError } from "./option-error.ts";
export type { SandboxOptions } from "./options.ts";
export { PROFILE_SWITCHES, type Profile, type ProfileSwitch, parseProfile } from "./profile.ts";
export type * from "./records.ts";
export { Refusal } from "./refusal.ts";
export type { CollectionName, Collections } from "./tables.ts";

export interface Sandbox {
  /** Base URL of the API, without /api/v1. */
  url: string;
  controlUrl: string;
  /** agency: Manage track, Growth tier, all abilities. customer: an ordinary account, all abilities. viewer: the agency's, view only. */
  tokens: { agency: string; customer: string; viewer: string };
  /** What the control API offers, in process. */
  control: Control;
  /** Cuts open connections, frees the ports, closes the data file. Twice is as good as once. */
  close(): Promise<void>;
}

/**
 * Starts a sandbox.
 * @throws SandboxOptionError for options that cannot be used: unknown profile values, ports in use, a foreign data file.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const settings = completeOptions(options, completeProfile(options.profile));
  const port = wholeNumber("port", options.port, 0);
  const controlPort = wholeNumber("controlPort", options.controlPort, 0);
  const store = await openStore(options.data);
  const listeners: Listener[] = [];
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= Promise.all(listeners.map((listener) => listener.close())).then(() => store.close());
    return closing;
  };
  try {
    takeSeed(store, options, settings);
    const world: World = {
      settings,
      store,
      clock: new SandboxClock(settings.clock, store),
      rate: new RateWindows(settings.rateLimit),
      inFlight: new Set(),
      journal: new Journal(),
      faults: new Faults(),
      url: "",
    };
    if (seedOf(store) === undefined) store.transaction(() => plant(world));
    const control = controlOf(world);
    const api = await listen(apiApp(world).fetch, port);
    listeners.push(api);
    world.url = api.url;
    const controlListener = await listen(controlApp(control).fetch, controlPort);
    listeners.push(controlListener);
    return { url: api.url, controlUrl: controlListener.url, tokens: tokensOf(store), control, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openStore(file: string | undefined): Promise<Store> {
  if (file === undefined) return new Store();
  const { openSqlite } = await import("./store-sqlite.ts");
  return new Store(await openSqlite(file));
}

/** A file goes on with the seed that it was made from; another one that was asked for would be ignored, so it is refused. */
function takeSeed(store: Store, options: SandboxOptions, settings: World["settings"]): void {
  const kept = seedOf(store);
  if (kept === undefined) return;
  if (options.seed !== undefined && options.seed !== kept) {
    throw new SandboxOptionError(
      `The data file was made from the seed "${kept}", not "${options.seed}". Leave the seed out, or name a new file.`,
    );
  }
  settings.seed = kept;
}

function tokensOf(store: Store): Sandbox["tokens"] {
  const value = (name: string): string => store.table("tokens").find((token) => token.name === name)?.value ?? "";
  return { agency: value("agency"), customer: value("customer"), viewer: value("viewer") };
}
