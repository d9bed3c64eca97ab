/**
 * `terraform query` as Terraform core runs it against one provider process: validates a `list` block, reads the stream of its
 * objects one by one, and asks for their configuration. Checks the responses by the rules of Terraform.
 */
import { create, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { type JsonObject, UNKNOWN, type ValueObject } from "../../src/core/model/index.ts";
import type { Attributes } from "../../src/core/model/schema.ts";
import { type Connection, newConnection } from "../../src/fronts/terraform/calls/call.ts";
import { calls } from "../../src/fronts/terraform/calls/list.ts";
import { catalogue } from "../../src/fronts/terraform/catalogue.ts";
import { decodeDynamic, encodeDynamic } from "../../src/fronts/terraform/codec/dynamic.ts";
import {
  GenerateResourceConfig_RequestSchema,
  GenerateResourceConfig_ResponseSchema,
  ListResource_EventSchema,
  ListResource_RequestSchema,
  ValidateListResourceConfig_RequestSchema,
  ValidateListResourceConfig_ResponseSchema,
} from "../../src/fronts/terraform/wire/tfplugin6.gen.ts";
import { unknownProblems, writeOnlyProblems } from "./terraform-core-rules.ts";
import { isRefusal, NOTHING, refuse, type Said, said, schemaNamed } from "./terraform-core-wire.ts";

/** An object in the result of a `list` block. */
export interface Listed {
  readonly identity: JsonObject;
  readonly name: string;
  readonly state: JsonObject | null;
}

export interface ListBlock {
  readonly config?: ValueObject;
  /** `limit`. Default: 100, as in Terraform. */
  readonly limit?: number;
  readonly include?: boolean;
  /** Called after each received object. A false result cancels the call, like an interrupted command. */
  readonly onObject?: (one: Listed) => boolean | Promise<boolean>;
}

export interface Query {
  /** Empty after an error: Terraform then shows no object. */
  readonly objects: readonly Listed[];
  readonly said: readonly Said[];
  /** Number of events that the provider sent and Terraform did not read. */
  readonly unread: number;
}

/** Returns a configuration with every attribute of the schema. */
const complete = (attributes: Attributes, given: ValueObject): ValueObject => ({
  ...Object.fromEntries(Object.keys(attributes).map((name) => [name, null])),
  ...given,
});

const schemaOfList = (type: string): Attributes => {
  const schema = catalogue.lists.get(type);
  if (schema === undefined) throw new Error(`The provider does not support list resource "${type}"`);
  return schema.attributes;
};

/** Validates a `list` block. Its values may be unknown. */
export async function validateList(type: string, config: ValueObject = {}): Promise<readonly Said[]> {
  const attributes = schemaOfList(type);
  const request = create(ValidateListResourceConfig_RequestSchema, {
    typeName: type,
    config: encodeDynamic(complete(attributes, config), attributes),
  });
  const bytes = await calls.ValidateListResourceConfig?.(
    toBinary(ValidateListResourceConfig_RequestSchema, request),
    newConnection({ env: {}, log: () => undefined }),
  );
  return fromBinary(ValidateListResourceConfig_ResponseSchema, bytes ?? NOTHING).diagnostics.map(said);
}

/** Runs a `list` block. The configuration must be known. */
export async function queryList(connection: Connection, type: string, block: ListBlock = {}): Promise<Query> {
  const { config = {}, limit = 100, include = false, onObject } = block;
  if (Object.values(config).includes(UNKNOWN)) throw new Error("config is not known");
  const invalid = await validateList(type, config);
  if (invalid.some(isRefusal)) return { objects: [], said: invalid, unread: 0 };
  const attributes = schemaOfList(type);
  const request = create(ListResource_RequestSchema, {
    typeName: type,
    config: encodeDynamic(complete(attributes, config), attributes),
    includeResourceObject: include,
    limit: BigInt(limit),
  });
  const reported: Said[] = [];
  const objects: Listed[] = [];
  const cancelled = new AbortController();
  let unread = 0;
  const send = async (bytes: Uint8Array): Promise<void> => {
    if (cancelled.signal.aborted || objects.length >= limit) {
      unread += 1;
      return;
    }
    const event = fromBinary(ListResource_EventSchema, bytes);
    reported.push(...event.diagnostic.map(said));
    const hasIdentity = event.identity?.identityData !== undefined;
    if (reported.some(isRefusal)) return cancelled.abort();
    if (reported.length > 0 && !hasIdentity) return;
    const one = objectIn(type, event, include);
    objects.push(one);
    // Terraform cancels the call at the limit.
    if (objects.length >= limit || (await onObject?.(one)) === false) cancelled.abort();
  };
  const call = calls.ListResource ?? expect("ListResource");
  if (limit > 0)
    await call(toBinary(ListResource_RequestSchema, request), connection, { cancelled: cancelled.signal, send });
  return { objects: reported.some(isRefusal) ? [] : objects, said: reported, unread };
}

const expect = (name: string): never => {
  throw new Error(`the provider has no ${name}`);
};

function objectIn(type: string, event: MessageShape<typeof ListResource_EventSchema>, include: boolean): Listed {
  const { attributes } = schemaNamed(type);
  const schema = catalogue.identities.get(type)?.attributes ?? {};
  const identity = decodeDynamic(event.identity?.identityData, schema);
  const state = decodeDynamic(event.resourceObject, attributes);
  const isSecret = ([name, value]: [string, unknown]) => attributes[name]?.sensitive === true && value !== null;
  refuse(`an event of ${type}`, [
    ...(identity === null ? ["missing identity data"] : unknownProblems(identity)),
    ...Object.entries(identity ?? {}).flatMap(([name, value]) =>
      schema[name]?.required && typeof value !== "string" ? [`${name} of the identity is null`] : [],
    ),
    ...unknownProblems(state),
    ...writeOnlyProblems(attributes, state),
    ...Object.entries(state ?? {}).flatMap((entry) => (isSecret(entry) ? [`${entry[0]} is a secret`] : [])),
    ...(include === (state === null) ? [`the object ${include ? "is missing" : "was not requested"}`] : []),
  ]);
  return { identity: identity as JsonObject, name: event.displayName, state: state as JsonObject | null };
}

/** Asks for the configuration of an imported object, as `-generate-config-out` does. */
export async function generatedFor(
  type: string,
  state: JsonObject | null,
): Promise<{ readonly config: ValueObject; readonly said: readonly Said[] }> {
  const { attributes } = schemaNamed(type);
  const request = create(GenerateResourceConfig_RequestSchema, {
    typeName: type,
    state: encodeDynamic(state, attributes),
  });
  const call = calls.GenerateResourceConfig ?? expect("GenerateResourceConfig");
  const connection = newConnection({ env: {}, log: () => undefined });
  const bytes = await call(toBinary(GenerateResourceConfig_RequestSchema, request), connection);
  const answer = fromBinary(GenerateResourceConfig_ResponseSchema, bytes ?? NOTHING);
  const config = decodeDynamic(answer.config, attributes);
  const given = Object.entries(config ?? {}).filter(([, value]) => value !== null);
  refuse(`generated configuration of ${type}`, [
    ...unknownProblems(config),
    ...given.flatMap(([name]) => {
      const { computed, optional, required, sensitive } = attributes[name] ?? {};
      const isReadOnly = computed && !optional && !required;
      return isReadOnly || sensitive ? [`${name} is ${sensitive ? "a secret" : "read-only"}`] : [];
    }),
  ]);
  return { config: config ?? {}, said: answer.diagnostics.map(said) };
}
