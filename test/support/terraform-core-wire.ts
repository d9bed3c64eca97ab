/**
 * A provider process as Terraform core calls it: encodes messages as bytes, and checks the responses by the rules of
 * Terraform.
 */
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import type { AttributePath, JsonObject, ValueObject } from "../../src/core/model/index.ts";
import type { Schema } from "../../src/core/model/schema.ts";
import type { Connection } from "../../src/fronts/terraform/calls/call.ts";
import { calls } from "../../src/fronts/terraform/calls/resource.ts";
import { decodeDynamic, encodeDynamic } from "../../src/fronts/terraform/codec/dynamic.ts";
import { terraformKind } from "../../src/fronts/terraform/resource/attribute-mapping.ts";
import { decodeIdentity, encodeIdentity } from "../../src/fronts/terraform/schema/identity.ts";
import { schemaOf } from "../../src/fronts/terraform/schema/of-kind.ts";
import {
  ApplyResourceChange_RequestSchema,
  ApplyResourceChange_ResponseSchema,
  type Deferred_Reason,
  Diagnostic_Severity,
  type Diagnostic as DiagnosticMessage,
  ImportResourceState_RequestSchema,
  ImportResourceState_ResponseSchema,
  MoveResourceState_RequestSchema,
  MoveResourceState_ResponseSchema,
  type AttributePath as PathMessage,
  PlanResourceChange_RequestSchema,
  PlanResourceChange_ResponseSchema,
  ReadResource_RequestSchema,
  ReadResource_ResponseSchema,
  type ResourceIdentityData,
  UpgradeResourceState_RequestSchema,
  UpgradeResourceState_ResponseSchema,
  ValidateResourceConfig_RequestSchema,
  ValidateResourceConfig_ResponseSchema,
} from "../../src/fronts/terraform/wire/tfplugin6.gen.ts";
import { identityProblems, proposed, unknownProblems, writeOnlyProblems } from "./terraform-core-rules.ts";

/** A defect for which Terraform would report "Provider produced …", regardless of the command. */
export class ProviderDefect extends Error {
  constructor(where: string, problems: readonly string[]) {
    super(`Terraform would call this a bug in the provider (${where}):\n${problems.join("\n")}`);
  }
}

export function refuse(where: string, problems: readonly string[]): void {
  if (problems.length > 0) throw new ProviderDefect(where, problems);
}

export interface Said {
  readonly severity: "error" | "warning";
  readonly summary: string;
  readonly detail: string;
  readonly attribute: AttributePath;
  /** Address of the instance, as Terraform shows it. */
  readonly address?: string;
}

export const about = (address: string, said: readonly Said[]): readonly Said[] =>
  said.map((each) => ({ ...each, address }));

export const isRefusal = ({ severity }: Said): boolean => severity === "error";

/** Terraform's data of an object. */
export interface Held<T extends ValueObject | null = ValueObject | null> {
  readonly value: T;
  readonly private: Uint8Array;
  readonly said: readonly Said[];
  readonly identity: JsonObject | undefined;
  /** Reason of a deferred response. */
  readonly deferred?: Deferred_Reason | undefined;
}

/** Resource that a `moved` block names. Default provider: another one. */
export interface MoveSource {
  readonly type: string;
  readonly state: object;
  readonly provider?: string;
  readonly version?: bigint;
  readonly private?: Uint8Array;
}

export const NOTHING = new Uint8Array();

/** Returns the schema of a resource type. */
export const schemaNamed = (type: string): Schema => schemaOf(terraformKind(type));

/** Returns a declaration with every attribute of the schema. Missing attributes are null. */
export function completeConfig(type: string, config: ValueObject): ValueObject {
  const names = Object.keys(schemaNamed(type).attributes);
  const stray = Object.keys(config).filter((name) => !names.includes(name));
  if (stray.length > 0) throw new Error(`${type} has no ${stray.join(", ")}`);
  return Object.fromEntries(names.map((name) => [name, config[name] ?? null]));
}

const CAPABILITIES = { writeOnlyAttributesAllowed: true, storePlannedPrivate: true };

/** Calls of one process. If the process ends, `until` ends each call early. */
export class CoreWire {
  readonly #connection: Connection;
  readonly #until: <T>(work: Promise<T>) => Promise<T>;
  readonly #cancelled: AbortSignal;
  readonly #capabilities: { readonly deferralAllowed: boolean } & typeof CAPABILITIES;

  /**
   * @param cancelled When aborted, cancels the calls. Their results are still received.
   * @param mayDefer True for `-allow-deferral`, and for each apply, as in Terraform.
   */
  constructor(
    connection: Connection,
    until: <T>(work: Promise<T>) => Promise<T>,
    cancelled: AbortSignal,
    mayDefer: boolean,
  ) {
    connection.mayDefer = mayDefer;
    this.#capabilities = { ...CAPABILITIES, deferralAllowed: mayDefer };
    this.#connection = connection;
    this.#until = until;
    this.#cancelled = cancelled;
  }

