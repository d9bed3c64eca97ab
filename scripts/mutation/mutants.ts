// Mutants of a source file, and the file with all of them built in: a mutant is switched on by its number while
// the tests run, so that one process tests thousands. Prose is left as it is: a string with a space in it is a message.
import { type ParserOptions, parse } from "@babel/parser";

export interface Mutant {
  readonly id: number;
  readonly file: string;
  readonly line: number;
  /** Identity in the list of explained ones: function, operator, before and after, without a line number. */
  readonly key: string;
  readonly operator: string;
  readonly from: string;
  readonly to: string;
}

/** A node of the tree, as far as it is looked at here. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly loc: { readonly start: { readonly line: number } };
  readonly [key: string]: unknown;
}

type Wrap = "expression" | "drop" | "spread" | "start";
interface Draft {
  readonly operator: string;
  readonly to: string;
  readonly wrap: Wrap;
}

/** Place of a node: its parent, and its meaning there. */
interface Place {
  readonly parent: Node | undefined;
  readonly key: string;
  /** The node decides a branch, or is an operand of a condition: forcing the whole condition proves more than negating it. */
  readonly decides: boolean;
}

const BOUNDS: Readonly<Record<string, string>> = { "<": "<=", "<=": "<", ">": ">=", ">=": ">" };
const FLIPS: Readonly<Record<string, string>> = {
  "===": "!==",
  "!==": "===",
  "<": ">=",
  "<=": ">",
  ">": "<=",
  ">=": "<",
};
const SUMS: Readonly<Record<string, string>> = { "+": "-", "-": "+", "*": "/", "/": "*", "%": "*" };
const LOOPS = new Set(["WhileStatement", "DoWhileStatement", "ForStatement", "ForOfStatement", "ForInStatement"]);
const FUNCTIONS = new Set([
  "FunctionDeclaration",
  "FunctionExpression",
  "ArrowFunctionExpression",
  "ClassMethod",
  "ClassPrivateMethod",
  "ObjectMethod",
]);
/** Nodes of type syntax that have a value. */
const VALUES = new Set(["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression"]);

const OPTIONS: ParserOptions = { sourceType: "module", plugins: ["typescript"], createParenthesizedExpressions: true };

