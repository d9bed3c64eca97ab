// The npm package, built, staged and packed.
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
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
  const stage = mkdtempSync(path.join(tmpdir(), "hostform-pack-"));
  try {
    const manifest = publicManifest(root);
    writeFileSync(path.join(stage, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
    for (const name of [...manifest.files, "LICENSE"])
      cpSync(path.join(root, name), path.join(stage, name), { recursive: true });
    // npm obeys the ignore files of folders: states and secrets of tried examples stay here.
    const ignored = readFileSync(path.join(root, ".gitignore"), "utf8").replaceAll("examples/", "");
    writeFileSync(path.join(stage, "examples/.npmignore"), ignored);
    const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", path.resolve(folder)];
    const shell = process.platform === "win32";
    const printed = execFileSync("npm", args, { ...options, cwd: stage, shell, stdio: ["ignore", "pipe", "pipe"] });
    // npm 12 prints an object by name, earlier versions a list.
    const [packed] = Object.values<{ filename: string }>(JSON.parse(printed));
    return path.join(folder, packed?.filename ?? "");
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** Returns the package.json of the package: with its manual pages, and without the scripts and tools of a checkout. */
function publicManifest(root: string): { readonly files: readonly string[] } {
  const { scripts, devDependencies, allowScripts, ...manifest } = JSON.parse(
    readFileSync(path.join(root, "package.json"), "utf8"),
  );
  return {
    ...manifest,
    man: readdirSync(path.join(root, "dist/man/man1"))
      .map((name) => `./dist/man/man1/${name}`)
      .sort(),
  };
}
