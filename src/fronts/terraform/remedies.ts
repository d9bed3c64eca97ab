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
 * Returns the renderer of remedies for Terraform, in HCL and commands. Terraform sends no address, so the texts contain `NAME` or
 * `ADDRESS`. The texts contain no value of an earlier request, because the user may have marked that value as sensitive.
 * @param kind Kind of the resource. Undefined if the diagnostic has no resource.
 */
export function terraformRemedies(kind?: Kind): RemedyText {
  return rendererOf((action) => {
    const sentence = sentenceOf(action, kind);
    if (sentence === "") return undefined;
    const text = underCondition(action.when, sentence);
    return action.do === "move"
      ? `If Terraform has marked the resource as tainted, run \`terraform untaint ${nameOf(kind)}\`. ${text}`
      : text;
  });
}

const nameOf = (kind: Kind | undefined) => `${kind?.type ?? "TYPE"}.NAME`;

const WITHOUT =
  "Or replace the block of the resource by a `removed` block with `destroy = false`. Terraform then stops managing the object, and the object stays in the account.";

function sentenceOf(action: RemedyAction, kind: Kind | undefined): string {
  const name = nameOf(kind);
  switch (action.do) {
    case "import":
      return importSentence(action, name, kind);
    case "move":
      return movedSentence(name);
    case "forget":
      if (action.why === "import")
        return `Replace the block of the resource by a \`removed\` block with \`destroy = false\`. Then import ${action.id === undefined ? "the right object" : "the object"} in a new block with an \`import\` block.`;
      // No `removed` block repairs a corrupted entry of the state.
      if (action.why === "restore") return "Or run `terraform state rm ADDRESS`, and import the object again.";
      if (action.why === "replace") return "Run `terraform state rm ADDRESS` first.";
      return action.when === undefined
        ? WITHOUT
        : "Replace the block of the resource by a `removed` block with `destroy = false`.";
    case "reorder":
      if (action.replayed) return "Set another `reference` to order a new service.";
      return kind?.creation === "keyed"
        ? "To order the service again, set another `reference` and run `terraform apply -replace=ADDRESS`."
        : "To recreate the object, run `terraform apply -replace=ADDRESS`.";
    case "renew":
      return "To replace the object, run `terraform apply -replace=ADDRESS`.";
    case "order_anyway":
      return kind?.creation === "blind"
        ? "To order the object anyway, run `terraform apply` once with HOSTFORM_STATE_HOME set to an empty folder."
        : "To order a new service, set another `reference`.";
    case "resolve":
      return resolveSentence(action, kind);
    case "redeclare": {
      if (action.paid === "once") return "Restore the earlier value.";
      const again = action.paid
        ? "order a new service with `replace_on_change = true` (with its own invoice)"
        : "recreate the object with `replace_on_change = true`";
      const reference = kind?.creation === "keyed" ? " and a new `reference`" : "";
      return `Restore the earlier value. Or declare the new values as a separate resource. Or ${again}${reference}; the deletion_policy then applies to the old object.`;
    }
    case "follow":
      return `Set \`${action.attribute}\` to the value of the existing object.`;
    case "correct_import":
      return `Set \`${action.attribute}\` to the value of the existing object, or correct the import id. The data source \`${kind?.type ?? "TYPE"}s\` lists the existing objects.`;
    case "set": {
      const { attribute, value, example } = action;
      if (value === undefined) return `Add \`${attribute}\`.`;
      const set = assign(attribute, value);
      return example ? `Add \`${attribute}\`, for example ${set}.` : `Add ${set}.`;
    }
    case "use_provider":
      return "Restore the `provider` of the resource.";
    case "name_project":
      return `Set ${assign("project", "…")} in the provider block (or HOSTFORM_PROJECT) to a name that never changes.`;
    case "release": {
      const [first = "", ...more] = action.policies;
      const or = more.map((policy) => ` (or ${quotedLiteral(policy)})`).join("");
      // Terraform does not send the reason for the removal: a removed block, or `terraform destroy`.
      return `To release the object, set ${assign("deletion_policy", first)}${or} in its block (restore a removed block), and apply. Then remove the block.`;
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
      if (action.what === "pending") return "`hostform resolve` lists the pending creates.";
      return action.what === "plans" ? "Use a plan_id from the data source `hosting_plans`." : "";
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

/** Returns a `moved` block with placeholders, because Terraform sends no address. */
function movedSentence(name: string): string {
  const [from, to] = ["OLD", "NEW"].map((word) => ({ code: name.replace("NAME", word) }));
  const body = [
    [
      { name: "from", value: from ?? null },
      { name: "to", value: to ?? null },
    ],
  ];
  const block = renderHcl({ comments: [], blocks: [{ block: "moved", body }] }).trim();
  return `Complete this block with the old and the new address:\n\n\`${block}\``;
}

function importSentence(
  { id, when, forgetFirst }: Extract<RemedyAction, { do: "import" }>,
  name: string,
  kind: Kind | undefined,
): string {
  const command = `\`terraform import ${name} ${id === undefined ? "ID" : inShell(id)}\``;
  if (forgetFirst)
    return `To import the object, first remove the old entry with \`terraform state rm ADDRESS\`. Then run ${command}.`;
  if (when !== undefined || id === undefined || kind?.creation === "blind") return `${command}.`;
  const block = `\`import {\n  to = ${name}\n  id = ${quotedLiteral(id)}\n}\``;
  return `To import the object, run ${command}, or add this block:\n\n${block}`;
}

/** Returns an id in quotes, so that the id is easy to recognize. Always quotes, even if a shell does not require quotes. */
const inShell = (id: string) => (shellWord(id).startsWith("'") ? shellWord(id) : `'${id}'`);

function resolveSentence(
  { as, object, removing }: Extract<RemedyAction, { do: "resolve" }>,
  kind: Kind | undefined,
): string {
  if (as === "forced") return `\`hostform resolve ADDRESS --adopt ${inShell(object ?? "ID")} --force\` in this folder.`;
  if (as === "absent") return "`hostform resolve ADDRESS --absent` in this folder, then apply again.";
  const decide = "ecide with `hostform resolve ADDRESS` in this folder.";
  if (removing)
    return kind?.creation === "blind"
      ? `D${decide}`
      : `Restore the block and apply: the apply completes the create. Or d${decide}`;
  if (object !== undefined)
    return `If the request created this object: \`hostform resolve ADDRESS --adopt ${inShell(object)}\` in this folder. Otherwise: \`hostform resolve ADDRESS --absent\`. Then apply again.`;
  const look = kind?.creation === "blind" ? "Check the dashboard. Then run " : "Run ";
  return `${look}\`hostform resolve ADDRESS\` in this folder, with \`--adopt ID\` or \`--absent\`. Then apply again.`;
}

function statusSentence({ word, phases, when }: Extract<RemedyAction, { do: "map_status" }>): string {
  const [likely = "", other] = phases;
  const mapped = `\`status_words = { ${quotedLiteral(String(word))} = ${quotedLiteral(likely)} }\` in the provider block`;
  if (when !== undefined || other === undefined) return `Declare ${mapped}.`;
  return `Check the status in the dashboard. Then map the word: ${mapped} ${SEEN[likely]}, or ${quotedLiteral(other)} ${SEEN[other]} (or "pending", "gone").`;
}

const SEEN: Readonly<Record<string, string>> = { live: "if it is online", suspended: "if it is suspended" };

/** Returns the assignment of an attribute, in backticks. */
const assign = (attribute: string, value: Json): string => `\`${attribute} = ${inlineValue(value)}\``;
