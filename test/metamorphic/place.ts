/**
 * One account, and one folder with one state file for three fronts: the built command line with YAML and stacks, and
 * Terraform with the built provider. Commands run in this process, or as processes that die at a request.
 */
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Sandbox } from "../../src/sandbox/index.ts";
import { fakeIo } from "../support/io.ts";
import { builtProgram, runCli } from "../support/program.ts";
import { startSandbox } from "../support/sandbox.ts";
import { Terraform } from "../support/terraform.ts";
import { cleanEnvironment, cliConfiguration } from "../support/terraform-environment.ts";
import { readDiagnostic } from "../support/terraform-outcome.ts";
import { builtProvider } from "../support/terraform-provider.ts";
import { Books, type Effect } from "./books.ts";
import { type Declaration, type Front, jsonOf, yamlOf } from "./declaration.ts";
import { AWAY, DEATH_MS, OUTAGE_MS, type Whom } from "./faults.ts";
import { bodyOf, FACTS, type KindName } from "./kinds.ts";
import { CourseTime } from "./time.ts";

/** State file of the three fronts. */
export const STATE = "terraform.tfstate";

/** Declaration file of each front. */
const FILES: Readonly<Record<Front, string>> = {
  yaml: "hosting.yaml",
  stack: "cdk.tf.json",
  terraform: "main.tf.json",
};

/** Counts from the output of a command. */
export interface Counts {
  readonly added: number;
  readonly changed: number;
  readonly destroyed: number;
}

export interface Ran {
  readonly front: Front;
  readonly command: string;
  /** Exit code of the command, or the signal that ended it. */
  readonly code: number | string | null;
  readonly text: string;
  readonly counts: Counts | undefined;
  readonly effects: readonly Effect[];
  /** True if a fault met a request of the command. */
  readonly faulty: boolean;
  /** Index of the command's first entry in the record, and the index after its last entry. */
  readonly from: number;
  readonly to: number;
}

/** Time limit for the provider to end after the death of Terraform, in milliseconds. */
const ALONE_MS = 5_000;

export class Place {
  readonly books = new Books();
  readonly time: CourseTime;
  readonly ran: Ran[] = [];
  readonly terraform: Terraform;
  readonly kind: KindName;
  #onDeath: () => void = () => undefined;
  #onFault: () => void = () => undefined;
  #homes = 0;
  #isServed = false;
  /** Modifies the recorded output of a command. Only the suite's own test sets it. */
  forge: (ran: Ran) => Ran = (ran) => ran;

  private constructor(kind: KindName, terraform: Terraform, time: CourseTime) {
    this.kind = kind;
    this.terraform = terraform;
    this.time = time;
  }

  static async open(kind: KindName): Promise<Place> {
    const provider = await builtProvider();
    const dir = await mkdtemp(path.join(tmpdir(), "hostform-metamorphic-"));
    const home = path.join(dir, "home");
    await mkdir(home);
    const rc = path.join(home, "terraform.rc");
    await writeFile(rc, cliConfiguration(provider, "override"));
    let place: Place | undefined;
    const time = new CourseTime();
    const sandbox = await startSandbox({
      clock: time.ofSandbox,
      sleep: async (ms) => (ms === DEATH_MS ? place?.die() : undefined),
      observe: (exchange) => {
        place?.books.see(exchange);
        if (exchange.faulty) place?.fail();
      },
      rateLimit: 0,
      autoPay: true,
      provisioningSeconds: 0,
      jobSeconds: 0,
    });
    const env = {
      ...cleanEnvironment(),
      HOME: home,
      TF_CLI_CONFIG_FILE: rc,
      TF_IN_AUTOMATION: "1",
      CHECKPOINT_DISABLE: "1",
      HOSTING_BASE_URL: sandbox.url,
      HOSTING_TOKEN: sandbox.tokens.agency,
      HOSTFORM_STATE_HOME: path.join(home, "hostform-0"),
    };
    place = new Place(kind, new Terraform(dir, sandbox, env, time), time);
    place.books.open(sandbox.control, kind);
    return place;
  }

