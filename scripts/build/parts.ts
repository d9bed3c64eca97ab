// CommonJS in several files: Node loads CommonJS faster than ES modules, and compiles only the files that a call needs.
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { type BuildOptions, build, transform } from "esbuild";
import { createProvider } from "../../src/fronts/terraform/calls/index.ts";
import { embeddedFiles } from "./notices.ts";

const SYNTAX = {
  // Stack traces name functions. Names that `keepNames` sets cost time at each start and in each call.
  minifySyntax: true,
  minifyWhitespace: true,
  platform: "node",
  target: "node22.20",
  logOverride: { "empty-import-meta": "silent" },
} as const;

/** Options of minified bundles that hold their packages. */
export const MINIFIED = {
  ...SYNTAX,
  bundle: true,
  // Other forms of pg, which the bundle holds; and the SDK of the MCP server, which only the npm package can load.
  external: ["pg-native", "pg-cloudflare", "cloudflare:sockets", "@modelcontextprotocol/sdk"],
  legalComments: "none",
  logLevel: "warning",
  preserveSymlinks: true,
} as const satisfies BuildOptions;

/**
 * Bundles into `outdir` as CommonJS, with late imports in files of their own.
 * @param root folder that the names are relative to
 * @returns the files in the bundle, relative to the root
 */
export async function bundleParts(
  options: BuildOptions & { readonly outdir: string },
  root: string,
): Promise<string[]> {
  const asParts = { absWorkingDir: root, format: "esm", splitting: true, write: false, metafile: true } as const;
  const { metafile, outputFiles } = await build({ ...MINIFIED, ...options, ...asParts });
  await mkdir(options.outdir, { recursive: true });
  // esbuild splits ES modules only: each part becomes CommonJS afterwards.
  const asCommonJs = { ...SYNTAX, format: "cjs", supported: { "dynamic-import": false } } as const;
  for (const { path: file, text } of outputFiles)
    await writeFile(path.resolve(root, file), (await transform(text, asCommonJs)).code);
  return embeddedFiles(metafile, root);
}

/** Returns the bundler's options for the provider, with the responses that Terraform requests at each start. */
export async function preparedResponses(): Promise<BuildOptions> {
  const provider = createProvider({ env: {}, log: () => undefined });
  const prepared: Record<string, string> = {};
  for (const method of ["GetProviderSchema", "GetResourceIdentitySchemas"]) {
    const response = await provider.handle(method, new Uint8Array());
    prepared[method] = Buffer.from(response ?? []).toString("base64");
  }
  return { define: { PREPARED: JSON.stringify(JSON.stringify(prepared)) } };
}
