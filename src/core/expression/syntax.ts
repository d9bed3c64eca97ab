import type { AttributePath } from "../model/index.ts";
import type { Traversal, TraversalStep, Typed } from "./typed-value.ts";

// The syntax tree of expressions, and its traversal.

/** A node of the tree. `offset`: position in the source string. */
export type Expression = { readonly offset: number } & (
  | { readonly kind: "literal"; readonly value: Typed }
  /** A name, with its static steps: `hosting_service.acme[0].id`. */
  | { readonly kind: "name"; readonly root: string; readonly steps: readonly TraversalStep[]; readonly text: string }
  /** Any other expression with static steps: `f(x).id`. */
  | { readonly kind: "access"; readonly source: Expression; readonly steps: readonly TraversalStep[] }
  /** `source[key]` with a computed key. */
  | { readonly kind: "index"; readonly source: Expression; readonly key: Expression }
  /** `source[*]each` or `source.*each`. `each` is evaluated once per element. */
  | { readonly kind: "splat"; readonly source: Expression; readonly each: Expression }
  /** Current element of the innermost splat. */
  | { readonly kind: "item" }
  /** `(inner)`, or a string that is only `"${inner}"`. Prevents later steps from becoming part of a name in `inner`. */
  | { readonly kind: "parentheses"; readonly inner: Expression }
  | { readonly kind: "tuple"; readonly items: readonly Expression[] }
  | {
      readonly kind: "object";
      readonly entries: readonly { readonly key: Expression; readonly value: Expression }[];
      /** True for JSON, where a duplicate key is an error. In native syntax, the last one counts. */
      readonly unique?: true;
    }
  /**
   * `[for key, value in source: body if condition]`. With a key expression, the result is an object; `...` groups its values.
   */
  | {
      readonly kind: "for";
      readonly keyName?: string;
      readonly valueName: string;
      readonly source: Expression;
      readonly key?: Expression;
      readonly body: Expression;
      readonly condition?: Expression;
      readonly group: boolean;
    }
  | { readonly kind: "conditional"; readonly condition: Expression; readonly yes: Expression; readonly no: Expression }
  | { readonly kind: "binary"; readonly operator: Operator; readonly left: Expression; readonly right: Expression }
  | { readonly kind: "unary"; readonly operator: "-" | "!"; readonly operand: Expression }
  | {
      readonly kind: "call";
      readonly name: string;
      readonly args: readonly Expression[];
      /** True for `f(xs...)`: the elements of the last argument become arguments. */
      readonly expand: boolean;
    }
  /** Parts to concatenate. */
  | { readonly kind: "template"; readonly parts: readonly Expression[] }
  /** Results of a `%{for}`, to concatenate. */
  | { readonly kind: "join"; readonly texts: NodeOf<"for"> }
  /** A string in a JSON value. Errors in it contain its path. */
  | { readonly kind: "placed"; readonly path: AttributePath; readonly inner: Expression }
);

export type NodeOf<Kind extends Expression["kind"]> = Extract<Expression, { readonly kind: Kind }>;

export type Operator = "||" | "&&" | "==" | "!=" | ">" | ">=" | "<" | "<=" | "+" | "-" | "*" | "/" | "%";

/** Returns the child nodes in the order of the text. */
export function childrenOf(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case "literal":
    case "name":
    case "item":
      return [];
    case "access":
      return [node.source];
    case "index":
      return [node.source, node.key];
    case "splat":
      return [node.source, node.each];
    case "parentheses":
    case "placed":
      return [node.inner];
    case "tuple":
      return node.items;
    case "object":
      return node.entries.flatMap(({ key, value }) => [key, value]);
    case "for":
      return [node.source, node.key, node.body, node.condition].filter((child) => child !== undefined);
    case "conditional":
      return [node.condition, node.yes, node.no];
    case "binary":
      return [node.left, node.right];
    case "unary":
      return [node.operand];
    case "call":
      return node.args;
    case "template":
      return node.parts;
    case "join":
      return [node.texts];
  }
}

/** A name, with the path of its string in the JSON value. */
export interface PlacedTraversal extends Traversal {
  readonly path: AttributePath;
}

/** Returns the names in an expression in the order of the text. Omits variables of `for`. */
export function traversalsOf(expression: Expression): readonly PlacedTraversal[] {
  const found: PlacedTraversal[] = [];
  const visit = (node: Expression, path: AttributePath, bound: ReadonlySet<string>): void => {
    if (node.kind === "name") {
      const { root, steps, text, offset } = node;
      if (!bound.has(root)) found.push({ root, steps, text, offset, path });
    } else if (node.kind === "placed") visit(node.inner, node.path, bound);
    else if (node.kind === "for") {
      visit(node.source, path, bound);
      const names = new Set([...bound, ...(node.keyName === undefined ? [] : [node.keyName]), node.valueName]);
      for (const child of childrenOf(node)) if (child !== node.source) visit(child, path, names);
    } else for (const child of childrenOf(node)) visit(child, path, bound);
  };
  visit(expression, [], new Set());
  return found;
}

/** Returns the name of the first function call in an expression. Undefined if there is none. */
export function callIn(expression: Expression): string | undefined {
  if (expression.kind === "call") return expression.name;
  for (const part of childrenOf(expression)) {
    const found = callIn(part);
    if (found !== undefined) return found;
  }
  return undefined;
}
