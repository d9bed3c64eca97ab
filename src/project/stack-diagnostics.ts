import {
  type ApplyEvent,
  type ApplyResult,
  type ChangeOutcome,
  type Condition,
  type Desired,
  type Diagnostic,
  HostformError,
  located,
} from "../core/model/index.ts";
import { projectFlags } from "../fronts/source/command-line.ts";
import { stackRemedies } from "../fronts/stacks/remedies.ts";
import type { ProjectSource } from "./source.ts";

export { commandLine, projectFlags } from "../fronts/source/command-line.ts";
/** Renders remedies that {@link forStack} did not render. */
export { yamlRemedies } from "../fronts/yaml/remedies.ts";

/**
 * Renders the remedies in the diagnostics of a stack, because the code that prints them may not know the stack. If several
 * diagnostics have the same remedy, it contains no address and is printed once. Diagnostics of YAML projects stay unchanged.
 * @param desired Adds the location of each declared resource.
 */
export function forStack(
  source: ProjectSource,
  diagnostics: readonly Diagnostic[],
  desired?: Desired,
): readonly Diagnostic[] {
  if (source.stack === undefined) return diagnostics;
  const render = stackRemedies(projectFlags(source).join(" "));
  const declared = new Map(desired?.resources.map((resource) => [resource.address, resource]));
  const same = Map.groupBy(diagnostics, withoutPlace);
  return diagnostics.map((diagnostic) => {
    const { address = "", attribute, range, remedies } = diagnostic;
    const isOne = same.get(withoutPlace(diagnostic))?.length === 1;
    const fix = render(isOne ? diagnostic : { ...(remedies && { remedies }) });
    const rendered = fix === undefined ? diagnostic : { ...diagnostic, remedies: [fix] };
    return range === undefined ? located(rendered, declared.get(address)?.locate(attribute ?? [])) : rendered;
  });
}

/** Renders the remedies of conditions. */
export function conditionsForStack(source: ProjectSource, conditions: readonly Condition[]): readonly Condition[] {
  if (source.stack === undefined) return conditions;
  const render = stackRemedies(projectFlags(source).join(" "));
  return conditions.map((condition) => {
    const fix = render(condition);
    return fix === undefined ? condition : { ...condition, remedies: [fix] };
  });
}

const withoutPlace = ({ code, summary, detail, remedies }: Diagnostic) =>
  JSON.stringify([code, summary, detail, remedies]);

/** Renders the remedies of an apply's result. */
export function resultForStack(source: ProjectSource, result: ApplyResult): ApplyResult {
  const { outcomes, diagnostics, conditions } = result;
  return {
    ...result,
    outcomes: outcomes.map((outcome) => outcomeForStack(source, outcome)),
    diagnostics: forStack(source, diagnostics),
    ...(conditions && { conditions: conditionsForStack(source, conditions) }),
  };
}

/** Renders the remedies of an apply's event. */
export const eventForStack = (source: ProjectSource, event: ApplyEvent): ApplyEvent =>
  "outcome" in event ? { ...event, outcome: outcomeForStack(source, event.outcome) } : event;

const outcomeForStack = (source: ProjectSource, outcome: ChangeOutcome): ChangeOutcome => ({
  ...outcome,
  diagnostics: forStack(source, outcome.diagnostics),
});

/** Runs a task, and renders the remedies of its errors. */
export async function throwingForStack<T>(source: ProjectSource, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (source.stack === undefined || !(error instanceof HostformError)) throw error;
    throw new HostformError(forStack(source, error.diagnostics), { cause: error });
  }
}
