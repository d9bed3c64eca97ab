import { evaluate } from "../../core/expression/index.ts";
import { ExpressionError, isName } from "../../core/model/index.ts";
import type { DiagnosticCollector } from "../source/diagnostics.ts";
import type { Span } from "../source/source.ts";
import { type Entry, valueSpan } from "../source/tree.ts";
import { type Compiled, compile, reportExpression, spanIn } from "./compile.ts";
import type { Draft } from "./draft.ts";
import { expand, isEphemeral, MOST_INSTANCES } from "./expand.ts";
import type { Root } from "./expansion.ts";
import { inOrder, nodeOf } from "./graph.ts";
import type { Declared } from "./references.ts";
import { type Local, rootsOf } from "./roots.ts";
import type { Surroundings } from "./surroundings.ts";
import { MISSING } from "./variables.ts";

/** The locals of a stack, taken apart; undefined those with a mistake, which is reported. */
export type CompiledLocals = ReadonlyMap<string, Compiled | undefined>;

/** Takes the locals apart. */
export function compileLocals(locals: ReadonlyMap<string, Entry>, diags: DiagnosticCollector): CompiledLocals {
  return new Map(
    [...locals].map(([name, entry]) => {
      if (!isName(name)) {
        const fix = "Use letters, digits, `_` and `-`, beginning with a letter or `_`.";
        diags.add(entry.keySpan, "config.structure", `"${name.slice(0, 100)}" cannot be the name of a local`, {
          fix,
        });
      }
      return [name, compile(entry.value, diags)] as const;
    }),
  );
}

/**
 * Makes known what locals are and which instances there are, each after what it hangs on. Circles are reported; what
 * stands in one stays unknown.
 */
export function makeNames(locals: CompiledLocals, surroundings: Surroundings, declared: Declared): void {
  const order = inOrder(needsOf(locals, declared), declared.diags);
  for (const node of order) {
    const name = node.startsWith("local.") ? node.slice("local.".length) : undefined;
    if (name !== undefined) surroundings.locals.set(name, readLocal(locals.get(name), surroundings, declared, locals));
    const draft = name === undefined ? declared.drafts.get(node) : undefined;
    if (draft !== undefined) surroundings.expansions.set(node, expand(draft, surroundings, declared));
  }
  checkNumber(surroundings, declared);
}

function needsOf(locals: CompiledLocals, { drafts }: Declared): Map<string, Map<string, Span>> {
  const needs = new Map<string, Map<string, Span>>();
  const own = (node: string) => {
    const known = needs.get(node) ?? new Map<string, Span>();
    needs.set(node, known);
    return known;
  };
  const take = (node: string, compiled: Compiled | undefined) => {
    const found = own(node);
    for (const traversal of compiled?.traversals ?? []) {
      const to = nodeOf(traversal);
      if (to === undefined || found.has(to)) continue;
      found.set(to, spanIn((compiled as Compiled).tree, traversal.path, traversal.offset, traversal.text.length));
    }
  };
  for (const [name, compiled] of locals) take(`local.${name}`, compiled);
  for (const [base, draft] of drafts) {
    take(base, draft.count?.compiled);
    take(base, draft.forEach?.compiled);
    for (const { compiled } of draft.attributes.values()) take(base, compiled);
    for (const { name, span } of draft.dependsOn) if (!own(base).has(name)) own(base).set(name, span);
  }
  return needs;
}

/** What more a local may hang on is told by the resources alone, without their attributes. */
const MOST_ROOTS = 1000;

function readLocal(
  compiled: Compiled | undefined,
  surroundings: Surroundings,
  { diags, drafts }: Declared,
  locals: CompiledLocals,
): Local {
  const broken = { compiled: undefined, roots: [], ephemeral: false, value: MISSING };
  if (compiled === undefined) return broken;
  const open = compiled.traversals.some((traversal) => {
    const node = nodeOf(traversal);
    if (node?.startsWith("local.")) {
      const name = node.slice("local.".length);
      return locals.has(name) && !surroundings.locals.has(name);
    }
    return node !== undefined && drafts.has(node) && !surroundings.expansions.has(node);
  });
  // It stands in a circle, which is reported.
  if (open) return broken;
  const roots = distinct(compiled.traversals.flatMap((traversal) => rootsOf(surroundings, traversal)));
  const ephemeral = compiled.traversals.some(({ root, steps: [name] }) =>
    isEphemeral(root, String(name), surroundings),
  );
  try {
    return { compiled, roots, ephemeral, value: evaluate(compiled.expression, surroundings.names()) };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    reportExpression(error, compiled.tree, diags);
    return { ...broken, roots, ephemeral };
  }
}

function distinct(roots: readonly Root[]): Root[] {
  const found = new Map(roots.map((root) => [JSON.stringify([root.address, root.path]), root]));
  if (found.size <= MOST_ROOTS) return [...found.values()];
  return [...new Map(roots.map((root) => [root.address, { ...root, path: [] }])).values()];
}

/** All instances of a stack together. */
function checkNumber({ expansions }: Surroundings, { diags }: Declared): void {
  let number = 0;
  for (const { draft, form, keys } of expansions.values()) {
    number += form === "single" ? 1 : keys.length;
    if (number <= MOST_INSTANCES) continue;
    const summary = `This stack has more than ${MOST_INSTANCES} resources`;
    diags.add(repetitionPlace(draft), "config.too_large", summary, { fix: "Divide it into several stacks." });
    return;
  }
}

function repetitionPlace({ count, forEach, block }: Draft): Span {
  const entry = (count ?? forEach)?.entry;
  return entry === undefined ? block.keySpan : valueSpan(entry);
}
