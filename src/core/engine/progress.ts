import { type Change, type Diagnostic, effectOf, type Progress } from "../model/index.ts";

/** What is said of a change that was not made because one before it failed. */
export function skipped(address: string, failed: string): Diagnostic {
  return {
    severity: "error",
    code: "apply.skipped",
    summary: `${address} was not changed, because ${failed}, which comes before it, was not`,
    remedies: [`Mend ${failed} and apply again.`],
    address,
  };
}

/** What is said of a change that waits for one that waits. */
export function waitsFor(address: string, other: string): Diagnostic {
  const summary = `${address} waits for ${other}`;
  return {
    severity: "warning",
    code: "apply.waiting",
    summary,
    remedies: ["Run it again when that is done."],
    address,
  };
}

/** The verb of a change while it runs: Terraform's words, and what Terraform has none for. */
export function progressOf(change: Change): Progress {
  const { actions, importing } = change;
  const effect = effectOf(change);
  if (effect === "suspend") return actions[0] === "forget" ? "suspend-and-forget" : "suspend";
  if (effect === "unsuspend") return "unsuspend";
  if (importing !== undefined && actions[0] === "no-op") return "import";
  if (actions.length === 2 || actions[0] === "create") return "create";
  return actions[0] === "no-op" ? "update" : actions[0];
}
