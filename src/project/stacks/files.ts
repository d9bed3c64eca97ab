/** Reads the files of stacks: stacks at a path, stacks in a manifest, and the outline of each stack. */
import path from "node:path";
import * as z from "zod";
import { compareText } from "../../core/expression/typed-value.ts";
import { type Bounds, exists, listFiles, look } from "../../core/files/index.ts";
import {
  attempt,
  didYouMean,
  fail,
  ifErrno,
  ifExplained,
  isObject,
  type Json,
  parsedJson,
  type SourceRange,
  utf8,
} from "../../core/model/index.ts";
import type { SourceFile } from "../../fronts/source/index.ts";
import { raise } from "../messages.ts";
import { type OwnPath, onOwn, readOwn } from "../own-files.ts";
import type { Annotation, LoadedStack, Outline, Stack } from "./stack.ts";

/** The stacks at a path. */
interface Opened {
  readonly stacks: readonly Stack[];
  /** The stack to which the path belongs, if there are several. */
  readonly meant?: Stack;
}

const MANIFEST = "manifest.json";

/**
 * Finds the stacks at a path: the output folder of an app, the folder of one of its stacks, any folder with `*.tf.json`, or
 * one such file.
 * @param at Absolute path.
 * @param near Shortens a path for messages.
 * @param links True if links are allowed.
 * @throws HostformError `stack.files`, `stack.manifest`, `trust.file`.
 */
export async function stacksAt(at: string, near: (file: string) => string, links = true): Promise<Opened> {
  const file = look(at)?.form === "file" ? at : undefined;
  const folder = file === undefined ? at : path.dirname(file);
  if (file !== undefined && path.basename(file) !== MANIFEST && !file.endsWith(".tf.json")) {
    fail("stack.files", `${near(file)} is not a stack`, {
      remedies: ["Name a folder, or a file that ends in `.tf.json`."],
    });
  }
  const manifest = path.join(folder, MANIFEST);
  if (exists(manifest) && (file === undefined || file === manifest)) {
    return { stacks: await manifestAt(manifest, near, links) };
  }
  // If the folder is `stacks/NAME` in an output folder, the manifest there contains its dependencies.
  const above = path.join(folder, "..", "..", MANIFEST);
  if (exists(above)) {
    const stacks = await manifestAt(above, near, links);
    const meant = stacks.find((stack) => stack.folder === folder);
    if (meant !== undefined) return { stacks, meant };
  }
  const name = path.basename(folder);
  return { stacks: [{ name, constructPath: name, folder, links, file, dependencies: [], annotations: [] }] };
}

async function manifestAt(file: string, near: (file: string) => string, links: boolean): Promise<readonly Stack[]> {
  const { text } = await readText(file, near(file), { roots: [path.dirname(file)], links });
  return readManifest(text, path.dirname(file), near(file)).map((stack) => ({ ...stack, links }));
}

/** Reads the files of a stack. @throws HostformError `stack.files`, `trust.file`. */
export async function load(stack: Stack, near: (file: string) => string): Promise<LoadedStack> {
  const { folder, file, root = folder, links = true } = stack;
  const found = await stackFiles(folder, { shown: near(folder), roots: [root] });
  if (found.length === 0) raise("stack.files/none", { file: near(folder) });
  if (file !== undefined && !found.includes(file)) {
    fail("stack.files", `${near(file)} does not exist`, { remedies: ["Synthesize again."] });
  }
  const other = found.find((one) => one !== file);
  if (file !== undefined && other !== undefined) {
    fail("stack.files", `${near(other)} lies beside ${near(file)}: Terraform would read both as one stack`, {
      detail: "hostform would plan to remove the resources of the other file.",
      remedies: [`Name the folder, ${near(folder)}; or move one of the two elsewhere.`],
    });
  }
  const files = await Promise.all(found.map((one) => readText(one, near(one), { roots: [root], links })));
  return { ...stack, files, outline: outlineOf(files) };
}

/** Returns the result. Undefined if there are mistakes, because another run reports these. */
export function unlessMistaken<T>(reading: Promise<T>): Promise<T | undefined> {
  return reading.catch(ifExplained(() => undefined));
}

/** Maximum size of a file in bytes. A thousand services need 1 % of this. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Names that Terraform ignores: hidden files and backups of editors. */
const PASSED_OVER = /^\.|~$|^#.*#$/;
const OTHER_LANGUAGE = /\.tf$|\.tofu$|\.tofu\.json$/;
const OVERRIDING = /^(?:.*_)?override\.tf\.json$/;

/**
 * Returns the files of a stack in Terraform's order. Rejects a folder with files that only Terraform can read.
 * @param folder Absolute path.
 * @returns absolute paths.
 */
