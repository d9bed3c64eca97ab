/** `export`: translates the declaration for Terraform, into a file or to standard output. */
import path from "node:path";
import { makeParent, replace } from "../core/files/index.ts";
import { shellWord } from "../core/model/index.ts";
import { type ExportFormat, exportConfiguration } from "../project/export.ts";
import type { ProjectSource } from "../project/source.ts";
import { diagnosticJson, escapeLine, renderDiagnostics } from "../report/index.ts";
import { orRefuse, readIfPresent } from "./files.ts";
import { problem, refuse } from "./messages.ts";
import { type Action, printJson, say } from "./terminal.ts";

interface ExportFlags {
  readonly format?: ExportFormat;
  /** A folder, or a file that ends in `.tf` or `.tf.json`; default: standard output. */
  readonly out?: string;
  readonly force?: boolean;
}

/** File endings by which Terraform recognizes the notations. */
const ENDINGS: Readonly<Record<ExportFormat, string>> = { hcl: ".tf", "tf-json": ".tf.json" };

export const runExport: Action<ExportFlags> = async (terminal, project, flags) => {
  const { format, file } = target(project.source, flags);
  const folder = file === undefined ? project.source.dir : path.dirname(file);
  const { text, diagnostics } = await exportConfiguration(project, format, folder);
  const shown = file === undefined ? "" : path.relative(project.source.cwd, file);
  const written =
    file !== undefined &&
    (await orRefuse(put(file, shown, text, flags.force === true), (reason) =>
      problem("terraform.export", { file: shown, reason }),
    ));
  if (terminal.json) {
    const result = written ? { file: shown, changed: written === "changed" } : { configuration: text };
    const notes = diagnostics.map((one) => diagnosticJson(one, terminal.outLook.remedies));
    printJson(terminal, { format, ...result, diagnostics: notes });
    return 0;
  }
  if (diagnostics.length > 0) terminal.err(renderDiagnostics(diagnostics, terminal.errLook));
  if (!written) terminal.out(text);
  else {
    terminal.out(`${written === "changed" ? "Wrote" : "Unchanged:"} ${escapeLine(shown)}\n`);
    const there = path.relative(project.source.cwd, folder);
    const chdir = there === "" ? "" : ` ${shellWord(`-chdir=${there}`)}`;
    say(terminal, `Next: \`hostform terraform install\`, \`terraform${chdir} init\`, \`terraform${chdir} plan\`.`);
  }
  return 0;
};

/** Returns the file of the configuration and its notation. @throws HostformError `usage` if the ending belongs to the other notation. */
function target(
  { cwd }: ProjectSource,
  { out, format: wanted }: ExportFlags,
): { format: ExportFormat; file: string | undefined } {
  const format: ExportFormat = wanted ?? "hcl";
  if (out === undefined) return { format, file: undefined };
  const named = out.endsWith(".tf.json") ? "tf-json" : out.endsWith(".tf") ? "hcl" : undefined;
  if (named === undefined) return { format, file: path.resolve(cwd, out, `hosting${ENDINGS[format]}`) };
  if (wanted !== undefined && wanted !== named) refuse("usage/ending", { out, format, ending: ENDINGS[format] });
  return { format: named, file: path.resolve(cwd, out) };
}

/** Writes the file whole. Refuses a file with other contents without `--force`. */
async function put(file: string, shown: string, text: string, force: boolean): Promise<"changed" | "same"> {
  makeParent(file);
  const before = await readIfPresent(file);
  if (before === text) return "same";
  if (before !== undefined && !force) refuse("usage/exists", { file: shown });
  await replace(file, text);
  return "changed";
}
