/**
 * Fixtures of commit c6bd9028: copies the files of a killed run to a new folder, and restores the account of that
 * time. `test/fixtures/c6bd9028/README.md` describes the fixtures.
 */
import { hash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import { hostname } from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, onTestFinished, vi } from "vitest";
import { openDatabase, SqliteStore } from "../../src/core/local/index.ts";
import type { Diagnostic, Json, JsonObject } from "../../src/core/model/index.ts";
import { newConnection } from "../../src/fronts/terraform/calls/call.ts";
import { openSession } from "../../src/fronts/terraform/provider/session.ts";
import type { Sandbox, SandboxOptions } from "../../src/sandbox/index.ts";
import { type TestClock, testClock } from "./clock.ts";
import { quickFolder } from "./folder.ts";
import { HttpBackend } from "./http-backend.ts";
import { type Project, startProject } from "./project.ts";
import { startSandbox } from "./sandbox.ts";
import { type CoreState, type Declarations, type Instance, TerraformCore } from "./terraform-core.ts";
import { type Life, Machine, type ProviderProcess } from "./terraform-core-process.ts";

const FIXTURES = path.resolve(import.meta.dirname, "../fixtures/c6bd9028");
/** Port of the API when the files were written. Names of files and digests in the files depend on it. */
const PORT = 43080;
const BASE_URL = `http://127.0.0.1:${PORT}`;
const BACKEND_PORT = 23081;
/** Folder of the project and name of the host when the files were written. */
const WRITTEN_IN = "/tmp/agency";
const WRITTEN_ON = "workstation";
const STATE_KEY = Buffer.alloc(32, 1).toString("base64");

export type Form = "plain" | "sealed" | "terraform";

/** A write request of the killed run, as the sandbox received it. */
interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly idempotency_key: string | null;
  readonly body: Json;
  readonly status: number | null;
}

/** Circumstances of a kill. */
interface Killed {
  /** Time of the kill. */
  readonly at: string;
  /** Operation that the run was killed before. */
  readonly before: string;
  readonly lineage?: string;
  readonly requests: readonly SentRequest[];
}

/** One fixture: all files of one killed run. */
export interface Fixture {
  readonly form: Form;
  readonly scenario: string;
  readonly point: string;
  readonly killed: Killed;
}

const read = (...parts: string[]) => readFileSync(path.join(FIXTURES, ...parts), "utf8");
const folders = (...parts: string[]) =>
  readdirSync(path.join(FIXTURES, ...parts), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  );

/** Returns all fixtures of a form. */
export function fixturesOf(form: Form): readonly Fixture[] {
  return folders(form).flatMap((scenario) => {
    const killed: Record<string, Killed> = JSON.parse(read(form, scenario, "killed.json"));
    const points = Object.entries(killed).map(([point, each]) => ({ form, scenario, point, killed: each }));
    expect(points.map(({ point }) => point).toSorted()).toEqual(folders(form, scenario));
    return points;
  });
}

/** Outcome of a run with the files: plan, applies, decisions of the user, and requests. */
export type Outcome = Readonly<Record<string, unknown>>;
type Outcomes = Record<string, Record<string, Outcome>>;

const outcomeFile = ({ form, scenario }: Fixture) => path.join(FIXTURES, form, scenario, "outcome.json");
const outcomesOf = (fixture: Fixture): Outcomes => JSON.parse(readFileSync(outcomeFile(fixture), "utf8"));

/** Returns the outcome of c6bd9028 with a fixture, for a run of this age. */
export const expectedOutcome = (fixture: Fixture, age: string): Outcome | undefined =>
  outcomesOf(fixture)[fixture.point]?.[age];

