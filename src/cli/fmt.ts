/** `fmt`: writes the files of a declaration in their one form. */
import path from "node:path";
import { createTwoFilesPatch } from "diff";
import { look, read, realPath, replace } from "../core/files/index.ts";
import { fail, fileFailure, HostformError } from "../core/model/index.ts";
import { declarationText, expanded, formatted } from "../project/format.ts";
import { escapeLine, escapeText } from "../report/index.ts";
import { orFail } from "./files.ts";
import { type Action, printJson } from "./terminal.ts";

interface FmtFlags {
  readonly check?: boolean;
  readonly diff?: boolean;
}

type Formatted = Readonly<Record<"name" | "file" | "before" | "after", string>>;

/** Exit code of `terraform fmt -check`. */
const UNFORMATTED = 3;

/** `hostform fmt [FILE…]`: all files, or none when one cannot be read. Only those that change are written. */
export const runFmt: Action<FmtFlags, [files: readonly string[]]> = async (terminal, project, flags, given) => {
  const { dir, cwd } = project.source;
  if (given.includes("-")) {
    if (given.length > 1) fail("usage", "`-` stands alone: it reads standard input");
    const before = await terminal.readInput();
    const after = formatted("standard input", before);
    if (terminal.json) printJson(terminal, { changed: after === before ? [] : ["-"], text: after });
    else if (flags.diff) terminal.out(patch({ name: "stdin", before, after }));
    else if (!flags.check) terminal.outIsTerminal ? terminal.out(after) : terminal.exact(after, "The formatted text");
    return flags.check && after !== before ? UNFORMATTED : 0;
  }
  const files = given.length > 0 ? given.map((name) => path.resolve(dir, name)) : await declaredFiles(project);
  const read: Formatted[] = [];
  for (const file of new Set(files)) {
    const name = path.relative(cwd, file);
    const before = await textOf(file, name);
    read.push({ name, file, before, after: formatted(name, before) });
  }
  const changed = read.filter(({ before, after }) => before !== after);
  if (!flags.check) await writeAll(changed);
  if (terminal.json) printJson(terminal, { changed: changed.map(({ name }) => name) });
  else for (const one of changed) terminal.out(flags.diff ? patch(one) : `${escapeLine(one.name)}\n`);
  return flags.check && changed.length > 0 ? UNFORMATTED : 0;
};

const patch = ({ name, before, after }: Pick<Formatted, "name" | "before" | "after">) =>
  before === after ? "" : escapeText(createTwoFilesPatch(`old/${name}`, `new/${name}`, before, after));

/** `hostform validate --expanded`: the declaration as its templates, defaults and includes come to. */
export async function expandedText(project: Parameters<typeof runFmt>[1]): Promise<string> {
  const texts = (await declaredFiles(project)).map(async (file) => {
    const name = path.relative(project.source.cwd, file);
    return { path: name, text: await textOf(file, name) };
  });
  return expanded(await Promise.all(texts));
}

async function declaredFiles({ declaration, source }: Parameters<typeof runFmt>[1]): Promise<readonly string[]> {
  const { desired, partial, diagnostics } = await declaration.read();
  const known = desired ?? partial;
  if (source.stack !== undefined) fail("usage", "A stack has no YAML to format or to expand");
  if (known === undefined) throw new HostformError(diagnostics);
  return known.files.map((file) => path.resolve(source.cwd, file));
}

const textOf = (file: string, name: string) =>
  orFail(
    read(file).then((bytes) => declarationText(name, bytes)),
    "config.unreadable",
    `${name} cannot be read`,
    { remedies: ["No file was changed. Check the path and its permissions."] },
  );

/** Each file whole. When one cannot be written, those before it get their old text back. A link stays one. */
async function writeAll(changed: readonly Formatted[]): Promise<void> {
  const written: Parameters<typeof replace>[] = [];
  for (const { file, name, before, after } of changed) {
    try {
      const target = realPath(file);
      const mode = look(target)?.mode;
      const how = mode === undefined ? {} : { mode };
      await replace(target, after, how);
      written.push([target, before, how]);
    } catch (error) {
      const reason = fileFailure(error);
      for (const one of written) await replace(...one);
      fail("config.unreadable", `${name} cannot be written: ${reason}`, { remedies: ["No file was changed."] });
    }
  }
}
