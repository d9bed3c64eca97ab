/** Messages about errors in expressions and names. */
import { type Catalogue, error, type Words } from "../../core/messages/message.ts";
import { shorten } from "../../core/model/index.ts";
import { form, short, suggestionOf, texts, type Unknown, unknown } from "../source/messages.ts";

const COUNT = "Use a whole number, or an expression that gives one.";
const FOR_EACH = 'Use an object, or a set of strings: `"${toset(["a", "b"])}"`.';
const DECLARE = "Declare the resource, or correct the address.";
const HIDDEN = "The expression is not shown, because its value is a secret.";
/** Maximum number of characters of an expression in a message. */
const LONGEST = 200;

/** `count` or `for_each`, and a name in its value. */
type Repetition = Words<"key" | "text">;
type Expression = Words<"summary"> & { readonly expression: string | undefined; readonly isHidden: boolean };

export const names = {
  "config.expression/backend": error(
    texts("The settings of a backend cannot be expressions", "Write the value instead of the expression."),
  ),
  "config.expression/ephemeral": error(
    texts(
      "{name} is stored in the state, so it cannot use {text}, which is ephemeral",
      "Use a `sensitive` variable, or a write-only attribute.",
    ),
  ),
  "config.expression/ephemeral_output": error(
    texts(
      'The output "{name}" is stored in the state, so it cannot use {text}, which is ephemeral',
      "Remove the output.",
    ),
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
      "Write the id, or use a variable that is not sensitive.",
    ),
  ),
  "config.expression/provider": error(
    texts(
      '"{key}" of a provider depends on {text}, which is known only after the account is read',
      "Use only variables, locals and literals: a plan needs the provider first.",
    ),
  ),
  "config.expression/validation": error(
    texts(
      'The condition of the variable "{name}" is neither true nor false',
      "Use only the variable itself, other variables, and locals that do not depend on the account.",
    ),
  ),
  "config.reference/hosting_address": error(
    texts(
      "This is not the address of a hosting resource",
      "Write a resource address such as hosting_service.acme, without `${}` and without a module.",
    ),
  ),
  "config.reference/removed_key": error(
    texts("`from` of `removed` must be a resource, not an instance", "Remove the key of the instance."),
  ),
  "config.expression/stack": error(({ summary, expression, isHidden }: Expression) =>
    texts(
      summary,
      "Correct the expression. If hostform does not support it, apply the stack with Terraform.",
      isHidden ? HIDDEN : expression && `The expression is ${shorten(expression, LONGEST)}`,
    ),
  ),
  "config.expression/ephemeral_repetition": error(({ key, text }: Repetition) =>
    texts(`\`${key}\` cannot depend on ${text}, which is ephemeral`, key === "count" ? COUNT : FOR_EACH),
  ),
  "config.expression/count": error((_: Repetition) =>
    texts("`count` must be a whole number that is not negative", COUNT),
  ),
  "config.expression/enabled": error((_: Repetition) =>
    texts("`enabled` must be true or false", "Write a condition over values of the stack."),
  ),
  "config.expression/for_each": error((_: Repetition) =>
    texts("`for_each` must be an object, a map, or a set of strings", FOR_EACH),
  ),
  "config.expression/for_each_secret": error((_: Repetition) =>
    texts(
      "`for_each` cannot be a secret",
      "Iterate over a value that is not secret, because its keys are part of shown addresses.",
    ),
  ),
  "config.expression/unknown": error(
    texts(
      "`{key}` depends on {text}, which is known only after apply",
      "Use only values of the stack, because the number of instances must not depend on the account.",
    ),
  ),
  "config.expression/unknown_output": error(
    texts(
      "`{key}` depends on an output of another stack, which is known only after that stack is applied",
      "Apply the other stack first.",
    ),
  ),
  "config.reference/attribute": unknown(
    "It has",
    ({ key, of }: Unknown & Words<"of">) => `${of} has no attribute "${short(key)}"`,
  ),
  "config.reference/count": error(texts("`count` has only `index`")),
  "config.reference/each": error(texts("`each` has only `key` and `value`")),
  "config.reference/counted": error(texts("{node} has `count`; use the address of one instance, such as {node}[0]")),
  "config.reference/import": error(texts("No resource {base} is declared", DECLARE)),
  "config.reference/import_instance": error(
    texts("{base} has several instances; use the address of one instance", "Write an address such as {example}."),
  ),
  "config.reference/import_key": error(texts("{instance} does not exist", DECLARE)),
  "config.reference/import_provider": error(
    texts("The `import` of {base} has another provider than the resource", "Remove `provider` here."),
  ),
  "config.reference/name": error(({ text }: Words<"text">) =>
    texts("", undefined, `The expression refers to ${text.slice(0, LONGEST)}.`),
  ),
  "config.reference/nameless": error(texts("The name of a {noun} is missing")),
  "config.reference/remote_state": error(
    texts(
      "The outputs of {state} are not known",
      "Apply that stack first, in the same project.",
      "hostform reads the outputs of other stacks from the states of these stacks.",
    ),
  ),
  "config.reference/repetition": error(texts("{text} is only valid with `{key}`")),
  "config.reference/single": error(texts("{node} has no `count` or `for_each`, so it has no instance [{index}]")),
  "config.reference/undeclared": error(({ noun, name, near }: Words<"noun" | "name"> & { near: string | undefined }) =>
    texts(`No ${noun} ${name.slice(0, 300)} is declared.${suggestionOf(near)}`),
  ),
  "config.reference/undeclared_name": unknown(
    "",
    ({ key, noun }: Unknown & Words<"noun">) => `No ${noun} "${short(key)}" is declared`,
  ),
} satisfies Catalogue;
