import path from "node:path";
import type { Json } from "../../core/model/index.ts";

/** As Terraform calls the state of a folder without a backend. */
const DEFAULT_STATE = "terraform.tfstate";

interface Where {
  readonly type: string;
  readonly settings: Readonly<Record<string, Json>>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The state file of a stack whose state is on this disk. @param folder of the stack, absolute. @returns absolute. */
export function stateFile(folder: string, settings: Where["settings"] = {}): string {
  const named = settings.path;
  return path.resolve(folder, typeof named === "string" && named !== "" ? named : DEFAULT_STATE);
}

/**
 * A word that is the same for two backends exactly when they lead to the same state: what a backend does not say comes
 * from the environment, as for the backend itself.
 */
export function placeName(folder: string, backend: Where | undefined, env: Environment = {}): string {
  const { type, settings } = backend ?? { type: "local", settings: {} };
  if (type === "local") return `local ${stateFile(folder, settings)}`;
  const { address, schema_name: schema, workspace } = settings;
  const url = textOr(address, env.TF_HTTP_ADDRESS);
  return type === "http"
    ? JSON.stringify([type, URL.canParse(url) ? new URL(url).href : url])
    : JSON.stringify([
        type,
        textOr(schema, env.PG_SCHEMA_NAME || "terraform_remote_state"),
        textOr(workspace, "default"),
      ]);
}

function textOr(value: Json | undefined, otherwise: string | undefined): string {
  return typeof value === "string" && value !== "" ? value : (otherwise ?? "");
}
