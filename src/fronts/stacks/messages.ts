/** Messages about errors in a synthesized stack. */
import { type Catalogue, either, error, problemsOf, type Words, warning } from "../../core/messages/message.ts";
import { form, shared, short, suggestionOf, texts, type Unknown, unknown } from "../source/messages.ts";
import { names } from "./messages-names.ts";

const BACKENDS =
  "Use the backend `local`, `http`, `pg` or `s3`, and migrate the state with `terraform init -migrate-state`. Or apply this stack only with Terraform.";
const TOKENS =
  'Remove `token` and set HOSTING_TOKEN. Or set the name of an environment variable (`"token_env": "BETA_TOKEN"`), or a file of mode 0600 (`token_file`).';
const CHANGE = "If the file was shared, change the secret.";
const WITH_TERRAFORM = "Write the value instead, or apply the stack with Terraform.";

/** Remedies for keys that only Terraform supports. All other keys have the same remedy. */
const REFUSED: Readonly<Record<string, string>> = {
  module: "Move the resources of the module to the stack, or apply the stack with Terraform.",
  ephemeral: "Get the URL of a panel with `hostform sso`, or apply the stack with Terraform.",
  list: "Remove `list`.",
  encryption: "Move it to TF_ENCRYPTION: hostform reads only this variable.",
  experiments: "Apply this stack with Terraform, or remove the block.",
  precondition: "Check the condition in the `validation` of a variable, or in the program that generates the stack.",
  postcondition: "Check the condition in the program that generates the stack, or apply the stack with Terraform.",
  replace_triggered_by: "To order a service again: `hostform plan --reorder ADDRESS`.",
};

const NOUNS: Readonly<Record<string, string>> = {
  output: "An output",
  variable: "A variable",
  "data.terraform_remote_state": "A remote state",
};

/** Returns the texts about a block of another provider. */
const other = (summary: string) =>
  texts(
    summary,
    "Apply this stack with Terraform, or move the hosting resources into a separate stack.",
    "hostform applies only stacks of hosting resources.",
  );

