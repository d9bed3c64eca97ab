// The npm package, built and packed.
import { execFileSync } from "node:child_process";
import path from "node:path";
import process from "node:process";

const project = path.resolve(import.meta.dirname, "../..");

/**
 * Builds the package and packs it into `folder`. The same sources give the same bytes, wherever they lie.
 * @param root a checkout of the project. @returns the path of the tarball. @throws Error with what was printed.
 */
export function pack(folder: string, root = project): string {
  const options = { cwd: root, encoding: "utf8" } as const;
  execFileSync(process.execPath, [path.join(root, "scripts/build.ts")], { ...options, stdio: "pipe" });
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const shell = process.platform === "win32";
  const [packed] = JSON.parse(execFileSync("npm", args, { ...options, shell, stdio: ["ignore", "pipe", "pipe"] }));
  return path.join(folder, packed.filename);
}
