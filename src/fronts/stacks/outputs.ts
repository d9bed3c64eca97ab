import { evaluate, isSecret, jsonOfType, type Names, toValue } from "../../core/expression/index.ts";
import { type DesiredOutput, ExpressionError, isName, type OutputValue } from "../../core/model/index.ts";
import { rangeOf } from "../source/source.ts";
import { valueSpan } from "../source/tree.ts";
import { type Block, flagOf, textOf, textsOf } from "./blocks.ts";
import { type Compiled, compile, reportExpression } from "./compile.ts";
import { isEphemeral } from "./expand.ts";
import { referenceTo } from "./instance.ts";
import { checkKeys, KEYS } from "./keys.ts";
import { checkDependsOn, checkNames, type Declared } from "./references.ts";
import { rootsOf } from "./roots.ts";
import type { Surroundings } from "./surroundings.ts";

/** Reads the `output` blocks. What is wrong with a value that is known already is told now. */
export function readOutputs(
  blocks: ReadonlyMap<string, Block>,
  surroundings: Surroundings,
  declared: Declared,
): DesiredOutput[] {
  return [...blocks].flatMap(([name, block]) => readOutput(name, block, surroundings, declared) ?? []);
}

function readOutput(
  name: string,
  { body, keySpan }: Block,
  surroundings: Surroundings,
  declared: Declared,
): DesiredOutput | undefined {
  const { diags } = declared;
  if (!isName(name)) {
    const fix = "Use letters, digits, `_` and `-`, beginning with a letter or `_`.";
    diags.add(keySpan, "config.structure", `"${name.slice(0, 100)}" cannot be the name of an output`, { fix });
    return undefined;
  }
  checkKeys({ body }, KEYS.output, (key) => `An output has no ${key}`, diags);
  const ephemeral = body.entries.get("ephemeral");
  if (flagOf(ephemeral, diags) === true) {
    const summary = "An ephemeral output means nothing in a stack";
    diags.add(ephemeral?.keySpan, "config.unsupported", summary, { fix: "Remove `ephemeral`." });
  }
  checkDependsOn(
    textsOf(body.entries.get("depends_on"), diags).map(({ text, span }) => ({ name: text, span })),
    `output.${name}`,
    declared,
  );
  const sensitive = flagOf(body.entries.get("sensitive"), diags) ?? false;
  const description = textOf(body.entries.get("description"), diags);
  const entry = body.entries.get("value");
  if (entry === undefined) {
    const fix = 'Write `"value": "${hosting_service.NAME.id}"`.';
    diags.add(keySpan, "config.missing_attribute", `The output "${name}" has no value`, { fix });
    return undefined;
  }
  const remark = { address: `output.${name}`, attribute: ["value"] };
  const compiled = compile(entry.value, diags, remark);
  if (compiled === undefined || !checkNames(compiled, declared, {}, remark)) return undefined;
  check(name, sensitive, compiled, surroundings, declared);
  const references = compiled.traversals.flatMap((traversal) =>
    rootsOf(surroundings, traversal).map((root) => referenceTo(root, traversal.offset, traversal.path)),
  );
  return {
    name,
    ...(description !== undefined && { description }),
    sensitive,
    references,
    evaluate: (scope) => outputValue(compiled, surroundings.names(undefined, scope)),
    range: rangeOf(valueSpan(entry)),
  };
}

/** Evaluates an output as far as it is known without any resource, for what can be said of it already. */
function check(
  name: string,
  sensitive: boolean,
  compiled: Compiled,
  surroundings: Surroundings,
  declared: Declared,
): void {
  const { diags } = declared;
  const span = compiled.tree.span;
  const ephemeral = compiled.traversals.find(({ root, steps: [own] }) => isEphemeral(root, String(own), surroundings));
  if (ephemeral !== undefined) {
    const summary = `The output "${name}" is recorded, and ${ephemeral.text} is ephemeral`;
    diags.add(span, "config.expression", summary, { fix: "Leave it out." });
    return;
  }
  try {
    if (!outputValue(compiled, surroundings.names()).secret || sensitive) return;
    diags.add(span, "config.secret", `The output "${name}" would show a secret`, {
      detail: "A secret goes into its value, and outputs are shown after each apply.",
      fix: 'Add `"sensitive": true` to it, or take the secret out.',
    });
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    reportExpression(error, compiled.tree, diags, { address: `output.${name}`, attribute: ["value"] });
  }
}

function outputValue({ expression }: Compiled, names: Names): OutputValue {
  const typed = evaluate(expression, names);
  return { value: toValue(typed), type: jsonOfType(typed.type), secret: isSecret(typed) };
}
