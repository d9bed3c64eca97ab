import type { Kind } from "../kinds/kind.ts";
import type { ApplyContext, SecretOutputs } from "../lifecycle/index.ts";
import { type DesiredResource, fail, type JsonObject, type SecretSource, sourcePlace } from "../model/index.ts";

/** Reads a value from where it is declared to be; at most once per run and source. @throws HostformError `secret.source`. */
export type SourceReader = (source: SecretSource) => Promise<string>;

/** The attributes as a plan shows them: of one that is declared by its source, only that it is. */
export function declaredAttributes({ config, sources }: DesiredResource): JsonObject {
  return { ...config, ...Object.fromEntries([...(sources?.keys() ?? [])].map((name) => [name, true])) };
}

/** What applying a change needs of the outside for its secrets. */
export interface Secrets {
  /** Where one-time secrets are written that are not to stay in the state; absent: they stay there. */
  readonly secretOutputs?: SecretOutputs;
  /** Reads secret values from where they are declared to be. */
  readonly readSource?: SourceReader;
}

/** The same, of one resource. */
export function secretsOf(
  kind: Kind,
  resource: DesiredResource | undefined,
  { secretOutputs, readSource: read }: Secrets,
): Pick<ApplyContext, "secretOutputs" | "readSecret"> {
  return {
    ...(secretOutputs && { secretOutputs }),
    ...(resource && read && { readSecret: (name) => readSource(kind, resource, name, read) }),
  };
}

/**
 * Reads the value of an attribute from its source and checks it, as it could not be checked before.
 * @throws HostformError `secret.source`; the message never holds the value.
 */
async function readSource(
  kind: Kind,
  { address, sources }: DesiredResource,
  name: string,
  read: SourceReader,
): Promise<string> {
  const source = sources?.get(name);
  if (source === undefined) throw new Error(`${name} of ${address} has no source to read`);
  const value = await read(source);
  const issue = kind.attributes.shape[name]?.safeParse(value).error?.issues[0];
  if (issue === undefined) return value;
  return fail("secret.source", `The ${name} of ${address} cannot be used: ${issue.message}`, {
    detail: `It was read from ${sourcePlace(source)}.`,
    remedies: ["Put one there that can be used, and apply again."],
    address,
    attribute: [name],
  });
}
