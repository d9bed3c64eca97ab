/** `export`: the declaration for Terraform, as a file or on standard output. */
import path from "node:path";
import { makeParent, replace } from "../core/files/index.ts";
import { fail, shellWord } from "../core/model/index.ts";
import { type ExportFormat, exportConfiguration } from "../project/export.ts";
import type { ProjectSource } from "../project/source.ts";
import { diagnosticJson, escapeLine, renderDiagnostics } from "../report/index.ts";
import { orFail, readIfPresent } from "./files.ts";
import { type Action, printJson, say } from "./terminal.ts";

interface ExportFlags {
  readonly format?: ExportFormat;
  /** A folder, or a file that ends in `.tf` or `.tf.json`; default: standard output. */
  readonly out?: string;
  readonly force?: boolean;
}

/** Endings of the files of the two notations; Terraform knows the files by them. */
const ENDINGS: Readonly<Record<ExportFormat, string>> = { hcl: ".tf", "tf-json": ".tf.json" };

/** `hostform export`: writes or prints the declaration for Terraform. */
export const runExport: Action<ExportFlags> = async (terminal, project, flags) => {
  const { format, file } = target(project.source, flags);
  const folder = file === undefined ? project.source.dir : path.dirname(file);
  const { text, diagnostics } = await exportConfiguration(project, format, folder);
  const shown = file === undefined ? "" : path.relative(project.source.cwd, file);
  const written =
    file !== undefined &&
    (await orFail(
      put(file, shown, text, flags.force === true),
      "terraform.export",
      `The configuration cannot be written to ${shown}`,
      { remedies: ["Check that the folder exists and that you may write there, or name another with `--out`."] },
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

/** Returns the place of the configuration and its notation. @throws HostformError `usage` when the two do not fit. */
function target(
  { cwd }: ProjectSource,
  { out, format: wanted }: ExportFlags,
): { format: ExportFormat; file: string | undefined } {
  const format: ExportFormat = wanted ?? "hcl";
  if (out === undefined) return { format, file: undefined };
  const named = out.endsWith(".tf.json") ? "tf-json" : out.endsWith(".tf") ? "hcl" : undefined;
  if (named === undefined) return { format, file: path.resolve(cwd, out, `hosting${ENDINGS[format]}`) };
  if (wanted !== undefined && wanted !== named) {
    fail("usage", `Terraform would not read ${out} as ${format}`, {
      remedies: [`Name a file that ends in ${ENDINGS[format]}, or a folder.`],
    });
  }
  return { format: named, file: path.resolve(cwd, out) };
}

/** Writes the file whole. What stands there and says something else is kept, unless it may be replaced. */
async function put(file: string, shown: string, text: string, force: boolean): Promise<"changed" | "same"> {
  makeParent(file);
  const before = await readIfPresent(file);
  if (before === text) return "same";
  if (before !== undefined && !force) {
    fail("usage", `${shown} already exists, with other contents`, {
      remedies: ["Choose another file, or pass --force to replace it."],
    });
  }
  await replace(file, text);
  return "changed";
}