const messages = {
  ...shared,
  ...names,
  "config.duplicate/block": error(
    texts("`{key}` is declared more than once", "Merge the `{key}` blocks into one block."),
  ),
  "config.duplicate/project": error(
    texts(
      'The project is named "{name}" here and differently elsewhere',
      "Use one name: a stack is one project. For another account, use another stack.",
      'The project is named "{other}" in another provider block.',
    ),
  ),
  "config.duplicate/token": error(
    texts("Two settings configure the API token", "Keep only one of `token`, `token_file` and `token_env`."),
  ),
  "config.invalid_value/digits": error(
    texts("This number cannot be stored exactly", "Put quotes around the number: a string keeps all digits."),
  ),
  "config.missing_attribute/address": error(
    texts("`{type}` requires `{key}`", 'Write `"{key}": "hosting_service.NAME"`.'),
  ),
  "config.missing_attribute/data": error(texts('{address} requires "{name}"', "Add `{name}`.", "{description}")),
  "config.missing_attribute/import": error(
    texts("`import` requires `to` and `id`", 'Write `{"to": "hosting_service.NAME", "id": "1001"}`.'),
  ),
  "config.missing_attribute/output": error(
    texts('The output "{name}" has no value', 'Write `"value": "${hosting_service.NAME.id}"`.'),
  ),
  "config.missing_attribute/validation": error(
    texts(
      "`validation` requires `condition` and `error_message`",
      'Write `{"condition": "${var.NAME > 0}", "error_message": "…"}`.',
    ),
  ),
  "config.secret/output": error(
    texts(
      'The output "{name}" would show a secret',
      'Add `"sensitive": true`, or remove the secret.',
      "Its value contains {text}, and outputs are shown after each apply.",
    ),
  ),
  "config.secret/setting": error(texts('"{key}" puts an API token into the stack', TOKENS)),
  "config.secret/token": error(
    texts('"token" puts an API token into the stack', `${TOKENS} If the file was shared, revoke the token.`),
  ),
  "config.secret/token_source": error(({ name, from }: Words<"name"> & { from: string | undefined }) =>
    texts(
      `The API token comes from ${from ?? "the default of the variable, in the stack itself"}`,
      `Set the environment variable TF_VAR_${name} instead. ${TOKENS}`,
      "hostform reads the token only from the environment or a file, so process lists and stack files do not show it.",
    ),
  ),
  "config.structure/alias": error(({ alias }: Words<"alias">) =>
    texts(
      `"${short(alias)}" cannot be the alias of a provider`,
      'Use letters, digits, `_` and `-`, beginning with a letter. "default" is reserved.',
    ),
  ),
  "config.structure/backend": error(
    texts("`backend` has no type", 'Write `"backend": {"local": {"path": "terraform.tfstate"}}`.'),
  ),
  "config.structure/flag": error(
    texts("`{key}` must be true or false", "Write `true` or `false` without an expression."),
  ),
  "config.structure/ignore_changes": form(
    "`ignore_changes`",
    "a list of attributes",
    'Write `["plan_id"]`, or `"all"`.',
  ),
  "config.structure/item": error(texts("An item of `{key}` must be a string")),
  "config.structure/label": error(
    texts(
      "`{type}` has no {label} here",
      "Write `{form}`, or remove the empty block.",
      "An empty block is ambiguous: the content may be missing.",
    ),
  ),
  "config.structure/object": error(texts("`{type}` must be an object here", "Write `{form}`.")),
  "config.structure/prerelease": error(
    texts("`required_version` has a pre-release version", "Remove the pre-release. Terraform rejects it."),
  ),
  "config.structure/provider": error(
    texts(
      "`provider` must name a hosting provider",
      'Write `"hosting"`, or `"hosting.ALIAS"` for a provider block with that alias.',
    ),
  ),
  "config.structure/repetitions": error(
    texts("`count`, `for_each` and `enabled` cannot be used together", "Keep one of them."),
  ),
  "config.structure/stack": form(
    "A stack",
    "an object",
    'Write `{"resource": {"hosting_service": {"acme": {…}}}}`, or pass the synthesized folder.',
  ),
  "config.structure/text": error(texts("`{key}` must be a string")),
  "config.structure/texts": error(texts("`{key}` must be a list of strings")),
  "config.syntax": error(
    texts(
      "The JSON cannot be parsed: {message}",
      "Synthesize the stack again. If the file is written by hand, correct it.",
    ),
  ),
  "config.too_large/file": error(texts("{path} {message}", "Split the stack into several stacks.")),
  "config.too_large/instances": error(
    texts("{address} has more than {most} instances", "Split the stack into several stacks."),
  ),
  "config.too_large/stack": error(
    texts("This stack has more than {most} resources", "Split the stack into several stacks."),
  ),
  "config.unknown_key/ignore_changes": unknown(
    "",
    ({ key }: Unknown) => `Unknown attribute "${short(key)}" in \`ignore_changes\``,
  ),
  "config.unknown_key/nested": unknown("The block can have", ({ key }: Unknown) => `Unknown attribute "${short(key)}"`),
  "config.unknown_key/provider": unknown(
    "The settings are",
    ({ key }: Unknown) => `A provider has no setting "${short(key)}"`,
  ),
  "config.unknown_key/stack": unknown("A stack can have", ({ key }: Unknown) => `A stack has no "${short(key)}"`),
  "config.unknown_key/terraform": unknown("", ({ key }: Unknown) => `\`terraform\` has no "${short(key)}"`),
  "config.unknown_key/type": unknown("", ({ key, noun }: Unknown & Words<"noun">) => `Unknown ${noun} "${short(key)}"`),
  "config.unsupported/backend": error(({ key }: Words<"key">) =>
    texts(`hostform cannot store its state in the backend "${short(key)}"`, BACKENDS),
  ),
  "config.unsupported/ephemeral_output": error(
    texts("An ephemeral output has no effect in a stack", "Remove `ephemeral`."),
  ),
  "config.unsupported/ignore_part": error(
    texts("`ignore_changes` cannot contain a part of an attribute", 'Write the whole attribute: `"{name}"`.'),
  ),
  "config.unsupported/language": error(
    ({ text, least, most, chosen }: { text: string; least: number; most: number; chosen: string | undefined }) =>
      texts(
        `\`required_version\` (${text}) allows no Terraform version that hostform supports`,
        "Change the constraint, or apply this stack with Terraform.",
        `hostform evaluates expressions as Terraform 1.${least} to 1.${most} does${chosen === undefined ? "" : ` with --language ${chosen}`}.`,
      ),
  ),
  "config.unsupported/local_setting": error(({ key }: Words<"key">) =>
    texts(
      `The setting "${short(key)}" of the backend local is not supported here`,
      `Remove "${short(key)}".`,
      "Only the setting path is supported.",
    ),
  ),
  "config.unsupported/provider_name": error(({ name }: Words<"name">) =>
    texts(
      `The hosting provider has the name "${short(name)}" here`,
      "Rename the provider to `hosting`, like its resources.",
    ),
  ),
  "config.unsupported/replace_on_change": error(
    texts(
      "`replace_on_change` is not supported here",
      "Remove `replace_on_change`. To order the service again: `hostform plan --reorder {base}`. Or apply the stack with Terraform.",
    ),
  ),
  "config.unsupported/source": error(
    texts(
      "The provider hosting of this stack has another source",
      'Write `"source": "hostform/hosting"`, or apply this stack with Terraform.',
      "hostform replaces only the provider hostform/hosting.",
    ),
  ),
  "config.unsupported/timeouts": warning(
    texts(
      "`timeouts` is ignored: `--wait-timeout` limits how long hostform waits",
      "No action is needed: Terraform still uses `timeouts`.",
    ),
  ),
  "config.unsupported/token": error(
    texts(
      "`token` can only be a variable of the stack",
      `Write \`"token": "\${var.NAME}"\` and set TF_VAR_NAME. ${TOKENS}`,
    ),
  ),
  "config.variable/missing": error(
    texts(
      'The variable "{name}" has no value',
      "Set the environment variable TF_VAR_{name}, or pass `--var '{name}=…'`.",
    ),
  ),
  "config.variable/type": error(
    texts(
      "This is not a valid type: {message}",
      "Write a type such as string, number, bool, list(string) or object({name=string}).",
    ),
  ),
  "provider.unknown": unknown(
    "",
    ({ key }: Unknown) => `No hosting provider with the alias "${short(key)}" is declared`,
    "Declare the provider under `provider`, or correct its alias.",
  ),
  "config.secret/default": warning(({ name }: Words<"name">) =>
    texts(
      `The default of the variable "${name}" is a secret, and is unencrypted in the stack`,
      `Remove the default, and set TF_VAR_${name}. ${CHANGE}`,
    ),
  ),
  "config.secret/literal": warning(({ key }: Words<"key">) =>
    texts(
      `"${key}" is a secret, and is unencrypted in the stack`,
      `Declare a variable with \`"sensitive": true\`, write \`"\${var.NAME}"\`, and set TF_VAR_NAME. ${CHANGE}`,
    ),
  ),
  "config.unknown_key/attribute": error(
    ({ noun, key, near, own }: Words<"noun" | "key"> & { near: string | undefined; own: readonly string[] }) =>
      texts(
        `A ${noun} has no attribute "${short(key)}".${suggestionOf(near)}`,
        undefined,
        own.length === 0
          ? `A ${noun} has no attributes that can be declared.`
          : `A ${noun} can have ${own.join(", ")}.`,
      ),
  ),
  "config.unknown_key/block": unknown("", ({ key, type }: Unknown & Words<"type">) => {
    const noun = NOUNS[type];
    const word = `"${short(key)}"`;
    return noun === undefined ? `\`${type.split(".").at(-1)}\` has no ${word} here` : `${noun} has no ${word}`;
  }),
  "config.unsupported/cloud": error(texts("hostform cannot store its state in HCP Terraform (`cloud`)", BACKENDS)),
  "config.unsupported/other_provider": error(({ name }: Words<"name">) =>
    other(`This stack uses the provider "${short(name)}"`),
  ),
  "config.unsupported/resource": error(({ type, labels }: Words<"type"> & { labels: readonly string[] }) =>
    other(`${type === "data" ? "data." : ""}${labels.map(short).join(".")} is not a resource of hosting`),
  ),
  "config.unsupported/front": error(texts("{text} exists only in Terraform's provider")),
  "config.unsupported/key": error(({ key }: Words<"key">) =>
    texts(`\`${key}\` is not supported in a stack`, REFUSED[key] ?? "Remove it, or apply the stack with Terraform."),
  ),
  "config.unsupported/name": error(texts("{text} is not supported", WITH_TERRAFORM)),
  "config.unsupported/remote_state": error(texts("{state} supports only `outputs`", WITH_TERRAFORM)),
  "config.variable/default": error(({ name, why }: Words<"name"> & { why: string | undefined }) =>
    texts(`The default of the variable "${name}" does not fit its type`, "Correct the default, or the type.", why),
  ),
  "config.variable/refused": error(
    ({ name, from, why }: Words<"name"> & { from: string | undefined; why: string | undefined }) =>
      texts(
        `The value of the variable "${name}" is invalid`,
        from === undefined
          ? "Correct the default of the variable, or pass another value."
          : `Correct the value in ${from}.`,
        why,
      ),
  ),
  "config.variable/undeclared": either(({ key, near, from }: Unknown & Words<"from">) =>
    texts(
      `The stack declares no variable "${short(key)}".${suggestionOf(near)}`,
      from === "-var"
        ? "Remove this value, or correct the name."
        : "Remove this value from the file, or correct the name.",
      `The value is from ${from}.`,
    ),
  ),
  "config.variable/value": error(({ name, from, plain }: Words<"name" | "from"> & { plain: boolean }) =>
    texts(
      `The value of the variable "${name}" does not fit its type`,
      plain
        ? "Correct the value."
        : `Pass the value as an expression: \`'["a", "b"]'\` or \`'{name = "a"}'\`, with quotes around each string, and without functions.`,
      `The value is from ${from}.`,
    ),
  ),
} satisfies Catalogue;

export const problem = problemsOf(messages);
