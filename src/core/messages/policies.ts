/** Messages about the policy of a run: what it refuses, and why it cannot be used. */
import { type Catalogue, either, error, type Words, warning } from "./message.ts";

const OWNER = "Change what is declared, or ask the owner of the policy.";

/** `rule`: the name of a rule, or `function`. */
type Said = Words<"sentence" | "rule" | "file">;

const sourceOf = ({ rule, file }: Said) => (rule === "function" ? `By ${file}.` : `By the rule ${rule} of ${file}.`);

export const policies = {
  "policy.denied": error((said: Said) => ({
    summary: `The policy refuses this: ${said.sentence}`,
    detail: sourceOf(said),
    remedies: [OWNER],
  })),
  "policy.warned": warning((said: Said) => ({
    summary: `The policy warns: ${said.sentence}`,
    detail: sourceOf(said),
    remedies: [OWNER],
  })),
  "policy.invalid": error(({ file, why }: Words<"file" | "why">) => ({
    summary: `The policy ${file} cannot be used: ${why}`,
    detail: "A run without its policy is refused.",
    remedies: ["Correct the file."],
  })),
  "policy.failed": error(({ file, why }: Words<"file" | "why">) => ({
    summary: `The function ${file} of the policy failed: ${why}`,
    detail: "The plan is refused, because the function did not judge it.",
    remedies: ["Correct the function."],
  })),
  "policy.unsupported": either(({ what, why }: Words<"what" | "why">) => ({
    summary: `The policy has ${what}, and it cannot be enforced here`,
    detail: `${why}.`,
    remedies: ["Enforce it where the whole plan is known, or leave it out of the policy of this run."],
  })),
} satisfies Catalogue;