export async function stackFiles(folder: string, own: OwnPath): Promise<string[]> {
  const { shown } = own;
  const names = (await allNamesIn(folder, own)).filter((name) => !PASSED_OVER.test(name));
  const foreign = names.find((name) => OTHER_LANGUAGE.test(name));
  if (foreign !== undefined) {
    fail("stack.files", `${path.join(shown, foreign)} is a part of the stack that hostform cannot read`, {
      detail: "It is HCL, or for OpenTofu only; hostform reads `*.tf.json`.",
      remedies: ["Use Terraform with the provider for this folder, or name another one."],
    });
  }
  const overriding = names.find((name) => OVERRIDING.test(name));
  if (overriding !== undefined) {
    const summary = `${path.join(shown, overriding)} would override parts of the stack, which hostform does not support`;
    fail("stack.files", summary, { remedies: ["Merge it into the other files."] });
  }
  return names.filter((name) => name.endsWith(".tf.json")).map((name) => path.join(folder, name));
}

/**
 * Returns the names of all files in a folder, sorted by bytes as in Terraform.
 * @throws HostformError `stack.files`, `trust.file`.
 */
export async function allNamesIn(folder: string, own: OwnPath): Promise<string[]> {
  const files = await onOwn(own, (bounds) => listFiles(folder, bounds)).catch(unreadable(own.shown));
  return files.sort(compareText);
}

/**
 * Reads a text file.
 * @param own Bounds of the path. Undefined if the user named the file.
 * @throws HostformError `stack.files` if the file is unreadable, too large or not UTF-8; `trust.file`.
 */
export async function readText(file: string, shown: string, own?: Bounds): Promise<SourceFile> {
  const reading = { shown, limit: MOST_BYTES + 1, ...(own ?? { streams: true }) };
  const bytes = await readOwn(file, reading).catch(unreadable(shown));
  if (bytes.length > MOST_BYTES) {
    fail("stack.files", `${shown} is larger than 64 MiB`, { remedies: ["Split the stack into several."] });
  }
  const unsuitable = ifErrno((reason) =>
    fail("stack.files", `${shown} cannot be read: ${reason}`, { remedies: ["Save it as UTF-8."] }),
  );
  return { path: shown, text: attempt(() => utf8(bytes).replace(/^\uFEFF/, ""), unsuitable) };
}

const unreadable = (shown: string) =>
  ifErrno((reason) =>
    fail("stack.files", `${shown} cannot be read: ${reason}`, {
      remedies: [
        "Check the path. A stack is a folder that cdktf or cdktn has written (`cdktf.out`), or one with `*.tf.json`.",
      ],
    }),
  );

const MOST_STACKS = 1000;
const LEVELS = { "@cdktf/error": "error", "@cdktf/warn": "warning", "@cdktf/info": "warning" } as const;
const FIX = "Synthesize again, with cdktf 0.15 or later or any cdktn: hostform reads what they write.";

const name = z.string().min(1).max(500);
const annotation = z.looseObject({
  constructPath: z.string(),
  level: z.string(),
  message: z.string(),
  stacktrace: z.array(z.string()).optional().catch(undefined),
});
const stack = z.looseObject({
  name,
  constructPath: name,
  workingDirectory: name,
  synthesizedStackPath: name,
  dependencies: z.array(z.string()).default([]),
  annotations: z.array(annotation).default([]),
});
const shape = z.looseObject({ stacks: z.record(z.string(), stack) });

/**
 * Parses a `manifest.json` of cdktf or cdktn.
 * @param folder Folder of the manifest, absolute.
 * @param shown Its path for messages.
 * @throws HostformError `stack.manifest` for another format, for paths outside the folder and for unknown dependencies.
 */
export function readManifest(text: string, folder: string, shown: string): readonly Stack[] {
  const json = parsedJson(text);
  // The error of the JSON parser contains parts of the text, which may be another file.
  if (json === undefined) return refuseManifest(`${shown} is not JSON`);
  const { data, error } = shape.safeParse(json);
  const [issue] = error?.issues ?? [];
  if (data === undefined)
    return refuseManifest(
      `${shown} is not a manifest of stacks`,
      issue && `${issue.path.join(".") || "It"}: ${issue.message}`,
    );
  const found = Object.values(data.stacks);
  if (found.length === 0)
    refuseManifest(`${shown} names no stack`, "The app created none.", "Add a TerraformStack to the app.");
  if (found.length > MOST_STACKS)
    refuseManifest(`${shown} names ${found.length} stacks; at most ${MOST_STACKS} are accepted`);
  const names = new Map(found.map((one) => [one.constructPath, one.name]));
  if (new Set(found.map((one) => one.name)).size < found.length || names.size < found.length) {
    refuseManifest(`${shown} gives two stacks the same name or construct path`);
  }
  return found.map(({ name, constructPath, workingDirectory, synthesizedStackPath, dependencies, annotations }) => {
    const inside = (at: string) => within(folder, at, `${shown}, stack ${name}`);
    const file = inside(synthesizedStackPath);
    if (!file.endsWith(".tf.json")) {
      const detail = `Stack ${name} was synthesized as ${path.basename(file)}.`;
      refuseManifest(
        "hostform reads stacks only in Terraform's JSON",
        detail,
        "Leave `hclOutput` and SYNTH_HCL_OUTPUT out.",
      );
    }
    return {
      name,
      constructPath,
      folder: inside(workingDirectory),
      root: folder,
      file,
      dependencies: dependencies.map((of) => {
        const known = names.get(of) ?? found.find((one) => one.name === of)?.name;
        const meant = didYouMean(of, names.keys());
        return known ?? refuseManifest(`${shown}: stack ${name} depends on ${of}, which does not exist.${meant}`);
      }),
      annotations: annotations.map(said),
    };
  });
}

