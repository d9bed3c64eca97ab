import { readdir } from "node:fs/promises";
import path from "node:path";
import { compareText } from "../../core/expression/text-order.ts";
import { errnoOf, fail } from "../../core/model/index.ts";
import type { SourceFile } from "../../fronts/source/index.ts";
import { systemFiles } from "../../fronts/yaml/index.ts";
import { type Ownership, requireOwnFile } from "../own-file.ts";

/** What a synthesized stack may hold; one of a thousand services has a hundredth of it. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Names that Terraform passes over: hidden files, and what editors leave. */
const PASSED_OVER = /^\.|~$|^#.*#$/;
const OTHER_LANGUAGE = /\.tf$|\.tofu$|\.tofu\.json$/;
const OVERRIDING = /^(?:.*_)?override\.tf\.json$/;

/**
 * The files of a folder that make up a stack, in Terraform's order. A folder with something that Terraform would read
 * and hostform would not is refused: half of a configuration is another one.
 * @param folder absolute. @param shown as people know it.
 * @returns absolute paths; empty when there is none.
 */
export async function stackFiles(folder: string, shown: string): Promise<string[]> {
  const names = await namesIn(folder, shown);
  const foreign = names.find((name) => OTHER_LANGUAGE.test(name));
  if (foreign !== undefined) {
    fail("stack.files", `${path.join(shown, foreign)} is a part of the stack that hostform cannot read`, {
      detail: "It is written in Terraform's own language or for OpenTofu alone; hostform reads `*.tf.json`.",
      fix: "Use Terraform with the provider for this folder, or name another one.",
    });
  }
  const overriding = names.find((name) => OVERRIDING.test(name));
  if (overriding !== undefined) {
    fail(
      "stack.files",
      `${path.join(shown, overriding)} would override parts of the stack, which hostform does not do`,
      {
        fix: "Write what it says into the other files.",
      },
    );
  }
  return names.filter((name) => name.endsWith(".tf.json")).map((name) => path.join(folder, name));
}

/** The names of the files of a folder that Terraform would look at for its configuration. @throws HostformError `stack.files`. */
async function namesIn(folder: string, shown: string): Promise<string[]> {
  return (await allNamesIn(folder, shown)).filter((name) => !PASSED_OVER.test(name));
}

/** The names of all files of a folder, in Terraform's order: that of their bytes. @throws HostformError `stack.files`. */
export async function allNamesIn(folder: string, shown: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const files = entries.filter((entry) => !entry.isDirectory());
    return files.map(({ name }) => name).sort(compareText);
  } catch (error) {
    return unreadable(shown, error);
  }
}

/**
 * A text of the user's. @param own what the file must be; absent for one that the command line names.
 * @throws HostformError `stack.files` for one that cannot be read, is too large or not UTF-8, `trust.file`.
 */
export async function readText(file: string, shown: string, own?: Ownership): Promise<SourceFile> {
  if (own !== undefined) await requireOwnFile(file, shown, own);
  const bytes = await systemFiles.read(file, MOST_BYTES + 1).catch((error: unknown) => unreadable(shown, error));
  if (bytes.length > MOST_BYTES) {
    fail("stack.files", `${shown} is larger than 64 MiB`, { fix: "Split the stack into several." });
  }
  try {
    return { path: shown, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return fail("stack.files", `${shown} is not a text in UTF-8`, { fix: "Save it as UTF-8." });
  }
}

function unreadable(shown: string, error: unknown): never {
  const errno = errnoOf(error);
  if (errno === undefined) throw error;
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: "it does not exist",
    ENOTDIR: "it is not a folder",
    EISDIR: "it is a folder",
    EACCES: "you may not read it",
  };
  return fail("stack.files", `${shown} cannot be read: ${reasons[errno] ?? errno}`, {
    fix: "Check the path. A stack is a folder that cdktf or cdktn has written (`cdktf.out`), or one with `*.tf.json`.",
  });
}
