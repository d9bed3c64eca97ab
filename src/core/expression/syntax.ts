import type { AttributePath } from "../model/index.ts";
import type { Step, Typed } from "./value.ts";

/** A node of the tree: a plain object. `offset` is its place in the string that it was written in. */
export type Expression =
  | Literal
  | Name
  | Access
  | Index
  | Splat
  | Item
  | Parentheses
  | Tuple
  | ObjectNode
  | For
  | Conditional
  | Binary
  | Unary
  | Call
  | Template
  | Join
  | Placed;

interface Node {
  readonly offset: number;
}

export interface Literal extends Node {
  readonly kind: "literal";
  readonly value: Typed;
}

/** A name with the static steps that follow it: `hosting_service.acme[0].id`. */
export interface Name extends Node {
  readonly kind: "name";
  readonly root: string;
  readonly steps: readonly Step[];
  readonly text: string;
}

/** Static steps into what is not a name: `f(x).id`. */
export interface Access extends Node {
  readonly kind: "access";
  readonly source: Expression;
  readonly steps: readonly Step[];
}

/** `source[key]` with a key that has to be evaluated. */
export interface Index extends Node {
  readonly kind: "index";
  readonly source: Expression;
  readonly key: Expression;
}

/** `source[*]each` or `source.*each`: `each` is evaluated with every element as its {@link Item}. */
export interface Splat extends Node {
  readonly kind: "splat";
  readonly source: Expression;
  readonly each: Expression;
}

/** The element that the nearest splat around is at. */
export interface Item extends Node {
  readonly kind: "item";
}

/** `(inner)`, or a string that is nothing but `"${inner}"`: the same value, but what follows does not extend a name in it. */
export interface Parentheses extends Node {
  readonly kind: "parentheses";
  readonly inner: Expression;
}

export interface Tuple extends Node {
  readonly kind: "tuple";
  readonly items: readonly Expression[];
}

export interface ObjectNode extends Node {
  readonly kind: "object";
  readonly entries: readonly { readonly key: Expression; readonly value: Expression }[];
  /** Of JSON: the same key twice is a mistake. In native syntax the later one counts. */
  readonly unique?: true;
}

/** `[for key, value in source: body if condition]`, or with a key expression an object, its values grouped with `...`. */
export interface For extends Node {
  readonly kind: "for";
  readonly keyName?: string;
  readonly valueName: string;
  readonly source: Expression;
  readonly key?: Expression;
  readonly body: Expression;
  readonly condition?: Expression;
  readonly group: boolean;
}

export interface Conditional extends Node {
  readonly kind: "conditional";
  readonly condition: Expression;
  readonly yes: Expression;
  readonly no: Expression;
}

export type Operator = "||" | "&&" | "==" | "!=" | ">" | ">=" | "<" | "<=" | "+" | "-" | "*" | "/" | "%";

export interface Binary extends Node {
  readonly kind: "binary";
  readonly operator: Operator;
  readonly left: Expression;
  readonly right: Expression;
}

export interface Unary extends Node {
  readonly kind: "unary";
  readonly operator: "-" | "!";
  readonly operand: Expression;
}

export interface Call extends Node {
  readonly kind: "call";
  readonly name: string;
  readonly args: readonly Expression[];
  /** `f(xs...)`: the elements of the last one are arguments. */
  readonly expand: boolean;
}

/** Parts that make a text together. */
export interface Template extends Node {
  readonly kind: "template";
  readonly parts: readonly Expression[];
}

/** The texts of a `%{for}` one after another. */
export interface Join extends Node {
  readonly kind: "join";
  readonly texts: For;
}

/** A string within a JSON value: errors in it say where. */
export interface Placed extends Node {
  readonly kind: "placed";
  readonly path: AttributePath;
  readonly inner: Expression;
}

/** The nodes right below one, in the order of the text. */
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
