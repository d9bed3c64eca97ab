import { type Json, type SecretSource, sourcePlace } from "../../core/model/index.ts";
import type { TfBlock, TfCode, TfItem } from "../../report/index.ts";
import { shellWord } from "../command-line.ts";

/** Names that mean something else in Terraform's language where a variable's could stand. */
const RESERVED = new Set(["source", "version", "providers", "count", "for_each", "lifecycle", "depends_on", "locals"]);

interface Variable {
  readonly name: string;
  readonly secret: boolean;
  readonly comments: readonly string[];
  readonly description: string;
}

/**
 * The input variables of a configuration: what a declaration in YAML takes from the environment, and the secrets that it
 * reads when they are needed. Each is made when it is first asked for.
 */
export class Variables {
  readonly #known = new Map<string, Variable>();
  readonly #names = new Set<string>();

  /** The value of an environment variable, for an attribute that plan and state may show. */
  ordinary(env: string): TfCode {
    return this.#code(`env ${env}`, nameFor(env), (name) => ({
      name,
      secret: false,
      comments: shellHint(name, { env }),
      description: `The environment variable ${env} of the declaration in YAML.`,
    }));
  }

  /**
   * A secret, which Terraform writes into no plan and no state.
   * @param base what the variable is called where its source has no name: `acme_www_password`.
   */
  secret(source: SecretSource, base: string): TfCode {
    const wanted = "env" in source ? nameFor(source.env) : base.replace(/[^A-Za-z0-9_]/g, "_");
    return this.#code(`secret ${JSON.stringify(source)}`, wanted, (name) => ({
      name,
      secret: true,
      comments: shellHint(name, source),
      description: `Read from ${sourcePlace(source)} in the declaration in YAML. Asked for at each run.`,
    }));
  }

  /** The `variable` blocks, by name. */
  blocks(): TfBlock[] {
    const variables = [...this.#known.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    return variables.map(({ name, secret, comments, description }) => {
      const item = (key: string, value: Exclude<Json, object>): TfItem => ({ name: key, value });
      const flags = secret ? [item("sensitive", true), item("ephemeral", true)] : [];
      const type: TfItem = { name: "type", value: { refer: "string" } };
      return {
        block: "variable",
        labels: [name],
        comments,
        body: [[item("description", description), type, ...flags]],
      };
    });
  }

  /** Whether there is one that only Terraform 1.11 keeps out of plan and state. */
  get secrets(): boolean {
    return [...this.#known.values()].some(({ secret }) => secret);
  }

  #code(key: string, wanted: string, make: (name: string) => Variable): TfCode {
    const known = this.#known.get(key) ?? make(this.#free(wanted));
    this.#known.set(key, known);
    return { code: `var.${known.name}` };
  }

  /** The name itself, or with something after it where it is taken. */
  #free(wanted: string): string {
    const base = RESERVED.has(wanted) || !/^[A-Za-z_]/.test(wanted) ? `env_${wanted}` : wanted;
    let name = base;
    for (let count = 2; this.#names.has(name); count++) name = `${base}_${count}`;
    this.#names.add(name);
    return name;
  }
}

const PREFIX = "TF_VAR_";

/** A variable of the environment that is Terraform's already keeps its name there. */
const nameFor = (env: string) =>
  env.startsWith(PREFIX) && env.length > PREFIX.length ? env.slice(PREFIX.length) : env;

/** How a shell gives the variable its value; nothing where it has it. */
function shellHint(name: string, source: SecretSource): string[] {
  const variable = `${PREFIX}${name}`;
  return "env" in source && source.env === variable ? [] : [`export ${variable}=${valueIn(source)}`];
}

/** Where the value comes from, as a word of a shell. */
function valueIn(source: SecretSource): string {
  if ("env" in source) return `"$${source.env}"`;
  if ("file" in source) return `"$(cat ${shellWord(source.file)})"`;
  return `"$(${source.command.map(shellWord).join(" ")})"`;
}
