import type { AttributePath } from "../model/index.ts";
import { childrenOf, type Expression, type For } from "./syntax.ts";
import type { Traversal } from "./value.ts";

/** A name of the surroundings, with the path of the string in the JSON value that it stands in. */
export interface PlacedTraversal extends Traversal {
  readonly path: AttributePath;
}

/** Every name of the surroundings that an expression uses, in the order of the text; names that `for` binds are not among them. */
export function traversalsOf(expression: Expression): readonly PlacedTraversal[] {
  const found: PlacedTraversal[] = [];
  const visit = (node: Expression, path: AttributePath, bound: ReadonlySet<string>): void => {
    if (node.kind === "name") {
      const { root, steps, text, offset } = node;
      if (!bound.has(root)) found.push({ root, steps, text, offset, path });
    } else if (node.kind === "placed") visit(node.inner, node.path, bound);
    else if (node.kind === "for") {
      visit(node.source, path, bound);
      const names = new Set([...bound, ...namesOf(node)]);
      for (const child of childrenOf(node)) if (child !== node.source) visit(child, path, names);
    } else for (const child of childrenOf(node)) visit(child, path, bound);
  };
  visit(expression, [], new Set());
  return found;
}

function namesOf({ keyName, valueName }: For): readonly string[] {
  return keyName === undefined ? [valueName] : [keyName, valueName];
}
