import { kinds } from "../../../../src/core/kinds/index.ts";
import { type Diagnostic, type EvalScope, type Json, UNKNOWN, type Value } from "../../../../src/core/model/index.ts";
import { type GivenVariable, parseStack, type StackOptions } from "../../../../src/fronts/stacks/index.ts";
import { catalogue } from "../../../../src/fronts/terraform/catalogue.ts";

const schemas: StackOptions["schemas"] = {
  resource: (type) => catalogue.resources.get(type),
  data: (type) => catalogue.dataSources.get(type),
  provider: catalogue.provider,
};

/** Provider of the stacks in these tests: one account of a project. */
export const PROVIDER = { hosting: [{ project: "agency" }] } as const;

/** Valid service. */
export const SERVICE = { plan_id: 11, currency: "USD", domain: "www.acme.example" } as const;

/** Reads one stack. @param stack Value, or JSON text. */
export function read(stack: Json, over: Partial<StackOptions> = {}) {
  const text = typeof stack === "string" ? stack : JSON.stringify(stack, null, 2);
  return readFiles({ "cdk.tf.json": text }, over);
}

export function readFiles(files: Readonly<Record<string, string>>, over: Partial<StackOptions> = {}) {
  const sources = Object.entries(files).map(([path, text]) => ({ path, text }));
  const options = {
    kinds,
    env: {},
    schemas,
    variables: [],
    siblings: new Map(),
    folder: "stack",
    version: "1.4.2",
    ...over,
  };
  return parseStack(sources, options);
}

/** Returns the desired resources. Throws an Error with all diagnostics if the stack is invalid. */
export function desiredOf(stack: Json, over: Partial<StackOptions> = {}) {
  const { desired, diagnostics } = read(stack, over);
  if (desired === undefined) throw new Error(diagnostics.map(line).join("\n"));
  return desired;
}

/** Formats a diagnostic as `file:line:column construct code summary`. */
export function line({ code, summary, range }: Diagnostic): string {
  const place = range === undefined ? "" : `${range.file}:${range.line}:${range.column} `;
  const construct = range?.construct === undefined ? "" : `${range.construct} `;
  return `${place}${construct}${code} ${summary}`;
}

export const linesOf = (stack: Json, over: Partial<StackOptions> = {}) => read(stack, over).diagnostics.map(line);

/** Returns variables as from `--var`, or from the environment if the name begins with TF_VAR_. */
export const given = (values: Readonly<Record<string, string>>): GivenVariable[] =>
  Object.entries(values).map(([name, text]) =>
    name.startsWith("TF_VAR_")
      ? { name: name.slice("TF_VAR_".length), from: name, value: { text } }
      : { name, from: "-var", value: { text } },
  );

/** Returns a scope with these resource values by address. Other resources are unknown. */
export const scope = (resources: Readonly<Record<string, Value>> = {}): EvalScope => ({
  resource: (address) => resources[address] ?? UNKNOWN,
  env: () => undefined,
});
