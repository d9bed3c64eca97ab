import type { IConstruct } from "constructs";

/** What both `cdktf` and `cdktn` export, as far as it is needed here: the bindings hand over the one that they are made for. */
export interface ConstructLibrary {
  readonly Annotations: { of(scope: IConstruct): { addWarning(message: string): void } };
  readonly Token: { isUnresolved(value: unknown): boolean };
}

/**
 * Warns at the construct when a secret attribute is given as a literal text: it would stand in clear text in
 * `cdk.tf.json`, which is written to disk and often kept. Called by the generated bindings, from the constructor and from
 * the setter. The warning never holds the value. It ends with its code and Terraform's name of the attribute,
 * `[config.secret password]`, by which a reader of the manifest recognizes it.
 *
 * @param attribute the name of the property in TypeScript, such as `password`
 * @param value what was given; tokens (variables, attributes, ephemeral values) and `"${…}"` are no literal texts
 */
export function warnOfClearText(
  library: ConstructLibrary,
  construct: IConstruct,
  attribute: string,
  value: unknown,
): void {
  if (typeof value !== "string" || value === "" || library.Token.isUnresolved(value) || TEMPLATE.test(value)) return;
  const name = attribute.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const message = `${attribute}: a literal text would stand in clear text in cdk.tf.json. ${advice(attribute)} If this text is a secret in use, change it. [config.secret ${name}]`;
  // The constructor and a setter may both have seen it.
  if (construct.node.metadata.some(({ data }) => data === message)) return;
  library.Annotations.of(construct).addWarning(message);
}

/** `${` that Terraform evaluates; `$${` is how a text says that it does not mean that. */
const TEMPLATE = /(?:^|[^$])(?:\$\$)*\$\{/;

const advice = (attribute: string) =>
  attribute === "token"
    ? "Leave it out, so that the environment variable HOSTING_TOKEN is read, or give `tokenEnv` or `tokenFile`."
    : `Give it from a variable, new TerraformVariable(stack, "${attribute}", { type: "string", sensitive: true }).stringValue, which TF_VAR_${attribute} sets.`;
