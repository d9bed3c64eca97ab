import { createHash } from "node:crypto";
import type { ChangeStep, Kind } from "../kinds/kind.ts";
import { problem } from "../messages/index.ts";
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
 * One-time secrets on their way out (`secret_output`), and secret values on their way in (sources). A secret is durable
 * in the state first; only when it is written out durably does it leave the state, and a fingerprint stays.
 */

type Secrets = Pick<ApplyContext, "secrets"> & {
  readonly records?: Pick<ApplyContext["records"], "prior" | "isStatePartial">;
};

/** The attribute of a kind that holds a one-time secret, and the one for its fingerprint. */
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

/** The attribute of a kind that holds a one-time secret; undefined: there is none. */
export const oneTimeSecretName = (kind: Kind | undefined): string | undefined => kind && oneTimeSecret(kind)?.name;

/**
 * `sha256:` and the first 8 hex digits of the digest of a secret in UTF-8: enough to distinguish two secrets, and too
 * few to find one by. Of all guesses one in 2^32 fits, so that guessing a password gives
 * many that fit and no hint which is right.
 */
export function fingerprintOf(secret: string): string {
  return `sha256:${createHash("sha256").update(secret).digest("hex").slice(0, 8)}`;
}

/** The place that the attributes of a resource name; undefined: none. */
function outputIn({ secret_output: declared }: JsonObject): SecretOutput | undefined {
  if (!isObject(declared)) return undefined;
  // Terraform writes null for the forms that are not given.
  const given = Object.entries(declared).filter(([, value]) => value !== null);
  return given.length === 0 ? undefined : (Object.fromEntries(given) as unknown as SecretOutput);
}

const known = (value: Json | undefined): string | undefined => (typeof value === "string" ? value : undefined);

/** Effect of the secret of an object on its plan: it is still to be written out, or cannot be moved any more. */
interface PlannedSecret {
  /** Attributes as they will be. */
  readonly after: JsonObject;
  readonly reasons: readonly ChangeReason[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Plans what becomes of the secret of an object, beside what its attributes need.
 * @param before empty for one that is not there yet.
 * @param after the attributes as planned; a secret that is unknown there is generated again anyway.
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
  // Nothing takes it out of the state: there will be no fingerprint of it.
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

/** The place that the attributes of a resource name, when it is a file and known; undefined too for what is no place. */
export function fileOutputIn(attributes: ValueObject): FileOutput | undefined {
  const output = declaredOutput(attributes);
  if (output === undefined || "command" in output) return undefined;
  const path = "file" in output ? output.file : isObject(output.env_file) && output.env_file.path;
  return typeof path === "string" ? output : undefined;
}

/** The declared place; undefined if it is unknown. */
function declaredOutput({ secret_output: declared = null }: ValueObject): SecretOutput | undefined {
  return hasUnknown(declared) ? undefined : outputIn({ secret_output: declared as Json });
}

/** An object that moves to another address of the state. */
interface MovedObject {
  readonly address: string;
  readonly record: Pick<ResourceState, "address" | "attributes">;
  /** Attributes that the new address declares. */
  readonly config: ValueObject;
  /** The new address has a record so far. */
  readonly isOccupied: boolean;
}

/**
 * Refuses a move of an object whose secret was written out, where the new address declares another place: the state cannot
 * write it there. A secret that the state still has is written after the move, and leaves the state only then.
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

/** A permission to lie outside of the project is no difference of the place. */
function isSamePlace(old: SecretOutput | undefined, output: SecretOutput): boolean {
  const place = (one: SecretOutput | undefined) => ({ ...one, outside_project: null }) as Json;
  return equal(place(old), place(output));
}

/**
 * Sees to it, before anything is sent, that a secret which the change may bring can be written to where it is to go.
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
 * Refuses to overwrite a secret that is not the recorded one: it may exist nowhere else. Without the whole state nobody knows
 * whether a create replaces an object.
 * @param own fingerprint of the secret that is to be written.
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
  throw new HostformError([problem("secret.output/other", about)]);
}

/** Returns true if a response of the change may contain a new secret; else the recorded one stays. */
function bringsSecret({ name }: OneTimeSecret, { actions, after_unknown }: Change): boolean {
  return actions.some((action) => action === "create") || (isObject(after_unknown) && after_unknown[name] === true);
}

/**
 * Writes the secret of a resource, if it has one, to where it is to go. A new one that cannot be written stays, with a
 * warning: the object is made. For an earlier one it was all that was to be done.
 * @returns the attributes, without the secret when it was written.
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

/** A secret that came and could not be written waits: nothing is lost. */
const keptInState = ({ address }: Change, { name }: OneTimeSecret, { diagnostics }: HostformError): Diagnostic[] =>
  diagnostics.map((reason) => problem("secret.output/waiting", { address, name, attribute: reason.attribute, reason }));

/** A sentence for the user who adopts an object whose secret only its creator received; undefined where none applies. */
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
 * The requests of a change in place, with the values of secret sources in them. A source is read only when one of the
 * requests holds its value; in `config` it stands as unknown.
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

/** The reader knows where it looked, not which attribute wants it: that is where the declaration names the place. */
function refuseAt(name: string, error: unknown): never {
  if (!(error instanceof HostformError)) throw error;
  throw new HostformError(
    error.diagnostics.map((diagnostic) => ({ attribute: [name], ...diagnostic })),
    { cause: error },
  );
}
