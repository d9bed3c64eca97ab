import type { MessageInitShape } from "@bufbuild/protobuf";
import { importIdOf, type Kind } from "../../../core/kinds/index.ts";
import {
  type Attributes,
  isError,
  isObject,
  type JsonObject,
  parsedJson,
  type ValueObject,
} from "../../../core/model/index.ts";
import { decodeDynamic, encodeDynamic, fromStateJson, withUnknown } from "../codec/dynamic.ts";
import { problem, refuse } from "../messages.ts";
import { applyResource } from "../resource/apply.ts";
import {
  type Answer,
  decodeMark,
  encodeMark,
  isUnread,
  type Mark,
  stillWithheld,
  terraformKind,
  withheld,
  withheldByImport,
  withNull,
  withoutPendingId,
  withPendingId,
  withPriceText,
  withUndeclared,
} from "../resource/attribute-mapping.ts";
import { isUnknownReference, waitsForService } from "../resource/deferral.ts";
import type { Asked } from "../resource/enforcement.ts";
import { movedState } from "../resource/move.ts";
import { planDeclared } from "../resource/plan.ts";
import { type ProviderScope, scopeOf } from "../resource/provider-scope.ts";
import { importIdIn, importResource, keptUnread, readResource } from "../resource/read.ts";
import { destroyResource, planRemovalOf } from "../resource/remove.ts";
import { validateResource } from "../resource/validate.ts";
import { decodeIdentity, encodeIdentity, identitySchemaOf, resourceIdentity } from "../schema/identity.ts";
import { schemaOf } from "../schema/of-kind.ts";
import {
  Deferred_Reason,
  type DynamicValue,
  type ImportResourceState_ImportedResourceSchema,
  type RawState,
  type ResourceIdentityData,
} from "../wire/tfplugin6.gen.ts";
import {
  type Calls,
  type Connection,
  Deferral,
  diagnosed,
  requireSession,
  rpcs,
  toPath,
  unary,
  waitsForConfig,
} from "./call.ts";

