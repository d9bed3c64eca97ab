/** The variables, locals and resources in the expressions of the corpus, for Terraform and for hostform. */
import {
  compileJson,
  evaluate,
  fromValue,
  type Language,
  type Names,
  parseType,
  type Traversal,
  type Typed,
} from "../../../src/core/expression/index.ts";
import { type Json, UNKNOWN, type Value } from "../../../src/core/model/index.ts";

interface Variable {
  readonly type: string;
  readonly default: Json;
  readonly sensitive?: true;
}

export const VARIABLES: Readonly<Record<string, Variable>> = {
  str: { type: "string", default: "Hello" },
  empty: { type: "string", default: "" },
  uni: { type: "string", default: "Grüße 👩‍👩‍👧 ẞ" },
  multi: { type: "string", default: "one\n  two\nthree\n" },
  num: { type: "number", default: 3 },
  frac: { type: "number", default: 2.5 },
  neg: { type: "number", default: -7 },
  zero: { type: "number", default: 0 },
  flag: { type: "bool", default: true },
  off: { type: "bool", default: false },
  nothing: { type: "string", default: null },
  no_number: { type: "number", default: null },
  no_list: { type: "list(string)", default: null },
  untyped: { type: "any", default: null },
  list: { type: "list(string)", default: ["b", "a", "c", "a"] },
  none: { type: "list(string)", default: [] },
  holes: { type: "list(string)", default: ["x", null, ""] },
  nums: { type: "list(number)", default: [3, 1, 2.5, 10] },
  bools: { type: "list(bool)", default: [true, false] },
  lists: { type: "list(list(string))", default: [["a", "b"], [], ["c"]] },
  set: { type: "set(string)", default: ["zeta", "alpha", "Beta", "alpha"] },
  numset: { type: "set(number)", default: [10, 9, 1.5, 9] },
  map: { type: "map(string)", default: { x: "1", y: "2", "a-b": "dash" } },
  nomap: { type: "map(string)", default: {} },
  counts: { type: "map(number)", default: { one: 1, two: 2 } },
  tags: { type: "map(list(string))", default: { web: ["a", "b"], db: ["b"] } },
  obj: {
    type: "object({name=string,tags=list(string),size=optional(number,5)})",
    default: { name: "n", tags: ["t", "u"] },
  },
  objs: {
    type: "list(object({name=string,n=number}))",
    default: [
      { name: "b", n: 2 },
      { name: "a", n: 1 },
      { name: "b", n: 3 },
    ],
  },
  mixed: { type: "any", default: [1, "a", true, { k: null }] },
  clients: {
    type: "map(object({domain=string,plan=number,mails=list(string)}))",
    default: {
      acme: { domain: "acme.example", plan: 11, mails: ["dev@acme.example", "it@acme.example"] },
      zoo: { domain: "zoo.example", plan: 12, mails: [] },
    },
  },
  secret: { type: "string", default: "hush", sensitive: true },
  secrets: { type: "map(string)", default: { a: "s1", b: "s2" }, sensitive: true },
  secretlist: { type: "list(string)", default: ["s1", "s2"], sensitive: true },
};

export const LOCALS: Readonly<Record<string, Json>> = {
  loc: { a: 1, b: ["x", "${var.str}"] },
  tuple: [1, "two", [3]],
  partly: { plain: "p", hidden: "${var.secret}" },
};

/** Inputs of `terraform_data`, which is built into Terraform. Its output is known only after apply. */
export const RESOURCES: Readonly<Record<string, Json>> = {
  text: "hello",
  list: ["p", "q"],
  object: { a: "1", b: ["2"] },
  number: 4,
};

/** The same names as a configuration in JSON syntax, without outputs. */
export const CONFIGURATION = {
  variable: VARIABLES,
  locals: LOCALS,
  resource: {
    terraform_data: Object.fromEntries(Object.entries(RESOURCES).map(([name, input]) => [name, { input }])),
  },
};

/** Terraform first validates without the values of variables, then plans, then applies. */
export type Phase = "validated" | "planned" | "applied";

/** Returns the names and their values in a phase. */
export function namesOf(phase: Phase, language: Language = "1.12"): Names {
  const names: Names = {
    language,
    resolve({ root, steps }: Traversal) {
      const [name] = steps;
      if (typeof name !== "string") return undefined;
      const value = lookUp(root, name);
      return value === undefined ? undefined : { value, used: 1 };
    },
  };
  const lookUp = (root: string, name: string): Typed | undefined => {
    if (root === "var" && Object.hasOwn(VARIABLES, name)) {
      const { type = "any", default: value = null, sensitive } = VARIABLES[name] ?? {};
      const typed = fromValue(phase === "validated" ? UNKNOWN : value, parseType(type));
      return sensitive === true ? { ...typed, secret: { from: ["var.secret"] } } : typed;
    }
    if (root === "local" && Object.hasOwn(LOCALS, name)) return evaluate(compileJson(LOCALS[name] ?? null), names);
    if (root === "terraform_data" && Object.hasOwn(RESOURCES, name)) return resource(RESOURCES[name] ?? null, phase);
    return undefined;
  };
  return names;
}

function resource(input: Value, phase: Phase): Typed {
  if (phase === "validated") return fromValue(UNKNOWN);
  const id = fromValue(phase === "planned" ? UNKNOWN : "00000000-0000-0000-0000-000000000000", "string");
  const parts: readonly (readonly [string, Typed])[] = [
    ["id", id],
    ["input", fromValue(input)],
    // Terraform knows the type of the output before the apply.
    ["output", phase === "planned" ? { type: fromValue(input).type, content: UNKNOWN } : fromValue(input)],
    ["triggers_replace", fromValue(null)],
  ];
  return { type: { object: Object.fromEntries(parts.map(([key, { type }]) => [key, type])) }, content: new Map(parts) };
}
