/** Projects with a remote state, used by real processes: hostform, and Terraform if it is on the PATH. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Sandbox } from "../../src/sandbox/index.ts";
import { HttpBackend } from "./http-backend.ts";
import type { Postgres } from "./postgres.ts";
import { builtProgram, runHere } from "./program.ts";
import { S3Server } from "./s3-server.ts";
import { profileOfRun, startSandbox } from "./sandbox.ts";

/** Result of a process. */
export interface Ended {
  /** Exit code, or the signal that ended the process. */
  readonly code: number | string | null;
  readonly out: string;
  readonly err: string;
  /** Both streams, for messages of assertions. */
  readonly text: string;
}

/** A running process. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves when standard output contains this text. */
  shows(text: string): Promise<void>;
}

/** A backend with the settings that hostform and Terraform need. */
export interface BackendUnderTest {
  readonly type: "http" | "pg" | "s3";
  readonly settings: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export const CREDENTIALS = { username: "gitlab-ci-token", password: "canary-of-http-backend" };

/** Starts a server of the `http` protocol with credentials. */
export async function httpBackend(
  flavour: "plain" | "gitlab",
): Promise<BackendUnderTest & { readonly server: HttpBackend }> {
  const { username, password } = CREDENTIALS;
  const server = await HttpBackend.start({ flavour, credentials: `${username}:${password}` });
  return {
    type: "http",
    settings: server.settings,
    env: { TF_HTTP_USERNAME: username, TF_HTTP_PASSWORD: password },
    close: () => server.close(),
    server,
  };
}

/** Starts a store of the S3 protocol. */
export async function s3Backend(): Promise<BackendUnderTest & { readonly store: S3Server }> {
  const store = await S3Server.start();
  return { type: "s3", settings: store.settings, env: store.env, close: () => store.close(), store };
}

/** Creates an empty database on a server. */
export async function pgBackend(postgres: Postgres): Promise<BackendUnderTest & { readonly connection: string }> {
  const connection = await postgres.database();
  return { type: "pg", settings: {}, env: { PG_CONN_STR: connection }, close: async () => undefined, connection };
}

/**
 * One project: a folder, a sandbox and a backend.
 * `sleep` replaces the sandbox's waiting for a fault.
 */
export class RemoteProject {
  readonly dir: string;
  readonly sandbox: Sandbox;
  readonly backend: BackendUnderTest;
  /** Environment of the commands. Tests may change it. */
  readonly env: Record<string, string | undefined>;
  readonly #program: string;
  readonly #running = new Set<ChildProcess>();

  private constructor(program: string, dir: string, sandbox: Sandbox, backend: BackendUnderTest) {
    this.#program = program;
    this.dir = dir;
    this.sandbox = sandbox;
    this.backend = backend;
    this.env = {
      ...process.env,
      HOSTING_BASE_URL: sandbox.url,
      HOSTING_TOKEN: sandbox.tokens.agency,
      ...backend.env,
      // Folder that the processes of one machine share. Another folder simulates another machine.
      XDG_STATE_HOME: path.join(dir, "machine"),
      TF_CLI_CONFIG_FILE: path.join(dir, "terraform.rc"),
      TF_IN_AUTOMATION: "1",
      CHECKPOINT_DISABLE: "1",
      NODE_OPTIONS: "--disable-warning=ExperimentalWarning",
    };
  }

  static async start(
    backend: BackendUnderTest,
    sleep: () => Promise<void> = async () => undefined,
  ): Promise<RemoteProject> {
    const dir = await mkdtemp(path.join(tmpdir(), "hostform-backend-"));
    const sandbox = await startSandbox({
      rateLimit: 0,
      autoPay: true,
      provisioningSeconds: 0,
      sleep,
      ...profileOfRun(),
    });
    const project = new RemoteProject(await builtProgram(), dir, sandbox, backend);
    await writeFile(path.join(dir, "terraform.rc"), "disable_checkpoint = true\n");
    return project;
  }

  /** Writes the declaration with the backend, and Terraform's configuration with the same backend. */
  async declare(resources: object, project = "remote"): Promise<void> {
    const { type, settings } = this.backend;
    const declaration = { project, backend: { [type]: settings }, ...resources };
    await writeFile(path.join(this.dir, "hosting.yaml"), JSON.stringify(declaration));
    const lines = Object.entries(settings).map(([name, value]) => `    ${name} = ${JSON.stringify(value)}`);
    const configuration = `terraform {\n  backend "${type}" {\n${lines.join("\n")}\n  }\n}\nresource "terraform_data" "own" {\n  input = "kept"\n}\n`;
    await writeFile(path.join(this.dir, "main.tf"), configuration);
  }

  start(command: "hostform" | "terraform", ...args: string[]): Running {
    const [file, own] = command === "hostform" ? [process.execPath, [this.#program]] : ["terraform", []];
    const child = spawn(file, [...own, ...args], { cwd: this.dir, env: this.env });
    this.#running.add(child);
    let [out, err] = ["", ""];
    const watchers = new Set<() => void>();
    child.stdout.on("data", (chunk) => {
      out += chunk;
      for (const watch of watchers) watch();
    });
    child.stderr.on("data", (chunk) => {
      err += chunk;
    });
    const ended = new Promise<Ended>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code, signal) => {
        this.#running.delete(child);
        resolve({ code: code ?? signal, out, err, text: out + err });
      });
    });
    const shows = (text: string) =>
      new Promise<void>((resolve, reject) => {
        const watch = () => {
          if (out.includes(text)) resolve();
        };
        watchers.add(watch);
        watch();
        ended.then(() => reject(new Error(`it ended without "${text}":\n${out}${err}`)), reject);
      });
    return { child, ended, shows };
  }

  /** Runs hostform in this process, which saves the start of a process. For runs that no test kills or interrupts. */
  async hostform(...args: string[]): Promise<Ended> {
    return runHere(args, { cwd: this.dir, env: this.env });
  }

  terraform(...args: string[]): Promise<Ended> {
    return this.start("terraform", ...args, ...(args[0] === "state" ? [] : ["-no-color"])).ended;
  }

  /** Services of the token's account. */
  get services() {
    return this.sandbox.control.list("services").filter(({ customer_id }) => customer_id === 1);
  }

  async close(): Promise<void> {
    for (const child of this.#running) child.kill("SIGKILL");
    await this.sandbox.close();
    await this.backend.close();
    await rm(this.dir, { recursive: true, force: true });
  }
}

/**
 * Returns a gate that blocks the sandbox during the delay of a fault. `arrived` resolves when the sandbox waits, and
 * `open` lets it continue.
 */
export function gate() {
  let open = () => {};
  let arrive = () => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const sleep = () => {
    arrive();
    return opened;
  };
  return { arrived, open, sleep };
}
