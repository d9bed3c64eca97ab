/** The declaration that a stack is, with the outputs of the states that it refers to. */
import { kinds } from "../../core/kinds/index.ts";
import {
  type Backend,
  type Diagnostic,
  fail,
  HostformError,
  isError,
  type Json,
  located,
  UNKNOWN,
  type Value,
  type ValueObject,
} from "../../core/model/index.ts";
import type { Schema } from "../../core/model/schema.ts";
import { backendSettings, type Declaration } from "../../fronts/source/index.ts";
import { parseStack, type RemoteState, remoteStatesOf } from "../../fronts/stacks/index.ts";
import type { Redaction } from "../redaction.ts";
import type { ProjectSource } from "../source.ts";
import { requireOwnBackend } from "../trust.ts";
import {
  type ActiveStack,
  type LoadedStack,
  type OutputsAt,
  placeName,
  type SiblingOutputs,
  stateFile,
} from "./stack.ts";
import { openVariables, secretsIn } from "./variables.ts";

/**
 * Reads the stack that a command works on: its files, what was given to its variables, and the outputs of the stacks
 * before it. Secrets among them are announced before anything can be shown.
 * @returns what a declaration in YAML gives; mistakes are in it, nothing is thrown for them.
 */
export async function readStack(
  source: ProjectSource,
  stack: ActiveStack,
  redaction: Redaction,
  outputsAt: OutputsAt,
): Promise<Declaration> {
  const isUntrusted = source.untrusted === true;
  if (!isUntrusted) redaction.learn(...secretsIn(stack.outline, stack.given));
  const siblings = await readSiblings(source, stack, remoteStatesOf(stack.files), outputsAt);
  const declaration = parseStack(stack.files, {
    kinds,
    env: source.env,
    schemas: await schemas(),
    variables: isUntrusted ? openVariables(stack.outline, stack.given) : stack.given,
    siblings: siblings.outputs,
    siblingTypes: siblings.types,
    folder: stack.folder,
  });
  if (!isUntrusted) redaction.learn(...(declaration.secrets ?? []));
  const found = [...stack.annotations, ...stack.diagnostics, ...siblings.diagnostics];
  const { desired, partial = desired, diagnostics, backend } = declaration;
  return {
    ...declaration,
    desired: found.some(isError) ? undefined : desired,
    partial,
    backend: onDisk(backend),
    diagnostics: [...found, ...diagnostics.filter((one) => !isToldByConstruct(one, stack.annotations))],
  };
}

/** A state on this disk is where the source of the project says: `--state` may name another file. */
function onDisk(backend: Declaration["backend"]): Backend | undefined | "unclear" {
  return typeof backend === "object" && backend.type === "local" ? undefined : backend;
}

/** What Terraform learns of resources, data sources and the provider. Loaded when it is needed: a YAML project is not. */
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

/**
 * Whether a construct has said already what is found in the synthesized file: that one of its secrets stands there in clear
 * text (`src/constructs/clear-text.ts`). Its own words are the better ones: they know the line of the program.
 *
 * @param annotations what the constructs of the stack say
 */
function isToldByConstruct(
  { code, severity, summary, range }: Diagnostic,
  annotations: readonly Diagnostic[],
): boolean {
  const construct = range?.construct;
  if (code !== "config.secret" || severity !== "warning" || construct === undefined) return false;
  return annotations.some((said) => {
    const [, path = "", property = ""] = CLEAR_TEXT.exec(said.summary) ?? [];
    const attribute = property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return outer(path) === outer(construct) && attribute !== "" && summary.startsWith(`"${attribute}" `);
  });
}

const CLEAR_TEXT = /^(.+?): (\w+): a literal text would stand in clear text/;

/** The inside of a construct is no other place than the construct. */
const outer = (path: string) => path.replace(/(?<=.)(?:\/Default)+$/, "");

/** The outputs of other states that a stack refers to, and what is wrong with the places that it names. */
interface Siblings {
  /** By the name of the `terraform_remote_state`; UNKNOWN where nothing is known of it. */
  readonly outputs: ReadonlyMap<string, Value>;
  /** Terraform's types of those that are known, by the same name. */
  readonly types: ReadonlyMap<string, SiblingOutputs["types"]>;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads the outputs of the states that a stack refers to: those planned in this run, else those recorded. Only reads.
 * What cannot be read is reported, and counts as unknown, so that all else can still be checked.
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
      // Looking at a state or an account hardly needs them; where it does, it says what is not known.
      if (stack.run.purpose === "other") continue;
      diagnostics.push(...error.diagnostics.map((one) => located(one, state.range)));
    }
  }
  return { outputs, types, diagnostics };
}

