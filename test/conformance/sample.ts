import type { Kind } from "../../src/core/kinds/index.ts";
import type { JsonObject } from "../../src/core/model/index.ts";
import type { OpenCollection, Sandbox } from "../../src/sandbox/index.ts";

/** What the conformance suite has to know of a kind: one declaration of it, and how its objects look from the other side. */
export interface Sample {
  /** The address of the sample. */
  readonly address: string;
  /** Where the sandbox keeps the objects. */
  readonly collection: OpenCollection;
  /** The request that creates one, as a pattern for faults: "/webhooks". */
  readonly createPath: string;
  /** The declared attributes. */
  readonly attributes: JsonObject;
  /** Another valid value for each attribute that can be declared, save those that concern hostform alone. */
  readonly others: JsonObject;
  /** Attributes that are declared in Terraform alone: YAML fills them in from the place of the block. */
  readonly implied?: JsonObject;
  /** For others that the API takes only together with these, when they are ordered. */
  readonly orderedWith?: Readonly<Record<string, JsonObject>>;
  /** For others that can only be declared together with this: `password` needs `password_version`. */
  readonly together?: Readonly<Record<string, JsonObject>>;
  /** The environment that the declaration refers to: secret values. */
  readonly env?: Readonly<Record<string, string>>;
  /** A change behind hostform's back, in the sandbox's own form, and the attribute that it strikes. Absent: not readable. */
  readonly drift?: { readonly attribute: string; readonly fields: JsonObject };
  /** The whole declaration with this block for the sample; null leaves it out. Default: the block in the kind's section. */
  document?(block: JsonObject | null): object;
  /** Puts objects into the sandbox that the declaration refers to. */
  prepare?(control: Sandbox["control"]): void;
}

/** The declaration of a sample. */
export function documentOf(kind: Kind, sample: Sample, block: JsonObject | null): object {
  if (sample.document !== undefined) return { project: "conformance", ...sample.document(block) };
  return { project: "conformance", ...(block !== null && { [kind.section]: { sample: block } }) };
}

/** The sample of a kind. @throws with a sentence for the author of a kind without a sample. */
export async function sampleOf(kind: Kind): Promise<Sample> {
  const name = `./samples/${kind.type}.ts`;
  const found = (await import(/* @vite-ignore */ name).catch((error: Error) => {
    throw new Error(
      `The kind ${kind.type} has no sample: write test/conformance/samples/${kind.type}.ts, which exports one as \`sample\`.`,
      { cause: error },
    );
  })) as { sample: Sample };
  return found.sample;
}