/** Writes an outcome beside the files. Only commit c6bd9028 may derive outcomes. */
export function deriveOutcome(fixture: Fixture, age: string, outcome: Outcome): void {
  const file = outcomeFile(fixture);
  const all = existsSync(file) ? outcomesOf(fixture) : {};
  const derived = { ...all, [fixture.point]: { ...all[fixture.point], [age]: outcome } };
  writeFileSync(file, `${JSON.stringify(derived, null, 2)}\n`);
}

/** Returns the declaration that the killed run applied. */
export const declarationOf = ({ form, scenario }: Fixture): string => read(form, scenario, "hosting.yaml");

/** Copies the files of a fixture to a folder, and the user's state folder to `home` below it. */
export async function layOut(fixture: Fixture, folder: string): Promise<void> {
  const { form, scenario, point } = fixture;
  const from = path.join(FIXTURES, form, scenario, point);
  cpSync(from, folder, { recursive: true, filter: (file) => !file.endsWith(".gz") });
  if (existsSync(path.join(from, ".hosting.tfstate.lock.info")))
    writeFileSync(path.join(folder, ".hosting.tfstate.lock"), "", { mode: 0o600 });
  const home = path.join(folder, "home");
  mkdirSync(home, { recursive: true });
  chmodSync(home, 0o700);
  for (const name of readdirSync(path.join(from, "home"))) {
    if (!name.endsWith(".gz")) continue;
    const file = path.join(home, name.slice(0, -".gz".length));
    writeFileSync(file, gunzipSync(readFileSync(path.join(from, "home", name))), { mode: 0o600 });
  }
  await fillStore(fixture, folder);
}

/**
 * Writes the two ledgers of a fixture into a store, because c6bd9028 had no store. The owner of a create is a digest of
 * the state's folder, so the digest of the new folder is necessary.
 */
async function fillStore({ form, killed: { at, lineage } }: Fixture, folder: string): Promise<void> {
  const home = path.join(folder, "home");
  const ledger = readdirSync(home).find((name) => name.endsWith(".creates")) ?? "";
  const account = path.basename(ledger, ".creates");
  const file = path.join(home, `${hash("sha256", `hostform origin\n${BASE_URL}`).slice(0, 32)}.store`);
  const ignore = () => undefined;
  const store = new SqliteStore(() => file, {
    account,
    clock: testClock(Date.parse(at)),
    onCountingAlone: ignore,
    onCreatingAlone: ignore,
  });
  await store.note(
    rowsOf(path.join(home, "creates.journal")).map(({ project, type, name, resource }) => ({
      list: JSON.stringify(["entries", account, project, type]),
      name: String(name),
      value: JSON.parse(String(resource)),
    })),
  );
  await store.close();
  const ownerOf = (...place: unknown[]) => hash("sha256", `${ledger}\n${JSON.stringify(place)}`);
  const earlier = ownerOf(WRITTEN_IN, WRITTEN_IN, lineage);
  const database = openDatabase(file);
  const add = database.prepare(
    "INSERT INTO intents (account, process, id, place, thing, likeness, at, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
  );
  for (const { serial, process, owner, thing, at: begun, outcome } of rowsOf(path.join(home, ledger))) {
    if (form !== "terraform") expect([earlier, ""]).toContain(owner);
    const place = owner === earlier ? ownerOf(folder, lineage) : String(owner);
    const state = outcome === "made" ? "answered" : outcome === "begun" ? "open" : "unknown";
    // A row holds the digest of a thing or of a likeness. The two digests differ.
    const names = [place, String(thing), thing === "" ? null : String(thing)];
    add.run(account, String(process), `creates ${account} ${serial}`, ...names, Number(begun), state);
  }
  database.close();
}

/** Returns the rows of a ledger of c6bd9028. Empty without a file. */
function rowsOf(file: string) {
  if (!existsSync(file)) return [];
  const database = openDatabase(file);
  const rows = database.prepare("SELECT * FROM creates ORDER BY serial").all();
  database.close();
  return rows;
}

/**
 * Connects clients of this process to test servers, in place of the ports in the files. Lasts until the test ends.
 * Changes Node's module, because the client imports `connect` from it.
 */
