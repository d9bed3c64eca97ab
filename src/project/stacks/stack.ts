/** Stacks: their parts, their selection and order, and the locations of their states. */
import path from "node:path";
import type { Language } from "../../core/expression/index.ts";
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

/** The source of stacks, with its options. */
export interface StackSource {
  /** Command that synthesizes the stacks. It runs in the project's folder. */
  readonly app?: string;
  /** Absolute path of a folder or a file. Default: the output of the app. */
  readonly path?: string;
  /** Names or construct paths of the selected stacks. */
  readonly only: readonly string[];
  /** Variables and variable files, in the given order. */
  readonly variables: readonly VariableOption[];
  /** Language of expressions. Default: determined by `required_version` of the stack. */
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
   * Absolute path of the folder that must contain the real paths of the files. It is the folder of the manifest. Default: the
   * folder of the stack.
   */
  readonly root?: string;
  /** True if links are allowed. Default: true. */
  readonly links?: boolean;
  /** Absolute path of the required file. Default: any `*.tf.json`. */
  readonly file?: string;
  /** Names of earlier stacks. */
  readonly dependencies: readonly string[];
  readonly annotations: readonly Annotation[];
}

export interface Annotation extends Diagnostic {
  /** The unencrypted secret that the annotation reports. The attribute has Terraform's name. */
  readonly clearText?: { readonly construct: string; readonly attribute: string };
}

/** A stack with its files. */
export interface LoadedStack extends Stack {
  readonly files: readonly SourceFile[];
  readonly outline: Outline;
}

/** The parts of a stack that its reader needs. They are not validated. */
export interface Outline {
  readonly backend?: { readonly type: string; readonly settings: Readonly<Record<string, Json>> };
  readonly variables: ReadonlyMap<string, { readonly sensitive: boolean; readonly default?: Json }>;
  readonly outputs: readonly string[];
}

/** A value of a variable. If a variable has several values, the last value counts. */
export interface Given {
  readonly name: string;
  /** Source of the value: `-var`, `TF_VAR_plan`, or the path of a file. */
  readonly from: string;
  readonly value: { readonly text: string } | { readonly json: Json };
  /** True if the user or the environment supplied the value, not a file of the project. */
  readonly outside?: true;
}

/** Purpose of a run. The purpose decides which outputs of earlier stacks are known. */
export type Purpose = "validate" | "plan" | "apply" | "destroy" | "other";

/** Common data of the stacks of one run. */
export interface StackRun {
  readonly purpose: Purpose;
  /** Absolute path of the folder or file with the stacks. */
  readonly source: string;
  /** Absolute path of the project's folder. */
  readonly project: string;
  /** All readable stacks of the manifest. */
  readonly all: readonly LoadedStack[];
  /** Number of selected stacks. */
  readonly selected: number;
  readonly options: readonly VariableOption[];
  readonly language?: Language;
  /** Stack name -> planned outputs. */
  readonly planned: Map<string, SiblingOutputs>;
}

export interface SiblingOutputs {
  /** Values by name. Parts of a value may be unknown. */
  readonly values: ValueObject;
  /** Terraform types of completely known outputs. */
  readonly types: Readonly<Record<string, Json>>;
}

/** Reads the outputs in the state of a backend. Returns undefined if no state exists. */
export type OutputsAt = (backend: Backend) => Promise<SiblingOutputs | undefined>;

/** @param openOnly drops sensitive outputs, because an untrusted stack must not get them. */
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
 * Sorts stacks by their dependencies, and then in the order of the manifest.
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

/** Returns a string that identifies the state of a backend. Takes missing settings from the environment. */
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
