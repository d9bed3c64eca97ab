import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

const digest = (value: unknown): string =>
  createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);

/** A short word for a host; its address cannot be read from it. @param baseUrl in its normal form. */
export const hostMark = (baseUrl: string): string => digest(["host", baseUrl]);

/**
 * Which state Terraform works on, as far as it can be told: its folder, workspace and backend, or what HOSTFORM_PLACE says, for CI jobs whose folder
 * changes from run to run.
 * @param folder the one that Terraform runs in.
 */
export function placeMark(folder: string, env: Environment): string {
  const own = env.HOSTFORM_PLACE;
  return own ? digest(["place", own]) : digest(["folder", folder, workspaceIn(folder, env), backendIn(folder, env)]);
}

/** The backend that `terraform init` has noted in its data folder: one folder may have a backend for each environment. */
function backendIn(folder: string, env: Environment): unknown {
  try {
    const file = path.resolve(folder, env.TF_DATA_DIR || ".terraform", "terraform.tfstate");
    return JSON.parse(readFileSync(file, "utf8")).backend ?? null;
  } catch {
    return null;
  }
}

/** The workspace as Terraform finds it: TF_WORKSPACE, else what `terraform workspace select` has left in its data folder. */
function workspaceIn(folder: string, env: Environment): string {
  if (env.TF_WORKSPACE) return env.TF_WORKSPACE;
  try {
    const file = path.resolve(folder, env.TF_DATA_DIR || ".terraform", "environment");
    return readFileSync(file, "utf8").trim() || "default";
  } catch {
    return "default";
  }
}
