import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll } from "vitest";
import { LIBRARIES, type Library, type LibraryName, loadLibrary } from "../../support/constructs.ts";

/** Resource of a synthesized stack. */
export type Block = Readonly<Record<string, unknown>>;

/** Parts of `cdk.tf.json` that the tests read. */
export interface Synthesized {
  readonly resource: Readonly<Record<string, Readonly<Record<string, Block>>>>;
  readonly variable?: Readonly<Record<string, Block>>;
}

export type Stack = InstanceType<Library["cdk"]["TerraformStack"]>;

/** Loads both libraries for `describe.each`. `of` returns a library while the tests run. */
export function bothLibraries(): { readonly names: readonly LibraryName[]; of(name: LibraryName): Library } {
  const loaded = new Map<LibraryName, Library>();
  beforeAll(async () => {
    for (const name of LIBRARIES) loaded.set(name, await loadLibrary(name));
  }, 60_000);
  afterAll(() => rmSync(outdir, { recursive: true, force: true }));
  const of = (name: LibraryName): Library => {
    const library = loaded.get(name);
    if (library === undefined) throw new Error(`${name} is loaded once the tests run`);
    return library;
  };
  return { names: LIBRARIES, of };
}

/** Output folder of all apps in these tests. Without it, each app would leave its own folder. */
const outdir = mkdtempSync(path.join(tmpdir(), "hostform-constructs-"));

/** Creates a stack with only the provider, in an app for Terraform 1.11. */
export function newStack(
  { cdk, hostform }: Library,
  id = "prod",
  context: Block = { targetVersions: { terraform: ">=1.11.0" } },
): Stack {
  const stack = new cdk.TerraformStack(cdk.Testing.app({ outdir, context: { ...context } }), id);
  new hostform.HostingProvider(stack, "hosting", { project: "acme" });
  return stack;
}

/** Synthesizes a stack with its validations, and parses the result. */
export function synthesize({ cdk }: Library, stack: Stack): Synthesized {
  return JSON.parse(cdk.Testing.synth(stack, true));
}

/** Returns the only resource of a type. Throws an Error if the stack has none or several. */
export function only(synthesized: Synthesized, type: string): Block {
  const [[, block] = ["", undefined], ...more] = Object.entries(synthesized.resource[type] ?? {});
  if (block === undefined || more.length > 0) throw new Error(`expected one ${type}, and there are ${more.length + 1}`);
  return block;
}

/** Returns the error text of a synthesis; empty without an error. */
export function complaint(library: Library, stack: Stack): string {
  try {
    library.cdk.Testing.synth(stack, true);
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
