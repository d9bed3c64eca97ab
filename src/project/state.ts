import { randomUUID } from "node:crypto";
import path from "node:path";
import { list, textNow } from "../core/files/index.ts";
import { kinds } from "../core/kinds/index.ts";
import {
  heldTwice,
  holdingsIn,
  intentId,
  isPendingCreate,
  leftIn,
  withHolders,
  withMissingState,
} from "../core/lifecycle/index.ts";
import { type Held, markOfBackend, type Place, placeOfFile, projectFolder } from "../core/local/index.ts";
import {
  attempt,
  type Backend,
  type Diagnostic,
  errorOf,
  failWith,
  formatAddress,
  type HistoryReading,
  ifExplained,
  type Plan,
  parseAddress,
  type ResourceState,
  type State,
  type StateReport,
} from "../core/model/index.ts";
import {
  createFileBackend,
  createStateStore,
  type Encryption,
  filesOfState,
  KEY_VARIABLES,
  type KeyVariables,
  OLD_KEY_VARIABLES,
  type OpenState,
  type Resealed,
  type Resealing,
  type StateStore,
  selectResources,
} from "../core/record/index.ts";
import { jsonText } from "../report/index.ts";
import { guarded, ownBackend, refuseForgotten, type StateKeys, stateBackend } from "./backend.ts";
import type { ProjectDeclaration } from "./declaration.ts";
import { trackedWarnings } from "./git-tracked.ts";
import { interruptible } from "./interrupt.ts";
import { problem } from "./messages.ts";
import { type Server, withServers } from "./providers.ts";
import { learnOutputs, learnResource } from "./secrets.ts";
import { nestedIn } from "./selection.ts";
import type { ProjectParts } from "./source.ts";
import { forStack } from "./stack-diagnostics.ts";
import { type SiblingOutputs, siblingOutputs, stateFile } from "./stacks/stack.ts";
import { requireOwnState } from "./trust.ts";

const READING = { write: false, command: "read", timeoutMs: 0 } as const;

/** Runs a task with an open state, and closes the state afterwards. */
export async function whileOpen<T>(opening: Promise<OpenState>, work: (open: OpenState) => T | Promise<T>): Promise<T> {
  const open = await opening;
  try {
    return await work(open);
  } finally {
    await open.close();
  }
}

/** The state of a project, at the declared backend or in a file. */
export class ProjectState {
  readonly #parts: ProjectParts;
  readonly #declaration: Pick<ProjectDeclaration, "backend" | "providers">;
  readonly #terraforms: Place | undefined;
  readonly #keys: StateKeys;
  /** Path of the state file. Undefined for a remote state, or before the first open. */
  #file: string | undefined;
  #backend: Backend | undefined;
  /** Intents of pending creations that this run read, by address. */
  readonly #intents = new Map<string, string>();

  /** @param terraforms Given for a Terraform state, whose entries the provider writes. */
  constructor(
    parts: ProjectParts,
    declaration: Pick<ProjectDeclaration, "backend" | "providers">,
    keys: StateKeys,
    terraforms?: Place,
  ) {
    this.#terraforms = terraforms;
    this.#parts = parts;
    this.#declaration = declaration;
    this.#keys = keys;
  }

  /** Returns the encryption of the state. @throws HostformError `state.key` for an invalid key. */
  encryption(variables?: KeyVariables): Encryption {
    return this.#keys(variables);
  }

  /** Returns the state store. Does not open it. @param encryption Default: with the key in the environment. */
  store(encryption = this.encryption()): StateStore {
    const { source, host, redaction, log } = this.#parts;
    let isRemote = false;
    // Terraform may use the state of a stack next, and cannot read a journal.
    const whole = source.stack !== undefined || this.#terraforms !== undefined;
    const place = async (signal?: AbortSignal) => {
      if (source.rehearsal !== undefined) return source.rehearsal.backend;
      const backend = await this.#declaration.backend();
      isRemote = backend !== undefined;
      this.#backend = backend ?? ownBackend(source);
      if (backend !== undefined) {
        this.#file = backend.type === "local" ? stateFile(source.dir, backend.settings) : undefined;
        return stateBackend(backend, source, host.clock, log, signal);
      }
      if (source.ownState) return guarded(source.ownState, log);
      this.#file = source.state;
      requireOwnState(source, source.state);
      return createFileBackend({ path: source.state, clock: host.clock, whole });
    };
    // Secrets in an untrusted state file could hide words of the plan.
    const isStrange = () => source.untrusted === true && source.stateNamed !== true && this.#backend === undefined;
    return createStateStore(place, randomUUID, source.rehearsal ? undefined : encryption, {
      onResource: (resource) => {
        if (isStrange()) return;
        learnResource(redaction, resource);
        if (isPendingCreate(resource)) this.#intents.set(resource.address, intentId(resource.private.pending));
      },
      check: async (state, command) => {
        if (isRemote) refuseForgotten(source.state, state, command);
        return this.#file === undefined ? [] : trackedWarnings(this.#file);
      },
    });
  }

