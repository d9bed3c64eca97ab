/** The state that Terraform works on, and the host of a provider, as this machine distinguishes them. */
import path from "node:path";
import { textNow } from "../../../core/files/index.ts";
import { markOf, markOfBackend, type Place, placeOfFile } from "../../../core/local/index.ts";
import { type EnvVars, isObject, parsedJson } from "../../../core/model/index.ts";

/** A digest that identifies a host without its address. @param baseUrl in its normal form. */
export const hostMark = (baseUrl: string): string => markOf(["host", baseUrl]);

interface TerraformPlace extends Place {
  /** Marks that earlier versions gave to the same state. */
  readonly earlier: readonly string[];
}

/**
 * Identifies the state that Terraform works on: by HOSTFORM_PLACE, by a remote backend and its workspace, whatever the folder of a CI
 * job is, or by its file.
 * @param folder in which Terraform runs.
 */
export function placeOf(folder: string, env: EnvVars): TerraformPlace {
  const own = env.HOSTFORM_PLACE;
  if (own) {
    return { mark: markOf(["place", own]), label: `the Terraform state of HOSTFORM_PLACE=${own}`, earlier: [] };
  }
  const [workspace, backend] = [workspaceIn(folder, env), backendIn(folder, env)];
  const earlier = [markOf(["folder", folder, workspace, recorded(folder, env) ?? null])];
  if (backend === undefined || backend.type === "local") {
    return { ...placeOfFile(stateFileIn(folder, workspace, backend?.config)), earlier };
  }
  const mark = markOfBackend({ type: backend.type, settings: backend.config, workspace }, env);
  return { mark, label: `the Terraform workspace ${workspace} in ${folder}`, earlier };
}

/** The state file of a workspace, absolute. @param config of the backend `local`. */
export function stateFileIn(folder: string, workspace: string, config: Readonly<Record<string, unknown>> = {}): string {
  const text = (name: string) => (typeof config[name] === "string" && config[name] !== "" ? config[name] : undefined);
  return workspace === "default"
    ? path.resolve(folder, text("path") ?? "terraform.tfstate")
    : path.resolve(folder, text("workspace_dir") ?? "terraform.tfstate.d", workspace, "terraform.tfstate");
}

/** The backend that `terraform init` recorded in its data folder: one folder may have a backend for each environment. */
export function backendIn(
  folder: string,
  env: EnvVars,
): { readonly type: string; readonly config: Readonly<Record<string, unknown>> } | undefined {
  const backend = recorded(folder, env);
  if (!isObject(backend) || typeof backend.type !== "string" || !isObject(backend.config)) return undefined;
  return { type: backend.type, config: backend.config };
}

function recorded(folder: string, env: EnvVars): unknown {
  const file = path.resolve(folder, env.TF_DATA_DIR || ".terraform", "terraform.tfstate");
  const found = parsedJson(textOf(file));
  return isObject(found) ? found.backend : undefined;
}

/** The workspace as Terraform finds it: TF_WORKSPACE, else the one that `terraform workspace select` recorded in its data folder. */
export function workspaceIn(folder: string, env: EnvVars): string {
  const file = path.resolve(folder, env.TF_DATA_DIR || ".terraform", "environment");
  return env.TF_WORKSPACE || textOf(file).trim() || "default";
}

const textOf = (file: string): string => textNow(file) ?? "";
