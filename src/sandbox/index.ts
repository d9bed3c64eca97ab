/**
 * A complete, stateful implementation of the Hosting Automation API, for demonstrations and tests. In: options, HTTP
 * requests on the API port, wishes on the control port. Out: answers as the specification has them; where it is silent,
 * as the profile says. Must not: import anything else of this project (it is written from the specification alone, so
 * that it cannot agree with a mistake of the client), listen on anything but 127.0.0.1, let a timer decide what the clock
 * decides (one wakes it, see `alarm.ts`).
 */
import { Alarm } from "./alarm.ts";
import { SandboxClock } from "./clock.ts";
import { type Control, controlOf } from "./control/control.ts";
import { recordedControl } from "./control/recorded.ts";
import { controlApp } from "./control/routes.ts";
import { aboutOf } from "./dashboard/about.ts";
import { HttpSender } from "./events/sender.ts";
import { Faults } from "./faults.ts";
import { Weather } from "./faults.ts";
import { apiApp } from "./http/api.ts";
import { listen } from "./http/listen.ts";
import { RateWindows } from "./http/rate.ts";
import { HeapAgenda } from "./lifecycle/agenda.ts";
import { SandboxOptionError } from "./refusal.ts";
import { checkOptions } from "./options.ts";
import { completeOptions, type SandboxOptions } from "./options.ts";
import { completeProfile } from "./profile/profile.ts";
import { Recorder } from "./record/recorder.ts";
import { Journal } from "./record/journal.ts";
import { begin } from "./beginning.ts";
import { seedOf } from "./seed.ts";
import { Store } from "./store/store.ts";
import type { World } from "./world.ts";

export type { OpenCollection } from "./control/records.ts";
export type { Control, EventSubject, SandboxState } from "./control/control.ts";
export type { NewRecord } from "./control/records.ts";
export type { ServiceSeed } from "./seed.ts";
export type { Span, Time } from "./control/time.ts";
export type { DeliverTo } from "./events/post.ts";
export type { Fault, FaultPhase, FaultRequest } from "./faults.ts";
export { SandboxOptionError } from "./refusal.ts";
export type { Exchange, SandboxOptions } from "./options.ts";
export { type Deviation, deviationText, drawServer, serverOptions } from "./profile/drawn.ts";
export { PROFILE_SWITCHES, parseProfile, profileText, type Profile, type ProfileSwitch } from "./profile/profile.ts";
export { PROFILE_SETS, type ProfileSet } from "./profile/profile.ts";
export type { BrokenInvariant, InvariantReport } from "./record/invariants.ts";
export type { ControlStep, RequestStep, Session, SessionStep } from "./record/session.ts";
export type { RequestExpectation } from "./record/verify.ts";
export type { RequestEntry } from "./record/journal.ts";
export { Refusal } from "./refusal.ts";
export { replaySession } from "./record/replay.ts";
export { sessionTest } from "./record/session-test.ts";
export type { BillingStep, Job } from "./store/records.ts";
export type * from "./store/records.ts";
export { ABILITIES, EVENTS } from "./store/records.ts";
export type { CollectionName, Collections } from "./store/records.ts";

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
  /** The same, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts a sandbox.
 * @throws SandboxOptionError for options that cannot be used: unknown profile values, ports in use, a foreign data file.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  checkOptions(options);
  const settings = completeOptions(options, completeProfile(options.profile));
  const { port = 0, controlPort = 0 } = options;
  const store = await openStore(options.data);
  const parts: { close(): Promise<void> }[] = [];
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= Promise.all(parts.map((part) => part.close())).then(() => store.close());
    return closing;
  };
  try {
    takeSeed(store, options, settings);
    const recorder = options.record ? new Recorder(settings.clock) : undefined;
    if (recorder !== undefined) settings.clock = recorder.clock;
    const clock = new SandboxClock(settings.clock, store);
    const faults = new Faults(settings);
    const sender = new HttpSender({ settings, store, clock, faults });
    const world: World = {
      settings,
      store,
      clock,
      agenda: new HeapAgenda(store),
      sender,
      rate: new RateWindows(settings.rateLimit, settings.profile.rate),
      inFlight: new Set(),
      journal: new Journal(),
      faults,
      weather: new Weather(settings.seed, settings.profile),
      recorder,
      url: "",
    };
    const alarm = settings.alarm ? new Alarm(world) : undefined;
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
    const control = recorder === undefined ? controlOf(world) : recordedControl(controlOf(world), world, recorder);
    const api = await listen(apiApp(world).fetch, port);
    parts.push(api);
    world.url = api.url;
    const controlListener = await listen(controlApp(control, aboutOf(world)).fetch, controlPort);
    parts.push(controlListener);
    return {
      url: api.url,
      controlUrl: controlListener.url,
      // Others after a snapshot of another seed; a token that was revoked keeps its value.
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

async function openStore(file: string | undefined): Promise<Store> {
  if (file === undefined) return new Store();
  const { openSqlite } = await import("./store/sqlite.ts");
  return new Store(await openSqlite(file));
}

/** A file goes on with the seed that it was made from; another one that was asked for would be ignored, so it is refused. */
function takeSeed(store: Store, options: SandboxOptions, settings: World["settings"]): void {
  const kept = seedOf(store);
  if (kept === undefined) return;
  if (settings.frozenAt !== undefined) {
    throw new SandboxOptionError("The data file goes on at its own time. Leave the clock out, or name a new file.");
  }
  if (options.seed !== undefined && options.seed !== kept) {
    throw new SandboxOptionError(
      `The data file was made from the seed "${kept}", not "${options.seed}". Leave the seed out, or name a new file.`,
    );
  }
  settings.seed = kept;
}

function tokensOf(store: Store, before?: Sandbox["tokens"]): Sandbox["tokens"] {
  const value = (name: keyof Sandbox["tokens"]): string =>
    store.table("tokens").find((token) => token.name === name)?.value ?? before?.[name] ?? "";
  return { agency: value("agency"), customer: value("customer"), viewer: value("viewer") };
}
