/** What a stack is; which stacks are wanted, in which order; and where their states are. */
import path from "node:path";
import type { Language } from "../../core/expression/index.ts";
import { walk } from "../../core/model/graph.ts";
import {
  type Backend,
  type Diagnostic,
  didYouMean,
  fail,
  type Json,
  type OutputState,
  UNKNOWN,
  type ValueObject,
} from "../../core/model/index.ts";
import type { SourceFile } from "../../fronts/source/index.ts";

/** `--app` or `--stack`, with the options that belong to them. */
export interface StackSource {
  /** The command that synthesizes; it runs in the project's folder. */
  readonly app?: string;
  /** Absolute: a folder or a file. Undefined: what the app writes. */
  readonly path?: string;
  /** `--only`: names or construct paths. */
  readonly only: readonly string[];
  /** `--var` and `--var-file`, as they stood on the line. */
  readonly variables: readonly VariableOption[];
  /** `--language`. Default: what the stack's `required_version` says. */
  readonly language?: Language;
}

export type VariableOption = { readonly name: string; readonly text: string } | { readonly file: string };

/** One stack, as the manifest or its folder describes it. */
export interface Stack {
  readonly name: string;
  readonly constructPath: string;
  /** Absolute: the folder in which Terraform would run. */
  readonly folder: string;
  /** The folder that its files must lie in by their real path, absolute: that of the manifest. Default: its own. */
  readonly root?: string;
  /** Whether its files may be links. Default: true. */
  readonly links?: boolean;
  /** The file that must be there, absolute; undefined: any `*.tf.json`. */
  readonly file?: string;
  /** Names of the stacks that come before it. */
  readonly dependencies: readonly string[];
  /** What its constructs report about themselves. */
  readonly annotations: readonly Annotation[];
}

/** What a construct reports about itself. */
export interface Annotation extends Diagnostic {
  /** The secret that it warns of because it is given as a literal text; Terraform's name of the attribute. */
  readonly clearText?: { readonly construct: string; readonly attribute: string };
}

/** A stack whose files were read. */
export interface LoadedStack extends Stack {
  readonly files: readonly SourceFile[];
  readonly outline: Outline;
}

/** What has to be known of a stack before it can be read: taken from its JSON as it is, mistakes passed over. */
export interface Outline {
  readonly backend?: { readonly type: string; readonly settings: Readonly<Record<string, Json>> };
  /** Name -> whether its value is secret. */
  readonly variables: ReadonlyMap<string, { readonly sensitive: boolean; readonly default?: Json }>;
  readonly outputs: readonly string[];
}

/** A value that was given to a variable; of several for one name, the last holds. */
export interface Given {
  readonly name: string;
  /** `-var`, `TF_VAR_plan`, or the file's path. */
  readonly from: string;
  readonly value: { readonly text: string } | { readonly json: Json };
  /** It comes from the command line or the environment, and not from a file of the project. */
  readonly outside?: true;
}

/** What the run is for. It decides what is known of the outputs of the stacks before one. */
export type Purpose = "validate" | "plan" | "apply" | "destroy" | "other";

/** What the stacks of one run share. */
export interface StackRun {
  readonly purpose: Purpose;
  /** The folder or file that `--stack` names, or the output folder of the app; absolute. */
  readonly source: string;
  /** The project's folder, absolute. */
  readonly project: string;
  /** All stacks of the manifest that can be read, selected or not. */
  readonly all: readonly LoadedStack[];
  /** How many are selected. */
  readonly selected: number;
  readonly options: readonly VariableOption[];
  readonly language?: Language;
  /** Name -> what the outputs of a stack that was planned in this run will be. */
  readonly planned: Map<string, SiblingOutputs>;
}

/** What another stack gives. */
export interface SiblingOutputs {
  /** By name; parts may be unknown. */
  readonly values: ValueObject;
  /** Terraform's type of each, as its state has it; of one that is not known wholly, none. */
  readonly types: Readonly<Record<string, Json>>;
}

