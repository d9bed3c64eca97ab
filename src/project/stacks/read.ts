/** Reads a stack as a declaration, with the outputs of the states that it refers to. */
import { VERSION } from "../../core/api/version.ts";
import { isTemplate } from "../../core/expression/index.ts";
import { kinds } from "../../core/kinds/index.ts";
import {
  type Backend,
  type Diagnostic,
  fail,
  HostformError,
  isError,
  located,
  UNKNOWN,
  type Value,
  type ValueObject,
} from "../../core/model/index.ts";
import type { Schema } from "../../core/model/schema.ts";
import { backendSettings, type Declaration, isBackendType } from "../../fronts/source/index.ts";
import { parseStack, type RemoteState, remoteStatesOf } from "../../fronts/stacks/index.ts";
import { raise } from "../messages.ts";
import type { Redaction } from "../redaction.ts";
import type { ProjectSource } from "../source.ts";
import { requireOwnBackend } from "../trust.ts";
import { programPath } from "./files.ts";
import {
  type ActiveStack,
  type Annotation,
  type LoadedStack,
  type OutputsAt,
  placeName,
  type SiblingOutputs,
  stateFile,
} from "./stack.ts";
import { learnVariables, openVariables } from "./variables.ts";

/**
 * Reads a stack: its files, the values of its variables, and outputs of earlier stacks. Registers their secrets before any
 * output.
 * @returns the declaration with its errors. Never throws these.
 */
export async function readStack(
  source: ProjectSource,
  stack: ActiveStack,
  redaction: Redaction,
  outputsAt: OutputsAt,
): Promise<Declaration> {
  const isUntrusted = source.untrusted === true;
  if (!isUntrusted) learnVariables(redaction, stack.outline, stack.given);
  const siblings = await readSiblings(source, stack, remoteStatesOf(stack.files), outputsAt);
  const declaration = parseStack(stack.files, {
    kinds,
    env: source.env,
    schemas: await schemas(),
    variables: isUntrusted ? openVariables(stack.outline, stack.given) : stack.given,
    siblings: siblings.outputs,
    siblingTypes: siblings.types,
    folder: stack.folder,
    version: VERSION,
    ...(stack.run.language !== undefined && { language: stack.run.language }),
  });
  if (!isUntrusted) redaction.learn("a literal of the stack", declaration.secrets ?? []);
  const found = [...stack.annotations, ...stack.diagnostics, ...siblings.diagnostics];
  const { desired, partial = desired, diagnostics, backend } = declaration;
  return {
    ...declaration,
    desired: found.some(isError) ? undefined : desired,
    partial,
    // With a local backend, the user may name another state file.
    backend: typeof backend === "object" && backend.type === "local" ? undefined : backend,
    diagnostics: [...found, ...diagnostics.filter((one) => !isReportedByConstruct(one, stack.annotations))],
  };
}

/** Loads Terraform's schemas of resources, data sources and provider. Lazy, because YAML projects do not need these. */
async function schemas() {
  const [{ schemaOf }, { dataSources }, { providerSchema }] = await Promise.all([
    import("../../fronts/terraform/schema/of-kind.ts"),
    import("../../fronts/terraform/data/index.ts"),
    import("../../fronts/terraform/provider/schema.ts"),
  ]);
  const data = new Map<string, Schema>(dataSources.map(({ name, schema }) => [name, schema]));
  return {
    resource: (type: string): Schema | undefined => {
      const kind = kinds.get(type);
      return kind && schemaOf(kind);
    },
    data: (type: string): Schema | undefined => data.get(type),
    provider: providerSchema,
  };
}

/** Returns true if a construct already warned about the same unencrypted secret, with the line of the program. */
function isReportedByConstruct(
  { code, severity, attribute, range }: Diagnostic,
  annotations: readonly Annotation[],
): boolean {
  const construct = range?.construct;
  if (code !== "config.secret" || severity !== "warning" || construct === undefined) return false;
  return annotations.some(
    ({ clearText }) => clearText?.construct === programPath(construct) && clearText.attribute === attribute?.[0],
  );
}

