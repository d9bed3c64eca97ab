/** `export`: the declaration for Terraform, as a file or on standard output, and what is in the way of using it there. */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { kinds } from "../core/kinds/index.ts";
import {
  type AttributePath,
  type DesiredResource,
  type Diagnostic,
  errnoOf,
  fail,
  HostformError,
  isError,
  isObject,
  type Json,
  type State,
} from "../core/model/index.ts";
import { systemDisk } from "../core/record/index.ts";
import type { Project } from "../project/project.ts";
import type { Redaction } from "../project/redaction.ts";
import type { ProjectSource } from "../project/source.ts";
import { diagnosticJson, plural, renderDiagnostics } from "../report/index.ts";
import { type Action, printJson, say } from "./terminal.ts";
import { writeWhole } from "./whole-file.ts";

type Format = "hcl" | "tf-json";

interface ExportFlags {
  readonly format?: Format;
  /** A folder, or a file that ends in `.tf` or `.tf.json`; default: standard output. */
  readonly out?: string;
  readonly force?: boolean;
}

/** How the files of the two notations end, which is how Terraform knows them. */
const ENDINGS: Readonly<Record<Format, string>> = { hcl: ".tf", "tf-json": ".tf.json" };

/**
 * `hostform export`: the declaration for Terraform, with the addresses that it has here, so that the state passes over as
 * it is. Reads the state without a lock; sends nothing, changes nothing.
 */
export const runExport: Action<ExportFlags> = async (terminal, project, flags) => {
  const { format, file } = target(project.source, flags);
  const { desired, diagnostics: ofDeclaration } = await project.declaration.load();
  const { state, diagnostics: ofState } = await stateForExport(project);
  const [{ schemaOf }, { terraformConfiguration }, { renderHcl }, { renderTfJson }] = await Promise.all([
    import("../fronts/terraform/schema/of-kind.ts"),
    import("../fronts/terraform/export/configuration.ts"),
    import("../fronts/terraform/export/document.ts"),
    import("../fronts/terraform/export/document.ts"),
  ]);
  const folder = file === undefined ? project.source.dir : path.dirname(file);
  const { document, diagnostics: found } = terraformConfiguration({
    desired,
    state,
    kinds,
    attributesOf: (kind) => schemaOf(kind).attributes,
    files: desired.files.map((name) => path.basename(name)),
    places: { folder, base: project.source.cwd, state: project.source.state },
    inProject: path.relative(folder, project.source.dir) === "",
    insecureHttp: project.source.insecureHttp,
  });
  const diagnostics = [...ofDeclaration, ...ofState, ...found];
  if (diagnostics.some(isError)) throw new HostformError(diagnostics);
  const text = format === "hcl" ? renderHcl(document) : renderTfJson(document);
  refuseSecrets(project.redaction, text, desired.resources);
  const written = file === undefined ? undefined : await put(project.source, file, text, flags.force === true);
  const shown = file === undefined ? undefined : path.relative(project.source.cwd, file);
  if (terminal.json) {
    const result = shown === undefined ? { configuration: text } : { file: shown, changed: written === "changed" };
    printJson(terminal, {
      format,
      ...result,
      diagnostics: diagnostics.map((one) => diagnosticJson(one, terminal.outLook.remedies)),
    });
    return 0;
  }
  if (diagnostics.length > 0) terminal.err(renderDiagnostics(diagnostics, terminal.errLook));
  if (shown === undefined) terminal.out(text);
  else {
    terminal.out(`${written === "changed" ? "Wrote" : "Unchanged:"} ${shown}\n`);
    const there = path.relative(project.source.cwd, folder);
    const chdir = there === "" ? "" : ` -chdir=${there}`;
    say(terminal, `Next: \`hostform terraform install\`, \`terraform${chdir} init\`, \`terraform${chdir} plan\`.`);
  }
  return 0;
};

