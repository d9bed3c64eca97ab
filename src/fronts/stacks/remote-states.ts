import { isObject, type Json, type JsonObject, type SourceRange } from "../../core/model/index.ts";
import { DiagnosticCollector } from "../source/diagnostics.ts";
import { rangeOf, type SourceFile } from "../source/source.ts";
import { toJson } from "../source/tree.ts";
import { type Block, blocksOf } from "./blocks.ts";
import { readTree } from "./json.ts";
import { checkKeys, KEYS } from "./keys.ts";
import { type Module, REMOTE_STATE } from "./module.ts";
import { StackSource } from "./source.ts";

/** A `data.terraform_remote_state`: the outputs of another state, as a stack refers to them. */
export interface RemoteState {
  readonly name: string;
  /** The type of the backend: `local`, `http`, `pg`, or what hostform does not have. */
  readonly backend: string;
  /** Its settings as they are written. */
  readonly config: JsonObject;
  /** As it is written; a synthesized one has `${terraform.workspace}`. */
  readonly workspace?: Json;
  /** Outputs that stand in for those that are not recorded. */
  readonly defaults?: JsonObject;
  readonly range?: SourceRange | undefined;
}

/** The remote states that a stack names, for whoever can read them. Mistakes are passed over: {@link parseStack} tells them. */
export function remoteStatesOf(files: readonly SourceFile[]): RemoteState[] {
  const diags = new DiagnosticCollector();
  const trees = files.flatMap((file, index) => readTree(new StackSource(file, index), diags) ?? []);
  const roots = trees.flatMap((tree) => (tree.form === "list" ? tree.items : [tree]));
  const data = roots.flatMap((root) => (root.form === "map" ? (root.entries.get("data") ?? []) : []));
  const blocks = data.flatMap((entry) => blocksOf(entry, ["TYPE", "NAME"], diags));
  return blocks.flatMap((block) => remoteState(block) ?? []);
}

function remoteState({ labels: [type, name], keySpan, body }: Block): RemoteState | undefined {
  if (type?.text !== REMOTE_STATE || name === undefined) return undefined;
  const value = (key: string): Json | undefined => {
    const entry = body.entries.get(key);
    return entry && toJson(entry.value);
  };
  const [backend, config, workspace, defaults] = ["backend", "config", "workspace", "defaults"].map(value);
  return {
    name: name.text,
    backend: typeof backend === "string" ? backend : "",
    config: isObject(config) ? (config as JsonObject) : {},
    ...(workspace !== undefined && { workspace }),
    ...(isObject(defaults) && { defaults: defaults as JsonObject }),
    range: rangeOf(keySpan),
  };
}

/** Says which settings of remote states are none. What they mean, whoever reads them says. */
export function checkRemoteStates({ data }: Module, diags: DiagnosticCollector): void {
  for (const [address, { labels, body }] of data) {
    if (labels[0]?.text !== REMOTE_STATE) continue;
    const missing = (key: string) => `A remote state has no ${key}`;
    checkKeys({ body }, KEYS["data.terraform_remote_state"], missing, diags, { address });
  }
}
