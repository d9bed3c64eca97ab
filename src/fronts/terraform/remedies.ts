import type { Kind } from "../../core/kinds/kind.ts";
import {
  isObject,
  type Json,
  type RemedyAction,
  type RemedyText,
  rendererOf,
  shellWord,
  underCondition,
} from "../../core/model/index.ts";
import { quotedLiteral } from "./export/document.ts";

/**
 * What can be done, for those who write HCL and run Terraform. Terraform names no address to a provider: `NAME` and `ADDRESS`
 * stand for it. No value of an earlier request is shown, which the user may have marked as sensitive.
 * @param kind of the resource that is spoken of; absent where none is.
 */
export function terraformRemedies(kind?: Kind): RemedyText {
  return rendererOf((action) => {
    const sentence = sentenceOf(action, kind);
    return sentence === "" ? undefined : underCondition(action.when, sentence);
  });
}

/** How a request that made nothing leaves the state, and the note of it in the journal. */
const NOT_MADE = "`terraform plan` once, `terraform state rm` it, and apply again";

const WITHOUT =
  "Or a `removed` block with `destroy = false` (`terraform state rm`): Terraform stops managing it, and it goes on.";

function sentenceOf(action: RemedyAction, kind: Kind | undefined): string {
  const name = `${kind?.type ?? "TYPE"}.NAME`;
  switch (action.do) {
    case "import":
      return importSentence(action, name, kind);
    case "move":
      return "Add a `moved` block.";
    case "forget":
      if (action.why === "import") return "Or `terraform state rm` the other one, and import the right one.";
      if (action.why === "restore") return "Or `terraform state rm` it, and import it again.";
      return action.why === "order" || action.why === "replace" ? "`terraform state rm` it first." : WITHOUT;
    case "reorder":
      if (action.replayed) return "Declare another `reference` to order it.";
      return kind?.creation === "keyed"
        ? "Order it again on purpose: another `reference`, and `terraform apply -replace=ADDRESS`."
        : "Make it again on purpose with `terraform apply -replace=ADDRESS`.";
    case "order_anyway":
      return kind?.creation === "blind"
        ? "To order it all the same: `terraform apply` once with HOSTFORM_STATE_HOME set to an empty folder."
        : "To order another one, declare another `reference`.";
    case "resolve":
      return resolveSentence(action, name, kind);
    case "redeclare": {
      const again = action.paid
        ? "order another one with `replace_on_change = true`: a new order, with its own invoice"
        : "have it recreated with `replace_on_change = true`";
      const reference = kind?.creation === "keyed" ? " and a new `reference`" : "";
      return `Either put the old value back, or declare the other one as a resource of its own, or ${again}${reference}; deletion_policy says what becomes of the old one.`;
    }
    case "correct_import":
      return `Declare the \`${action.attribute}\` that it has, or correct the id of the import. \`data "${kind?.type ?? "TYPE"}s"\` shows those that there are.`;
    case "set": {
      const { attribute, value, example } = action;
      if (value === undefined) return `Add \`${attribute}\`.`;
      const set = assign(attribute, value);
      return example ? `Add \`${attribute}\`, for example ${set}.` : `Add ${set}.`;
    }
    case "use_provider":
      return "Put its `provider` back.";
    case "name_project":
      return `Set ${assign("project", "…")} in the provider block (or HOSTFORM_PROJECT) to a name that stays.`;
    case "release": {
      const [first = "", ...more] = action.policies;
      const or = more.map((policy) => ` (or ${quotedLiteral(policy)})`).join("");
      // Terraform does not say whether the block is gone or is to be destroyed.
      return `To let go of it: put its block back if that is gone, with ${assign("deletion_policy", first)}${or}, apply, then remove it.`;
    }
    case "map_status":
      return statusSentence(action);
    case "allow":
      return action.limits.some(({ limit }) => limit === "insecure_http")
        ? `Set ${assign("insecure_http", true)}.`
        : "";
    case "apply_again":
      return "Apply again.";
    case "see":
      if (action.what === "sandbox") return "To try without an account: `hostform sandbox`.";
      return action.what === "plans" ? "Declare one of those that the data source `hosting_plans` shows." : "";
    // The state and its lock are Terraform's.
    case "wait_for_lock":
    case "unlock":
    case "encrypt_state":
    case "name_state":
    case "report_shape":
      return "";
  }
}

function importSentence(
  { id, when, forgetFirst }: Extract<RemedyAction, { do: "import" }>,
  name: string,
  kind: Kind | undefined,
): string {
  const command = `\`terraform import ${name} ${id === undefined ? "ID" : inShell(id)}\``;
  if (forgetFirst) return `Adopt it: \`terraform state rm\` it where the state has it, then ${command}.`;
  if (when !== undefined || id === undefined || kind?.creation === "blind") return `${command}.`;
  const block = `\`import {\n  to = ${name}\n  id = ${quotedLiteral(id)}\n}\``;
  return `Adopt it: ${command}, or this block:\n\n${block}\n\nIf Terraform has it marked as tainted: \`terraform untaint ${name}\`.`;
}

/** In quotes even where a shell needs none: what stands there is the id, whole. */
const inShell = (id: string) => (shellWord(id).startsWith("'") ? shellWord(id) : `'${id}'`);

function resolveSentence(
  { as, object, removing, when }: Extract<RemedyAction, { do: "resolve" }>,
  name: string,
  kind: Kind | undefined,
): string {
  const blind = kind?.creation === "blind";
  if (as === "absent") return when === undefined ? `If it was not made: ${NOT_MADE}.` : `${NOT_MADE}.`;
  if (removing) {
    const look = blind
      ? "Look in the dashboard"
      : "Put its block back and apply: that settles it. Or look in the dashboard";
    return `${look}, and \`terraform state rm\` it: what was made stays in the account.`;
  }
  if (blind)
    return `Look in the dashboard. If it was ordered: \`terraform state rm\` it and import it. If it was not: ${NOT_MADE}.`;
  if (object !== undefined) {
    const other = kind?.creation === "keyed" ? "another `reference`" : `another ${kind?.noun ?? "object"}`;
    return `If it is: \`terraform state rm\` it where the state has it, then \`terraform import ${name} ${inShell(object)}\`. If it is another's: declare ${other}.`;
  }
  return "`terraform untaint` it if it is tainted, then apply: what was made is adopted, and what was not is made. If several could be it: `terraform state rm` it and import the right one.";
}

function statusSentence({ word, phases, when }: Extract<RemedyAction, { do: "map_status" }>): string {
  const [likely = "", other] = phases;
  const mapped = `\`status_words = { ${quotedLiteral(String(word))} = ${quotedLiteral(likely)} }\` in the provider block`;
  if (when !== undefined || other === undefined) return `Declare ${mapped}.`;
  return `Look at it in the dashboard, and say what the word means: ${mapped} ${SEEN[likely]}, ${quotedLiteral(other)} ${SEEN[other]} (or "pending", or "gone").`;
}

const SEEN: Readonly<Record<string, string>> = { live: "if it is up", suspended: "if it is suspended" };

/** An attribute with its value, in backticks. */
const assign = (attribute: string, value: Json): string => `\`${attribute} = ${inHcl(value)}\``;

/** A value as an expression on one line. */
function inHcl(value: Json): string {
  if (typeof value === "string") return quotedLiteral(value);
  if (Array.isArray(value)) return `[${value.map(inHcl).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const entries = Object.entries(value).map(([name, one]) => `${quotedLiteral(name)} = ${inHcl(one ?? null)}`);
  return `{ ${entries.join(", ")} }`;
}