function redirect(urls: Readonly<Record<number, string | undefined>>): void {
  const { connect } = net;
  const spy = vi.spyOn(net, "connect").mockImplementation(((options: net.TcpNetConnectOpts, ...rest: []) => {
    const url = options.host === "127.0.0.1" ? urls[Number(options.port)] : undefined;
    return connect(url === undefined ? options : { ...options, port: Number(new URL(url).port) }, ...rest);
  }) as typeof net.connect);
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
}

/** Starts the server with the state and the lock of the killed run. Renames the host of the heartbeat to this host. */
async function startBackend(folder: string): Promise<HttpBackend> {
  const { state, lock } = JSON.parse(readFileSync(path.join(folder, "backend.json"), "utf8"));
  const server = await HttpBackend.start();
  onTestFinished(() => server.close());
  Object.assign(server, { state, lock });
  const signOf = (host: string) =>
    path.join(folder, "home/locks", `${hash("sha256", `${host}\n${lock.ID}`).slice(0, 32)}.lock`);
  renameSync(signOf(WRITTEN_ON), signOf(hostname()));
  return server;
}

/** Returns the options of a sandbox with the account one second after the kill. */
function sandboxOf({ form, scenario, point, killed }: Fixture, clock: TestClock): SandboxOptions {
  const snapshot = gunzipSync(readFileSync(path.join(FIXTURES, form, scenario, point, "account.json.gz"))).toString();
  expect(Date.parse(killed.at) - Date.parse(JSON.parse(snapshot).clock.now)).toBeLessThan(60_000);
  return {
    clock,
    snapshot,
    profile: "laravel",
    rateLimit: 0,
    autoPay: true,
    provisioningSeconds: 0,
    jobSeconds: scenario === "suspension" ? 3_600 : 1,
  };
}

const clockAfter = ({ killed }: Fixture) => testClock(Date.parse(killed.at) + 1_000);

/** Returns a project with the files of a fixture, one second after the kill. */
export async function projectOf(fixture: Fixture): Promise<Project> {
  const { form } = fixture;
  const clock = clockAfter(fixture);
  const project = await startProject({
    declare: declarationOf(fixture),
    clock,
    sandbox: sandboxOf(fixture, clock),
    env: { HOSTING_BASE_URL: BASE_URL, ...(form === "sealed" && { HOSTFORM_STATE_KEY: STATE_KEY }) },
  });
  await layOut(fixture, project.dir);
  project.env.HOSTFORM_STATE_HOME = path.join(project.dir, "home");
  const backend = existsSync(path.join(project.dir, "backend.json")) ? await startBackend(project.dir) : undefined;
  redirect({ [PORT]: project.sandbox.url, [BACKEND_PORT]: backend?.url });
  return project;
}

/** Machine on which Terraform was killed. Its sessions are opened like those of the provider. */
class KilledMachine extends Machine {
  readonly folder: string;
  readonly #env: Readonly<Record<string, string>>;

