import type { AttributePath } from "../model/index.ts";
import type { Traversal, TraversalStep, Typed } from "./typed-value.ts";

// The syntax tree of expressions, and queries on it that need no evaluation.

/** A node of the tree. `offset` is its place in the source string. */
export type Expression = { readonly offset: number } & (
  | { readonly kind: "literal"; readonly value: Typed }
  /** A name with the static steps that follow it: `hosting_service.acme[0].id`. */
  | { readonly kind: "name"; readonly root: string; readonly steps: readonly TraversalStep[]; readonly text: string }
  /** Static steps into an expression that is not a name: `f(x).id`. */
  | { readonly kind: "access"; readonly source: Expression; readonly steps: readonly TraversalStep[] }
  /** `source[key]` with a key that has to be evaluated. */
  | { readonly kind: "index"; readonly source: Expression; readonly key: Expression }
  /** `source[*]each` or `source.*each`: `each` is evaluated with every element as its item. */
  | { readonly kind: "splat"; readonly source: Expression; readonly each: Expression }
  /** The current element of the nearest enclosing splat. */
  | { readonly kind: "item" }
  /** `(inner)`, or a string that is just `"${inner}"`: the same value, but following steps do not extend a name in it. */
  | { readonly kind: "parentheses"; readonly inner: Expression }
  | { readonly kind: "tuple"; readonly items: readonly Expression[] }
  | {
      readonly kind: "object";
      readonly entries: readonly { readonly key: Expression; readonly value: Expression }[];
      /** In JSON duplicate keys are errors; in native syntax the last one counts. */
      readonly unique?: true;
    }
  /** `[for key, value in source: body if condition]`, or with a key expression an object, its values grouped with `...`. */
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
      /** `f(xs...)`: the elements of the last argument are arguments. */
      readonly expand: boolean;
    }
  /** Parts to concatenate. */
  | { readonly kind: "template"; readonly parts: readonly Expression[] }
  /** The results of a `%{for}`, concatenated. */
  | { readonly kind: "join"; readonly texts: NodeOf<"for"> }
  /** A string within a JSON value; its errors have the path. */
  | { readonly kind: "placed"; readonly path: AttributePath; readonly inner: Expression }
);

/** The nodes of one kind. */
export type NodeOf<Kind extends Expression["kind"]> = Extract<Expression, { readonly kind: Kind }>;

export type Operator = "||" | "&&" | "==" | "!=" | ">" | ">=" | "<" | "<=" | "+" | "-" | "*" | "/" | "%";

/** The child nodes, in the order of the text. */
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

/** The names that an expression uses, in the order of the text, without those that `for` binds. */
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

/** The name of the first function call in an expression, if any. */
export function callIn(expression: Expression): string | undefined {
  if (expression.kind === "call") return expression.name;
  for (const part of childrenOf(expression)) {
    const found = callIn(part);
    if (found !== undefined) return found;
  }
  return undefined;
}
