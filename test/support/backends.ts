/** Projects whose state is at a backend, worked on by real processes: hostform, and Terraform where it is on PATH. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Sandbox } from "../../src/sandbox/index.ts";
import { HttpBackend } from "./http-backend.ts";
import type { Postgres } from "./postgres.ts";
import { builtProgram, runHere } from "./program.ts";
import { profileOfRun, startSandbox } from "./sandbox.ts";

/** What a process did. */
export interface Ended {
  /** Its exit code, or the signal that ended it. */
  readonly code: number | string | null;
  readonly out: string;
  readonly err: string;
  /** Both streams, for messages of assertions. */
  readonly text: string;
}

/** A process that runs. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves when standard output has this text. */
  shows(text: string): Promise<void>;
}

/** A backend with what hostform and Terraform need to find it. */
export interface BackendUnderTest {
  readonly type: "http" | "pg";
  readonly settings: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export const CREDENTIALS = { username: "gitlab-ci-token", password: "canary-of-http-backend" };

/** A server of the `http` protocol, with credentials. */
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

/** An empty database of a server. */
export async function pgBackend(postgres: Postgres): Promise<BackendUnderTest & { readonly connection: string }> {
  const connection = await postgres.database();
  return { type: "pg", settings: {}, env: { PG_CONN_STR: connection }, close: async () => undefined, connection };
}

/** One project: a folder, a sandbox and a backend. `sleep` is what the sandbox does while a fault makes it wait. */
export class RemoteProject {
  readonly dir: string;
  readonly sandbox: Sandbox;
  readonly backend: BackendUnderTest;
  /** The environment of the commands; tests may change it. */
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
      // What the processes of a machine share. Another folder plays another machine.
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

  /** Writes the declaration with the backend, and Terraform's configuration with the same one. */
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

  /** A run that no test kills or meets on its way: in this process, which saves the start. */
  async hostform(...args: string[]): Promise<Ended> {
    return runHere(args, { cwd: this.dir, env: this.env });
  }

  terraform(...args: string[]): Promise<Ended> {
    return this.start("terraform", ...args, ...(args[0] === "state" ? [] : ["-no-color"])).ended;
  }

  /** The services of the account that the declaration could have ordered. */
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

/** A door that the sandbox waits at while a fault makes it wait: `arrived` when it does, `open` to let it go on. */
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
