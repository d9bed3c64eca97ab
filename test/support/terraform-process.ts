/** A folder: the files in it, the commands that run in it. */
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { runHere } from "./program.ts";
import type { Ended } from "./terraform-outcome.ts";

/** A provider ends when its connection does, which is a moment after a Terraform that was killed. */
const GRACE_MS = 3_000;

export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

/** One folder with one environment. */
export class Workplace {
  readonly dir: string;
  /** The environment of the commands; tests may change it. */
  readonly env: Record<string, string | undefined>;
  readonly #running = new Set<ChildProcess>();

  constructor(dir: string, env: Record<string, string | undefined>) {
    this.dir = dir;
    this.env = env;
  }

  /** Writes a file of the configuration; its folders are made. */
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

  /** The files of the folder (state, backups, plans, logs, the provider's own) that hold a text. */
  filesHolding(text: string): string[] {
    const names = readdirSync(this.dir, { recursive: true, encoding: "utf8" });
    const files = names.filter((name) => statSync(path.join(this.dir, name), { throwIfNoEntry: false })?.isFile());
    return files.filter((name) => readFileSync(path.join(this.dir, name)).includes(text));
  }

  /** @param input what the command reads from its standard input; without it there is nothing to read. */
  start(program: string, args: readonly string[], input?: string): Started {
    const child = spawn(program, args, { cwd: this.dir, env: this.env, stdio: ["pipe", "pipe", "pipe"] });
    this.#running.add(child);
    // A command that does not read is no failure of the test.
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

  /** hostform, in this process. */
  async hostform(...args: string[]): Promise<Ended> {
    return runHere(args, { cwd: this.dir, env: this.env });
  }

  end(): void {
    for (const child of this.#running) child.kill("SIGKILL");
  }

  /** Ends what still works in the folder after a moment's grace. @returns how many had to be ended. */
  async survivors(): Promise<number> {
    const until = Date.now() + GRACE_MS;
    while ((this.processes()?.length ?? 0) > 0 && Date.now() < until) await delay(20);
    const left = this.processes() ?? [];
    for (const id of left) if (cwdOf(String(id)) === this.dir) process.kill(id, "SIGKILL");
    return left.length;
  }

  /**
   * The ids of the processes that work in the folder: providers do, as they are started by Terraform. Undefined where the
   * system does not say (only Linux does).
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
    // It ended meanwhile, or is another user's.
    return undefined;
  }
}