/** Outputs of the states that a stack refers to, with errors. */
interface Siblings {
  /** Outputs by name of the `terraform_remote_state`. UNKNOWN if they cannot be read. */
  readonly outputs: ReadonlyMap<string, Value>;
  /** Terraform types of known outputs, by the same name. */
  readonly types: ReadonlyMap<string, SiblingOutputs["types"]>;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads the outputs of the states that a stack refers to: planned in this run, or saved. Outputs that cannot be read are
 * unknown, with an error.
 */
export async function readSiblings(
  source: ProjectSource,
  stack: ActiveStack,
  states: readonly RemoteState[],
  outputsAt: OutputsAt,
): Promise<Siblings> {
  const outputs = new Map<string, Value>();
  const types = new Map<string, SiblingOutputs["types"]>();
  const diagnostics: Diagnostic[] = [];
  for (const state of states) {
    try {
      const found = await outputsOf(source, stack, state, outputsAt);
      outputs.set(state.name, found.values);
      types.set(state.name, found.types);
    } catch (error) {
      if (!(error instanceof HostformError)) throw error;
      outputs.set(state.name, UNKNOWN);
      // Commands that inspect a state or an account do not need outputs.
      if (stack.run.purpose === "other") continue;
      diagnostics.push(...error.diagnostics.map((one) => located(one, state.range)));
    }
  }
  return { outputs, types, diagnostics };
}

interface Found {
  /** Values of the outputs. UNKNOWN if even their names are unknown. */
  readonly values: Value;
  readonly types: SiblingOutputs["types"];
}

async function outputsOf(
  source: ProjectSource,
  stack: ActiveStack,
  state: RemoteState,
  outputsAt: OutputsAt,
): Promise<Found> {
  const { purpose, planned, all } = stack.run;
  const { defaults = {} } = state;
  const backend = backendOf(state);
  await requireOwnBackend(source, { ...backend, range: state.range }, stateFile(stack.folder, backend.settings));
  const { env } = source;
  const place = placeName(stack.folder, backend, env);
  const sibling = all.find((one) => placeName(one.folder, one.outline.backend, env) === place);
  if (purpose === "validate") return unknownOutputs(sibling);
  const made = sibling && planned.get(sibling.name);
  if (made !== undefined) return over(defaults, made);
  const recorded = await outputsAt(backend);
  if (recorded !== undefined) return over(defaults, recorded);
  // Values do not affect a destroy.
  if (purpose === "destroy") return unknownOutputs(sibling);
  if (purpose === "other" && state.defaults !== undefined) return { values: defaults, types: {} };
  // As in Terraform, `defaults` replace missing outputs of a state, but not a missing state: it may have been moved.
  if (sibling === undefined) {
    return refuseState(`The state of data.terraform_remote_state.${state.name} does not exist`, {
      ...(state.defaults && { detail: "Its `defaults` replace missing outputs of a state, not the state itself." }),
      remedies: ["Apply the stack that creates this state, or correct `config`."],
    });
  }
  return raise("stack.remote_state/unapplied", { stack: stack.name, sibling: sibling.name });
}

function unknownOutputs(sibling: LoadedStack | undefined): Found {
  const names = sibling?.outline.outputs.map((name) => [name, UNKNOWN]);
  return { values: names === undefined ? UNKNOWN : Object.fromEntries(names), types: {} };
}

const over = (defaults: ValueObject, { values, types }: SiblingOutputs): Found => {
  return { values: { ...defaults, ...values }, types };
};

const WORKSPACES: readonly unknown[] = [undefined, null, "default", "${terraform.workspace}"];
/** Settings that have no effect in the default workspace. */
const WITHOUT_EFFECT: readonly string[] = ["workspace_dir"];

/** Returns the backend of a remote state. @throws HostformError if hostform cannot read it. */
function backendOf({ name, backend: type, config, workspace, defaults }: RemoteState): Backend {
  const what = `data.terraform_remote_state.${name}`;
  if (type !== "local" && !isBackendType(type)) {
    refuseState(`${what}: hostform cannot read a state in the backend ${JSON.stringify(type)}`, {
      detail: "It reads local files, `http`, `pg` and `s3`.",
      remedies: ["Apply this stack with Terraform; or give the value as a variable."],
    });
  }
  if (!WORKSPACES.includes(workspace)) {
    refuseState(`${what}: hostform reads only the workspace \`default\``, { remedies: ["Leave `workspace` out."] });
  }
  if ([config, defaults ?? {}].some((value) => isTemplate(JSON.stringify(value)))) {
    refuseState(`${what}: its \`config\` is an expression; hostform reads only states with a literal \`config\``, {
      remedies: ["Write the values themselves."],
    });
  }
  const known = ["path", ...WITHOUT_EFFECT];
  const names: readonly string[] = type === "local" ? known : Object.keys(backendSettings[type].shape);
  const entries = Object.entries(config).filter(([, value]) => value !== null);
  const stray = entries.find(([setting]) => !names.includes(setting));
  if (stray !== undefined) {
    refuseState(`${what}: hostform does not support the setting ${JSON.stringify(stray[0])} of the backend ${type}`, {
      detail: `The settings are ${names.join(", ")}.`,
      remedies: [
        "Set credentials in the environment: TF_HTTP_USERNAME and TF_HTTP_PASSWORD, PG_CONN_STR, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
      ],
    });
  }
  const settings = Object.fromEntries(entries.filter(([setting]) => !WITHOUT_EFFECT.includes(setting)));
  const wrong = Object.entries(settings).find(
    ([name, value]) => !["string", "boolean"].includes(typeof value) && name !== "endpoints",
  );
  if (wrong !== undefined)
    refuseState(`${what}: ${wrong[0]} is not a string`, { remedies: ["Write the value itself."] });
  return { type, settings };
}

function refuseState(summary: string, more: Pick<Diagnostic, "detail" | "remedies">): never {
  fail("stack.remote_state", summary, more);
}