/** Rejects paths outside the folder, because the manifest may come from another machine. */
function within(folder: string, named: string, where: string): string {
  // A manifest written on Windows contains backslashes.
  const at = named.replaceAll("\\", "/");
  const found = path.resolve(folder, at);
  const way = path.relative(folder, found);
  if (path.isAbsolute(at) || /^[A-Za-z]:/.test(at) || way.split(path.sep)[0] === "..") {
    refuseManifest(`${where}: ${named} is outside the folder`);
  }
  return found;
}

/** Removes `Default` from the end of a construct path. */
export const programPath = (constructPath: string) => constructPath.replace(/(?<=.)(?:\/Default)+$/, "");

/** Pattern of the code and attribute at the end of a warning from `src/constructs/binding-checks.ts`. */
const CLEAR_TEXT = / \[config\.secret (\w+)\]$/;

/** Converts an annotation of a construct to a diagnostic. Its location is the line that creates the construct, if known. */
function said({ constructPath, level, message, stacktrace = [] }: z.infer<typeof annotation>): Annotation {
  const construct = programPath(constructPath);
  const attribute = CLEAR_TEXT.exec(message)?.[1];
  const [first = "", ...rest] = message.replace(CLEAR_TEXT, "").split(/\r?\n/);
  const severity = (LEVELS as Readonly<Record<string, "error" | "warning">>)[level] ?? "warning";
  // Without the indent, the lines would look like a stack trace.
  const detail = rest.map((line) => `  ${line}`).join("\n");
  const range = stacktrace.map(frame).find((one) => one !== undefined);
  return {
    severity,
    code: "stack.annotation",
    summary: `${construct}: ${first}`,
    ...(rest.length > 0 && { detail: detail.trimEnd() }),
    ...(severity === "error" && { remedies: ["Fix what the construct reports, and synthesize again."] }),
    ...(range && { range }),
    ...(attribute !== undefined && { clearText: { construct, attribute } }),
  };
}

/** Returns the location in a line of a stack trace. Undefined if it is in a library. */
function frame(line: string): SourceRange | undefined {
  const [, file = "", row, column] = /(?:^|\()\s*(?:at )?(?:file:\/\/)?([^()]+):(\d+):(\d+)\)?\s*$/.exec(line) ?? [];
  if (row === undefined || column === undefined || /[\\/]node_modules[\\/]|^node:/.test(file)) return undefined;
  const at = { line: Number(row), column: Number(column) };
  return { file, ...at, endLine: at.line, endColumn: at.column };
}

function refuseManifest(summary: string, detail?: string, fix = FIX): never {
  fail("stack.manifest", summary, { ...(detail !== undefined && { detail }), remedies: [fix] });
}

type Body = Readonly<Record<string, Json>>;

/**
 * Returns the outline of a stack: backend, variables and outputs. Ignores mistakes, because the reader of the stack reports
 * these.
 */
export function outlineOf(files: readonly SourceFile[]): Outline {
  const roots = files.flatMap(({ text }) => bodies(parsedJson(text.replace(/^\uFEFF/, "")) as Json | undefined));
  const blocks = (name: string) => roots.flatMap((root) => bodies(root[name]));
  const named = (name: string) => blocks(name).flatMap((block) => Object.entries(block));
  const [backend] = blocks("terraform").flatMap(({ backend }) => bodies(backend).flatMap((one) => Object.entries(one)));
  const [settings = {}] = backend === undefined ? [] : bodies(backend[1]);
  const variables = named("variable").map(([name, value]) => {
    const [body = {}] = bodies(value);
    const sensitive = [body.sensitive, body.ephemeral].some((flag) => flag === true || flag === "true");
    return [name, { sensitive, ...(body.default !== undefined && { default: body.default }) }] as const;
  });
  return {
    ...(backend && { backend: { type: backend[0], settings } }),
    variables: new Map(variables),
    outputs: named("output").map(([name]) => name),
  };
}

/** Returns the bodies of a block: one object, or a list of objects. */
function bodies(value: Json | undefined): Body[] {
  const all: readonly unknown[] = Array.isArray(value) ? value : [value];
  return all.filter(isObject).map((one) => one as Body);
}
