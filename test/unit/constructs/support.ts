import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll } from "vitest";
import { LIBRARIES, type Library, type LibraryName, loadLibrary } from "../../support/constructs.ts";

/** A resource of a synthesized stack. */
export type Block = Readonly<Record<string, unknown>>;

/** What `cdk.tf.json` holds, as far as it is looked at. */
export interface Synthesized {
  readonly resource: Readonly<Record<string, Readonly<Record<string, Block>>>>;
  readonly variable?: Readonly<Record<string, Block>>;
}

export type Stack = InstanceType<Library["cdk"]["TerraformStack"]>;

/** Both libraries, for `describe.each`; `of` gives one once the tests run. */
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

/** Where the apps of these tests write to, if they do; else each would leave its own folder behind. */
const outdir = mkdtempSync(path.join(tmpdir(), "hostform-constructs-"));

/** A stack with nothing but the provider, of an app that targets Terraform 1.11. */
export function newStack(
  { cdk, hostform }: Library,
  id = "prod",
  context: Block = { targetVersions: { terraform: ">=1.11.0" } },
): Stack {
  const stack = new cdk.TerraformStack(cdk.Testing.app({ outdir, context: { ...context } }), id);
  new hostform.HostingProvider(stack, "hosting", { project: "acme" });
  return stack;
}

/** Synthesizes, validations included, and reads what came out. */
export function synthesize({ cdk }: Library, stack: Stack): Synthesized {
  return JSON.parse(cdk.Testing.synth(stack, true));
}

/** The one resource of a type. */
export function only(synthesized: Synthesized, type: string): Block {
  const [[, block] = ["", undefined], ...more] = Object.entries(synthesized.resource[type] ?? {});
  if (block === undefined || more.length > 0) throw new Error(`expected one ${type}, and there are ${more.length + 1}`);
  return block;
}

/** What synthesis says of a stack; empty when all is well. */
export function complaint(library: Library, stack: Stack): string {
  try {
    library.cdk.Testing.synth(stack, true);
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
