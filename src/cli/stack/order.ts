import { didYouMean, fail } from "../../core/model/index.ts";
import type { Stack } from "./stack.ts";

/**
 * The stacks in the order of their dependencies; among those that are free, as the manifest has them.
 * @throws HostformError `stack.manifest` for a circle.
 */
export function inOrder<T extends Stack>(stacks: readonly T[]): T[] {
  const known = new Map(stacks.map((stack) => [stack.name, stack]));
  const ordered = new Set<T>();
  const begun: string[] = [];
  const visit = (stack: T) => {
    if (ordered.has(stack)) return;
    if (begun.includes(stack.name)) {
      const circle = [...begun.slice(begun.indexOf(stack.name)), stack.name].join(" -> ");
      fail("stack.manifest", `The stacks depend on each other in a circle: ${circle}`, {
        fix: "Take one of the references between these stacks away.",
      });
    }
    begun.push(stack.name);
    for (const name of stack.dependencies) {
      const before = known.get(name);
      if (before !== undefined) visit(before);
    }
    begun.pop();
    ordered.add(stack);
  };
  for (const stack of stacks) visit(stack);
  return [...ordered];
}

/**
 * The stacks that `--only` names, or all.
 * @throws HostformError `usage` for a name that no stack has.
 */
export function selected<T extends Stack>(stacks: readonly T[], only: readonly string[]): T[] {
  const named = new Set(only.map((text) => stackNamed(stacks, text)));
  return named.size === 0 ? [...stacks] : stacks.filter((stack) => named.has(stack));
}

function stackNamed<T extends Stack>(stacks: readonly T[], text: string): T {
  const found = stacks.find(({ name }) => name === text) ?? stacks.find(({ constructPath }) => constructPath === text);
  if (found !== undefined) return found;
  const names = stacks.map(({ name }) => name);
  return fail("usage", `There is no stack ${JSON.stringify(text)}.${didYouMean(text, names)}`, {
    detail: `The stacks are ${names.join(", ")}.`,
    fix: "Give `--only` the name of a stack, or its construct path.",
  });
}