  /** Kills the processes. Called when the fatal request arrives. */
  die(): void {
    this.#onDeath();
  }

  /** Reports that a fault met a request. */
  fail(): void {
    this.#onFault();
  }

  get control(): Sandbox["control"] {
    return this.terraform.control;
  }

  get dir(): string {
    return this.terraform.dir;
  }

  /** Simulates another machine, which has only the state. */
  freshMachine(): void {
    this.#homes += 1;
    this.terraform.env.HOSTFORM_STATE_HOME = path.join(this.dir, "home", `hostform-${this.#homes}`);
  }

  /** Writes the declaration of one front, and deletes the files of the other fronts. */
  async declare(front: Front, declared: Declaration): Promise<void> {
    for (const file of Object.values(FILES)) await this.terraform.remove(file);
    const document = front === "yaml" ? yamlOf(declared) : jsonOf(declared);
    await this.terraform.write(JSON.stringify(document, null, 2), FILES[front]);
  }

  /**
   * Creates an object as another user.
   * @returns The object's id.
   */
  async makeElsewhere(key: string): Promise<string> {
    const { path: pattern, live } = FACTS[this.kind];
    const [home] = this.control.list("services").filter(({ domain }) => domain === "home.example");
    const create = () =>
      fetch(`${this.terraform.env.HOSTING_BASE_URL}/api/v1${pattern.replace(":id", String(home?.id))}`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${this.terraform.env.HOSTING_TOKEN}`,
          "content-type": "application/json",
          "idempotency-key": `elsewhere-${key}`,
        },
        body: JSON.stringify(bodyOf(this.kind, key)),
      });
    const response = await this.books.elsewhere(create);
    if (!response.ok) throw new Error(`somebody else could not make ${key}: ${await response.text()}`);
    const id = live(this.control).find((one) => one.key === key)?.id ?? "none";
    return this.kind === "grant" ? `${home?.id}/${id}` : id;
  }

  /** Makes the API unavailable for 30 seconds after the next fault. */
  outageAfterFault(): void {
    this.#onFault = () => {
      this.#onFault = () => undefined;
      const until = this.time.now() + OUTAGE_MS;
      this.control.addFault(AWAY);
      this.time.onRead = (now) => {
        if (now < until) return;
        this.time.onRead = () => undefined;
        this.control.clearFaults();
      };
    };
  }

  calm(): void {
    this.#onFault = () => undefined;
    this.time.onRead = () => undefined;
    this.control.clearFaults();
  }

  apply(front: Front, ...args: string[]): Promise<Ran> {
    return front === "terraform"
      ? this.#here(front, "apply", "-json", "-input=false", "-auto-approve", ...args)
      : this.#here(front, "apply", "--auto-approve", "--allow-removals", ...args);
  }

  plan(front: Front): Promise<Ran> {
    return front === "terraform"
      ? this.#here(front, "plan", "-json", "-input=false", "-detailed-exitcode")
      : this.#here(front, "plan", "--detailed-exitcode", "--allow-removals");
  }

  /** Runs a command of Terraform or hostform other than an apply. */
  run(front: Front, ...args: string[]): Promise<Ran> {
    return this.#here(front, ...args);
  }

  /** Runs `hostform resolve`. The command also works in a folder of Terraform. */
  resolve(front: Front, ...args: string[]): Promise<Ran> {
    return this.#recorded(front, ["resolve", ...args], () => this.#hostform(front, "resolve", ...args));
  }

  /** Runs a command in this process. */
  async #here(front: Front, ...args: string[]): Promise<Ran> {
    return this.#recorded(front, args, async () => {
      if (front !== "terraform") return this.#hostform(front, ...args);
      if (!this.#isServed) await this.terraform.serve();
      this.#isServed = true;
      return this.terraform.run(...args);
    });
  }

  async #hostform(front: Front, ...args: string[]): Promise<Pick<Ran, "code" | "text">> {
    const io = fakeIo({ cwd: this.dir, env: this.terraform.env, clock: this.time });
    const code = await runCli([...args, ...placeOf(front)], io);
    return { code, text: io.stdout() + io.stderr() };
  }

  /**
   * Runs an apply in separate processes. The processes of `whom` die at the request that a fault delays by DEATH_MS.
   */
  async dyingApply(front: Front, whom: Whom, ...args: string[]): Promise<Ran> {
    const command = [
      "apply",
      ...(front === "terraform" ? [...DYING_TERRAFORM, ...args] : ["--auto-approve", "--allow-removals"]),
    ];
    return this.#recorded(front, command, () =>
      this.time.flowing(async (time) => {
        const { TF_REATTACH_PROVIDERS: _, ...env } = this.terraform.env;
        const [program, first] = front === "terraform" ? ["terraform", []] : [process.execPath, [await builtProgram()]];
        const rest = front === "terraform" ? [] : placeOf(front);
        const child = spawn(program, [...first, ...command, ...rest], {
          cwd: this.dir,
          env: { ...env, ...time },
          stdio: ["ignore", "pipe", "pipe"],
        });
        let text = "";
        for (const stream of [child.stdout, child.stderr])
          stream.setEncoding("utf8").on("data", (chunk) => {
            text += chunk;
          });
        this.#onDeath = () => {
          this.#onDeath = () => undefined;
          const providers = (this.terraform.processes() ?? []).filter((id) => id !== child.pid);
          if (whom !== "provider" || front !== "terraform") child.kill("SIGKILL");
          if (whom !== "terraform" && front === "terraform") for (const id of providers) process.kill(id, "SIGKILL");
        };
        const code = await new Promise<number | string | null>((resolve, reject) => {
          child.once("error", reject);
          child.once("close", (status, signal) => resolve(status ?? signal));
        });
        this.#onDeath = () => undefined;
        const until = Date.now() + ALONE_MS;
        while ((this.terraform.processes()?.length ?? 0) > 0 && Date.now() < until) await delay(10);
        return { code, text };
      }),
    );
  }

  async #recorded(
    front: Front,
    args: readonly string[],
    work: () => Promise<Pick<Ran, "code" | "text">>,
  ): Promise<Ran> {
    const from = this.books.entries.length;
    const effects = this.books.effects.length;
    const { code, text } = await work();
    const ran = this.forge({
      front,
      command: args.join(" "),
      code,
      text: front === "terraform" ? messagesIn(text) : text,
      counts: countsIn(text),
      effects: this.books.effects.slice(effects),
      faulty: this.books.entries.slice(from).some(({ faulty }) => faulty),
      from,
      to: this.books.entries.length,
    });
    this.ran.push(ran);
    return ran;
  }

  close(): Promise<void> {
    return this.terraform.close();
  }
}

const DYING_TERRAFORM = ["-json", "-input=false", "-auto-approve"];

const PLACES: Readonly<Record<Front, readonly string[]>> = {
  yaml: ["--state", STATE],
  stack: ["--stack", "."],
  // The configuration of Terraform contains the path of the state.
  terraform: [],
};
const placeOf = (front: Front): string[] => [...PLACES[front], "--no-color"];

function countsIn(text: string): Counts | undefined {
  const [, added, changed, destroyed] =
    /Resources: (?:\d+ imported, )?(\d+) added, (\d+) changed, (\d+) destroyed/.exec(text) ??
    /Apply incomplete.*?(\d+) added, (\d+) changed, (\d+) destroyed/.exec(text) ??
    [];
  if (added === undefined) return undefined;
  return { added: Number(added), changed: Number(changed), destroyed: Number(destroyed) };
}

/** Returns the messages of Terraform's machine-readable output. Returns other output unchanged. */
function messagesIn(text: string): string {
  return text
    .split("\n")
    .flatMap((line) => {
      if (!line.startsWith("{")) return line;
      const { "@message": message, type, diagnostic } = JSON.parse(line);
      if (diagnostic === undefined) return /^(?:refresh_|version|outputs)/.test(type) ? [] : message;
      return readDiagnostic(diagnostic).map(({ detail }) => `${message}\n${detail}`);
    })
    .join("\n");
}
