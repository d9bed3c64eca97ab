import { type TerraformResource, TerraformStack } from "cdktf";

/** Of each stack: the names that are taken, by type, with the path of what has them. */
const taken = new WeakMap<TerraformStack, Map<string, string>>();

/**
 * Sees to it that a resource has a name in Terraform, and has it alone. CDKTF leaves out of a name whatever Terraform does
 * not allow in one. So "a.b" and "ab" become one name, and the one resource would silently take the place of the other:
 * of two sites one would not be ordered, or end.
 *
 * @throws Error for a name that is no name, or that another has
 */
export function claimName(resource: TerraformResource): void {
  const name = resource.friendlyUniqueId;
  const { id } = resource.node.scope?.node ?? resource.node;
  if (!/^[A-Za-z_]/.test(name)) {
    throw new Error(
      `The id ${JSON.stringify(id)} gives the name ${JSON.stringify(name)} in Terraform, where a name begins with a letter: choose an id that does, such as ${JSON.stringify(`site-${name}`)}`,
    );
  }
  const stack = TerraformStack.of(resource);
  const names = taken.get(stack) ?? new Map<string, string>();
  taken.set(stack, names);
  const address = `${resource.terraformResourceType}.${name}`;
  const other = names.get(address);
  if (other !== undefined) {
    throw new Error(
      `In Terraform this is ${address}, and so is ${other}: choose ids that differ in their letters, digits, "-" and "_"`,
    );
  }
  names.set(address, resource.node.path);
}
