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
import { stackRemedies } from "../fronts/stacks/remedies.ts";
import { projectFlags } from "./command-line.ts";
import type { ProjectSource } from "./source.ts";

/** How remedies are rendered, unless {@link forStack} has done it. */
export { yamlRemedies } from "../fronts/yaml/remedies.ts";

/**
 * The diagnostics of a stack, with their remedies rendered for it: they may be shown where the stack is not known. What
 * several share names no address, so that it is shown once. Those of a project in YAML stay as they are.
 * @param desired gives resources without a place the one where they are declared.
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

/** The same for conditions. */
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

/** The same for the end of an apply. */
export function resultForStack(source: ProjectSource, result: ApplyResult): ApplyResult {
  const outcomes = result.outcomes.map((outcome) => outcomeForStack(source, outcome));
  const { conditions } = result;
  return {
    ...result,
    outcomes,
    diagnostics: forStack(source, result.diagnostics),
    ...(conditions && { conditions: conditionsForStack(source, conditions) }),
  };
}

/** The same for what an apply reports while it works. */
export function eventForStack(source: ProjectSource, event: ApplyEvent): ApplyEvent {
  return "outcome" in event ? { ...event, outcome: outcomeForStack(source, event.outcome) } : event;
}

function outcomeForStack(source: ProjectSource, outcome: ChangeOutcome): ChangeOutcome {
  return { ...outcome, diagnostics: forStack(source, outcome.diagnostics) };
}

/** Runs a command; what it throws is reported in the terms of its project. */
export async function throwingForStack<T>(source: ProjectSource, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (source.stack === undefined || !(error instanceof HostformError)) throw error;
    throw new HostformError(forStack(source, error.diagnostics), { cause: error });
  }
}