/** The calls about managed resources: decode, call the core, encode. */
export const calls: Calls = {
  ValidateResourceConfig: unary(
    rpcs.validateResourceConfig,
    async ({ typeName, config, clientCapabilities }, connection) => {
      const { kind, attributes } = resourceOf(typeName);
      const allowed = clientCapabilities?.writeOnlyAttributesAllowed ?? false;
      const check = async () => validateResource(kind, decodeDynamic(config, attributes) ?? {}, allowed);
      return { diagnostics: await diagnosticsOf(kind, connection, check) };
    },
  ),

  UpgradeResourceState: unary(rpcs.upgradeResourceState, async ({ typeName, version, rawState }, connection) => {
    const { kind, attributes } = resourceOf(typeName);
    let upgradedState: DynamicValue | undefined;
    const diagnostics = await diagnosticsOf(kind, connection, async () => {
      checkVersion(kind, version);
      const state = fromStateJson(textOf(rawState), attributes);
      const isKnown = connection.session !== undefined && !waitsForConfig(connection) && !isUnread(kind, state);
      if (isKnown) scopeIn(connection).addRecorded(kind, withoutPendingId(state));
      upgradedState = encodeDynamic(state, attributes);
      return [];
    });
    return { upgradedState, diagnostics };
  }),

  UpgradeResourceIdentity: unary(
    rpcs.upgradeResourceIdentity,
    async ({ typeName, version, rawIdentity }, connection) => {
      const { kind } = resourceOf(typeName);
      let upgradedIdentity: ResourceIdentityData | undefined;
      const diagnostics = await diagnosticsOf(kind, connection, async () => {
        const schema = identitySchemaOf(kind);
        checkVersion(kind, version, schema);
        const json = textOf(rawIdentity) || "null";
        // Without an identity, the next refresh returns one.
        upgradedIdentity = encodeIdentity(kind, json === "null" ? null : fromStateJson(json, schema.attributes));
        return [];
      });
      return { upgradedIdentity, diagnostics };
    },
  ),

  MoveResourceState: unary(rpcs.moveResourceState, async (request, connection) => {
    const { sourceTypeName: source, sourceProviderAddress: from, sourceState, targetTypeName } = request;
    const { kind, attributes } = resourceOf(targetTypeName);
    let answer = {};
    // The next refresh returns the identity.
    const diagnostics = await diagnosticsOf(kind, connection, () => {
      // Terraform and OpenTofu have different addresses of this provider.
      if (source === targetTypeName && from.endsWith("/hosting")) {
        checkVersion(kind, request.sourceSchemaVersion);
        const state = fromStateJson(textOf(sourceState), attributes);
        answer = { targetState: encodeDynamic(state, attributes), targetPrivate: request.sourcePrivate };
        return [];
      }
      const given = parsedJson(textOf(sourceState));
      const state = movedState(kind, source, isObject(given) ? (given as JsonObject) : {});
      answer = { targetState: encodeDynamic(state, attributes) };
      return [];
    });
    return { ...answer, diagnostics };
  }),

  ReadResource: unary(rpcs.readResource, async (request, connection) => {
    const { currentState, private: mark, currentIdentity: newIdentity } = request;
    const { kind, attributes } = resourceOf(request.typeName);
    // After a failure, the state is unchanged.
    let answer: Encoded = { newState: currentState, private: mark, newIdentity };
    const deferral = new Deferral(connection);
    const diagnostics = await diagnosticsOf(
      kind,
      connection,
      deferral.instead(async () => {
        const given = decodeMark(mark);
        const { state: known, held } = stateIn(currentState, attributes, given);
        if (known === null) return [];
        const scope = scopeIn(connection);
        const isMoved = isUnread(kind, known);
        const state = isMoved ? await importResource(kind, importIdOf(kind, String(known.id), known), scope) : known;
        const unread = (error: unknown) => keptUnread(kind, { state, mark: given }, scope, error);
        const read = await readResource(kind, state, given, scope).catch(unread);
        answer = encoded(kind, read, isMoved ? withheldByImport(kind) : held, scope);
        // Terraform also requires the identity of a deleted object.
        answer.newIdentity ??= identityIn(kind, state, scope);
        return read.diagnostics;
      }),
    );
    return { ...answer, ...deferral.answer, diagnostics };
  }),

  PlanResourceChange: unary(rpcs.planResourceChange, async (request, connection) => {
    const { typeName, priorState, proposedNewState, config, priorPrivate, clientCapabilities } = request;
    const { kind, attributes } = resourceOf(typeName);
    const answer = { plannedState: proposedNewState, plannedPrivate: priorPrivate, requiresReplace: noPaths };
    let plannedIdentity: ResourceIdentityData | undefined;
    const deferral = new Deferral(connection);
    // The plan before an apply has the private data of the first plan. Only the first plan can be deferred.
    const isFirst = clientCapabilities?.storePlannedPrivate && request.plannedPrivate.length === 0;
    const mayWait = (clientCapabilities?.deferralAllowed && isFirst) ?? false;
    const diagnostics = await diagnosticsOf(
      kind,
      connection,
      deferral.instead(async () => {
        const scope = scopeIn(connection);
        const { enforcement } = connection;
        const judged = async (asked: Omit<Asked, "isLater">) =>
          (await enforcement?.judge(kind, { ...asked, isLater: true }, scope)) ?? [];
        const mark = decodeMark(priorPrivate);
        const declared = decodeDynamic(config, attributes) ?? {};
        const { state: prior, held } = stateIn(priorState, attributes, mark, declared);
        if (prior !== null && isUnread(kind, prior))
          refuse(problem("terraform.move/unread", { noun: kind.noun, id: String(prior.id) }));
        if (decodeDynamic(proposedNewState, attributes) === null) {
          if (prior === null) return [];
          const removal = await planRemovalOf(kind, prior, mark, scope);
          answer.plannedPrivate = encodeMark(removal.mark);
          const refused = await judged({ prior, planned: null, isReplacement: false });
          return [...removal.diagnostics, ...refused];
        }
        const plan = await planDeclared(kind, { prior, config: declared, mark }, scope);
        const isReplacement = prior !== null && plan.requiresReplace.length > 0;
        const refused = await judged({ prior, planned: plan.planned, isReplacement });
        const found = [...plan.diagnostics, ...refused];
        if (mayWait && isUnknownReference(declared, found)) {
          deferral.waits(Deferred_Reason.RESOURCE_CONFIG_UNKNOWN);
          return found.filter((one) => !isError(one));
        }
        // Terraform does not use a plan with errors, so its values need not fit the schema.
        if (!plan.diagnostics.some(isError)) {
          const planned = withPendingId(plan.planned, prior === null ? {} : mark);
          answer.plannedState = encodeDynamic(
            withPriceText(attributes, withNull(planned, held), scope.session, prior),
            attributes,
          );
          plannedIdentity = identityIn(kind, planned, scope);
          if (mayWait && (await waitsForService(kind, { prior, config: declared }, scope))) deferral.waits();
        }
        // The removal of a replacement receives the values of its planned create.
        answer.plannedPrivate = encodeMark({ ...plan.mark, undeclared: mark.undeclared });
        answer.requiresReplace = plan.requiresReplace.map(toPath);
        return found;
      }),
    );
    if (deferral.answer.deferred !== undefined && answer.plannedState === proposedNewState) {
      answer.plannedState = withUnknown(proposedNewState, attributes);
      plannedIdentity = request.priorIdentity;
    }
    return { ...answer, ...deferral.answer, plannedIdentity, diagnostics };
  }),

  ApplyResourceChange: unary(rpcs.applyResourceChange, async (request, connection, cancelled) => {
    const { priorState, plannedState, config, plannedPrivate, plannedIdentity: newIdentity } = request;
    const { kind, attributes } = resourceOf(request.typeName);
    let answer: Encoded = { newState: priorState, private: plannedPrivate, newIdentity };
    const diagnostics = await diagnosticsOf(kind, connection, async () => {
      const scope = scopeIn(connection);
      const mark = decodeMark(plannedPrivate);
      const declared = decodeDynamic(config, attributes) ?? {};
      const { state: recorded, held } = stateIn(priorState, attributes, mark, declared);
      const planned = decodeDynamic(plannedState, attributes);
      const prior = recorded && scope.afterActions(recorded, planned);
      answer.newIdentity = prior === null ? undefined : identityIn(kind, prior, scope);
      // The removal of a replacement has the mark of its create.
      const isReplacement = planned === null && (mark.replacing ?? mark.creates) !== undefined;
      await connection.enforcement?.require(kind, { prior, planned, isReplacement }, scope);
      if (planned === null) {
        const destroyed = prior && (await destroyResource(kind, prior, mark, scope, cancelled));
        answer = encoded(kind, destroyed?.left ?? { state: null, mark: {} }, held, scope);
        return destroyed?.diagnostics ?? [];
      }
      const wanted = prior === null ? planned : withUndeclared(planned, mark);
      const question = { prior, planned: withoutPendingId(wanted), config: declared, mark };
      const applied = await applyResource(kind, { ...question, ...(cancelled && { cancelled }) }, scope);
      if (applied.state !== null) scope.holdings.add(kind, applied.state, applied.mark);
      answer = encoded(kind, applied, held, scope, planned);
      return applied;
    });
    return { ...answer, diagnostics };
  }),

  ImportResourceState: unary(rpcs.importResourceState, async ({ typeName, id, identity }, connection) => {
    const { kind } = resourceOf(typeName);
    const importedResources: MessageInitShape<typeof ImportResourceState_ImportedResourceSchema>[] = [];
    const deferral = new Deferral(connection);
    const diagnostics = await diagnosticsOf(
      kind,
      connection,
      deferral.instead(async () => {
        const scope = scopeIn(connection);
        const given = decodeIdentity(kind, identity);
        const importId = given === null ? id : importIdIn(kind, given, scope.session);
        const state = await importResource(kind, importId, scope);
        const { newState, ...own } = encoded(kind, { state, mark: {} }, withheldByImport(kind), scope);
        importedResources.push({ typeName, state: newState, private: own.private, identity: own.newIdentity });
        return [];
      }),
    );
    return { importedResources, ...deferral.answer, diagnostics };
  }),
};

