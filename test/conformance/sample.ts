import type { Kind } from "../../src/core/kinds/index.ts";
import type { JsonObject } from "../../src/core/model/index.ts";
import type { OpenCollection, Sandbox } from "../../src/sandbox/index.ts";

/** Facts about a kind for the conformance suite: one declaration, and the form of its objects in the sandbox. */
export interface Sample {
  readonly address: string;
  /** Collection of the objects in the sandbox. */
  readonly collection: OpenCollection;
  /** Path of the create, as a pattern for faults: "/webhooks". */
  readonly createPath: string;
  readonly attributes: JsonObject;
  /** Another valid value for each declarable attribute, except attributes that only hostform uses. */
  readonly others: JsonObject;
  /** Attributes that are declared only in Terraform. In YAML, they follow from the position of the block. */
  readonly implied?: JsonObject;
  /** Attributes that an order needs together with the named attribute's other value. */
  readonly orderedWith?: Readonly<Record<string, JsonObject>>;
  /** Attributes that the named attribute's other value needs: `password` needs `password_version`. */
  readonly together?: Readonly<Record<string, JsonObject>>;
  /** Environment variables that the declaration refers to: secret values. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * A change by another client, in the sandbox's own form, and the attribute that it affects. Absent: the API cannot
   * read the kind.
   */
  readonly drift?: { readonly attribute: string; readonly fields: JsonObject };
  /**
   * Returns the whole declaration with this block for the sample; null omits the block. Default: the block in the
   * kind's section.
   */
  document?(block: JsonObject | null): object;
  /** Creates objects in the sandbox that the declaration refers to. */
  prepare?(control: Sandbox["control"]): void;
}

/** The declaration of a sample. */
export function documentOf(kind: Kind, sample: Sample, block: JsonObject | null): object {
  if (sample.document !== undefined) return { project: "conformance", ...sample.document(block) };
  return { project: "conformance", ...(block !== null && { [kind.section]: { sample: block } }) };
}

/**
 * Returns the sample of a kind.
 * @throws an instruction for the author of a kind without a sample.
 */
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
