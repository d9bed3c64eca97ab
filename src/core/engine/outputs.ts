import { problem } from "../messages/index.ts";
import {
  type Desired,
  type DesiredOutput,
  type Diagnostic,
  type EvalScope,
  ExpressionError,
  equal,
  hasUnknown,
  ifExplained,
  inferredType,
  type Json,
  type OutputChange,
  type OutputState,
  type OutputValue,
  type Plan,
  type State,
  split,
  UNKNOWN,
} from "../model/index.ts";
import { DataSources } from "./data.ts";
import { addressIndex, dependenciesOf } from "./dependencies.ts";
import type { Recorder } from "./run-records.ts";

type Outputs = ReadonlyMap<string, OutputState>;

/** Outputs of a plan, sorted by name, and their mistakes. */
export interface PlannedOutputs {
  readonly outputs: readonly OutputChange[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Plans the value of each output, if known before the apply.
 * @param declared Undefined if the project declares no outputs; the state is then unchanged.
 * @param within Returns true if all references of an output are part of this run (`--target`). Other outputs keep their
 * value.
 */
export function planOutputs(
  declared: readonly DesiredOutput[] | undefined,
  recorded: Outputs,
  scope: EvalScope,
  within: (output: DesiredOutput) => boolean,
): PlannedOutputs {
  if (declared === undefined) return { outputs: [], diagnostics: [] };
  const diagnostics: Diagnostic[] = [];
  const changes = declared.flatMap((output): OutputChange[] => {
    const prior = recorded.get(output.name);
    const before = prior?.value ?? null;
    const sensitive = output.sensitive || prior?.sensitive === true;
    const named = { name: output.name, before, sensitive };
    if (!within(output))
      return prior === undefined ? [] : [{ ...named, action: "no-op", after: before, after_unknown: false }];
    const evaluated = evaluate(output, scope);
    if ("severity" in evaluated) {
      diagnostics.push(evaluated);
      return [];
    }
    const { known, unknown } = split(evaluated.value);
    const same =
      prior !== undefined &&
      unknown === false &&
      equal(known, before) &&
      prior.sensitive === output.sensitive &&
      equal(typeOf(evaluated, known), prior.type);
    // Like Terraform, drop null outputs.
    const none = known === null && unknown === false;
    const action = prior === undefined ? (none ? "no-op" : "create") : none ? "delete" : same ? "no-op" : "update";
    const type = unknown === false && !none ? { type: typeOf(evaluated, known) } : {};
    const { origin } = evaluated;
    return [{ ...named, action, after: known, after_unknown: unknown, ...type, ...(origin && { origin }) }];
  });
  const names = new Set(declared.map(({ name }) => name));
  const gone = [...recorded].filter(([name]) => !names.has(name));
  const deleted = gone.map(
    ([name, { value, sensitive }]): OutputChange => ({
      name,
      action: "delete",
      before: value,
      after: null,
      after_unknown: false,
      sensitive,
    }),
  );
  const outputs = [...changes, ...deleted].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { outputs, diagnostics };
}

/** Options of an apply that outputs need. */
interface OutputsRun {
  readonly plan: Plan;
  readonly desired: Desired;
  readonly state: State;
  readonly recorded?: State;
  readonly recorder: Recorder;
  readonly all?: ReadonlySet<string>;
}

/**
 * Saves the outputs after an apply. If a referenced object was not created or cannot be read, the output keeps its old value.
 * @returns warnings about these outputs.
 */
export async function recordOutputs(
  run: OutputsRun,
  data: DataSources,
  scope: EvalScope,
): Promise<readonly Diagnostic[]> {
  const { plan, desired, recorder, state, recorded: { outputs: recorded = new Map() } = state, all } = run;
  if (plan.outputs === undefined || recorder.setOutputs === undefined) return [];
  const diagnostics: Diagnostic[] = [];
  const within = outputsWithin(desired, all);
  const next = new Map<string, OutputState>();
  for (const output of plan.mode === "apply" ? (desired.outputs ?? []) : []) {
    const prior = recorded.get(output.name);
    const value = within(output) ? await finalValue(output, data, scope) : undefined;
    if (value !== undefined && "severity" in value) {
      const { name, range = value.range } = output;
      diagnostics.push(problem("apply.skipped/output", { name, reason: value, range }));
    }
    const known = value !== undefined && !("severity" in value) && !hasUnknown(value.value);
    if (known) {
      const json = value.value as Json;
      next.set(output.name, { value: json, type: typeOf(value, json), sensitive: output.sensitive });
    } else if (prior !== undefined) next.set(output.name, prior);
  }
  await recorder.setOutputs(next);
  return diagnostics;
}

async function finalValue(
  output: DesiredOutput,
  data: DataSources,
  scope: EvalScope,
): Promise<OutputValue | Diagnostic | undefined> {
  const reading = data.ensure([output], scope).then(() => evaluate(output, scope));
  return reading.catch(ifExplained(({ diagnostics }) => diagnostics[0]));
}

function evaluate(output: DesiredOutput, scope: EvalScope): OutputValue | Diagnostic {
  const { range } = output;
  try {
    const evaluated = output.evaluate(scope);
    if (evaluated.origin === undefined || output.sensitive) return evaluated;
    return problem("config.secret/output", { name: output.name, from: evaluated.origin.from, range });
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return problem("config.expression", { name: `The output ${output.name}`, message: error.message, range });
  }
}

const typeOf = ({ type, value }: OutputValue, known: Json): Json =>
  type ?? (value === UNKNOWN ? "dynamic" : inferredType(known));

/**
 * Returns the function that checks whether all references of an output are part of a run with targets (`--target`).
 * @param all Addresses of the complete declaration. Undefined if the run has no targets.
 */
export function outputsWithin(
  { resources, data }: Pick<Desired, "resources" | "data">,
  all: ReadonlySet<string> | undefined,
): (output: DesiredOutput) => boolean {
  const here = new Set(resources.map(({ address }) => address));
  const outside = [...(all ?? [])].filter((address) => !here.has(address));
  if (outside.length === 0) return () => true;
  const index = addressIndex(outside, new DataSources(data).dependencies());
  return ({ name, references }) => dependenciesOf({ address: name, references, dependsOn: [] }, index).length === 0;
}