/** Returns a state in the core's format, and the names of its withheld attributes. */
function stateIn(given: DynamicValue | undefined, attributes: Attributes, mark: Mark, declared?: ValueObject) {
  const decoded = decodeDynamic(given, attributes) as JsonObject | null;
  const state = decoded && withUndeclared(withoutPendingId(decoded), mark);
  return { state, held: stillWithheld(mark, decoded, declared) };
}

interface Encoded {
  newState: DynamicValue | undefined;
  private: Uint8Array;
  newIdentity: ResourceIdentityData | undefined;
}

/** Returns a state, its mark and its identity for Terraform. */
function encoded(
  kind: Kind,
  answer: Pick<Answer, "state" | "mark">,
  held: readonly string[],
  scope: ProviderScope,
  planned: ValueObject | null = null,
): Encoded {
  const { attributes } = schemaOf(kind);
  const { state, mark } = withheld(answer.state, answer.mark, held);
  const shown = state && withPriceText(attributes, withPendingId(state, mark), scope.session, planned);
  return {
    newState: encodeDynamic(shown, attributes),
    private: encodeMark(mark),
    newIdentity: state === null ? undefined : identityIn(kind, state, scope),
  };
}

/** Returns the identity for Terraform. Clients of protocol 6.8 skip the field. */
function identityIn(kind: Kind, attributes: ValueObject, { session }: ProviderScope): ResourceIdentityData | undefined {
  const identity = resourceIdentity(kind, attributes, session);
  return identity && encodeIdentity(kind, identity);
}

/** Returns diagnostics in the words of a kind, with all warnings since the last response. */
const diagnosticsOf = (kind: Kind, { warnings }: Connection, step: Parameters<typeof diagnosed>[0]) =>
  diagnosed(step, { kind, noticed: warnings });

/** @throws HostformError `state.newer` if a newer provider wrote a state or an identity. */
function checkVersion({ noun, schemaVersion }: Kind, version: bigint, own = { version: schemaVersion }): void {
  if (version > BigInt(own.version)) refuse(problem("state.newer", { noun, version }));
}

const textOf = (raw: RawState | undefined) => new TextDecoder().decode(raw?.json);

const noPaths: ReturnType<typeof toPath>[] = [];

const scopeIn = (connection: Connection) => scopeOf(requireSession(connection), connection.activity);

function resourceOf(type: string): { kind: Kind; attributes: Attributes } {
  const kind = terraformKind(type);
  return { kind, attributes: schemaOf(kind).attributes };
}
