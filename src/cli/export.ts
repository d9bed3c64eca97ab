/** Runs `export`: converts the declaration to Terraform's language, in a file or on standard output. */
import path from "node:path";
import { makeParent, replace } from "../core/files/index.ts";
import { shellWord } from "../core/model/index.ts";
import { exportConfiguration } from "../project/export.ts";
import { diagnosticJson, escapeLine, renderDiagnostics } from "../report/index.ts";
import { orRefuse, readIfPresent } from "./files.ts";
import { problem, raise } from "./messages.ts";
import { type Action, printJson, say } from "./terminal.ts";

interface ExportFlags {
  /** Output: a folder, or a file with the extension `.tf`. Default: standard output. */
  readonly out?: string;
  readonly force?: boolean;
}

export const runExport: Action<ExportFlags> = async (terminal, project, flags) => {
  const { cwd } = project.source;
  const { out } = flags;
  const file = out === undefined ? undefined : path.resolve(cwd, out.endsWith(".tf") ? out : `${out}/hosting.tf`);
  const folder = file === undefined ? project.source.dir : path.dirname(file);
  const { text, engine, diagnostics } = await exportConfiguration(project, folder);
  const shown = file === undefined ? "" : path.relative(cwd, file);
  const written =
    file !== undefined &&
    (await orRefuse(put(file, shown, text, flags.force === true), (reason) =>
      problem("terraform.export", { file: shown, reason }),
    ));
  if (terminal.json) {
    const result = written ? { file: shown, changed: written === "changed" } : { configuration: text };
    const notes = diagnostics.map((one) => diagnosticJson(one, terminal.outLook.remedies));
    printJson(terminal, "export", { ...result, diagnostics: notes });
    return 0;
  }
  if (diagnostics.length > 0) terminal.err(renderDiagnostics(diagnostics, terminal.errLook));
  if (!written) terminal.out(text);
  else {
    terminal.out(`${written === "changed" ? "Wrote" : "Unchanged:"} ${escapeLine(shown)}\n`);
    const there = path.relative(cwd, folder);
    const chdir = there === "" ? "" : ` ${shellWord(`-chdir=${there}`)}`;
    say(terminal, `Next: \`hostform terraform install\`, \`${engine}${chdir} init\`, \`${engine}${chdir} plan\`.`);
  }
  return 0;
};

/** Writes the file atomically. Without `--force`, rejects an existing file with other contents. */
async function put(file: string, shown: string, text: string, force: boolean): Promise<"changed" | "same"> {
  makeParent(file);
  const before = await readIfPresent(file);
  if (before === text) return "same";
  if (before !== undefined && !force) raise("usage/exists", { file: shown });
  await replace(file, text);
  return "changed";
}
