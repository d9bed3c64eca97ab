/** Exports a declaration to Terraform, and reports obstacles. */
import path from "node:path";
import { declaredOrigins, moved, scopeOf } from "../core/engine/index.ts";
import { kinds } from "../core/kinds/index.ts";
import {
  type AttributePath,
  type Desired,
  type DesiredResource,
  type Diagnostic,
  HostformError,
  isError,
  isObject,
  type Json,
  type State,
  UNKNOWN,
  warningOf,
} from "../core/model/index.ts";
import { plural } from "../report/index.ts";
import { problem } from "./messages.ts";
import type { Project } from "./project.ts";
import { leaving, type Redaction } from "./redaction.ts";
import type { ProjectSource } from "./source.ts";
import { type ProjectState, whileOpen } from "./state.ts";

/**
 * Returns the declaration as a Terraform configuration with the same addresses and the same state. Takes no lock and sends no
 * request.
 * @param folder Folder of the configuration; absolute.
 * @throws HostformError for errors of the declaration, and for a secret in the configuration.
 */
export async function exportConfiguration(
  { source, declaration, state: recorded, redaction }: Project,
  folder: string,
): Promise<{ readonly text: string; readonly engine: string; readonly diagnostics: readonly Diagnostic[] }> {
  const { desired, diagnostics: ofDeclaration } = await declaration.load();
  const { state, engine, diagnostics: ofState } = await stateForExport(recorded);
  const origin = `hostform from ${desired.files.map((name) => path.basename(name)).join(", ")}`;
  const made = await terraformOf(source, desired, moved(desired, state).state, folder, origin);
  const { document, diagnostics: found, renderHcl } = made;
  const diagnostics = [...ofDeclaration, ...ofState, ...found];
  if (diagnostics.some(isError)) throw new HostformError(diagnostics);
  const text = renderHcl(document);
  refuseSecrets(redaction, text, desired.resources);
  return { text: leaving(text, redaction), engine, diagnostics };
}

/**
 * Returns a declaration as a Terraform configuration, with its renderer.
 * @param origin Name of the writer, for the header.
 */
export async function terraformOf(
  source: ProjectSource,
  desired: Desired,
  state: State,
  folder: string,
  origin: string,
) {
  const [{ schemaOf }, { terraformConfiguration }, { renderHcl }] = await Promise.all([
    import("../fronts/terraform/schema/of-kind.ts"),
    import("../fronts/terraform/export/configuration.ts"),
    import("../fronts/terraform/export/document.ts"),
  ]);
  const made = terraformConfiguration({
    desired,
    state,
    kinds,
    attributesOf: (kind) => schemaOf(kind).attributes,
    origin,
    places: { folder, base: source.cwd, state: source.state },
    inProject: path.relative(folder, source.dir) === "",
    insecureHttp: source.insecureHttp,
    hidden: hiddenSources(desired, source.env),
  });
  return { ...made, renderHcl };
}

/** Returns the sources of sensitive values in a declaration. */
function hiddenSources({ resources, outputs = [] }: Desired, env: ProjectSource["env"]): ReadonlySet<string> {
  const scope = scopeOf(() => UNKNOWN, env);
  const ofResources = resources.flatMap((one) => Object.values(declaredOrigins(one, scope)));
  const ofOutputs = outputs.map((one) => one.evaluate(scope).origin);
  return new Set([...ofResources, ...ofOutputs].flatMap((origin) => origin?.from ?? []));
}

/** Rejects a configuration that contains a secret, because people share configurations. */
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

/** Reads the state without a lock. Reports that Terraform cannot read a journal or an encrypted state. */
async function stateForExport(recorded: ProjectState): Promise<{
  readonly state: State;
  readonly engine: string;
  readonly diagnostics: readonly Diagnostic[];
}> {
  const opening = recorded.store().open({ write: false, command: "export", timeoutMs: 0 });
  return whileOpen(opening, async ({ state, recovered, warnings }) => {
    const encryption = recorded.encryption();
    // An unencrypted state already has its own warning.
    const isSealed =
      encryption.key !== undefined && state.lineage !== "" && !warnings.some(({ code }) => code === "state.key");
    const { header } = isSealed ? await encryption.recent() : {};
    const engine = header?.from === "opentofu" ? "tofu" : "terraform";
    return {
      state,
      engine,
      diagnostics: [
        ...(isSealed ? [problem("terraform.export/encrypted", { engine })] : []),
        ...(recovered.length > 0 ? [left(recovered)] : []),
      ],
    };
  });
}

const left = ({ length }: readonly string[]): Diagnostic =>
  warningOf(
    "terraform.export",
    `An earlier run was stopped: ${plural(length, "resource")} ${length === 1 ? "is" : "are"} still in its journal, not in the state`,
    {
      detail: "Terraform does not read the journal: it would order and create those resources again.",
      remedies: ["Apply the declaration before Terraform uses the state."],
    },
  );
