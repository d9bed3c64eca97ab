import path from "node:path";
import { z } from "zod";
import { type Diagnostic, didYouMean, fail, type SourceRange } from "../../core/model/index.ts";
import type { Stack } from "./stack.ts";

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
 * The stacks of a `manifest.json`, as cdktf and cdktn write it.
 * @param folder that it stands in, absolute. @param shown its path as people know it.
 * @throws HostformError `stack.manifest` for another form, for paths that leave the folder and for unknown dependencies.
 */
export function readManifest(text: string, folder: string, shown: string): readonly Stack[] {
  const { stacks } = checked(text, shown);
  const found = Object.values(stacks);
  if (found.length === 0)
    refuse(`${shown} names no stack`, "The app has made none.", "Add a TerraformStack to the app.");
  if (found.length > MOST_STACKS) refuse(`${shown} names ${found.length} stacks; at most ${MOST_STACKS} are accepted`);
  const names = new Map(found.map((one) => [one.constructPath, one.name]));
  if (new Set(found.map((one) => one.name)).size < found.length || names.size < found.length) {
    refuse(`${shown} names two stacks alike`);
  }
  return found.map(({ name, constructPath, workingDirectory, synthesizedStackPath, dependencies, annotations }) => {
    const inside = (at: string) => within(folder, at, `${shown}, stack ${name}`);
    const file = inside(synthesizedStackPath);
    if (!file.endsWith(".tf.json")) {
      const detail = `Stack ${name} was synthesized as ${path.basename(file)}.`;
      refuse("hostform reads stacks in Terraform's JSON alone", detail, "Leave `hclOutput` and SYNTH_HCL_OUTPUT out.");
    }
    return {
      name,
      constructPath,
      folder: inside(workingDirectory),
      root: folder,
      file,
      dependencies: dependencies.map((of) => {
        const known = names.get(of) ?? found.find((one) => one.name === of)?.name;
        return (
          known ??
          refuse(`${shown}: stack ${name} depends on ${of}, which is not there.${didYouMean(of, names.keys())}`)
        );
      }),
      annotations: annotations.map(said),
    };
  });
}

function checked(text: string, shown: string): z.infer<typeof shape> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // The words of the error show what stands there, and that may be no manifest at all.
    return refuse(`${shown} is not JSON`);
  }
  const result = shape.safeParse(json);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  return refuse(`${shown} is not a manifest of stacks`, issue && `${issue.path.join(".") || "It"}: ${issue.message}`);
}

/** What a manifest names must be the stacks of its own folder: it may have come from elsewhere. */
function within(folder: string, named: string, where: string): string {
  // A manifest that was written on Windows has backslashes.
  const at = named.replaceAll("\\", "/");
  const found = path.resolve(folder, at);
  const way = path.relative(folder, found);
  if (path.isAbsolute(at) || /^[A-Za-z]:/.test(at) || way.split(path.sep)[0] === "..") {
    refuse(`${where}: ${named} is outside the folder`);
  }
  return found;
}

/** What a construct says of itself, at the line that made it when the manifest tells that. */
function said({ constructPath, level, message, stacktrace = [] }: z.infer<typeof annotation>): Diagnostic {
  const [first = "", ...rest] = message.split(/\r?\n/);
  const severity = (LEVELS as Readonly<Record<string, "error" | "warning">>)[level] ?? "warning";
  const range = stacktrace.map(frame).find((one) => one !== undefined);
  return {
    severity,
    code: "stack.annotation",
    // `Default` is inside of a construct that somebody has made: they know it by the path before.
    summary: `${constructPath.replace(/(?<=.)(?:\/Default)+$/, "")}: ${first}`,
    ...(rest.length > 0 && { detail: rest.join("\n").trim() }),
    ...(severity === "error" && { fix: "Mend what the construct complains of, and synthesize again." }),
    ...(range && { range }),
  };
}

/** The place that a line of a stack trace names, unless it is in a library. */
function frame(line: string): SourceRange | undefined {
  const [, file = "", row, column] = /(?:^|\()\s*(?:at )?(?:file:\/\/)?([^()]+):(\d+):(\d+)\)?\s*$/.exec(line) ?? [];
  if (row === undefined || column === undefined || /[\\/]node_modules[\\/]|^node:/.test(file)) return undefined;
  const at = { line: Number(row), column: Number(column) };
  return { file, ...at, endLine: at.line, endColumn: at.column };
}

function refuse(summary: string, detail?: string, fix = FIX): never {
  fail("stack.manifest", summary, { ...(detail !== undefined && { detail }), fix });
}
