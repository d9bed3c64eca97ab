import {
  type ApplyEvent,
  type ApplyResult,
  type Desired,
  type Diagnostic,
  HostformError,
  located,
  type Outcome,
} from "../core/model/index.ts";
import { projectFlags } from "./command-line.ts";
import type { ProjectSource } from "./source.ts";

/** Commands that work on a stack: theirs have to say on which. */
const ON_STACKS =
  /^hostform (?:validate|plan|apply|destroy|import|resolve|output|state|force-unlock|password|sso|plans|services)\b/;
/** It says so already. */
const SAYS_WHICH = / --(?:stack|app)\b/;

/**
 * What is said of a stack, in its terms: the commands of a fix work where the user stands (`--stack`, `--only` and the
 * variables as they were given), and what is to be declared is written as in a stack. Of a project in YAML: as it is.
 * @param desired gives resources without a place the one where they are declared.
 */
export function inItsTerms(
  source: ProjectSource,
  diagnostics: readonly Diagnostic[],
  desired?: Desired,
): readonly Diagnostic[] {
  if (source.stack === undefined) return diagnostics;
  const flags = projectFlags(source).join(" ");
  const declared = new Map(desired?.resources.map((resource) => [resource.address, resource]));
  return diagnostics.map((diagnostic) => {
    const { remedies, address = "", attribute, range } = diagnostic;
    const told =
      remedies === undefined ? diagnostic : { ...diagnostic, remedies: remedies.map((one) => asInStack(one, flags)) };
    return range === undefined ? located(told, declared.get(address)?.locate(attribute ?? [])) : told;
  });
}

/** The same for the end of an apply. */
export function resultInItsTerms(source: ProjectSource, result: ApplyResult): ApplyResult {
  if (source.stack === undefined) return result;
  const outcomes = result.outcomes.map((outcome) => outcomeInItsTerms(source, outcome));
  return { ...result, outcomes, diagnostics: inItsTerms(source, result.diagnostics) };
}

/** The same for what an apply tells while it works. */
export function eventInItsTerms(source: ProjectSource, event: ApplyEvent): ApplyEvent {
  return "outcome" in event ? { ...event, outcome: outcomeInItsTerms(source, event.outcome) } : event;
}

function outcomeInItsTerms(source: ProjectSource, outcome: Outcome): Outcome {
  return { ...outcome, diagnostics: inItsTerms(source, outcome.diagnostics) };
}

/** Runs a command; what it throws is told in the terms of its project. */
export async function throwingInItsTerms<T>(source: ProjectSource, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (source.stack === undefined || !(error instanceof HostformError)) throw error;
    throw new HostformError(inItsTerms(source, error.diagnostics), { cause: error });
  }
}

function asInStack(fix: string, flags: string): string {
  return (
    fix
      // A stack declares no guards.
      .replace(/; [^;]* under `guards` [^;]*$/, ".")
      .replaceAll(/`import: "?[^`]*` in its block/g, "an `import` block (`importFrom` in the program)")
      .replaceAll(/`([^`]+)`/g, (whole, code: string) => {
        if (ON_STACKS.test(code)) return SAYS_WHICH.test(code) ? whole : `\`${code} ${flags}\``;
        const mapped = /^providers: \{ \S+: \{ (status_words): (\{ ".*": )(\w+) \} \} \}$/.exec(code);
        if (mapped !== null)
          return `\`"${mapped[1]}": ${mapped[2]}${JSON.stringify(mapped[3])} }\` in the provider's configuration`;
        const [, key, value] = /^([a-z_]+): ([^`{[$]+)$/.exec(code) ?? [];
        return key === undefined || value === undefined ? whole : `\`"${key}": ${jsonOf(key, value)}\``;
      })
  );
}

/** A value that was written as YAML. */
function jsonOf(key: string, value: string): string {
  if (key === "provider") return JSON.stringify(value === "default" ? "hosting" : `hosting.${value}`);
  return /^(?:true|false|null|-?\d+|".*")$/.test(value) ? value : JSON.stringify(value);
}