interface Found {
  /** UNKNOWN as a whole: not even the names are known. */
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
  const backend = backendOf(state);
  await requireOwnBackend(source, { ...backend, range: state.range }, stateFile(stack.folder, backend.settings));
  const { env } = source;
  const place = placeName(stack.folder, backend, env);
  const sibling = all.find((one) => placeName(one.folder, one.outline.backend, env) === place);
  if (purpose === "validate") return unknownOutputs(sibling);
  const made = sibling && planned.get(sibling.name);
  if (made !== undefined) return over(defaultsOf(state), made);
  const recorded = await outputsAt(backend);
  if (recorded !== undefined) return over(defaultsOf(state), recorded);
  // What is to be removed is removed whatever it was made from.
  if (purpose === "destroy") return unknownOutputs(sibling);
  if (purpose === "other" && state.defaults !== undefined) return { values: defaultsOf(state), types: {} };
  // As in Terraform, `defaults` stand in for outputs that are missing, not for a state that is: it may have been moved.
  if (sibling === undefined) {
    return refuse(`The state that data.terraform_remote_state.${state.name} names is not there`, {
      ...(state.defaults !== undefined && {
        detail: "Its `defaults` stand in for outputs that a state does not have, not for the state.",
      }),
      remedies: ["Apply what makes it first, or correct `config`."],
    });
  }
  return refuse(`Stack ${sibling.name}, which ${stack.name} refers to, has not been applied yet`, {
    detail: "Its outputs are not known before that.",
    remedies: [
      `Apply it first: \`--only ${sibling.name}\`; or both in one run: \`--only ${sibling.name} --only ${stack.name}\`.`,
    ],
  });
}

function unknownOutputs(sibling: LoadedStack | undefined): Found {
  const names = sibling?.outline.outputs.map((name) => [name, UNKNOWN]);
  return { values: names === undefined ? UNKNOWN : Object.fromEntries(names), types: {} };
}

const over = (defaults: ValueObject, { values, types }: SiblingOutputs): Found => ({
  values: { ...defaults, ...values },
  types,
});

/** What stands in for outputs that are not recorded. */
function defaultsOf({ defaults = {} }: RemoteState): ValueObject {
  return defaults;
}

const WORKSPACES: readonly unknown[] = [undefined, null, "default", "${terraform.workspace}"];
/** Settings that say nothing where the default workspace is used. */
const WITHOUT_EFFECT: readonly string[] = ["workspace_dir"];

/** Where a remote state is. @throws HostformError for what hostform cannot read. */
function backendOf({ name, backend: type, config, workspace, defaults }: RemoteState): Backend {
  const what = `data.terraform_remote_state.${name}`;
  if (type !== "local" && type !== "http" && type !== "pg") {
    refuse(`${what}: hostform cannot read a state in the backend ${JSON.stringify(type)}`, {
      detail: "It reads local files, `http` and `pg`.",
      remedies: ["Apply this stack with Terraform; or give the value as a variable."],
    });
  }
  if (!WORKSPACES.includes(workspace)) {
    refuse(`${what}: hostform reads the workspace \`default\` alone`, { remedies: ["Leave `workspace` out."] });
  }
  const template = [config, defaults ?? {}].some((value) => /[$%]\{/.test(JSON.stringify(value)));
  if (template) {
    refuse(`${what}: its \`config\` is an expression; hostform reads states whose place is written out`, {
      remedies: ["Write the values themselves."],
    });
  }
  const known = ["path", ...WITHOUT_EFFECT];
  const names: readonly string[] = type === "local" ? known : Object.keys(backendSettings[type].shape);
  const entries = Object.entries(config).filter(([, value]) => value !== null);
  const stray = entries.find(([setting]) => !names.includes(setting));
  if (stray !== undefined) {
    refuse(`${what}: hostform does not take the setting ${JSON.stringify(stray[0])} of the backend ${type}`, {
      detail: `The settings are ${names.join(", ")}.`,
      remedies: ["What is secret comes from the environment: TF_HTTP_USERNAME and TF_HTTP_PASSWORD, PG_CONN_STR."],
    });
  }
  const settings = Object.fromEntries(entries.filter(([setting]) => !WITHOUT_EFFECT.includes(setting)));
  const wrong = Object.entries(settings).find(([, value]) => !plain(value));
  if (wrong !== undefined) refuse(`${what}: ${wrong[0]} is not a text`, { remedies: ["Write the value itself."] });
  return { type, settings };
}

function plain(value: Json): boolean {
  return typeof value === "string" || typeof value === "boolean";
}

function refuse(summary: string, more: Pick<Diagnostic, "detail" | "remedies">): never {
  fail("stack.remote_state", summary, more);
}
