import { createHash } from "node:crypto";
import type { ChangeStep, Kind } from "../kinds/kind.ts";
import { problem, raise } from "../messages/index.ts";
import {
  type Change,
  type ChangeReason,
  type Diagnostic,
  equal,
  type FileOutput,
  HostformError,
  hasUnknown,
  isObject,
  type Json,
  type JsonObject,
  outputPlace,
  type ResourceState,
  type SecretName,
  type SecretOutput,
  UNKNOWN,
  type Value,
  type ValueObject,
} from "../model/index.ts";
import { attributesOf, plannedAttributes } from "./attributes.ts";
import type { ApplyContext, SecretOutputs } from "./context.ts";
import { returnsSecretOnce } from "./pending-create.ts";

/**
 * One-time secrets that hostform writes to a destination (`secret_output`), and secret values that it reads from a source. A
 * one-time secret is first saved in the state. After it is on disk at the destination, the state keeps only its fingerprint.
 */

type Secrets = Pick<ApplyContext, "secrets"> & {
  readonly records?: Pick<ApplyContext["records"], "prior" | "isStatePartial">;
};

/** Names of two attributes: the one-time secret, and its fingerprint. */
interface OneTimeSecret {
  readonly name: string;
  readonly fingerprint: string;
}

function oneTimeSecret(kind: Kind): OneTimeSecret | undefined {
  for (const {
    name,
    meta: { fingerprint },
  } of attributesOf(kind)) {
    if (fingerprint !== undefined) return { name, fingerprint };
  }
  return undefined;
}

/** Returns the name of the attribute that is a one-time secret. Undefined if the kind has none. */
export const oneTimeSecretName = (kind: Kind | undefined): string | undefined => kind && oneTimeSecret(kind)?.name;

/**
 * Returns `sha256:` and the first 8 hex digits of a secret's digest. This distinguishes two secrets and reveals none: one in
 * 2^32 wrong guesses has the same digits.
 */
export function fingerprintOf(secret: string): string {
  return `sha256:${createHash("sha256").update(secret).digest("hex").slice(0, 8)}`;
}

/** Returns the declared destination of the secret. Undefined if none is declared. */
function outputIn({ secret_output: declared }: JsonObject): SecretOutput | undefined {
  if (!isObject(declared)) return undefined;
  // Terraform writes null for unused attributes.
  const given = Object.entries(declared).filter(([, value]) => value !== null);
  return given.length === 0 ? undefined : (Object.fromEntries(given) as unknown as SecretOutput);
}

const known = (value: Json | undefined): string | undefined => (typeof value === "string" ? value : undefined);

