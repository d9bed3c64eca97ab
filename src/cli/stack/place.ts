import path from "node:path";
import type { Json } from "../../model/index.ts";

/** As Terraform calls the state of a folder without a backend. */
const DEFAULT_STATE = "terraform.tfstate";

interface Where {
  readonly type: string;
  readonly settings: Readonly<Record<string, Json>>;
}

/** The state file of a stack whose state is on this disk. @param folder of the stack, absolute. @returns absolute. */
export function stateFile(folder: string, settings: Where["settings"] = {}): string {
  const named = settings.path;
  return path.resolve(folder, typeof named === "string" && named !== "" ? named : DEFAULT_STATE);
}

/** A word that is the same for two backends exactly when they lead to the same state. */
export function placeName(folder: string, backend: Where | undefined): string {
  const { type, settings } = backend ?? { type: "local", settings: {} };
  if (type === "local") return `local ${stateFile(folder, settings)}`;
  const { address = null, schema_name: schema = null, workspace = "default" } = settings;
  return JSON.stringify([type, address, schema, workspace]);
}
