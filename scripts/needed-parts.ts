// Parts of packages that hostform does not need, or seldom: bundles leave them out, or load them when they are used.
import path from "node:path";
import type { Plugin } from "esbuild";

interface Replacement {
  /** Part of the path of the file that imports the module. */
  readonly importer: string;
  /** What it gets in place of the module. */
  readonly contents: string;
}

const REPLACEMENTS: Readonly<Record<string, Replacement>> = {
  // For commands that are programs of their own, which hostform has none of: 5 ms of each start.
  "node:child_process": {
    importer: path.join("node_modules", "commander"),
    contents: 'export default { get spawn() { return process.getBuiltinModule("node:child_process").spawn; } };',
  },
  // Its patterns of emoji take 15 ms, and texts in ASCII are as wide as they are long.
  "string-width": {
    importer: "src",
    contents: `let widthOf;
      export default (text) => /^[ -~]*$/.test(text) ? text.length : (widthOf ??= require("string-width").default)(text);`,
  },
  // Without what else it has (fetch, web sockets, caches, mocks), which is four fifths of it.
  undici: {
    importer: path.join("src", "core", "api", "transport.ts"),
    contents: `export { default as Agent } from "undici/lib/dispatcher/agent.js";
      export { default as EnvHttpProxyAgent } from "undici/lib/dispatcher/env-http-proxy-agent.js";`,
  },
};

export const neededParts: Plugin = {
  name: "needed-parts",
  setup({ onResolve, onLoad }) {
    const names = new RegExp(`^(?:${Object.keys(REPLACEMENTS).join("|")})$`);
    onResolve({ filter: names }, ({ path: name, importer, kind }) => {
      const replacement = REPLACEMENTS[name];
      if (replacement === undefined || kind !== "import-statement") return undefined;
      return importer.includes(replacement.importer) ? { path: name, namespace: "needed-parts" } : undefined;
    });
    onLoad({ filter: /.*/, namespace: "needed-parts" }, ({ path: name }) => ({
      contents: REPLACEMENTS[name]?.contents ?? "",
      resolveDir: import.meta.dirname,
    }));
    // zod's other fifty languages are a third of it.
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, ({ path: file }) => ({
      contents: 'export { default as en } from "./en.js";',
      resolveDir: path.dirname(file),
    }));
  },
};
