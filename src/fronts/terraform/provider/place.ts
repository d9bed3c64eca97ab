/** Identity of Terraform's state and of a provider's host on this machine. */
import path from "node:path";
import { textNow } from "../../../core/files/index.ts";
import { markOf, markOfBackend, type Place, placeOfFile } from "../../../core/local/index.ts";
import { type EnvVars, isObject, parsedJson } from "../../../core/model/index.ts";

/** Returns a digest that identifies a host without its URL. @param baseUrl normalised. */
export const hostMark = (baseUrl: string): string => markOf(["host", baseUrl]);

/**
 * Identifies Terraform's state by HOSTFORM_PLACE, by a remote backend and its workspace, or by its file. A CI job may use any folder
 * with a remote backend.
 * @param folder Terraform's folder.
 */
export function placeOf(folder: string, env: EnvVars): Place {
  const own = env.HOSTFORM_PLACE;
  if (own) return { mark: markOf(["place", own]), label: `the Terraform state of HOSTFORM_PLACE=${own}` };
  const [workspace, backend] = [workspaceIn(folder, env), backendIn(folder, env)];
  if (backend === undefined || backend.type === "local")
    return placeOfFile(stateFileIn(folder, workspace, backend?.config));
  const mark = markOfBackend({ type: backend.type, settings: backend.config, workspace }, env);
  return { mark, label: `the Terraform workspace ${workspace} in ${folder}` };
}

/** Returns the absolute path of a workspace's state file. @param config of the backend `local`. */
export function stateFileIn(folder: string, workspace: string, config: Readonly<Record<string, unknown>> = {}): string {
  const text = (name: string) => (typeof config[name] === "string" && config[name] !== "" ? config[name] : undefined);
  return workspace === "default"
    ? path.resolve(folder, text("path") ?? "terraform.tfstate")
    : path.resolve(folder, text("workspace_dir") ?? "terraform.tfstate.d", workspace, "terraform.tfstate");
}

/** Reads the backend from Terraform's data folder, because the configuration may select a backend by environment. */
export function backendIn(
  folder: string,
  env: EnvVars,
): { readonly type: string; readonly config: Readonly<Record<string, unknown>> } | undefined {
  const file = path.resolve(folder, env.TF_DATA_DIR || ".terraform", "terraform.tfstate");
  const found = parsedJson(textOf(file));
  const backend = isObject(found) ? found.backend : undefined;
  if (!isObject(backend) || typeof backend.type !== "string" || !isObject(backend.config)) return undefined;
  return { type: backend.type, config: backend.config };
}

/** Returns the workspace: TF_WORKSPACE, otherwise the selected workspace in Terraform's data folder. */
export function workspaceIn(folder: string, env: EnvVars): string {
  const file = path.resolve(folder, env.TF_DATA_DIR || ".terraform", "environment");
  return env.TF_WORKSPACE || textOf(file).trim() || "default";
}

const textOf = (file: string): string => textNow(file) ?? "";