/** Changes of a plan that an object's secret requires. */
interface PlannedSecret {
  /** Changed attributes. */
  readonly after: JsonObject;
  readonly reasons: readonly ChangeReason[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Plans the secret of an object.
 * @param before Attributes before the change. Empty if the object does not exist yet.
 * @param after Planned attributes. If the secret is unknown, the host generates a new one.
 */
export function planSecret(
  kind: Kind,
  address: string,
  before: JsonObject,
  after: { readonly [name: string]: Value },
): PlannedSecret {
  const nothing: PlannedSecret = { after: {}, reasons: [], diagnostics: [] };
  const secret = oneTimeSecret(kind);
  if (secret === undefined || hasUnknown(after.secret_output ?? null)) return nothing;
  const output = outputIn(after as JsonObject);
  // The secret stays in the state and needs no fingerprint.
  if (output === undefined)
    return after[secret.fingerprint] === UNKNOWN ? { ...nothing, after: { [secret.fingerprint]: null } } : nothing;
  if (after[secret.name] === UNKNOWN) return nothing;
  const value = known(before[secret.name]);
  if (value !== undefined) {
    const text = `the ${secret.name} is still to be written to ${outputPlace(output)}`;
    return {
      after: { [secret.name]: null, [secret.fingerprint]: fingerprintOf(value) },
      reasons: [{ why: "declared", attribute: secret.name, text }],
      diagnostics: [],
    };
  }
  if (known(before[secret.fingerprint]) === undefined) {
    if (!returnsSecretOnce(kind, before)) return nothing;
    const about = { address, noun: kind.noun, name: secret.name, place: outputPlace(output) };
    return { ...nothing, diagnostics: [problem("secret.output/unknown", { ...about, attribute: ["secret_output"] })] };
  }
  const old = outputIn(before);
  if (isSamePlace(old, output)) return nothing;
  const about = { address, name: secret.name, from: old && outputPlace(old), place: outputPlace(output) };
  return { ...nothing, diagnostics: [problem("secret.output/moved", { ...about, attribute: ["secret_output"] })] };
}

/** Returns the declared destination if it is a file with a known path. Else undefined. */
export function fileOutputIn(attributes: ValueObject): FileOutput | undefined {
  const output = declaredOutput(attributes);
  if (output === undefined || "command" in output) return undefined;
  const path = "file" in output ? output.file : isObject(output.env_file) && output.env_file.path;
  return typeof path === "string" ? output : undefined;
}

/** Returns the declared destination. Undefined if it is unknown. */
export function declaredOutput({ secret_output: declared = null }: ValueObject): SecretOutput | undefined {
  return hasUnknown(declared) ? undefined : outputIn({ secret_output: declared as Json });
}

/** An object that moves to another address. */
interface MovedObject {
  readonly address: string;
  readonly record: Pick<ResourceState, "address" | "attributes">;
  /** Attributes declared at the new address. */
  readonly config: ValueObject;
  /** True if the state has an entry at the new address. */
  readonly isOccupied: boolean;
}

/**
 * Returns an error if a move changes the destination of a secret that was already written, because the state no longer
 * contains it. A secret that is still in the state is written after the move.
 */
export function misplacedSecret(
  kind: Kind,
  { address, record, config, isOccupied }: MovedObject,
): Diagnostic | undefined {
  const held = record.attributes;
  const secret = oneTimeSecret(kind);
  if (secret === undefined || known(held[secret.fingerprint]) === undefined) return undefined;
  const old = outputIn(held);
  const output = declaredOutput(config);
  if (old === undefined || (output !== undefined && isSamePlace(old, output))) return undefined;
  return problem("secret.output/held", {
    address,
    attribute: ["secret_output"],
    noun: kind.noun,
    id: String(held.id),
    from: record.address,
    name: secret.name,
    place: outputPlace(old),
    other: output && outputPlace(output),
    isOccupied,
  });
}

/** Compares destinations. Ignores the permission to write outside of the project. */
function isSamePlace(old: SecretOutput | undefined, output: SecretOutput): boolean {
  const place = (one: SecretOutput | undefined) => ({ ...one, outside_project: null }) as Json;
  return equal(place(old), place(output));
}

/**
 * Checks before the first request that a new secret can be written.
 * @throws HostformError `secret.output`.
 */
export async function tryOutput(
  kind: Kind,
  change: Change,
  config: JsonObject,
  { secrets: { outputs } = {}, records }: Secrets,
): Promise<void> {
  const secret = oneTimeSecret(kind);
  if (secret === undefined || outputs === undefined) return;
  const output = outputIn(plannedAttributes(kind, change, config));
  if (output === undefined || !bringsSecret(secret, change)) return;
  await refuseOther(outputs, output, nameOf(change, secret), secret, records);
  await outputs.check(output, nameOf(change, secret));
}

/**
 * Refuses to overwrite a secret that is not from this state, because there may be no other copy. Skipped if the caller has
 * only a part of the state, because the secret may then be of the replaced object.
 * @param own Fingerprint of the secret to write.
 */
async function refuseOther(
  outputs: SecretOutputs,
  output: SecretOutput,
  of: SecretName,
  { fingerprint }: OneTimeSecret,
  { prior, isStatePartial }: NonNullable<Secrets["records"]> = {},
  own?: string,
): Promise<void> {
  const recorded = known(prior?.attributes[fingerprint]);
  if (recorded === undefined && isStatePartial) return;
  const held = ((await outputs.held?.(output, of)) ?? []).map(fingerprintOf);
  const other = held.find((one) => one !== recorded && one !== own);
  if (other === undefined) return;
  const { address, attribute: name } = of;
  const about = { address, name, place: outputPlace(output), recorded, other, attribute: ["secret_output"] };
  raise("secret.output/other", about);
}

/** Returns true if a response to the change may contain a new secret. */
function bringsSecret({ name }: OneTimeSecret, { actions, after_unknown }: Change): boolean {
  return actions.some((action) => action === "create") || (isObject(after_unknown) && after_unknown[name] === true);
}

/**
 * Writes the secret of a resource to its destination. If a new secret cannot be written, it stays in the state, with a
 * warning, because the object exists. If an earlier secret cannot be written, the change fails.
 * @returns the attributes. A written secret is removed from them.
 * @throws HostformError `secret.output`.
 */
export async function writeSecret(
  kind: Kind,
  change: Change,
  attributes: JsonObject,
  { secrets: { outputs } = {}, records }: Secrets,
): Promise<{ readonly attributes: JsonObject; readonly notices: readonly Diagnostic[] }> {
  const secret = oneTimeSecret(kind);
  const output = outputIn(attributes);
  const value = secret && known(attributes[secret.name]);
  if (secret === undefined || value === undefined || output === undefined || outputs === undefined)
    return { attributes, notices: [] };
  try {
    await refuseOther(outputs, output, nameOf(change, secret), secret, records, fingerprintOf(value));
    await outputs.write(output, nameOf(change, secret), value);
  } catch (error) {
    if (!(error instanceof HostformError) || !bringsSecret(secret, change)) throw error;
    return { attributes, notices: keptInState(change, secret, error) };
  }
  const left = { ...attributes, [secret.name]: null, [secret.fingerprint]: fingerprintOf(value) };
  return { attributes: left, notices: [] };
}

const nameOf = ({ address }: Change, { name }: OneTimeSecret): SecretName => ({ address, attribute: name });

/** Returns warnings about a new secret that could not be written. The secret stays in the state. */
const keptInState = ({ address }: Change, { name }: OneTimeSecret, { diagnostics }: HostformError): Diagnostic[] =>
  diagnostics.map((reason) => problem("secret.output/waiting", { address, name, attribute: reason.attribute, reason }));

/** Returns the sentence about the lost secret of an adopted object. Undefined if no secret is missing. */
export function unrecoverable(kind: Kind, attributes: JsonObject): string | undefined {
  const secret = oneTimeSecret(kind);
  if (secret === undefined || known(attributes[secret.name]) !== undefined) return undefined;
  const renewal = attributesOf(kind).find(({ name }) => kind.invalidates?.(name).includes(secret.name))?.name;
  if (renewal !== undefined && outputIn(attributes) === undefined) return undefined;
  const way =
    renewal === undefined ? "To get a new one, replace it on purpose." : `Change ${renewal} to get a new one.`;
  return `Its ${secret.name} was returned only when it was created: it is unknown here and is not written anywhere. ${way}`;
}

/**
 * Returns the requests of an in-place change. Secret sources are read only if a request contains their value. In `config`
 * this value is unknown.
 */
export async function stepsToward(
  kind: Kind,
  attributes: JsonObject,
  wanted: JsonObject,
  config: JsonObject,
  { secrets: { read } = {} }: Secrets,
): Promise<readonly ChangeStep[]> {
  const steps = (declared: JsonObject) => kind.update?.(attributes, wanted, declared) ?? [];
  const sources = Object.entries(config as Record<string, Value>).filter(([, value]) => value === UNKNOWN);
  const standIns = Object.fromEntries(sources.map(([name]) => [name, `\0${name}`]));
  const given = { ...config, ...standIns };
  const bodies = steps(given).flatMap(({ mutation }) => Object.values(mutation.body ?? {}));
  const values: Record<string, string> = {};
  for (const [name, standIn] of Object.entries(standIns)) {
    if (!bodies.includes(standIn)) continue;
    if (read === undefined) throw new Error(`nothing reads the source of ${name}`);
    values[name] = await read(name).catch((error: unknown) => refuseAt(name, error));
  }
  return steps({ ...given, ...values });
}

/** Adds the attribute name to errors about a secret source, because the reader does not know it. */
function refuseAt(name: string, error: unknown): never {
  if (!(error instanceof HostformError)) throw error;
  throw new HostformError(
    error.diagnostics.map((diagnostic) => ({ attribute: [name], ...diagnostic })),
    { cause: error },
  );
}