/** The recorded outputs of another stack, by where its state is; undefined when it has none. */
export type OutputsAt = (backend: Backend) => Promise<SiblingOutputs | undefined>;

/** @param openOnly of a sensitive output neither the value nor its type is given: an untrusted stack must not see it. */
export function siblingOutputs(outputs: ReadonlyMap<string, OutputState>, openOnly: boolean): SiblingOutputs {
  const isWithheld = (sensitive: boolean) => openOnly && sensitive;
  const values = [...outputs].map(([name, { value, sensitive }]) => [name, isWithheld(sensitive) ? UNKNOWN : value]);
  const open = [...outputs].filter(([, { sensitive }]) => !isWithheld(sensitive));
  return {
    values: Object.fromEntries(values),
    types: Object.fromEntries(open.map(([name, { type }]) => [name, type])),
  };
}

/** The stack that a command works on, in place of a declaration in YAML. */
export interface ActiveStack extends LoadedStack {
  readonly run: StackRun;
  readonly given: readonly Given[];
  /** What is wrong with what was given to it. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * The stacks in the order of their dependencies; among those that are free, as the manifest has them.
 * @throws HostformError `stack.manifest` for a circle.
 */
export function inOrder<T extends Stack>(stacks: readonly T[]): T[] {
  const known = new Map(stacks.map((stack) => [stack.name, stack]));
  const { order, circles } = walk(known.keys(), (name) => known.get(name)?.dependencies);
  const [circle] = circles;
  if (circle !== undefined) {
    const names = [...circle.nodes, circle.nodes[0]].join(" -> ");
    fail("stack.manifest", `The stacks depend on each other in a circle: ${names}`, {
      remedies: ["Remove one of the references between these stacks."],
    });
  }
  return order.flatMap((name) => known.get(name) ?? []);
}

/**
 * The stacks that `--only` names, or all.
 * @throws HostformError `usage` for a name that no stack has.
 */
export function selected<T extends Stack>(stacks: readonly T[], only: readonly string[]): T[] {
  const names = stacks.map(({ name }) => name);
  const named = only.map(
    (text) =>
      stacks.find(({ name }) => name === text) ??
      stacks.find(({ constructPath }) => constructPath === text) ??
      fail("usage", `There is no stack ${JSON.stringify(text)}.${didYouMean(text, names)}`, {
        detail: `The stacks are ${names.join(", ")}.`,
        remedies: ["Give `--only` the name of a stack, or its construct path."],
      }),
  );
  return named.length === 0 ? [...stacks] : stacks.filter((stack) => named.includes(stack));
}

/** As Terraform calls the state of a folder without a backend. */
const DEFAULT_STATE = "terraform.tfstate";

/** The state file of a stack whose state is on this disk. @param folder of the stack, absolute. @returns absolute. */
export function stateFile(folder: string, settings: Backend["settings"] = {}): string {
  const named = settings.path;
  return path.resolve(folder, typeof named === "string" && named !== "" ? named : DEFAULT_STATE);
}

/**
 * A word that is the same for two backends exactly when they lead to the same state: what a backend does not say comes
 * from the environment, as for the backend itself.
 */
export function placeName(
  folder: string,
  backend: Outline["backend"],
  env: Readonly<Record<string, string | undefined>> = {},
): string {
  const { type, settings } = backend ?? { type: "local", settings: {} };
  if (type === "local") return `local ${stateFile(folder, settings)}`;
  const { address, schema_name: schema, table_name: table, workspace } = settings;
  const url = textOr(address, env.TF_HTTP_ADDRESS);
  if (type === "http") return JSON.stringify([type, URL.canParse(url) ? new URL(url).href : url]);
  const schemaName = textOr(schema, env.PG_SCHEMA_NAME || "terraform_remote_state");
  const tableName = textOr(table, env.PG_TABLE_NAME || "states");
  return JSON.stringify([type, schemaName, tableName, textOr(workspace, "default")]);
}

function textOr(value: Json | undefined, otherwise: string | undefined): string {
  return typeof value === "string" && value !== "" ? value : (otherwise ?? "");
}
