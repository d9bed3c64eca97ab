/** Evaluates expressions with the real Terraform, without a provider or network: by outputs and `terraform_data`. */
import { execFile, execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { devNull, tmpdir } from "node:os";
import path from "node:path";
import type { Json } from "../../../src/core/model/index.ts";
import { CONFIGURATION } from "./names.ts";
import { type Exact, readExact, sortedKeys, tidied, written } from "./plain.ts";

/**
 * Terraform's answer for one expression: the planned value (`?` marks unknown parts), the secret parts, and the value
 * and type after the apply.
 */
export interface Answer {
  readonly planned: string;
  readonly secret: Json;
  readonly value: string;
  readonly type: string;
}

/** For each string of JSON syntax: its answer, or Terraform's error. */
export type Answers = readonly (Answer | { readonly error: string })[];

export async function askTerraform(strings: readonly string[]): Promise<Answers> {
  const dir = await mkdtemp(path.join(tmpdir(), "hostform-expressions-"));
  try {
    return await new Workplace(dir, strings).answers();
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

export function functionsOfTerraform(): readonly string[] {
  const printed = execFileSync("terraform", ["metadata", "functions", "-json"], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, TF_CLI_CONFIG_FILE: devNull, CHECKPOINT_DISABLE: "1" },
  });
  const { function_signatures: signatures } = JSON.parse(printed) as { readonly function_signatures: object };
  return Object.keys(signatures).filter((name) => !name.includes("::"));
}

interface Diagnostic {
  readonly severity: string;
  readonly summary: string;
  readonly detail?: string;
  readonly range?: { readonly start: { readonly line: number } };
}

class Workplace {
  readonly #dir: string;
  readonly #strings: readonly string[];
  readonly #errors = new Map<number, string>();

  constructor(dir: string, strings: readonly string[]) {
    this.#dir = dir;
    this.#strings = strings;
  }

  async answers(): Promise<Answers> {
    await writeFile(path.join(this.#dir, "terraform.rc"), "");
    // Terraform reports some errors only in the absence of others.
    while (!(await this.#without("plan", "-out=plan")));
    await this.#withMarks();
    const plan = readExact(await this.#terraform("show", "-json", "plan")) as unknown as Shown;
    // The apply omits the marks: a value that stays unknown is an error in a resource, but not in an output.
    await rm(path.join(this.#dir, "marks.tf.json"));
    while (!(await this.#without("apply", "-auto-approve")));
    const state = readExact(await readFile(path.join(this.#dir, "terraform.tfstate"), "utf8")) as unknown as State;
    const marks = plan.resource_changes.find(({ name }) => name === "marks")?.change.after_sensitive?.input;
    return this.#strings.map((_, i) => {
      const error = this.#errors.get(i);
      if (error !== undefined) return { error };
      const change = plan.output_changes[name(i)];
      const after = state.outputs[name(i)];
      if (change === undefined) throw new Error(`no answer to ${this.#strings[i]}`);
      return {
        planned: written(change.after ?? null, change.after_unknown),
        secret: marks === true ? true : tidied(marks?.[name(i)] ?? false),
        value: written(after?.value ?? null),
        type: JSON.stringify(sortedKeys(after?.type ?? "dynamic")),
      };
    });
  }

  /** Runs a command with the strings that have no known error. Returns false if Terraform reports a new error. */
  async #without(...command: readonly string[]): Promise<boolean> {
    const kept = [...this.#strings.entries()].filter(([i]) => !this.#errors.has(i));
    const lines = [...JSON.stringify(CONFIGURATION).slice(0, -1).split("\n"), ', "output": { "none": {"value": null}'];
    const first = lines.length;
    lines.push(...kept.map(([i, text]) => `, ${output(i, text)}`), "} }");
    await writeFile(path.join(this.#dir, "main.tf.json"), lines.join("\n"));
    const printed = await this.#terraform(...command, "-json", "-input=false");
    const known = this.#errors.size;
    const errors = diagnosticsOf(printed).filter(({ severity }) => severity === "error");
    for (const { summary, detail, range } of errors) {
      const [index] = kept[(range?.start.line ?? 0) - 1 - first] ?? [];
      // Terraform reports infinity without a position, when it writes the plan.
      const named = /output (?:value )?"e(\d+)"/.exec(`${summary} ${detail}`)?.[1];
      const at = index ?? (named === undefined ? undefined : Number(named));
      if (at !== undefined) this.#errors.set(at, `${summary}: ${detail ?? ""}`.replace(/\s+/g, " ").slice(0, 200));
    }
    if (errors.length > 0 && this.#errors.size === known)
      throw new Error(`not of an expression: ${JSON.stringify(errors)}`);
    return errors.length === 0;
  }

  /** Plans the same strings as attributes, because the plan lists the secret parts of attributes. */
  async #withMarks(): Promise<void> {
    const kept = [...this.#strings.entries()].filter(([i]) => !this.#errors.has(i));
    const input = Object.fromEntries(kept.map(([i, text]) => [name(i), text]));
    const marks = { resource: { terraform_data: { marks: { input } } } };
    await writeFile(path.join(this.#dir, "marks.tf.json"), JSON.stringify(marks));
    const printed = await this.#terraform("plan", "-json", "-input=false", "-out=plan");
    const error = diagnosticsOf(printed).find(({ severity }) => severity === "error");
    if (error !== undefined) throw new Error(JSON.stringify(error));
  }

  #terraform(...args: string[]): Promise<string> {
    const env = {
      PATH: process.env.PATH,
      GOGC: process.env.GOGC,
      GOMAXPROCS: process.env.GOMAXPROCS,
      HOME: this.#dir,
      TF_CLI_CONFIG_FILE: path.join(this.#dir, "terraform.rc"),
      CHECKPOINT_DISABLE: "1",
      TF_IN_AUTOMATION: "1",
    };
    return new Promise((resolve, reject) => {
      execFile("terraform", args, { cwd: this.#dir, env, maxBuffer: 2 ** 28 }, (error, stdout, stderr) => {
        // With `-json`, errors are part of the output.
        if (error !== null && (args[0] === "show" || diagnosticsOf(stdout).length === 0))
          reject(new Error(`terraform ${args.join(" ")}: ${stdout}${stderr}`));
        else resolve(stdout);
      });
    });
  }
}

interface Shown {
  readonly output_changes: Readonly<Record<string, { readonly after?: Exact; readonly after_unknown: Json }>>;
  readonly resource_changes: readonly {
    readonly name: string;
    readonly change: { readonly after_sensitive?: { readonly input?: true | Readonly<Record<string, Json>> } };
  }[];
}

interface State {
  readonly outputs: Readonly<Record<string, { readonly value: Exact; readonly type: Json }>>;
}

const name = (i: number) => `e${i}`;
const output = (i: number, text: string) => `"${name(i)}": {"sensitive": true, "value": ${JSON.stringify(text)}}`;

function diagnosticsOf(printed: string): readonly Diagnostic[] {
  return printed
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as { readonly type: string; readonly diagnostic?: Diagnostic })
    .flatMap(({ diagnostic }) => (diagnostic === undefined ? [] : [diagnostic]));
}
