/** Texts of `hostform export --format terraform`: parts without a counterpart in Terraform, and different parts. */
import { type Catalogue, error, problemsOf, type Words, warning } from "../../../core/messages/message.ts";
import { texts } from "../messages-settings.ts";

const WRITE = "Write the value itself in place of";
type Of = Words<"what">;

const messages = {
  "config.unsupported": warning(({ from }: Words<"from">) =>
    texts(`Terraform cannot forget one instance of a resource: its plan destroys ${from}`, undefined, {
      do: "forget",
      address: from,
    }),
  ),
  "provider.token": error(({ alias }: Words<"alias">) =>
    texts(
      `Provider ${alias} has no token`,
      "Terraform would use HOSTING_TOKEN, which is the token of another account.",
      "Add `token_env: VARIABLE` or `token_file: PATH` to it.",
    ),
  ),
  "terraform.export/guards": warning(({ limits }: Words<"limits">) =>
    texts(
      "The guards have no counterpart in Terraform and are left out",
      `They limit what one run of hostform does: ${limits}.`,
      "Check the plans in another way, for example with a policy on `terraform show -json`.",
    ),
  ),
  "terraform.export/channels": warning(
    texts(
      "The channels of `notify` have no counterpart in Terraform and are left out",
      "A run of Terraform sends no notifications.",
      "Send notifications from the pipeline that runs Terraform.",
    ),
  ),
  "terraform.export/circle": error(({ nodes }: { nodes: readonly string[] }) =>
    texts(
      `References form a cycle in Terraform: ${nodes.join(" -> ")}`,
      "There the instances of one name are one block with `for_each`, and blocks cannot refer to each other.",
      `${WRITE} one of the references.`,
    ),
  ),
  "terraform.export/workspace": warning(({ workspace }: Words<"workspace">) =>
    texts(
      `The state is in the workspace ${JSON.stringify(workspace)}, which a configuration cannot select`,
      undefined,
      `Select it first: TF_WORKSPACE=${workspace} terraform init`,
    ),
  ),
  "terraform.export/without_lock": warning(
    texts(
      "`without_lock` has no counterpart: Terraform uses no lock where `lock_address` is not set",
      undefined,
      "Make sure that only one run uses the state at a time.",
    ),
  ),
  "terraform.export/output": error(({ name }: Words<"name">) =>
    texts(
      `The output ${name} is not declared in YAML and cannot be exported`,
      undefined,
      "Terraform reads the file that declares it.",
    ),
  ),
  "terraform.export/itself": error(({ what, name, text }: Of & Words<"name" | "text">) =>
    texts(
      `${what} refers to another instance of the same resource, which Terraform does not allow`,
      `There ${name} is one block with \`for_each\`: \${${text}} would make it refer to itself.`,
      `${WRITE} the reference.`,
    ),
  ),
  "terraform.export/hidden": warning(({ what }: Of) =>
    texts(
      `${what} contains a secret, so Terraform hides the whole value`,
      "Its first plan shows an update in-place that marks the value as sensitive and sends no request.",
      "Nothing to do.",
    ),
  ),
  "terraform.export/depends_on": warning(({ name }: Words<"name">) =>
    texts(
      `\`depends_on\` between instances of ${name} is left out`,
      "They are one block with `for_each` in Terraform, which cannot depend on itself.",
      "Nothing to do, unless their order matters.",
    ),
  ),
  "terraform.export/place": warning(({ names }: Words<"names">) =>
    texts(
      "secret_output is relative to the folder that Terraform runs in",
      `It is exported unchanged (${names}): another path would be a change.`,
      "Run Terraform in the project's folder (`--out .`), or use an absolute path.",
    ),
  ),
  "terraform.export/set": warning(({ what, text }: Of & Words<"text">) =>
    texts(
      `${what} refers to an item of a set by its position, and sets have no order in Terraform`,
      `In Terraform \${${text}} is the item at that position when all are sorted.`,
      `${WRITE} the reference.`,
    ),
  ),
} satisfies Catalogue;

export const problem = problemsOf(messages);
