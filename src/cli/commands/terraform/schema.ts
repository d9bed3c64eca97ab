import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Invocation } from "../../io.ts";
import { packageRoot } from "../../package-files.ts";

/** `hostform terraform schema`: the provider's schema, in the form of `terraform providers schema -json`. */
export async function runTerraformSchema({ io }: Invocation): Promise<number> {
  io.out(await readFile(path.join(packageRoot(), "schemas/provider.json"), "utf8"));
  return 0;
}