  /** @param place Place of Terraform's configuration. `fixtures` is the place of the killed run. */
  constructor(sandbox: Sandbox, clock: TestClock, folder: string, place: string) {
    super(sandbox, clock);
    this.folder = folder;
    this.#env = {
      HOSTING_BASE_URL: BASE_URL,
      HOSTING_TOKEN: sandbox.tokens.agency,
      HOSTFORM_PROJECT: "agency",
      HOSTFORM_PLACE: place,
      HOSTFORM_STATE_HOME: path.join(folder, "home"),
    };
  }

  override async start(life: Life): Promise<ProviderProcess> {
    const { clock, folder } = this;
    const { stop, ...connection } = newConnection({ env: this.#env, folder, clock, log: () => undefined });
    life.stops.add(stop);
    const warnings: Diagnostic[] = [];
    const session = await openSession(
      {},
      {
        stop: stop.signal,
        env: this.#env,
        folder,
        clock,
        terraformVersion: undefined,
        onWarning: (warning) => void warnings.push(warning),
      },
    );
    return { connection: { ...connection, stop, session }, warnings };
  }
}

/** A fixture of the provider with the modelled Terraform, one second after the kill. */
export interface KilledTerraform {
  /** Requests without a recorded response in the journal. */
  readonly pending: readonly Pick<SentRequest, "idempotency_key" | "body">[];
  readonly core: TerraformCore;
  readonly declared: Declarations;
  readonly sandbox: Sandbox;
  readonly clock: TestClock;
}

/**
 * Opens a fixture of the provider.
 * @param place Another place is a configuration with its own state on the same machine.
 */
export async function terraformOf(fixture: Fixture, place = "fixtures"): Promise<KilledTerraform> {
  const { form, scenario } = fixture;
  const clock = clockAfter(fixture);
  const sandbox = await startSandbox(sandboxOf(fixture, clock));
  const folder = mkdtempSync(quickFolder("killed"));
  await layOut(fixture, folder);
  const machine = new KilledMachine(sandbox, clock, folder, place);
  onTestFinished(async () => {
    await machine.close();
    await sandbox.close();
    rmSync(folder, { recursive: true, force: true });
  });
  redirect({ [PORT]: sandbox.url });
  const core = new TerraformCore(machine);
  const state = stateIn(path.join(folder, place === "fixtures" ? "terraform.tfstate" : "none"));
  core.restore(state);
  const pending = pendingIn(path.join(folder, "home", "creates.journal"));
  return { pending, core, declared: declarationsIn(read(form, scenario, "main.tf.json"), state), sandbox, clock };
}

/** Returns the requests without a response in a journal of the provider. */
function pendingIn(file: string): KilledTerraform["pending"] {
  return rowsOf(file).flatMap(({ resource }) => {
    const { pending } = JSON.parse(String(resource)).private;
    return pending === undefined ? [] : [{ idempotency_key: pending.idempotencyKey ?? null, body: pending.body }];
  });
}

/** A resource in a state file of Terraform. Contains only the fields of the fixtures. */
interface ResourceJson {
  readonly type: string;
  readonly name: string;
  readonly instances: readonly {
    readonly attributes: JsonObject;
    readonly private?: string;
    readonly status?: string;
    readonly deposed?: string;
  }[];
}

/** Reads a state file of Terraform for the modelled Terraform. */
function stateIn(file: string): CoreState {
  const state = { current: new Map<string, Instance>(), deposed: new Map<string, Instance>() };
  if (!existsSync(file)) return state;
  const { resources }: { readonly resources: readonly ResourceJson[] } = JSON.parse(readFileSync(file, "utf8"));
  for (const { type, name, instances } of resources) {
    for (const { attributes, private: mark = "", status, deposed } of instances) {
      const instance = { type, attributes, private: Buffer.from(mark, "base64"), tainted: status === "tainted" };
      if (deposed === undefined) state.current.set(`${type}.${name}`, instance);
      else state.deposed.set(`${type}.${name} (deposed 1)`, instance);
    }
  }
  return state;
}

/** Returns the resource blocks of a configuration in JSON. Replaces references to ids with the ids in the state. */
function declarationsIn(text: string, { current }: CoreState): Declarations {
  const known = text.replaceAll(/\$\{([\w.]+)\.id\}/g, (_, address) => String(current.get(address)?.attributes.id));
  const blocks: Record<string, Record<string, JsonObject>> = JSON.parse(known).resource;
  return Object.fromEntries(
    Object.entries(blocks).flatMap(([type, named]) =>
      Object.entries(named).map(([name, { lifecycle, ...config }]) => [
        `${type}.${name}`,
        { type, config, createBeforeDestroy: JSON.stringify(lifecycle ?? "").includes("create_before_destroy") },
      ]),
    ),
  );
}
