/** Texts of the mistakes in expressions and in the names that they use. */
import { type Catalogue, error, type Words } from "../../core/messages/message.ts";
import { shorten } from "../../core/model/index.ts";
import { form, short, suggestionOf, texts, type Unknown, unknown } from "../source/messages.ts";

const COUNT = "Use a whole number, or an expression for one.";
const FOR_EACH = 'Use an object, or a set of strings: `"${toset(["a", "b"])}"`.';
const DECLARE = "Declare the resource, or correct the address.";
const HIDDEN = "The expression is not shown, because its value is a secret.";
/** Messages shorten longer expressions. */
const LONGEST = 200;

/** `count` or `for_each`, and a name in it. */
type Repetition = Words<"key" | "text">;
type Expression = Words<"summary"> & { readonly expression: string | undefined; readonly isHidden: boolean };

export const names = {
  "config.expression/backend": error(
    texts("The settings of a backend cannot be expressions", "Write the value itself."),
  ),
  "config.expression/ephemeral": error(({ name, text }: Words<"name" | "text">) =>
    texts(
      `${name} is recorded, and ${text} is ephemeral: use it only in values that are not recorded`,
      "Use a `sensitive` variable, or a write-only attribute.",
    ),
  ),
  "config.expression/ephemeral_output": error(({ name, text }: Words<"name" | "text">) =>
    texts(`The output "${name}" is recorded, and ${text} is ephemeral`, "Remove it."),
  ),
  "config.expression/import_each": form(
    "`for_each`",
    "an object or a known set of strings",
    'Write `{"acme": "1001"}`.',
  ),
  "config.expression/import_id": form(
    "The `id` of an `import`",
    "a known string",
    "Write the id of the object in the API.",
  ),
  "config.expression/import_key": error(texts("The key of the address must be a known string or number")),
  "config.expression/import_secret": error(({ what }: Words<"what">) =>
    texts(
      `${what === "key" ? "The key of the address" : `\`${what}\``} of an \`import\` cannot be a secret`,
      "Write the id itself, or use a variable that is not sensitive.",
    ),
  ),
  "config.expression/provider": error(({ key, text }: Words<"key" | "text">) =>
    texts(
      `"${key}" of a provider depends on ${text}, which is known only after the account was read`,
      "Use variables, locals and literals; a provider is needed before anything can be planned.",
    ),
  ),
  "config.expression/validation": error(({ name }: Words<"name">) =>
    texts(
      `The condition of the variable "${name}" is neither true nor false`,
      "Use only the variable itself, other variables, and locals that do not depend on the account.",
    ),
  ),
  "config.reference/hosting_address": error(
    texts(
      "This is not the address of a hosting resource",
      "Write an address such as hosting_service.acme, without `${}`; modules are not supported.",
    ),
  ),
  "config.reference/removed_key": error(
    texts("`from` of `removed` names a resource, not one of its instances", "Leave the key out."),
  ),
  "config.expression/stack": error(({ summary, expression, isHidden }: Expression) =>
    texts(
      summary,
      "Correct the expression. For parts of the language that hostform does not support, use Terraform.",
      isHidden ? HIDDEN : expression && `The expression is ${shorten(expression, LONGEST)}`,
    ),
  ),
  "config.expression/ephemeral_repetition": error(({ key, text }: Repetition) =>
    texts(`\`${key}\` cannot depend on ${text}, which is ephemeral`, key === "count" ? COUNT : FOR_EACH),
  ),
  "config.expression/count": error((_: Repetition) =>
    texts("`count` must be a whole number that is not negative", COUNT),
  ),
  "config.expression/for_each": error((_: Repetition) =>
    texts("`for_each` must be an object, a map, or a set of strings", FOR_EACH),
  ),
  "config.expression/for_each_secret": error((_: Repetition) =>
    texts(
      "`for_each` cannot be a secret",
      "Its keys are part of addresses, which are shown: iterate over a value that is not secret.",
    ),
  ),
  "config.expression/unknown": error(({ key, text }: Repetition) =>
    texts(
      `\`${key}\` depends on ${text}, which is known only after apply`,
      "Use values of the stack itself: the number of instances must not depend on the account.",
    ),
  ),
  "config.expression/unknown_output": error(({ key }: Repetition) =>
    texts(
      `\`${key}\` depends on an output of another stack, which is known only after that stack is applied`,
      "Apply the other stack first.",
    ),
  ),
  "config.reference/attribute": unknown(
    "It has",
    ({ key, of }: Unknown & Words<"of">) => `${of} has no attribute "${short(key)}"`,
  ),
  "config.reference/count": error(texts("`count` has only `index`")),
  "config.reference/each": error(texts("`each` has only `key` and `value`")),
  "config.reference/counted": error(({ node }: Words<"node">) =>
    texts(`${node} has \`count\`; name one of its instances, such as ${node}[0]`),
  ),
  "config.reference/import": error(({ base }: Words<"base">) => texts(`No resource ${base} is declared`, DECLARE)),
  "config.reference/import_instance": error(({ base, example }: Words<"base" | "example">) =>
    texts(`${base} has several instances; name one of them`, `Write an address such as ${example}.`),
  ),
  "config.reference/import_key": error(({ instance }: Words<"instance">) => texts(`There is no ${instance}`, DECLARE)),
  "config.reference/import_provider": error(({ base }: Words<"base">) =>
    texts(`The \`import\` of ${base} names another provider than the resource`, "Remove `provider` here."),
  ),
  "config.reference/name": error(({ text }: Words<"text">) =>
    texts("", undefined, `The expression refers to ${text.slice(0, LONGEST)}.`),
  ),
  "config.reference/nameless": error(({ noun }: Words<"noun">) => texts(`The name of a ${noun} is missing`)),
  "config.reference/remote_state": error(({ state }: Words<"state">) =>
    texts(
      `The outputs of ${state} are not known`,
      "Apply that stack first, in the same project.",
      "hostform reads the outputs of other stacks from their states.",
    ),
  ),
  "config.reference/repetition": error(({ text, key }: Words<"text" | "key">) =>
    texts(`${text} is only valid with \`${key}\``),
  ),
  "config.reference/single": error(({ node, index }: Words<"node"> & { index: number }) =>
    texts(`${node} has no \`count\` or \`for_each\`, and so no instance [${index}]`),
  ),
  "config.reference/undeclared": error(({ noun, name, near }: Words<"noun" | "name"> & { near: string | undefined }) =>
    texts(`No ${noun} ${name.slice(0, 300)} is declared.${suggestionOf(near)}`),
  ),
  "config.reference/undeclared_name": unknown(
    "",
    ({ key, noun }: Unknown & Words<"noun">) => `No ${noun} "${short(key)}" is declared`,
  ),
} satisfies Catalogue;