  async validate(type: string, config: ValueObject): Promise<readonly Said[]> {
    const { diagnostics } = await this.#call(
      "ValidateResourceConfig",
      [ValidateResourceConfig_RequestSchema, ValidateResourceConfig_ResponseSchema],
      {
        typeName: type,
        config: encodeDynamic(config, schemaNamed(type).attributes),
        clientCapabilities: this.#capabilities,
      },
    );
    return diagnostics.map(said);
  }

  /** Converts a recorded object to an object of the schema. */
  async upgrade(type: string, recorded: JsonObject): Promise<{ value: JsonObject; said: readonly Said[] }> {
    const { attributes, version } = schemaNamed(type);
    const json = new TextEncoder().encode(JSON.stringify(recorded));
    const { upgradedState, diagnostics } = await this.#call(
      "UpgradeResourceState",
      [UpgradeResourceState_RequestSchema, UpgradeResourceState_ResponseSchema],
      { typeName: type, version: BigInt(version), rawState: { json } },
    );
    const value = decodeDynamic(upgradedState, attributes);
    const reported = diagnostics.map(said);
    if (reported.some(isRefusal)) return { value: recorded, said: reported };
    refuse(`upgrade of ${type}`, value === null ? ["no state"] : writeOnlyProblems(attributes, value));
    return { value: value as JsonObject, said: reported };
  }

  /** @param before Recorded identity. */
  async read(
    type: string,
    state: JsonObject,
    mark: Uint8Array,
    before: JsonObject | undefined,
  ): Promise<Held<JsonObject | null>> {
    const { attributes } = schemaNamed(type);
    const answer = await this.#call("ReadResource", [ReadResource_RequestSchema, ReadResource_ResponseSchema], {
      typeName: type,
      currentState: encodeDynamic(state, attributes),
      private: mark,
      currentIdentity: encoded(type, before),
      clientCapabilities: this.#capabilities,
    });
    const value = decodeDynamic(answer.newState, attributes);
    const identity = identityIn(type, answer.newIdentity);
    const reported = answer.diagnostics.map(said);
    refuse(`read of ${type}`, [
      ...unknownProblems(value),
      ...writeOnlyProblems(attributes, value),
      ...(reported.some(isRefusal) ? [] : identityProblems(value ?? state, identity, before)),
    ]);
    const deferred = this.#deferred(`read of ${type}`, answer);
    return { value: value as JsonObject | null, private: answer.private, said: reported, identity, deferred };
  }

  /**
   * @param config Null if the object is planned to be destroyed.
   * @param planned Private data of the first plan, in the plan before an apply.
   */
  async plan(
    type: string,
    question: {
      prior: JsonObject | null;
      config: ValueObject | null;
      mark: Uint8Array;
      identity: JsonObject | undefined;
      planned?: Uint8Array | undefined;
    },
  ): Promise<Held & { readonly requiresReplace: readonly AttributePath[] }> {
    const { prior, config, mark, identity: before, planned = NOTHING } = question;
    const { attributes } = schemaNamed(type);
    const proposal = config === null ? null : proposed(attributes, prior, config);
    const answer = await this.#call(
      "PlanResourceChange",
      [PlanResourceChange_RequestSchema, PlanResourceChange_ResponseSchema],
      {
        typeName: type,
        priorState: encodeDynamic(prior, attributes),
        proposedNewState: encodeDynamic(proposal, attributes),
        config: encodeDynamic(config, attributes),
        priorPrivate: mark,
        priorIdentity: encoded(type, before),
        plannedPrivate: planned,
        clientCapabilities: this.#capabilities,
      },
    );
    const value = decodeDynamic(answer.plannedState, attributes);
    const identity = identityIn(type, answer.plannedIdentity);
    const reported = answer.diagnostics.map(said);
    if (!reported.some(isRefusal)) refuse(`plan of ${type}`, identityProblems(value ?? {}, identity, before));
    return {
      value,
      deferred: this.#deferred(`plan of ${type}`, answer),
      private: answer.plannedPrivate,
      said: reported,
      identity,
      requiresReplace: answer.requiresReplace.map(pathOf),
    };
  }

  async apply(
    type: string,
    question: {
      prior: JsonObject | null;
      planned: ValueObject | null;
      config: ValueObject | null;
      mark: Uint8Array;
      identity: JsonObject | undefined;
    },
  ): Promise<Held> {
    const { attributes } = schemaNamed(type);
    const answer = await this.#call(
      "ApplyResourceChange",
      [ApplyResourceChange_RequestSchema, ApplyResourceChange_ResponseSchema],
      {
        typeName: type,
        priorState: encodeDynamic(question.prior, attributes),
        plannedState: encodeDynamic(question.planned, attributes),
        config: encodeDynamic(question.config, attributes),
        plannedPrivate: question.mark,
        plannedIdentity: encoded(type, question.identity),
      },
    );
    const reported = answer.diagnostics.map(said);
    const value = decodeDynamic(answer.newState, attributes);
    const identity = identityIn(type, answer.newIdentity);
    refuse(`apply of ${type}`, [
      ...writeOnlyProblems(attributes, value),
      ...(reported.some(isRefusal) ? [] : unknownProblems(value)),
      ...identityProblems(value ?? {}, identity, question.identity),
    ]);
    return { value, private: answer.private, said: reported, identity };
  }

  /** Converts the state of a resource of another type or provider. Terraform does not configure the provider before. */
  async move(source: MoveSource, type: string): Promise<Held<JsonObject | null>> {
    const { attributes } = schemaNamed(type);
    const answer = await this.#call(
      "MoveResourceState",
      [MoveResourceState_RequestSchema, MoveResourceState_ResponseSchema],
      {
        sourceProviderAddress: source.provider ?? `registry.terraform.io/test/${source.type.replace(/_.*/, "")}`,
        sourceTypeName: source.type,
        sourceSchemaVersion: source.version ?? 0n,
        sourcePrivate: source.private ?? NOTHING,
        sourceState: { json: new TextEncoder().encode(JSON.stringify(source.state)) },
        targetTypeName: type,
      },
    );
    const reported = answer.diagnostics.map(said);
    const identity = undefined;
    if (reported.some(isRefusal)) return { value: null, private: NOTHING, said: reported, identity };
    const value = decodeDynamic(answer.targetState, attributes);
    refuse(`move to ${type}`, [
      ...(value === null ? ["no state"] : []),
      ...unknownProblems(value),
      ...writeOnlyProblems(attributes, value),
    ]);
    return { value: value as JsonObject | null, private: answer.targetPrivate, said: reported, identity };
  }

  /** Returns the reason of a deferral. Without permission, Terraform reports a defect. */
  #deferred(where: string, { deferred }: { readonly deferred?: { readonly reason: Deferred_Reason } | undefined }) {
    if (deferred !== undefined && !this.#capabilities.deferralAllowed) refuse(where, ["deferred without permission"]);
    return deferred?.reason;
  }

  /** @param by Id, or identity. */
  async import(type: string, by: string | JsonObject): Promise<Held<JsonObject | null>> {
    const { attributes } = schemaNamed(type);
    const answer = await this.#call(
      "ImportResourceState",
      [ImportResourceState_RequestSchema, ImportResourceState_ResponseSchema],
      { typeName: type, ...(typeof by === "string" ? { id: by } : { identity: encoded(type, by) }) },
    );
    const reported = answer.diagnostics.map(said);
    const [made, ...more] = answer.importedResources;
    if (reported.some(isRefusal)) return { value: null, private: NOTHING, said: reported, identity: undefined };
    const value = decodeDynamic(made?.state, attributes);
    const identity = identityIn(type, made?.identity);
    refuse(`import of ${type}`, [
      ...(value === null || more.length > 0 ? [`${answer.importedResources.length} objects came`] : []),
      ...unknownProblems(value),
      ...writeOnlyProblems(attributes, value),
      ...identityProblems(value ?? {}, identity, undefined),
    ]);
    return { value: value as JsonObject | null, private: made?.private ?? NOTHING, said: reported, identity };
  }

  async #call<I extends DescMessage, O extends DescMessage>(
    name: string,
    [input, output]: readonly [I, O],
    request: MessageInitShape<I>,
  ): Promise<MessageShape<O>> {
    const call = calls[name];
    if (call === undefined) throw new Error(`the provider has no ${name}`);
    const bytes = toBinary(input, create(input, request));
    const answer = await this.#until(call(bytes, this.#connection, { cancelled: this.#cancelled }));
    return fromBinary(output, answer ?? NOTHING);
  }
}

/** Terraform omits a missing identity. */
const encoded = (type: string, identity: JsonObject | undefined) =>
  identity && encodeIdentity(terraformKind(type), identity);

const identityIn = (type: string, data: ResourceIdentityData | undefined) =>
  decodeIdentity(terraformKind(type), data) ?? undefined;

export function said({ severity, summary, detail, attribute }: DiagnosticMessage): Said {
  return {
    severity: severity === Diagnostic_Severity.ERROR ? "error" : "warning",
    summary,
    detail,
    attribute: attribute === undefined ? [] : pathOf(attribute),
  };
}

function pathOf({ steps }: PathMessage): AttributePath {
  return steps.flatMap(({ selector }) => {
    if (selector.case === undefined) return [];
    return [selector.case === "elementKeyInt" ? Number(selector.value) : selector.value];
  });
}
