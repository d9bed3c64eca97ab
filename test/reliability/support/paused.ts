/** A project whose state is in a file or at a server, and what becomes of the lock of a run that is frozen. */
import { mkdtemp } from "node:fs/promises";
import path from "node:path";
import { expect } from "vitest";
import type { State } from "../../../src/core/model/index.ts";
import { decodeState } from "../../../src/core/record/index.ts";
import type { BackendUnderTest } from "../../support/backends.ts";
import { quickFolder } from "../../support/folder.ts";
import type { Postgres } from "../../support/postgres.ts";
import { startSandbox } from "../../support/sandbox.ts";
import { Place, watchedClock } from "./place.ts";

/** The lock is taken from its holder: by `force-unlock`, or by the database, which ends the session. */
const END_SESSIONS = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted";

export class PausedPlace extends Place {
  readonly #backend: BackendUnderTest | undefined;
  readonly #postgres: Postgres | undefined;

  /** Starts a project with its state at a backend; undefined: in a file. The caller closes it. */
  static async at(declare: object, backend?: BackendUnderTest, postgres?: Postgres): Promise<PausedPlace> {
    const clock = watchedClock();
    const sandbox = await startSandbox({ clock, rateLimit: 0, autoPay: true, provisioningSeconds: 0, jobSeconds: 0 });
    const place = new PausedPlace(await mkdtemp(quickFolder("paused")), sandbox, clock, undefined, backend, postgres);
    await place.declare(declare);
    return place;
  }

  private constructor(
    dir: string,
    sandbox: ConstructorParameters<typeof Place>[1],
    clock: ConstructorParameters<typeof Place>[2],
    proxy: undefined,
    backend: BackendUnderTest | undefined,
    postgres: Postgres | undefined,
  ) {
    super(dir, sandbox, clock, proxy);
    // The commands of this process play another computer.
    Object.assign(this.env, backend?.env, { XDG_STATE_HOME: path.join(dir, ".second-computer") });
    this.#backend = backend;
    this.#postgres = postgres;
  }

  /** The environment of processes of the first computer. */
  get envOfFirst(): Record<string, string | undefined> {
    return { ...this.env, XDG_STATE_HOME: path.join(this.dir, ".first-computer") };
  }

  override declare(document: object): Promise<void> {
    const { type, settings } = this.#backend ?? {};
    return super.declare(type === undefined ? document : { ...document, backend: { [type]: settings } });
  }

  /** Takes the lock of the state from the run that holds it, if any does. */
  async takeLock(): Promise<void> {
    if (this.#backend?.type === "pg") {
      await this.#postgres?.query(String(this.#backend.env.PG_CONN_STR), END_SESSIONS);
      return;
    }
    const { code, text } = await this.run("force-unlock", "--yes");
    expect(code, text).toBe(0);
  }

  override async stateText(): Promise<string | undefined> {
    if (this.#backend === undefined) return super.stateText();
    const { code, out, text } = await this.run("state", "pull");
    expect(code, text).toBe(0);
    return out === "" ? undefined : out;
  }

  override async state(): Promise<State> {
    if (this.#backend === undefined) return super.state();
    return decodeState(String(await this.stateText()), "the state").state;
  }

  override async expectNoChanges(): Promise<void> {
    if (this.#backend === undefined) return super.expectNoChanges();
    const { code, text } = await this.run("plan", "--detailed-exitcode");
    expect(code, text).toBe(0);
  }

  override async close(): Promise<void> {
    await super.close();
    await this.#backend?.close();
  }
}
