import type { Kind } from "../../kinds/kind.ts";
import type { Code, Diagnostic } from "../../model/index.ts";

/** What people do about it with Terraform, where the lifecycle names a command of hostform's. */
const WAYS: Partial<Record<Code, (diagnostic: Diagnostic, kind: Kind) => string>> = {
  "plan.exists": ({ object = "ID" }, { type }) =>
    `Adopt it: \`terraform import ${type}.NAME '${object}'\`, or \`import { to = ${type}.NAME, id = "${object}" }\`. If Terraform has it marked as tainted: \`terraform untaint ${type}.NAME\`. If it is another's, declare something else.`,
  "plan.immutable": (_, kind) => {
    const anew =
      kind.quote === undefined
        ? "have it made anew with `replace_on_change = true`"
        : "order another one with `replace_on_change = true`: a new order, with its own invoice";
    const name = kind.creation === "keyed" ? " and a new `reference`" : "";
    return `Either put the old value back, or declare the other one as a resource of its own, or ${anew}${name}; deletion_policy says what becomes of the old one.`;
  },
  "plan.gone": (_, { creation }) =>
    creation === "keyed"
      ? "Remove the block, or order it anew on purpose: another `reference`, and `terraform apply -replace=ADDRESS`."
      : "Remove the block, or make it anew on purpose with `terraform apply -replace=ADDRESS`.",
  "plan.prevented": ({ fix = "" }, { retire }) =>
    fix.startsWith("Wait")
      ? "Wait until it is live, and apply again. Or a `removed` block with `destroy = false` (`terraform state rm`): Terraform stops managing it."
      : `To let go of it: \`deletion_policy = "forget"\`${retire === undefined ? "" : ' (or "suspend")'}, apply, then remove it. Or a \`removed\` block with \`destroy = false\` (\`terraform state rm\`): Terraform stops managing it.`,
  "plan.pending": (_, { creation }) =>
    creation === "blind"
      ? "Look in the dashboard. If it was ordered: `terraform state rm` it and import it. If it was not: `terraform plan` once, `terraform state rm` it, and apply again."
      : "`terraform untaint` it if it is tainted, then apply: what was made is adopted, and what was not is made. If several could be it: `terraform state rm` it and import the right one.",
  "plan.lookalike": (_, { type }) =>
    `If it is: \`terraform import ${type}.NAME ID\`. To order another one, declare another \`reference\`.`,
  "plan.unknown_status": ({ summary }) => {
    const word = /status ("(?:[^"\\]|\\.)*")/.exec(summary)?.[1] ?? '"WORD"';
    return `Say what it means in the provider block: \`status_words = { ${word} = "live" }\` (pending, live, suspended or gone).`;
  },
  "plan.catalogue": () => "See the data source `hosting_plans`. The order will be refused if the plan is not active.",
  "apply.replayed": () => "Declare another `reference` to order it, or import the one that is there.",
  "config.duplicate": () => "Remove one of the two, or correct what it refers to.",
};

/** The diagnostic as Terraform's users are told it. */
export function inTerraform(kind: Kind, diagnostic: Diagnostic): Diagnostic {
  const { address: _, ...others } = diagnostic;
  // The body of an earlier request holds values that the user may have marked as sensitive.
  const detail = diagnostic.detail?.replace(/ It was sent as it was then: [\s\S]*/, "");
  const rest = detail === undefined ? others : { ...others, detail };
  if (diagnostic.fix === undefined) return rest;
  const way = WAYS[diagnostic.code];
  // What this front has said itself is in its words already.
  const foreign = /hostform|--[a-z]|declaration|refers to|providers:/.test(diagnostic.fix);
  return way === undefined || !foreign ? rest : { ...rest, fix: way(diagnostic, kind) };
}
