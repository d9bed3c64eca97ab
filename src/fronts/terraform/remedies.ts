import type { Kind } from "../../core/kinds/kind.ts";
import {
  type Json,
  type RemedyAction,
  type RemedyText,
  rendererOf,
  shellWord,
  underCondition,
  wakeOrEnd,
} from "../../core/model/index.ts";
import { inlineValue, quotedLiteral, renderHcl } from "./export/document.ts";

/**
 * Renders remedies for Terraform, in HCL and commands. Terraform sends no address: `NAME` and `ADDRESS` stand for it. No value
 * of an earlier request is shown: the user may have marked it as sensitive.
 * @param kind of the resource; absent where the diagnostic is about none.
 */
export function terraformRemedies(kind?: Kind): RemedyText {
  return rendererOf((action) => {
    const sentence = sentenceOf(action, kind);
    return sentence === "" ? undefined : underCondition(action.when, sentence);
  });
}

const WITHOUT =
  "Or a `removed` block with `destroy = false` in place of its block: Terraform stops managing it, and it stays in the account.";

function sentenceOf(action: RemedyAction, kind: Kind | undefined): string {
  const name = `${kind?.type ?? "TYPE"}.NAME`;
  switch (action.do) {
    case "import":
      return importSentence(action, name, kind);
    case "move":
      return movedSentence(name);
    case "forget":
      if (action.why === "import")
        return `A \`removed\` block with \`destroy = false\` in place of its block, and an \`import\` block that adopts ${action.id === undefined ? "the right one" : "the object"} under another name.`;
      // No block repairs a record, and no block has two records.
      if (action.why === "restore") return "Or `terraform state rm` it, and import it again.";
      if (action.why === "replace") return "`terraform state rm` it first.";
      return action.when === undefined ? WITHOUT : "A `removed` block with `destroy = false` in place of its block.";
    case "reorder":
      if (action.replayed) return "Set another `reference` to order it.";
      return kind?.creation === "keyed"
        ? "To order it again on purpose, set another `reference` and run `terraform apply -replace=ADDRESS`."
        : "Recreate it on purpose with `terraform apply -replace=ADDRESS`.";
    case "renew":
      return "For a new one: `terraform apply -replace=ADDRESS`.";
    case "order_anyway":
      return kind?.creation === "blind"
        ? "To order it anyway: `terraform apply` once with HOSTFORM_STATE_HOME set to an empty folder."
        : "To order another one, set another `reference`.";
    case "resolve":
      return resolveSentence(action, kind);
    case "redeclare": {
      if (action.paid === "once") return "Set the old value back.";
      const again = action.paid
        ? "order another one with `replace_on_change = true`: a new order, with its own invoice"
        : "have it recreated with `replace_on_change = true`";
      const reference = kind?.creation === "keyed" ? " and a new `reference`" : "";
      return `Set the old value back, or declare the other one as a separate resource, or ${again}${reference}; deletion_policy decides what happens to the old one.`;
    }
    case "follow":
      return `Declare the \`${action.attribute}\` that it has.`;
    case "correct_import":
      return `Declare the \`${action.attribute}\` that it has, or correct the id of the import. The data source \`${kind?.type ?? "TYPE"}s\` lists the existing ones.`;
    case "set": {
      const { attribute, value, example } = action;
      if (value === undefined) return `Add \`${attribute}\`.`;
      const set = assign(attribute, value);
      return example ? `Add \`${attribute}\`, for example ${set}.` : `Add ${set}.`;
    }
    case "use_provider":
      return "Set its `provider` back.";
    case "name_project":
      return `Set ${assign("project", "…")} in the provider block (or HOSTFORM_PROJECT) to a permanent name.`;
    case "release": {
      const [first = "", ...more] = action.policies;
      const or = more.map((policy) => ` (or ${quotedLiteral(policy)})`).join("");
      // Terraform does not send whether the block was removed or `terraform destroy` runs.
      return `To release it: add its block again if it was removed, with ${assign("deletion_policy", first)}${or}, apply, then remove it.`;
    }
    case "map_status":
      return statusSentence(action);
    case "allow":
      if (action.limits.some(({ limit }) => limit === "account_moved"))
        return "Set the environment variable HOSTFORM_ACCOUNT_MOVED=1 for one run.";
      return action.limits.some(({ limit }) => limit === "insecure_http")
        ? `Set ${assign("insecure_http", true)}.`
        : "";
    case "apply_again":
      return "Apply again.";
    case "see":
      if (action.what === "sandbox") return "To try without an account: `hostform sandbox`.";
      if (action.what === "pending") return "`hostform resolve` lists what is pending.";
      return action.what === "plans" ? "Declare one that the data source `hosting_plans` lists." : "";
    // The state and its lock are Terraform's.
    case "wake":
      return wakeOrEnd(action.pid);
    case "advise":
    case "recover":
    case "restore_state":
    case "wait_for_lock":
    case "unlock":
    case "encrypt_state":
    case "name_state":
    case "report_shape":
      return "";
  }
}

/** Terraform sends the address of neither. */
function movedSentence(name: string): string {
  const [from, to] = ["OLD", "NEW"].map((word) => ({ code: name.replace("NAME", word) }));
  const body = [
    [
      { name: "from", value: from ?? null },
      { name: "to", value: to ?? null },
    ],
  ];
  const block = renderHcl({ comments: [], blocks: [{ block: "moved", body }] }).trim();
  return `Complete this block, with the addresses before and after:\n\n\`${block}\`\n\nIf Terraform has marked it as tainted: \`terraform untaint ${name}\`.`;
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
  return `Adopt it: ${command}, or this block:\n\n${block}`;
}

/** In quotes even where a shell needs none, so that the id is easy to see. */
const inShell = (id: string) => (shellWord(id).startsWith("'") ? shellWord(id) : `'${id}'`);

function resolveSentence(
  { as, object, removing }: Extract<RemedyAction, { do: "resolve" }>,
  kind: Kind | undefined,
): string {
  if (as === "forced") return `\`hostform resolve ADDRESS --adopt ${inShell(object ?? "ID")} --force\` in this folder.`;
  if (as === "absent") return "`hostform resolve ADDRESS --absent` in this folder, then apply again.";
  const shows = "`hostform resolve` in this folder shows what the account has of it, and settles it";
  if (removing)
    return kind?.creation === "blind" ? `${shows}.` : `Add its block again and apply: that finishes it. Or ${shows}.`;
  if (object !== undefined)
    return `If it is: \`hostform resolve ADDRESS --adopt ${inShell(object)}\` in this folder. If it is not: the same with \`--absent\`. Then apply again.`;
  const look = kind?.creation === "blind" ? "Look in the dashboard. Then " : "";
  return `${look}\`hostform resolve\` in this folder lists it, and settles it with \`--adopt ID\` or \`--absent\`. Then apply again.`;
}

function statusSentence({ word, phases, when }: Extract<RemedyAction, { do: "map_status" }>): string {
  const [likely = "", other] = phases;
  const mapped = `\`status_words = { ${quotedLiteral(String(word))} = ${quotedLiteral(likely)} }\` in the provider block`;
  if (when !== undefined || other === undefined) return `Declare ${mapped}.`;
  return `Look at it in the dashboard and declare what the word means: ${mapped} ${SEEN[likely]}, ${quotedLiteral(other)} ${SEEN[other]} (or "pending", or "gone").`;
}

const SEEN: Readonly<Record<string, string>> = { live: "if it is up", suspended: "if it is suspended" };

/** An attribute with its value, in backticks. */
const assign = (attribute: string, value: Json): string => `\`${attribute} = ${inlineValue(value)}\``;
