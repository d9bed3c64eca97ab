// Files that are tested by mutation: the code that spends money, and the code that records it.
import { globSync } from "node:fs";

/** Area -> its files, as globs. */
export const AREAS: Readonly<Record<string, readonly string[]>> = {
  lifecycle: ["src/core/lifecycle/*.ts"],
  guards: ["src/core/engine/{guards,identity}.ts"],
  "order-gate": ["src/core/engine/order-gate.ts"],
  apply: ["src/core/engine/{apply-plan,run-records,dependencies}.ts"],
  limiter: ["src/core/api/limiter.ts", "src/core/api/rate-hints.ts"],
  retry: ["src/core/api/retry.ts"],
  answers: ["src/core/api/classify.ts"],
  turns: ["src/core/local/{shared-turn,sqlite-store,turn-queue}.ts"],
  journal: ["src/core/record/{recorder,session,opening,journal-*}.ts"],
  history: [
    "src/project/history.ts",
    "src/core/record/history.ts",
    "src/core/model/history-entry.ts",
    "src/core/engine/month.ts",
  ],
  notify: ["src/project/notify/*.ts"],
  edit: ["src/project/edit/*.ts"],
  provider: [
    "src/fronts/terraform/resource/{apply*,attribute-mapping,entry-lookup,replacement,remove}.ts",
    "src/fronts/terraform/entries.ts",
  ],
  redaction: ["src/core/api/token.ts", "src/project/redaction.ts", "src/core/files/secret-{command,files}.ts"],
};

/** Area -> the journeys that test it, for rooms that act through whole commands. The tool runs them from the sources. */
export const JOURNEYS: Readonly<Record<string, readonly string[]>> = {
  history: ["history", "month-projects"],
  notify: ["notify", "monitors"],
  edit: ["edit"],
};

/**
 * The files of each area, of those that are asked for by its name, or by a file or a folder; without names, all.
 * @throws Error with the names that there are.
 */
export function filesOf(root: string, names: readonly string[]): Map<string, readonly string[]> {
  const areas = Object.entries(AREAS).map(
    ([area, globs]) => [area, globSync(globs, { cwd: root }).toSorted()] as const,
  );
  const asked = (area: string, file: string, name: string) =>
    name === area || file === name || file.startsWith(`${name}/`);
  const unknown = names.find((name) => !areas.some(([area, files]) => files.some((file) => asked(area, file, name))));
  if (unknown !== undefined)
    throw new Error(`There is no area or file "${unknown}". Areas: ${Object.keys(AREAS).join(", ")}.`);
  const chosen = areas.map(
    ([area, files]) =>
      [area, files.filter((file) => names.length === 0 || names.some((name) => asked(area, file, name)))] as const,
  );
  return new Map(chosen.filter(([, files]) => files.length > 0));
}
