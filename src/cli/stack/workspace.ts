import { readFile } from "node:fs/promises";
import path from "node:path";
import { errnoOf, fail } from "../../core/model/index.ts";
import { requireOwnFile } from "../own-file.ts";

/**
 * Refuses a workspace other than `default`: Terraform would keep the state of this folder somewhere else then.
 * @throws HostformError `stack.workspace`, `trust.file`.
 */
export async function refuseWorkspaces(
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
  shown: string,
): Promise<void> {
  const named = env.TF_WORKSPACE || (await chosen(folder, env.TF_DATA_DIR || undefined, shown));
  if (named === undefined || named === "default") return;
  const where = env.TF_WORKSPACE ? "TF_WORKSPACE names it" : `\`terraform workspace select\` has chosen it in ${shown}`;
  fail(
    "stack.workspace",
    `The workspace ${JSON.stringify(named)} is selected, and hostform works in \`default\` alone`,
    {
      detail: `${where}. Terraform keeps the state of each workspace in another place.`,
      fix: "Make a stack for each environment; or select `default`: unset TF_WORKSPACE, `terraform workspace select default`.",
    },
  );
}

/** @param data Terraform's data folder: beside the stack, or where TF_DATA_DIR says. */
async function chosen(folder: string, data: string | undefined, shown: string): Promise<string | undefined> {
  const file = path.resolve(folder, data ?? ".terraform", "environment");
  // Where TF_DATA_DIR leads, the user has said.
  const roots = data === undefined ? [folder] : [path.dirname(file)];
  await requireOwnFile(file, path.join(shown, ".terraform", "environment"), { roots });
  try {
    return (await readFile(file, "utf8")).trim() || undefined;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
