/**
 * Checks of the generated bindings: a warning about unencrypted secrets, and an error for two blocks with the same name in
 * Terraform.
 */
import type { IConstruct } from "constructs";

/** The parts of `cdktf` and `cdktn` that the warning needs. The bindings pass their library. */
export interface ConstructLibrary {
  readonly Annotations: { of(scope: IConstruct): { addWarning(message: string): void } };
  readonly Token: { isUnresolved(value: unknown): boolean };
}

/**
 * Warns if a secret attribute is a literal string: it would be unencrypted in `cdk.tf.json`. The generated bindings call this
 * function in the constructor and in setters. The warning never contains the value. It ends with its code and Terraform's
 * name of the attribute, `[config.secret password]`, so that a reader of the manifest can identify it.
 *
 * @param attribute Name of the property in TypeScript, such as `password`
 * @param value Given value. Tokens (variables, attributes, ephemeral values) and `"${…}"` are not literal strings.
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
  // Constructor and setter may both call this function.
  if (construct.node.metadata.some(({ data }) => data === message)) return;
  library.Annotations.of(construct).addWarning(message);
}

/** Pattern of `${`, which Terraform evaluates. `$${` is escaped. */
const TEMPLATE = /(?:^|[^$])(?:\$\$)*\$\{/;

const advice = (attribute: string) =>
  attribute === "token"
    ? "Leave it out, so that the environment variable HOSTING_TOKEN is read, or give `tokenEnv` or `tokenFile`."
    : `Give it from a variable, new TerraformVariable(stack, "${attribute}", { type: "string", sensitive: true }).stringValue, which TF_VAR_${attribute} sets.`;

/** The parts of `cdktf` and `cdktn` that the name check needs. */
export interface StackLibrary {
  readonly TerraformStack: { of(construct: IConstruct): IConstruct };
  readonly TerraformElement: { isTerraformElement(found: unknown): boolean };
  readonly TerraformDataSource: { isTerraformDataSource(found: unknown): boolean };
}

/** A resource, data source or ephemeral resource of any class. */
interface Block extends IConstruct {
  readonly terraformResourceType: string;
  readonly friendlyUniqueId: string;
}

const watched = new WeakSet<IConstruct>();

/**
 * Checks that the resources and data sources of `hosting` in a stack have unique, valid names in Terraform. CDKTF drops
 * characters that Terraform does not allow, so "a.b" and "ab" get the same name, and one block would silently replace the
 * other: one of two sites would not be ordered, or would be destroyed. The generated bindings call this function in the
 * constructor.
 *
 * The check runs at synthesis and reports the paths of both constructs. Until then a program may set another name
 * (`overrideLogicalId`), which CDKTF ignores once the name was read.
 */
export function watchNames(library: StackLibrary, construct: IConstruct): void {
  const stack = library.TerraformStack.of(construct);
  if (watched.has(stack)) return;
  watched.add(stack);
  stack.node.addValidation({ validate: () => nameMistakes(library, stack) });
}

function nameMistakes(library: StackLibrary, stack: IConstruct): string[] {
  const mistakes: string[] = [];
  const taken = new Map<string, string>();
  const misnamed = new Set<string>();
  for (const block of stack.node.findAll()) {
    if (!isOurs(library, block) || library.TerraformStack.of(block) !== stack) continue;
    const { friendlyUniqueId: name, terraformResourceType: type } = block;
    const path = shownPath(block);
    if (!/^[A-Za-z_]/.test(name)) {
      const first = firstId(block, stack);
      // Names of nested constructs begin with the same id, so report the id once.
      if (!misnamed.has(first)) mistakes.push(notAName(path, name, first));
      misnamed.add(first);
      continue;
    }
    const address = `${library.TerraformDataSource.isTerraformDataSource(block) ? "data." : ""}${type}.${name}`;
    const other = taken.get(address);
    if (other === undefined) taken.set(address, path);
    else {
      mistakes.push(
        `${path} is ${address} in Terraform, and so is ${other}: choose ids that differ in their letters, digits, "-" and "_"`,
      );
    }
  }
  return mistakes;
}

const isOurs = (library: StackLibrary, construct: IConstruct): construct is Block =>
  library.TerraformElement.isTerraformElement(construct) &&
  "terraformResourceType" in construct &&
  /^hosting_/.test(String(construct.terraformResourceType));

const notAName = (path: string, name: string, id: string) =>
  `${path} has the name ${JSON.stringify(name)} in Terraform, where a name begins with a letter: choose an id that does, such as ${JSON.stringify(`site-${id}`)}`;

/** Returns the first id below the stack, with which the name begins. */
function firstId({ node }: IConstruct, stack: IConstruct): string {
  const ids = node.scopes.slice(node.scopes.indexOf(stack) + 1).map((scope) => scope.node.id);
  return ids.find((id) => id !== "Default") ?? "";
}

/** Returns the path of the construct in the program. "Default" is the id of the resource inside it. */
const shownPath = ({ node }: IConstruct): string => (node.id === "Default" ? (node.scope ?? { node }).node : node).path;
