/** The state that Terraform works on, and the host of a provider, as this machine distinguishes them. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Place } from "../../../core/local/index.ts";
import { attempt, type EnvVars, isObject, parsedJson } from "../../../core/model/index.ts";

const digest = (value: unknown): string =>
  createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);

/** A digest that identifies a host without its address. @param baseUrl in its normal form. */
export const hostMark = (baseUrl: string): string => digest(["host", baseUrl]);

/**
 * Identifies the state that Terraform works on: by HOSTFORM_PLACE, by a remote backend and its workspace, whatever the folder of a CI
 * job is, or by folder and workspace.
 * @param folder in which Terraform runs.
 */
export function placeOf(folder: string, env: EnvVars): Place {
  const own = env.HOSTFORM_PLACE;
  if (own) return { mark: digest(["place", own]), label: `the Terraform state of HOSTFORM_PLACE=${own}` };
  const [workspace, backend] = [workspaceIn(folder, env), backendIn(folder, env)];
  const label = `the Terraform workspace ${workspace} in ${folder}`;
  const isRemote = backend !== undefined && backend.type !== "local";
  if (isRemote) return { mark: digest(["backend", backend.type, backend.config, workspace]), label };
  return { mark: digest(["folder", folder, workspace, recorded(folder, env) ?? null]), label };
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

const textOf = (file: string): string =>
  attempt(
    () => readFileSync(file, "utf8"),
    () => "",
  );