/** Where the configuration goes, and in which notation. @throws HostformError `usage` when the two do not fit. */
function target(source: ProjectSource, { out, format }: ExportFlags): { format: Format; file: string | undefined } {
  if (out === undefined) return { format: format ?? "hcl", file: undefined };
  const named: Format | undefined = out.endsWith(".tf.json") ? "tf-json" : out.endsWith(".tf") ? "hcl" : undefined;
  if (named === undefined) {
    const wanted = format ?? "hcl";
    return { format: wanted, file: path.resolve(source.cwd, out, `hosting${ENDINGS[wanted]}`) };
  }
  if (format !== undefined && format !== named) {
    fail("usage", `Terraform would not read ${out} as ${format}`, {
      remedies: [`Name a file that ends in ${ENDINGS[format]}, or a folder.`],
    });
  }
  return { format: named, file: path.resolve(source.cwd, out) };
}

/** Writes the file whole. What stands there and says something else is kept, unless it may be replaced. */
async function put(source: ProjectSource, file: string, text: string, force: boolean): Promise<"changed" | "same"> {
  const shown = path.relative(source.cwd, file);
  try {
    await mkdir(path.dirname(file), { recursive: true });
    const before = await systemDisk.read(file);
    if (before === text) return "same";
    if (before !== undefined && !force) {
      fail("usage", `${shown} already exists, with other contents`, {
        remedies: ["Choose another file, or pass --force to replace it."],
      });
    }
    await writeWhole(file, text);
    return "changed";
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    return fail("terraform.export", `The configuration cannot be written to ${shown}: ${errno}`, {
      remedies: ["Check that the folder exists and that you may write there, or name another with `--out`."],
    });
  }
}

/** A configuration is shared and kept: a secret that stands in the declaration after all must not spread to it. */
function refuseSecrets(redaction: Redaction, text: string, resources: readonly DesiredResource[]): void {
  const hides = (value: string) => redaction.redact(value) !== value;
  if (!hides(text)) return;
  const found = resources.flatMap((resource): Diagnostic[] => {
    const { address, config } = resource;
    return textsIn(config, []).flatMap(({ value, at }) => {
      if (!hides(value)) return [];
      const range = resource.locate(at);
      return [{ ...SECRET, address, attribute: at, ...(range && { range }) }];
    });
  });
  throw new HostformError(found.length > 0 ? found : [SECRET]);
}

const SECRET: Diagnostic = {
  severity: "error",
  code: "config.secret",
  summary: "The declaration contains a secret, which would be written into the configuration",
  detail: "An environment variable, a file or the state holds the same token or password.",
  remedies: ["Take it from the environment: `${env.NAME}` becomes a variable of the configuration."],
};

function textsIn(value: Json, at: AttributePath): { value: string; at: AttributePath }[] {
  if (typeof value === "string") return [{ value, at }];
  if (Array.isArray(value)) return value.flatMap((item, index) => textsIn(item, [...at, index]));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, part]) => textsIn(part as Json, [...at, key]));
}

/**
 * The state as Terraform would find it, with what is in the way: Terraform reads neither a journal nor an encrypted state.
 * Takes no lock.
 */
async function stateForExport(project: Project): Promise<{
  readonly state: State;
  readonly diagnostics: readonly Diagnostic[];
}> {
  const store = await project.state.store().open({ write: false, command: "export", timeoutMs: 0 });
  try {
    const { state, recovered, warnings } = store;
    const { key } = project.state.encryption();
    // With a key, a state in the clear is warned of.
    const sealed = key !== undefined && state.lineage !== "" && !warnings.some(({ code }) => code === "state.key");
    return { state, diagnostics: [...(sealed ? [ENCRYPTED] : []), ...(recovered.length > 0 ? [left(recovered)] : [])] };
  } finally {
    await store.close();
  }
}

const ENCRYPTED: Diagnostic = {
  severity: "warning",
  code: "terraform.export",
  summary: "The state is encrypted, and Terraform cannot read it",
  remedies: ["Decrypt it before Terraform uses it: `hostform state decrypt`."],
};

function left(recovered: readonly string[]): Diagnostic {
  return {
    severity: "warning",
    code: "terraform.export",
    summary: `An earlier run was stopped: ${plural(recovered.length, "resource")} ${recovered.length === 1 ? "is" : "are"} still in its journal, not in the state`,
    detail: "Terraform does not read the journal: it would order and create those resources again.",
    remedies: ["Run `hostform apply` before Terraform uses the state."],
  };
}
