/**
 * Remembers the resolved paths of modules in the sources and in the built package. Commands import modules when they
 * run, thousands of times in one process of the tests. Without this cache, Node would resolve each import again, and
 * vitest would report each one to its main process.
 */
import { type ResolveFnOutput, registerHooks } from "node:module";

const OWN = ["../../src/", "../../node_modules/.cache/hostform-program/"].map(
  (place) => new URL(place, import.meta.url).href,
);
const registered = Symbol.for("hostform.resolve-once");

// Vitest runs this file before each test file.
if (!(registered in globalThis)) {
  Object.defineProperty(globalThis, registered, { value: true });
  const found = new Map<string, ResolveFnOutput>();
  registerHooks({
    resolve(specifier, context, next) {
      if (!OWN.some((place) => context.parentURL?.startsWith(place))) return next(specifier, context);
      const name = `${context.parentURL} ${specifier}`;
      const known = found.get(name) ?? next(specifier, context);
      found.set(name, known);
      return { ...known, shortCircuit: true };
    },
  });
}
