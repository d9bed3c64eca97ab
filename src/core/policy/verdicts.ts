import { problem } from "../messages/index.ts";
import type { Diagnostic, PolicyVerdict } from "../model/index.ts";

/** What a run reports of a verdict. A denial stops the whole plan. */
export function diagnosticOf({ level, rule, file, address, sentence, range }: PolicyVerdict): Diagnostic {
  const place = { ...(address !== undefined && { address }), ...(range && { range }) };
  return problem(level === "deny" ? "policy.denied" : "policy.warned", { sentence, rule, file, ...place });
}