/** The tree and the text of one file. */
class Source {
  readonly text: string;
  readonly program: Node;
  constructor(text: string) {
    this.text = text;
    this.program = parse(text, OPTIONS).program as unknown as Node;
  }
  of = (node: unknown): string => this.text.slice((node as Node).start, (node as Node).end);
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string" && "start" in value;

/** The parts of a node that run, in the order of the text, each with its place. */
function childrenOf(node: Node, place: Place): [Node, Place][] {
  if (node.type === "ImportDeclaration") return [];
  if (node.type === "ParenthesizedExpression") return [[node.expression as Node, place]];
  const logical = node.type === "LogicalExpression" && node.operator !== "??";
  const passed = place.decides && (logical || (node.type === "UnaryExpression" && node.operator === "!"));
  const found: [Node, Place][] = [];
  for (const [key, value] of Object.entries(node)) {
    if (/^(?:\w+Comments|extra)$/.test(key) || (key === "key" && !node.computed)) continue;
    const branches = key === "test" && (LOOPS.has(node.type) || /^(?:If|Conditional)/.test(node.type));
    for (const child of Array.isArray(value) ? value : [value]) {
      if (!isNode(child) || (child.type.startsWith("TS") && !VALUES.has(child.type))) continue;
      found.push([child, { parent: node, key, decides: branches || passed }]);
    }
  }
  return found.toSorted(([a], [b]) => a.start - b.start);
}

/** Early returns of a function, by its declared type; empty if no simple value fits. */
function emptyResult(source: Source, node: Node): readonly string[] {
  const { returnType } = node as { returnType?: unknown };
  const type = isNode(returnType) ? source.of(returnType).replace(/^:\s*/, "") : "";
  const inner = node.async ? type.replace(/^Promise<([\s\S]*)>$/, "$1") : type;
  if (/^(?:void|undefined)$|\bundefined$|^undefined \|/.test(inner)) return ["return;"];
  if (/\[\]$|^(?:Readonly)?Array</.test(inner)) return ["return [];"];
  if (inner === "boolean" || / is /.test(inner)) return ["return true;", "return false;"];
  return inner === "string" ? ['return "";'] : [];
}

/** The mutants of a node itself, not of its parts. */
function draftsOf(source: Source, node: Node, { parent, key, decides }: Place): Draft[] {
  const of = source.of;
  const change = (operator: string, to: string): Draft => ({ operator, to, wrap: "expression" });
  const drafts: Draft[] = [];
  const root = decides && parent?.type !== "LogicalExpression" && parent?.type !== "UnaryExpression";
  if (root && !/^(?:true|false)$/.test(of(node))) {
    if (!LOOPS.has(parent?.type ?? "")) drafts.push(change("cond-true", "true"));
    drafts.push(change("cond-false", "false"));
  }
  const { operator, left, right } = node as { operator?: string; left?: unknown; right?: unknown };
  switch (node.type) {
    case "LogicalExpression": {
      const name = operator === "??" ? "nullish" : "logic";
      drafts.push(change(`${name}-drop-left`, of(right)));
      // `...(a && b)` without b is as good as without all of it.
      if (parent?.type !== "SpreadElement") drafts.push(change(`${name}-drop-right`, of(left)));
      break;
    }
    case "BinaryExpression": {
      const swap = (to: string) => `${of(left)} ${to} ${of(right)}`;
      const [bound, flip, sum] = [BOUNDS, FLIPS, SUMS].map((table) => table[operator ?? ""]);
      if (bound) drafts.push(change("bound", swap(bound)));
      if (flip && !decides) drafts.push(change("compare", swap(flip)));
      if (sum) drafts.push(change("arithmetic", swap(sum)));
      break;
    }
    case "UnaryExpression":
      if (operator === "!" && !decides) drafts.push(change("not-drop", of(node.argument)));
      break;
    case "AssignmentExpression":
      if (/^(?:\?\?|\|\||&&)=$/.test(operator ?? "")) drafts.push(change("assign", `${of(left)} = ${of(right)}`));
      break;
    case "NumericLiteral":
      for (const step of [1, -1]) drafts.push(change("number", String(Number(node.value) + step)));
      break;
    case "BooleanLiteral":
      drafts.push(change("boolean", String(node.value !== true)));
      break;
    case "ArrayExpression":
      if ((node.elements as unknown[]).length > 0) drafts.push(change("array-empty", "[]"));
      break;
    case "StringLiteral":
    case "TemplateLiteral": {
      const compared = parent?.type === "BinaryExpression" || parent?.type === "ImportExpression";
      const name = key === "source" || key === "quasi";
      if (!compared && !name && /^[^\s]{3,}$/.test(of(node))) drafts.push(change("string-empty", '""'));
      break;
    }
    case "SpreadElement":
      drafts.push({ operator: "spread-drop", to: parent?.type === "ObjectExpression" ? "{}" : "[]", wrap: "spread" });
      break;
    case "ThrowStatement":
      drafts.push({ operator: "throw-drop", to: ";", wrap: "drop" });
      break;
    case "ContinueStatement":
    case "ExpressionStatement":
      if (!of(node).startsWith("super(")) drafts.push({ operator: "stmt-drop", to: ";", wrap: "drop" });
      break;
    case "BlockStatement":
      if (key === "body" && parent && FUNCTIONS.has(parent.type) && (node.body as unknown[]).length > 1)
        for (const to of emptyResult(source, parent)) drafts.push({ operator: "early-return", to, wrap: "start" });
      break;
  }
  return drafts.filter(({ to, wrap }) => wrap !== "expression" || flat(to) !== flat(of(node)));
}

const flat = (text: string) => text.replace(/\s+/g, " ").trim();
const cut = (text: string) => (flat(text).length > 120 ? `${flat(text).slice(0, 119)}…` : flat(text));

/** The name of a function, method or property that a node defines. */
function nameOf(source: Source, node: Node): string | undefined {
  const named = /^(?:FunctionDeclaration|VariableDeclarator|Class\w*|Object(?:Method|Property))$/.test(node.type);
  const name = named ? (node.id ?? node.key) : undefined;
  return isNode(name) && /Identifier|PrivateName/.test(name.type) ? source.of(name) : undefined;
}

/** The text with mutants built in. `mutation` in it is what `runner.ts` puts into the global object. */
export interface Instrumented {
  readonly text: string;
  readonly mutants: readonly Mutant[];
}

/**
 * Finds all mutants of a file and builds in those that are chosen.
 * @param firstId of the mutants of this file; the others follow.
 * @param plain whether they replace what was there instead of being switched on by number.
 */
export function instrument(
  text: string,
  file: string,
  firstId: number,
  chosen: (id: number) => boolean,
  plain = false,
): Instrumented {
  const source = new Source(text);
  const mutants: Mutant[] = [];
  const seen = new Map<string, number>();
  const mutation = "globalThis.mutation";

  const number = (draft: Draft, node: Node, within: string): number => {
    const from = draft.wrap === "start" ? "" : cut(source.of(node));
    const content = `${within || "module"} ${draft.operator}: ${from} => ${cut(draft.to)}`.replace(/ +/g, " ").trim();
    const nth = (seen.get(content) ?? 0) + 1;
    seen.set(content, nth);
    const id = firstId + mutants.length;
    const { operator, to } = draft;
    const key = nth === 1 ? content : `${content} #${nth}`;
    mutants.push({ id, file, line: node.loc.start.line, key, operator, from, to: cut(to) });
    return id;
  };

  /** @param constant collects the mutants that stand in no function, but in the value of a constant. */
  const render = (node: Node, place: Place, within: string, constant: number[] | undefined): string => {
    const inside = nameOf(source, node) ?? within;
    const deeper = FUNCTIONS.has(node.type) ? undefined : constant;
    const top = node.type === "VariableDeclaration" && place.parent === undefined && node.kind === "const";
    if (top || (node.type === "ExportNamedDeclaration" && isTopConst(node))) return renderConstant(node);
    const ids = draftsOf(source, node, place)
      .map((draft) => ({ draft, id: number(draft, node, inside) }))
      .filter(({ id }) => chosen(id));
    constant?.push(...ids.map(({ id }) => id));
    let [out, at] = ["", node.start];
    for (const [child, where] of childrenOf(node, place)) {
      if (child.start < at) continue;
      out += source.text.slice(at, child.start) + render(child, where, inside, deeper);
      at = child.end;
    }
    out += source.text.slice(at, node.end);
    if (LOOPS.has(place.parent?.type ?? "") && place.key === "body" && !plain) out = `{ ${mutation}.tick(); ${out} }`;
    for (const { draft, id } of ids) out = built(out, draft, plain ? undefined : `${mutation}.on(${id})`);
    return out;
  };

  /** A constant of the module is computed again when a mutant in it is switched on or off. */
  const renderConstant = (node: Node): string => {
    const declaration = (node.declaration ?? node) as Node;
    const [one, ...others] = declaration.declarations as Node[];
    const place: Place = { parent: declaration, key: "declarations", decides: false };
    const init = one?.init as Node | null | undefined;
    if (!one || !init || others.length > 0 || (one.id as Node).type !== "Identifier") return source.of(node);
    const ids: number[] = [];
    const name = String((one.id as Node).name);
    const value = render(
      init,
      { ...place, parent: one, key: "init" },
      name,
      FUNCTIONS.has(init.type) ? undefined : ids,
    );
    const head = source.text.slice(node.start, init.start);
    if (ids.length === 0 || plain) return `${head}${value};`;
    const again = `${mutation}.constant([${ids.join()}], () => { ${name} = (${value}); });`;
    return `${head.replace(/\bconst\b/, "let")}(${value}); ${again}`;
  };

  const isTopConst = (node: Node) => {
    const { declaration } = node as { declaration?: unknown };
    return isNode(declaration) && declaration.type === "VariableDeclaration" && declaration.kind === "const";
  };

  let [out, at] = ["", 0];
  for (const statement of source.program.body as Node[]) {
    out += source.text.slice(at, statement.start);
    // A statement of the module runs at its load, before any mutant is switched on.
    const once =
      /Statement$/.test(statement.type) || (statement.type === "VariableDeclaration" && statement.kind !== "const");
    out += once
      ? source.of(statement)
      : render(statement, { parent: undefined, key: "body", decides: false }, "", undefined);
    at = statement.end;
  }
  return { text: out + text.slice(at), mutants };
}

/** A part of the text with one mutant around it, or at its start; in its place without a condition. */
function built(out: string, { to, wrap }: Draft, on: string | undefined): string {
  switch (wrap) {
    case "expression":
      return on === undefined ? `(${to})` : `(${on} ? (${to}) : (${out}))`;
    case "spread":
      return on === undefined ? `...(${to})` : `...(${on} ? ${to} : (${out.slice(3)}))`;
    case "drop":
      // In braces of its own: an `else` that follows belongs to the `if` before.
      return on === undefined ? "{ }" : `{ if (!${on}) { ${out} } }`;
    case "start":
      return `{ ${on === undefined ? "" : `if (${on}) `}${to} ${out.slice(1)}`;
  }
}
