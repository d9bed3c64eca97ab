import { kinds } from "../../core/kinds/index.ts";
import { type Backend, isError } from "../../core/model/index.ts";
import type { Schema } from "../../core/model/schema.ts";
import type { Declaration } from "../../fronts/source/index.ts";
import { parseStack, remoteStatesOf } from "../../fronts/stacks/index.ts";
import type { Invocation } from "../io.ts";
import { readSiblings } from "./remote-state.ts";
import type { ActiveStack } from "./stack.ts";
import { isToldByConstruct } from "./told.ts";
import { secretsIn } from "./variables.ts";

/**
 * Reads the stack that a command works on: its files, what was given to its variables, and the outputs of the stacks
 * before it. Secrets among them are announced before anything can be shown.
 * @returns what a declaration in YAML gives; mistakes are in it, nothing is thrown for them.
 */
export async function readStack(invocation: Invocation, stack: ActiveStack): Promise<Declaration> {
  const { io } = invocation;
  io.redaction.learn(...secretsIn(stack.outline, stack.given));
  const siblings = await readSiblings(invocation, stack, remoteStatesOf(stack.files));
  const declaration = parseStack(stack.files, {
    kinds,
    env: io.env,
    schemas: await schemas(),
    variables: stack.given,
    siblings: siblings.outputs,
    siblingTypes: siblings.types,
    folder: stack.folder,
  });
  io.redaction.learn(...(declaration.secrets ?? []));
  const found = [...stack.annotations, ...stack.diagnostics, ...siblings.diagnostics];
  const { desired, partial = desired, diagnostics, backend } = declaration;
  return {
    ...declaration,
    desired: found.some(isError) ? undefined : desired,
    partial,
    backend: onDisk(backend),
    diagnostics: [...found, ...diagnostics.filter((one) => !isToldByConstruct(one, stack.annotations))],
  };
}

/** A state on this disk is where the options of the invocation say: `--state` may name another file. */
function onDisk(backend: Declaration["backend"]): Backend | undefined | "unclear" {
  return typeof backend === "object" && backend.type === "local" ? undefined : backend;
}

/** What Terraform is told of resources, data sources and the provider. Loaded when it is needed: a YAML project is not. */
async function schemas() {
  const [{ schemaOf }, { dataSources }, { providerSchema }] = await Promise.all([
    import("../../fronts/terraform/schema/of-kind.ts"),
    import("../../fronts/terraform/data/index.ts"),
    import("../../fronts/terraform/provider/schema.ts"),
  ]);
  const data = new Map<string, Schema>(dataSources.map(({ name, schema }) => [name, schema]));
  return {
    resource: (type: string): Schema | undefined => {
      const kind = kinds.get(type);
      return kind && schemaOf(kind);
    },
    data: (type: string): Schema | undefined => data.get(type),
    provider: providerSchema,
  };
}
