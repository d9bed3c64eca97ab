/** Runs `fmt`: writes the files of a declaration in canonical format. */
import path from "node:path";
import { createTwoFilesPatch } from "diff";
import { read, realPath } from "../core/files/index.ts";
import { HostformError } from "../core/model/index.ts";
import { writeFiles } from "../project/adopt/write.ts";
import { declarationText, expanded, formatted } from "../project/format.ts";
import type { Project } from "../project/project.ts";
import { escapeLine, escapeText } from "../report/index.ts";
import { orRefuse } from "./files.ts";
import { problem, raise } from "./messages.ts";
import { type Action, printJson, type Switches } from "./terminal.ts";

interface Formatted {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

/** Exit code for unformatted files, as in `terraform fmt -check`. */
const UNFORMATTED = 3;

/** Runs `hostform fmt [FILE…]`. Formats all files before it writes any. */
export const runFmt: Action<Switches<"check" | "diff">, [files: readonly string[]]> = async (
  terminal,
  project,
  flags,
  given,
) => {
  const { dir, cwd } = project.source;
  if (given.includes("-")) {
    if (given.length > 1) raise("usage/combined", { options: "`-` and files" });
    const before = await terminal.readInput();
    const after = formatted("standard input", before);
    if (terminal.json) printJson(terminal, "fmt", { changed: after === before ? [] : ["-"], text: after });
    else if (flags.diff) terminal.out(patch({ name: "stdin", before, after }));
    else if (!flags.check) terminal.outIsTerminal ? terminal.out(after) : terminal.exact(after, "The formatted text");
    return flags.check && after !== before ? UNFORMATTED : 0;
  }
  const files = given.length > 0 ? given.map((name) => path.resolve(dir, name)) : await declaredFiles(project);
  const byTarget = new Map<string, Formatted & { readonly file: string }>();
  for (const file of new Set(files)) {
    const name = path.relative(cwd, file);
    const before = await textOf(file, name);
    const after = formatted(name, before);
    if (after !== before) byTarget.set(realPath(file), { name, file, before, after });
  }
  const changed = [...byTarget.values()];
  const changes = changed.map(({ file, before, after }) => ({ file, before, text: after }));
  if (!flags.check) await writeFiles(changes, async () => undefined);
  if (terminal.json) printJson(terminal, "fmt", { changed: changed.map(({ name }) => name) });
  else for (const one of changed) terminal.out(flags.diff ? patch(one) : `${escapeLine(one.name)}\n`);
  return flags.check && changed.length > 0 ? UNFORMATTED : 0;
};

export const patch = ({ name, before, after }: Formatted) =>
  before === after ? "" : escapeText(createTwoFilesPatch(`old/${name}`, `new/${name}`, before, after));

/** Runs `hostform validate --expanded`: returns the declaration with templates, defaults and includes expanded. */
export async function expandedText(project: Project): Promise<string> {
  const texts = (await declaredFiles(project)).map(async (file) => {
    const name = path.relative(project.source.cwd, file);
    return { path: name, text: await textOf(file, name) };
  });
  return expanded(await Promise.all(texts));
}

async function declaredFiles({ declaration, source }: Project): Promise<readonly string[]> {
  const { desired, partial, diagnostics } = await declaration.read();
  const known = desired ?? partial;
  if (source.stack !== undefined) raise("usage/stack_yaml", {});
  if (known === undefined) throw new HostformError(diagnostics);
  return known.files.map((file) => path.resolve(source.cwd, file));
}

const textOf = (file: string, name: string) =>
  orRefuse(
    read(file).then((bytes) => declarationText(name, bytes)),
    (reason) => problem("config.unreadable", { file: name, reason }),
  );
