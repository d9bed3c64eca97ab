/** Stacks: their parts, their selection and order, and the locations of their states. */
import path from "node:path";
import type { Language } from "../../core/expression/index.ts";
import { s3Place } from "../../core/local/index.ts";
import { walk } from "../../core/model/graph.ts";
import {
  type Backend,
  type Diagnostic,
  didYouMean,
  type Json,
  type OutputState,
  UNKNOWN,
  type ValueObject,
} from "../../core/model/index.ts";
import type { SourceFile } from "../../fronts/source/index.ts";
import { raise } from "../messages.ts";

/** Options that select stacks. */
export interface StackSource {
  /** Command that synthesizes the stacks. It runs in the project's folder. */
  readonly app?: string;
  /** Absolute path of a folder or file. Default: output of the app. */
  readonly path?: string;
  /** Names or construct paths of the selected stacks. */
  readonly only: readonly string[];
  /** Variables and variable files, in the given order. */
  readonly variables: readonly VariableOption[];
  /** Language of expressions. Default: from `required_version` of the stack. */
  readonly language?: Language;
}

export type VariableOption = { readonly name: string; readonly text: string } | { readonly file: string };

/** One stack of a manifest or a folder. */
export interface Stack {
  readonly name: string;
  readonly constructPath: string;
  /** Absolute path of the folder in which Terraform would run. */
  readonly folder: string;
  /**
   * Absolute path of the folder that must contain all real paths: the folder of the manifest. Default: the folder of the
   * stack.
   */
  readonly root?: string;
  /** True if links are allowed. Default: true. */
  readonly links?: boolean;
  /** Absolute path of a file that must exist. Default: any `*.tf.json`. */
  readonly file?: string;
  /** Names of stacks that must run earlier. */
  readonly dependencies: readonly string[];
  readonly annotations: readonly Annotation[];
}

export interface Annotation extends Diagnostic {
  /** Unencrypted secret that the annotation reports. `attribute`: in Terraform's notation. */
  readonly clearText?: { readonly construct: string; readonly attribute: string };
}

/** A stack with its files. */
export interface LoadedStack extends Stack {
  readonly files: readonly SourceFile[];
  readonly outline: Outline;
}

/** Parts of a stack that are needed before it is read. Not validated. */
export interface Outline {
  readonly backend?: { readonly type: string; readonly settings: Readonly<Record<string, Json>> };
  readonly variables: ReadonlyMap<string, { readonly sensitive: boolean; readonly default?: Json }>;
  readonly outputs: readonly string[];
}

/** A value of a variable. Of several values, the last counts. */
export interface Given {
  readonly name: string;
  /** Origin of the value: `-var`, `TF_VAR_plan`, or the path of a file. */
  readonly from: string;
  readonly value: { readonly text: string } | { readonly json: Json };
  /** True if the value comes from the user or the environment, not from a file of the project. */
  readonly outside?: true;
}

/** Purpose of a run. Determines which outputs of earlier stacks are known. */
export type Purpose = "validate" | "plan" | "apply" | "destroy" | "other";

/** Data that the stacks of one run share. */
export interface StackRun {
  readonly purpose: Purpose;
  /** Absolute path of the folder or file with the stacks. */
  readonly source: string;
  /** Absolute path of the project's folder. */
  readonly project: string;
  /** All stacks of the manifest that could be read. */
  readonly all: readonly LoadedStack[];
  /** Number of selected stacks. */
  readonly selected: number;
  readonly options: readonly VariableOption[];
  readonly language?: Language;
  /** Planned outputs by name of the stack. */
  readonly planned: Map<string, SiblingOutputs>;
}

export interface SiblingOutputs {
  /** Values by name. Parts of a value may be unknown. */
  readonly values: ValueObject;
  /** Terraform types of known outputs. */
  readonly types: Readonly<Record<string, Json>>;
}

/** Reads the outputs in the state of a backend. Undefined if there is no state. */
export type OutputsAt = (backend: Backend) => Promise<SiblingOutputs | undefined>;

/**
 * Converts outputs.
 * @param openOnly True to make sensitive outputs unknown, because an untrusted stack must not read these.
 */
export function siblingOutputs(outputs: ReadonlyMap<string, OutputState>, openOnly: boolean): SiblingOutputs {
  const isWithheld = (sensitive: boolean) => openOnly && sensitive;
  const values = [...outputs].map(([name, { value, sensitive }]) => [name, isWithheld(sensitive) ? UNKNOWN : value]);
  const open = [...outputs].filter(([, { sensitive }]) => !isWithheld(sensitive));
  return {
    values: Object.fromEntries(values),
    types: Object.fromEntries(open.map(([name, { type }]) => [name, type])),
  };
}

/** The stack that replaces a YAML declaration. */
export interface ActiveStack extends LoadedStack {
  readonly run: StackRun;
  readonly given: readonly Given[];
  /** Mistakes in the given values. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Sorts stacks by dependencies, otherwise in the order of the manifest.
 * @throws HostformError `stack.manifest` for a cycle.
 */
export function inOrder<T extends Stack>(stacks: readonly T[]): T[] {
  const known = new Map(stacks.map((stack) => [stack.name, stack]));
  const { order, circles } = walk(known.keys(), (name) => known.get(name)?.dependencies);
  const [circle] = circles;
  if (circle !== undefined) {
    raise("stack.manifest/circle", { names: [...circle.nodes, circle.nodes[0]].join(" -> ") });
  }
  return order.flatMap((name) => known.get(name) ?? []);
}

/** Returns the selected stacks, or all. @throws HostformError `usage` for an unknown name. */
export function selected<T extends Stack>(stacks: readonly T[], only: readonly string[]): T[] {
  const names = stacks.map(({ name }) => name);
  const named = only.map(
    (text) =>
      stacks.find(({ name }) => name === text) ??
      stacks.find(({ constructPath }) => constructPath === text) ??
      raise("usage/stack", { meant: `${JSON.stringify(text)}.${didYouMean(text, names)}`, names: names.join(", ") }),
  );
  return named.length === 0 ? [...stacks] : stacks.filter((stack) => named.includes(stack));
}

/** Terraform's state file name for a folder without a backend. */
const DEFAULT_STATE = "terraform.tfstate";

/** Returns the local state file of a stack. @param folder of the stack, absolute. @returns absolute. */
export function stateFile(folder: string, settings: Backend["settings"] = {}): string {
  const named = settings.path;
  return path.resolve(folder, typeof named === "string" && named !== "" ? named : DEFAULT_STATE);
}

/** Returns a name that identifies the state of a backend. Missing settings come from the environment. */
export function placeName(
  folder: string,
  backend: Outline["backend"],
  env: Readonly<Record<string, string | undefined>> = {},
): string {
  const { type, settings } = backend ?? { type: "local", settings: {} };
  if (type === "local") return `local ${stateFile(folder, settings)}`;
  const { address, schema_name: schema, table_name: table, workspace } = settings;
  const url = textOr(address, env.TF_HTTP_ADDRESS);
  if (type === "s3") return JSON.stringify([type, s3Place(settings, textOr(workspace, "default"), env)]);
  if (type === "http") return JSON.stringify([type, URL.canParse(url) ? new URL(url).href : url]);
  const schemaName = textOr(schema, env.PG_SCHEMA_NAME || "terraform_remote_state");
  const tableName = textOr(table, env.PG_TABLE_NAME || "states");
  return JSON.stringify([type, schemaName, tableName, textOr(workspace, "default")]);
}

function textOr(value: Json | undefined, otherwise: string | undefined): string {
  return typeof value === "string" && value !== "" ? value : (otherwise ?? "");
}
