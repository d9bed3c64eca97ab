import { readFile } from "node:fs/promises";
import path from "node:path";
import { errnoOf, fail } from "../../model/index.ts";

/**
 * Refuses a workspace other than `default`: Terraform would keep the state of this folder somewhere else then.
 * @throws HostformError `stack.workspace`.
 */
export async function refuseWorkspaces(
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
  shown: string,
): Promise<void> {
  const named = env.TF_WORKSPACE || (await chosen(folder, env.TF_DATA_DIR || ".terraform"));
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

async function chosen(folder: string, data: string): Promise<string | undefined> {
  try {
    return (await readFile(path.resolve(folder, data, "environment"), "utf8")).trim() || undefined;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
