/**
 * Commands import what they need when they run, thousands of times in one process of the tests. Each time, Node would resolve the
 * name and vitest would report it to its main process: this remembers where a module is, of the sources and of the built package.
 */
import { type ResolveFnOutput, registerHooks } from "node:module";

const OWN = ["../../src/", "../../node_modules/.cache/hostform-program/"].map(
  (place) => new URL(place, import.meta.url).href,
);
const registered = Symbol.for("hostform.resolve-once");

// Vitest runs this file before each file of tests.
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
