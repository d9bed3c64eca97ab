import { problem } from "../messages/index.ts";
import type { Diagnostic, PolicyVerdict } from "../model/index.ts";

/** Returns the diagnostic of a verdict. A denial stops the whole plan. */
export function diagnosticOf({ level, rule, file, address, sentence, range }: PolicyVerdict): Diagnostic {
  const place = { ...(address !== undefined && { address }), ...(range && { range }) };
  return problem(level === "deny" ? "policy.denied" : "policy.warned", { sentence, rule, file, ...place });
}

/** Returns the diagnostic about a part of a policy that a run cannot enforce. @param why Sentence without a full stop. */
export const unsupported = (what: string, why: string, severity: Diagnostic["severity"]): Diagnostic =>
  problem("policy.unsupported", { what, why, severity });
