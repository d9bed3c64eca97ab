import { fromValue, object, type Typed, typeOfJson } from "../../core/expression/index.ts";
import {
  ExpressionError,
  isObject,
  type Json,
  type JsonObject,
  type SourceRange,
  UNKNOWN,
  type Value,
  type ValueObject,
} from "../../core/model/index.ts";
import { DiagnosticCollector } from "../source/diagnostics.ts";
import { rangeOf, type SourceFile } from "../source/source.ts";
import { toJson } from "../source/tree.ts";
import { type Block, blocksOf, checkKeys } from "./blocks.ts";
import { readTree, SynthesizedSource } from "./json.ts";

/** Reads the outputs of other states that a stack refers to, and their values in its expressions. */

/** Type of the data source for outputs of another stack. */
export const REMOTE_STATE = "terraform_remote_state";

/** A `data.terraform_remote_state` block: outputs of another state. */
export interface RemoteState {
  readonly name: string;
  /** Type of the backend: `local`, `http`, `pg`, or an unsupported type. */
  readonly backend: string;
  /** Declared settings of the backend. */
  readonly config: JsonObject;
  /** Declared workspace. Synthesized stacks contain `${terraform.workspace}`. */
  readonly workspace?: Json;
  /** Defaults for outputs that the state lacks. */
  readonly defaults?: JsonObject;
  readonly range?: SourceRange | undefined;
}

/** Returns the remote states in a stack. Ignores errors, because `parseStack` reports them. */
export function remoteStatesOf(files: readonly SourceFile[]): RemoteState[] {
  const diags = new DiagnosticCollector();
  const trees = files.flatMap((file, index) => readTree(new SynthesizedSource(file, index), diags) ?? []);
  const roots = trees.flatMap((tree) => (tree.form === "list" ? tree.items : [tree]));
  const data = roots.flatMap((root) => (root.form === "map" ? (root.entries.get("data") ?? []) : []));
  const blocks = data.flatMap((entry) => blocksOf(entry, ["TYPE", "NAME"], diags));
  return blocks.flatMap((block) => remoteState(block) ?? []);
}

function remoteState({ labels: [type, name], keySpan, body }: Block): RemoteState | undefined {
  if (type?.text !== REMOTE_STATE || name === undefined) return undefined;
  const { backend, config, workspace, defaults } = toJson(body) as JsonObject;
  return {
    name: name.text,
    backend: typeof backend === "string" ? backend : "",
    config: isObject(config) ? (config as JsonObject) : {},
    ...(workspace !== undefined && { workspace }),
    ...(isObject(defaults) && { defaults: defaults as JsonObject }),
    range: rangeOf(keySpan),
  };
}

/** Reports unknown settings. The reader of the states checks the values. */
export function checkRemoteStates(data: ReadonlyMap<string, Block>, diags: DiagnosticCollector): void {
  for (const [address, { labels, body }] of data) {
    if (labels[0]?.text !== REMOTE_STATE) continue;
    checkKeys({ body }, "data.terraform_remote_state", diags, { address });
  }
}

/** Values of `data.terraform_remote_state.NAME`: objects with `outputs`. */
export class RemoteOutputs {
  readonly #outputs: ReadonlyMap<string, Value>;
  readonly #types: ReadonlyMap<string, Readonly<Record<string, Json>>>;
  readonly #values = new Map<string, Typed>();

  /**
   * @param outputs Outputs by name of the remote state. They may be unknown.
   * @param types Terraform types of known outputs.
   */
  constructor(
    outputs: ReadonlyMap<string, Value>,
    types: ReadonlyMap<string, Readonly<Record<string, Json>>> = new Map(),
  ) {
    this.#outputs = outputs;
    this.#types = types;
  }

  has(name: string): boolean {
    return this.#outputs.has(name);
  }

  /** Returns the value of a remote state. @throws ExpressionError for unknown outputs. */
  resolve(name: string, text: string): { value: Typed; used: number } {
    const outputs = this.#outputs.get(name);
    if (outputs === undefined) throw new ExpressionError(`the outputs that ${text} refers to are not known`);
    const value = this.#values.get(name) ?? this.#typed(name, outputs);
    this.#values.set(name, value);
    return { value, used: 2 };
  }

  #typed(name: string, outputs: Value): Typed {
    if (outputs === UNKNOWN || !isObject(outputs)) return fromValue({ outputs });
    const types = this.#types.get(name) ?? {};
    const typed = Object.entries(outputs as ValueObject).map(([key, value]): [string, Typed] => {
      const type = Object.hasOwn(types, key) ? typeOfJson(types[key] ?? "dynamic") : undefined;
      return [key, fromValue(value, type)];
    });
    return object([["outputs", object(typed)]]);
  }
}
