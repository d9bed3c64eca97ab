import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { errnoOf } from "../../core/model/index.ts";

/** What to try in a folder that holds stacks and no declaration in YAML; undefined when it holds none. */
export function stackHint(folder: string): string | undefined {
  const has = (name: string) => existsSync(path.join(folder, name));
  if (has("cdktf.out")) return "To apply the synthesized stacks: `--stack cdktf.out`.";
  if (has("cdktf.json")) return 'To synthesize and apply the stacks of this folder: `--app "node main.js"`.';
  return namesIn(folder).some((name) => name.endsWith(".tf.json"))
    ? "To apply the `*.tf.json` of this folder: `--stack .`."
    : undefined;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return [];
  }
}
