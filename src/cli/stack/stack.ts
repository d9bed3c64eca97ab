import type { Diagnostic, Json, ValueObject } from "../../core/model/index.ts";
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
}

export type VariableOption = { readonly name: string; readonly text: string } | { readonly file: string };

/** One stack, as the manifest or its folder tells. */
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
  /** What its constructs say of themselves. */
  readonly annotations: readonly Diagnostic[];
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
}

/** What the run is for. It decides what is known of the outputs of the stacks before one. */
export type Purpose = "validate" | "plan" | "apply" | "destroy" | "other";

/** What the stacks of one run share. */
export interface StackRun {
  readonly purpose: Purpose;
  /** The folder or file that `--stack` names, or the output folder of the app; absolute. */
  readonly source: string;
  /** The project's folder, absolute. Default: that of the stack. */
  readonly project?: string;
  /** All stacks of the manifest that can be read, selected or not. */
  readonly all: readonly LoadedStack[];
  /** How many are selected. */
  readonly selected: number;
  readonly options: readonly VariableOption[];
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

/** The stack that a command works on, in place of a declaration in YAML. */
export interface ActiveStack extends LoadedStack {
  readonly run: StackRun;
  readonly given: readonly Given[];
  /** What is wrong with what was given to it. */
  readonly diagnostics: readonly Diagnostic[];
}
