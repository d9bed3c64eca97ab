/** A folder with its files and the commands that run in it. */
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { runHere } from "./program.ts";
import type { Ended } from "./terraform-outcome.ts";

/** Time limit for a provider to end after its Terraform was killed, in milliseconds. */
const GRACE_MS = 3_000;

export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

/** One folder with one environment. */
export class Workplace {
  readonly dir: string;
  /** Environment of the commands. Tests may change it. */
  readonly env: Record<string, string | undefined>;
  readonly #running = new Set<ChildProcess>();

  constructor(dir: string, env: Record<string, string | undefined>) {
    this.dir = dir;
    this.env = env;
  }

  /** Writes a file of the configuration, and creates its folder. */
  async write(text: string, file = "main.tf"): Promise<void> {
    await mkdir(path.dirname(path.join(this.dir, file)), { recursive: true });
    await writeFile(path.join(this.dir, file), text);
  }

  async change(file: string, edit: (text: string) => string): Promise<void> {
    await this.write(edit(readFileSync(path.join(this.dir, file), "utf8")), file);
  }

  async remove(file: string): Promise<void> {
    await rm(path.join(this.dir, file), { recursive: true, force: true });
  }

  /** Returns the files of the folder that contain a text: the state, backups, plans, logs and the provider's files. */
  filesHolding(text: string): string[] {
    const names = readdirSync(this.dir, { recursive: true, encoding: "utf8" });
    const files = names.filter((name) => statSync(path.join(this.dir, name), { throwIfNoEntry: false })?.isFile());
    return files.filter((name) => readFileSync(path.join(this.dir, name)).includes(text));
  }

  /** @param input Standard input of the command. Default: empty. */
  start(program: string, args: readonly string[], input?: string): Started {
    const child = spawn(program, args, { cwd: this.dir, env: this.env, stdio: ["pipe", "pipe", "pipe"] });
    this.#running.add(child);
    // A command that does not read its input does not fail the test.
    child.stdin.on("error", () => undefined).end(input ?? "");
    let [out, err] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (chunk) => {
      out += chunk;
    });
    child.stderr.setEncoding("utf8").on("data", (chunk) => {
      err += chunk;
    });
    const ended = new Promise<Ended>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code, signal) => {
        this.#running.delete(child);
        resolve({ code: code ?? signal, out, err, text: out + err });
      });
    });
    return { child, ended };
  }

  /** Runs hostform in this process. */
  async hostform(...args: string[]): Promise<Ended> {
    return runHere(args, { cwd: this.dir, env: this.env });
  }

  end(): void {
    for (const child of this.#running) child.kill("SIGKILL");
  }

  /**
   * Ends the processes that still work in the folder after the time limit.
   * @returns The number of ended processes.
   */
  async survivors(): Promise<number> {
    const until = Date.now() + GRACE_MS;
    while ((this.processes()?.length ?? 0) > 0 && Date.now() < until) await delay(20);
    const left = this.processes() ?? [];
    for (const id of left) if (cwdOf(String(id)) === this.dir) process.kill(id, "SIGKILL");
    return left.length;
  }

  /**
   * Returns the ids of the processes with this working folder. Terraform starts providers in its own folder. Undefined
   * on systems other than Linux, which do not show the folder.
   */
  processes(): number[] | undefined {
    if (process.platform !== "linux") return undefined;
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name) && cwdOf(name) === this.dir)
      .map(Number);
  }
}

function cwdOf(process: string): string | undefined {
  try {
    return readlinkSync(`/proc/${process}/cwd`);
  } catch {
    // The process ended meanwhile, or belongs to another user.
    return undefined;
  }
}
