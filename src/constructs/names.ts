import type { IConstruct } from "constructs";

/** What both `cdktf` and `cdktn` export, as far as it is needed here: the bindings hand over the one that they are made for. */
export interface StackLibrary {
  readonly TerraformStack: { of(construct: IConstruct): IConstruct };
  readonly TerraformElement: { isTerraformElement(found: unknown): boolean };
  readonly TerraformDataSource: { isTerraformDataSource(found: unknown): boolean };
}

/** A resource, a data source or an ephemeral resource, of whichever class. */
interface Block extends IConstruct {
  readonly terraformResourceType: string;
  readonly friendlyUniqueId: string;
}

const watched = new WeakSet<IConstruct>();

/**
 * Sees to it that each resource and data source of `hosting` in the stack of a construct has a name in Terraform, and has it
 * alone. CDKTF leaves out of a name whatever Terraform does not allow in one. So "a.b" and "ab" become one name, and the one
 * block would silently take the place of the other: of two sites one would not be ordered, or end. Called by the generated
 * bindings, from the constructor.
 *
 * It is reported at synthesis, with the paths of both: until then a program may give another name (`overrideLogicalId`), which
 * CDKTF passes over once the name was asked for.
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
      // What lies below a construct begins with its id as well: once is enough.
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

/** The id below the stack, with which the name begins. */
function firstId({ node }: IConstruct, stack: IConstruct): string {
  const ids = node.scopes.slice(node.scopes.indexOf(stack) + 1).map((scope) => scope.node.id);
  return ids.find((id) => id !== "Default") ?? "";
}

/** The path of what the program has made: what is called "Default" is the inside of a construct. */
const shownPath = ({ node }: IConstruct): string => (node.id === "Default" ? (node.scope ?? { node }).node : node).path;
