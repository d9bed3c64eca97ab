/** Tests of a policy: saved plans, and the rules that must deny or warn. */
import path from "node:path";
import * as z from "zod";
import { read } from "../core/files/index.ts";
import { POLICY_RULES, type State } from "../core/model/index.ts";
import { checkedYaml, readPolicyText } from "../core/policy/index.ts";
import { RunPolicy } from "./run-policy.ts";
import { decodeSavedPlan, MOST_BYTES } from "./saved-plan.ts";
import type { ProjectSource } from "./source.ts";

const file = () => z.string().min(1, "expected a path");
const rules = () => z.array(z.enum([...POLICY_RULES, "function"]));

const casesShape = z.strictObject({
  /** Paths of policies and plans, relative to the file of cases. */
  policy: z.array(file()).min(1, "at least one file"),
  cases: z.array(
    z.strictObject({
      name: z.string().min(1),
      plan: file(),
      author: z.string().optional(),
      /** Time of the evaluation. Default: creation time of the plan. */
      at: z.iso.datetime({ offset: true, error: "expected a time such as 2026-11-27T17:30:00Z" }).optional(),
      state_key: z.boolean().default(true),
      denies: rules().default([]),
      warns: rules().default([]),
    }),
  ),
});

interface CaseResult {
  readonly name: string;
  readonly ok: boolean;
  /** Rule names, sorted and without duplicates. */
  readonly expected: Outcome;
  readonly found: Outcome;
}

interface Outcome {
  readonly denies: readonly string[];
  readonly warns: readonly string[];
}

const sorted = (names: readonly string[]) => [...new Set(names)].sort();

/** Evaluates all cases of a file. @throws HostformError `policy.invalid`, `plan.saved`. */
export async function judgeCases(source: ProjectSource, name: string): Promise<readonly CaseResult[]> {
  const { cwd } = source;
  const reading = (one: string, limit: number) => read(path.resolve(cwd, one), { limit, streams: true });
  const { data } = checkedYaml(casesShape, name, await readPolicyText(name, reading));
  const beside = (one: string) => path.resolve(cwd, path.dirname(name), one);
  const results: CaseResult[] = [];
  for (const { name: of, plan: saved, author, at, state_key, denies, warns } of data.cases) {
    const on = { ...source, env: { HOSTFORM_AUTHOR: author }, policy: data.policy.map(beside) };
    const policy = await RunPolicy.open(on);
    const bytes = await read(beside(saved), { limit: MOST_BYTES });
    const { plan } = decodeSavedPlan(Buffer.from(bytes).toString("utf8"), saved);
    const now = Date.parse(at ?? plan.timestamp);
    const judging = { recorded: recordedIn(plan), isLater: false, hasStateKey: state_key, now };
    const judged = await policy.judge({ ...plan, diagnostics: [] }, judging);
    const failed = judged.diagnostics.some(({ code }) => code === "policy.failed");
    const verdicts = judged.policy?.verdicts ?? [];
    const rulesOf = (level: string) => verdicts.flatMap((one) => (one.level === level ? [one.rule] : []));
    const found = {
      denies: sorted([...rulesOf("deny"), ...(failed ? ["function"] : [])]),
      warns: sorted(rulesOf("warn")),
    };
    const expected = { denies: sorted(denies), warns: sorted(warns) };
    results.push({ name: of, ok: JSON.stringify(found) === JSON.stringify(expected), expected, found });
  }
  return results;
}

/** Returns the state before a plan. It has only resources of the plan. */
function recordedIn({ changes, lineage, serial }: Parameters<RunPolicy["judge"]>[0]): State {
  const resources = changes.flatMap(({ address, provider, before }) =>
    before === null
      ? []
      : [
          [
            address,
            { address, provider, attributes: before, schemaVersion: 0, private: {}, sensitive: [], dependencies: [] },
          ] as const,
        ],
  );
  return { lineage, serial, resources: new Map(resources) };
}
