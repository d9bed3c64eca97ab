import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { fail, HostformError } from "../../core/model/index.ts";
import { requireOwnFolder } from "../own-file.ts";
import { readText, stackFiles } from "./folder.ts";
import { readManifest } from "./manifest.ts";
import { outlineOf } from "./outline.ts";
import type { LoadedStack, Stack } from "./stack.ts";

/** The stacks that a path leads to. */
export interface Opened {
  readonly stacks: readonly Stack[];
  /** The one that the path itself names: a stack's own folder or file among others. */
  readonly meant?: Stack;
}

const MANIFEST = "manifest.json";

/**
 * Finds the stacks at a path: the output folder of an app, the folder of one of its stacks, any folder of `*.tf.json`,
 * or one such file.
 * @param at absolute. @param near a path as people know it. @param links whether files may be links.
 * @throws HostformError `stack.files`, `stack.manifest`, `trust.file`.
 */
export async function stacksAt(at: string, near: (file: string) => string, links = true): Promise<Opened> {
  const file = statSync(at, { throwIfNoEntry: false })?.isFile() ? at : undefined;
  const folder = file === undefined ? at : path.dirname(file);
  if (file !== undefined && path.basename(file) !== MANIFEST && !file.endsWith(".tf.json")) {
    fail("stack.files", `${near(file)} is no stack`, { fix: "Name a folder, or a file that ends in `.tf.json`." });
  }
  const manifest = path.join(folder, MANIFEST);
  if (existsSync(manifest) && (file === undefined || file === manifest)) {
    return { stacks: await manifestAt(manifest, near, links) };
  }
  // A stack of an app lies in `stacks/NAME` of the output folder: what it refers to is found through its manifest.
  const above = path.join(folder, "..", "..", MANIFEST);
  if (existsSync(above)) {
    const stacks = await manifestAt(above, near, links);
    const meant = stacks.find((stack) => stack.folder === folder);
    if (meant !== undefined) return { stacks, meant };
  }
  const name = path.basename(folder);
  const alone: Stack = {
    name,
    constructPath: name,
    folder,
    links,
    ...(file && { file }),
    dependencies: [],
    annotations: [],
  };
  return { stacks: [alone] };
}

async function manifestAt(file: string, near: (file: string) => string, links: boolean): Promise<readonly Stack[]> {
  const { text } = await readText(file, near(file), { roots: [path.dirname(file)], links });
  return readManifest(text, path.dirname(file), near(file)).map((stack) => ({ ...stack, links }));
}

/** Reads the files of a stack. @throws HostformError `stack.files`, `trust.file`. */
export async function load(stack: Stack, near: (file: string) => string): Promise<LoadedStack> {
  const { folder, file, root = folder, links = true } = stack;
  await requireOwnFolder(folder, near(folder), root);
  const found = await stackFiles(folder, near(folder));
  if (found.length === 0) {
    fail("stack.files", `There is no *.tf.json in ${near(folder)}`, {
      fix: "Name a folder that cdktf or cdktn has written (`cdktf.out`), or synthesize first: `--app COMMAND`.",
    });
  }
  if (file !== undefined && !found.includes(file)) {
    fail("stack.files", `${near(file)} is not there`, { fix: "Synthesize again." });
  }
  const other = found.find((one) => one !== file);
  if (file !== undefined && other !== undefined) {
    fail("stack.files", `${near(other)} lies beside ${near(file)}: Terraform would read both as one stack`, {
      detail: "What it declares would be taken for removed.",
      fix: `Name the folder, ${near(folder)}; or move one of the two elsewhere.`,
    });
  }
  const files = await Promise.all(found.map((one) => readText(one, near(one), { roots: [root], links })));
  return { ...stack, files, outline: outlineOf(files) };
}

/** The same for a stack that is not asked for: undefined when it cannot be read. */
export async function loadIfPossible(stack: Stack, near: (file: string) => string): Promise<LoadedStack | undefined> {
  try {
    return await load(stack, near);
  } catch (error) {
    if (error instanceof HostformError) return undefined;
    throw error;
  }
}
