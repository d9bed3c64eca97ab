/** What the specification says, held against what was seen. */
import type { ContractCheck } from "../../core/model/index.ts";
import type { Survey, Written } from "../sight.ts";
import { listChecks } from "./lists.ts";
import { readableChecks } from "./readable.ts";
import { recordChecks, type Vocabulary } from "./records.ts";
import { refusalChecks } from "./refusals.ts";

export type { Vocabulary } from "./records.ts";

export function contractChecks(
  survey: Survey,
  written: Written | undefined,
  vocabulary: Vocabulary,
): readonly ContractCheck[] {
  return [
    ...readableChecks(survey),
    ...listChecks(survey),
    ...recordChecks(survey, vocabulary),
    ...refusalChecks(survey, written),
  ];
}