  /** Identifies the opened state on this machine: a file, or a workspace of a backend. Undefined before the first write. */
  place(lineage: string): Place | undefined {
    if (this.#terraforms !== undefined || lineage === "") return this.#terraforms;
    return this.#file === undefined ? this.#placeAt(this.#backend) : placeOfFile(this.#file);
  }

  /** Identifies the state without opening it. @throws HostformError as `backend` of the declaration does. */
  async declaredPlace(): Promise<Place> {
    const backend = (await this.#declaration.backend()) ?? ownBackend(this.#parts.source);
    return backend === undefined ? placeOfFile(this.#parts.source.state) : this.#placeAt(backend);
  }

  #placeAt({ type, settings }: Pick<Backend, "type" | "settings"> = { type: "http", settings: {} }): Place {
    const workspace = typeof settings.workspace === "string" ? settings.workspace : "default";
    const { dir, env } = this.#parts.source;
    return { mark: markOfBackend({ type, settings, workspace }, env), label: `the remote state of ${dir}` };
  }

  /**
   * Returns the mark of the opened state in create requests. Undefined before the first write. If a lost state is replaced by
   * a new state at the same path, the marks differ.
   */
  owner(lineage: string): string | undefined {
    if (this.#terraforms !== undefined || lineage === "") return this.#terraforms?.mark;
    const { dir } = this.#parts.source;
    return jsonText([this.#file === undefined ? "remote" : dir, lineage]);
  }

  /**
   * Saves the objects of the opened state in the stores. Ignores errors, because no run requires this data.
   * @param before State before the changes of the run.
   */
  async record(servers: readonly Server[], state: State, before?: State): Promise<void> {
    const place = this.place(state.lineage);
    if (place === undefined || (before !== undefined && hasSameRecords(before, state))) return;
    const now = this.#parts.host.clock.now();
    for (const { store, aliases } of servers) {
      const held = holdingsIn(state, kinds, aliases, this.#intents);
      const left = before === undefined ? [] : leftIn(holdingsIn(before, kinds, aliases), held);
      const record = async () => {
        await store.see(place, place.mark, held);
        await store.release(place.mark, left);
        // The store now contains all objects of the state.
        await store.endRun(place.mark, place.mark, now);
      };
      await record().catch(ifExplained(() => {}));
    }
  }

  /**
   * Saves the objects of the opened state, and compares them with other states on this machine.
   * @returns the diagnostics of the plan, extended with those states or a missing state. Also warns about objects in two
   * states.
   */
  async compare(
    servers: readonly Server[],
    state: State,
    planned: Pick<Plan, "changes" | "diagnostics">,
    imports: readonly ResourceState[] = [],
  ): Promise<readonly Diagnostic[]> {
    const place = this.place(state.lineage);
    await this.record(servers, state);
    const found: Diagnostic[] = [];
    const held: Held[] = [];
    let named = planned.diagnostics;
    const none = ifExplained((): readonly Held[] => []);
    for (const { store, aliases } of servers) {
      // A lost state had the same path, so compare with it too.
      const others = await store.holdings({ notOf: (place ?? this.place("lost"))?.mark }).catch(none);
      held.push(...others);
      named = withHolders(named, others, undefined, (place) => this.#joinable(place));
      if (others.length === 0 || place === undefined) continue;
      const own = await store.holdings({ place: place.mark }).catch(none);
      found.push(...heldTwice(place, holdingsIn(state, kinds, aliases), own, others, kinds));
      // After an import, this state would contain the object too.
      const imported = { ...state, resources: new Map(imports.map((one) => [one.address, one])) };
      const added = heldTwice(place, holdingsIn(imported, kinds, aliases), [], others, kinds);
      found.push(...added.filter(({ address }) => found.every((one) => one.address !== address)));
    }
    const beside = { place: this.#shownPlace(), others: await this.#otherStates(), backup: this.#backup() };
    const here = { state, held, ...beside };
    return [...withMissingState(named, planned.changes, here), ...found];
  }

  /** Returns the folder of another project that this project can join. */
  #joinable(place: Place): string | undefined {
    const { cwd, dir, stack, environment } = this.#parts.source;
    const folder = stack === undefined && environment === undefined ? projectFolder(place) : undefined;
    return folder === undefined || folder === dir ? undefined : path.relative(cwd, folder);
  }

  #shownPlace(): string {
    const { cwd } = this.#parts.source;
    return this.#file === undefined ? `backend ${this.#backend?.type}` : path.relative(cwd, this.#file);
  }

  /** Lists other state files in the same folder. */
  async #otherStates(): Promise<readonly string[]> {
    if (this.#file === undefined) return [];
    const { dir, base } = path.parse(this.#file);
    const names = await list(dir).catch(() => []);
    return names.filter((name) => name.endsWith(".tfstate") && name !== base).sort();
  }

  /** Returns true if the state can be read without network and without a program. */
  async isLocal(): Promise<boolean> {
    const { env } = this.#parts.source;
    const { type = "local" } = (await this.#declaration.backend()) ?? {};
    return type === "local" && [KEY_VARIABLES, OLD_KEY_VARIABLES].every(({ command }) => !env[command]);
  }

  /** Returns the path of the state's backup, if it contains resources. It may be encrypted. */
  #backup(): string | undefined {
    if (this.#file === undefined) return undefined;
    const { backup } = filesOfState(this.#file);
    const text = textNow(backup) ?? "";
    const isEmpty = text === "" || /"resources":\s*\[\]/.test(text);
    return isEmpty ? undefined : path.relative(this.#parts.source.cwd, backup);
  }

  /** Reads the state and the owner of its lock, without taking the lock. The report contains all failures. */
  async examine(): Promise<{ readonly report: StateReport; readonly state: State | undefined }> {
    const problems: Diagnostic[] = [];
    const explained = ifExplained(({ diagnostics }) => void problems.push(...diagnostics));
    const state = await whileOpen((async () => this.store().open(READING))(), ({ state, warnings }) => {
      problems.push(...warnings);
      return state;
    }).catch(explained);
    const lock = (await (async () => this.store().heldBy())().catch(ifExplained(() => "unknown"))) ?? null;
    if (lock !== null && lock !== "unknown") {
      const remedies = [{ do: "wait_for_lock" }] as const;
      problems.push(
        errorOf("state.locked", "Another process holds the state", { detail: `Held by ${lock}.`, remedies }),
      );
    }
    const exists = state !== undefined && state.lineage !== "";
    const isClear = problems.some(({ code }) => code === "state.key");
    const report = {
      place: this.#shownPlace(),
      resources: exists ? state.resources.size : null,
      encrypted: exists ? this.encryption().key !== undefined && !isClear : null,
      lock,
      problems,
    };
    return { report, state };
  }

  /** Reads the state without a lock. @param warns True to print its warnings. */
  async read(warns = true): Promise<State> {
    return whileOpen(this.store().open(READING), (open) => {
      if (warns) this.#warn(open);
      return open.state;
    });
  }

  /** Reads the history without a lock. Undefined if the backend cannot store one. */
  history(): Promise<HistoryReading | undefined> {
    return whileOpen(this.store().open(READING), ({ history }) => history?.read());
  }

  /** Reads the resources at an address without a lock. @throws HostformError `plan.address` if none exists. */
  async select(address: string, warns = true): Promise<readonly ResourceState[]> {
    return selectResources(await this.read(warns), address);
  }

  /** Opens the state for writing, and releases the lock afterwards. Ctrl-C ends the wait for the lock. */
  write<T>(command: string, work: (open: OpenState, signal: AbortSignal) => Promise<T>): Promise<T> {
    const { source, host } = this.#parts;
    return interruptible(host, async (signal) => {
      const timeoutMs = source.lockTimeoutMs ?? 0;
      return whileOpen(this.store().open({ write: true, command, timeoutMs, signal }), async (open) => {
        this.#warn(open);
        const before = open.state;
        const result = await work(open, signal);
        if (open.state !== before) await this.recordNow(open.state, before, signal);
        return result;
      });
    });
  }

  /** Saves the objects of the opened state in the stores, outside of a run. Without a token, the next plan does this. */
  async recordNow(state: State, before: State, signal: AbortSignal): Promise<void> {
    if (this.#terraforms !== undefined) return;
    const configs = await this.#declaration.providers().catch(ifExplained(() => new Map()));
    const used = [...state.resources.values(), ...before.resources.values()].map(({ provider }) => provider);
    await withServers(configs, this.#parts, signal, used, (servers) => this.record(servers, state, before));
  }

  /** Returns the state file of the same project. Ignores the declared backend. */
  inFile(): ProjectState {
    const providers = () => this.#declaration.providers();
    return new ProjectState(this.#parts, { backend: async () => undefined, providers }, this.#keys);
  }

  /** Changes the encryption of the state while the state is locked. */
  reseal(command: string, wanted: Resealing): Promise<Resealed> {
    const { source, host } = this.#parts;
    return interruptible(host, (signal) =>
      this.store().reseal(wanted, { command, timeoutMs: source.lockTimeoutMs ?? 0, signal }),
    );
  }

  /** Reads the outputs of another stack. Undefined if there is no state. */
  async outputsAt(backend: Backend): Promise<SiblingOutputs | undefined> {
    const { source, host, redaction, log } = this.#parts;
    const connect = () => stateBackend(backend, source, host.clock, log);
    const isUntrusted = source.untrusted === true;
    const store = createStateStore(connect, randomUUID, this.encryption(), {
      ...(!isUntrusted && { onResource: (resource) => learnResource(redaction, resource) }),
    });
    return whileOpen(store.open(READING), ({ state: { lineage, outputs = new Map() } }) => {
      if (lineage === "") return undefined;
      if (!isUntrusted) learnOutputs(redaction, outputs);
      return siblingOutputs(outputs, isUntrusted);
    });
  }

  /**
   * Moves a resource or all its instances to another address. Nested resources move too, because the address of a grant
   * contains the name of its service.
   * @throws HostformError as `OpenState.move` does. Nothing is then moved.
   */
  move(store: OpenState, from: string, to: string): ReturnType<OpenState["move"]> {
    const target = parseAddress(to);
    const isAlone = target !== undefined && target.key === undefined;
    const [first, ...others] = isAlone ? selectResources(store.state, from) : [];
    const nested = first === undefined || others.length > 0 ? [] : this.#nested(store.state, first);
    const inner = nested.map(({ address, type, key }) => ({
      from: address,
      to: formatAddress({ type, name: target?.name ?? "", key }),
    }));
    return store.move([{ from, to }, ...inner]);
  }

  /**
   * Removes resources and their nested resources from the state. The objects stay in the account. If one address is unknown
   * or may have a pending order, removes nothing.
   * @returns the addresses.
   * @throws HostformError `plan.address`, `plan.pending`.
   */
  async forget(store: OpenState, addresses: readonly string[]): Promise<readonly string[]> {
    const problems: Diagnostic[] = [];
    const unknown = ifExplained(({ diagnostics }) => {
      problems.push(...diagnostics);
      return [];
    });
    const named = addresses.flatMap((address) => attempt(() => selectResources(store.state, address), unknown));
    const chosen = new Set(
      named.flatMap((one) => [one, ...this.#nested(store.state, one).map(({ record }) => record)]),
    );
    for (const { address } of [...chosen].filter(isPendingCreate))
      problems.push(problem("plan.pending/forgotten", { address }));
    failWith(problems);
    const removed = [...chosen].map(({ address }) => address);
    await store.remove(...removed);
    return removed;
  }

  /** A stack nests no resources. */
  #nested(state: State, outer: ResourceState) {
    return this.#parts.source.stack === undefined ? nestedIn(state, outer) : [];
  }

  #warn({ warnings }: OpenState): void {
    this.#parts.log.warn(...forStack(this.#parts.source, warnings));
  }
}

/** Returns true if a run changed no state entry. */
const hasSameRecords = ({ resources: before }: State, { resources: now }: State): boolean =>
  before.size === now.size && [...now].every(([address, record]) => before.get(address) === record);
