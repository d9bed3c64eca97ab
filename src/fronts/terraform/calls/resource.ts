import type { Kind } from "../../../core/kinds/index.ts";
import { type Diagnostic, fail, isError, type JsonObject } from "../../../core/model/index.ts";
import type { Attributes } from "../../../core/model/schema.ts";
import { decodeDynamic, encodeDynamic, fromStateJson } from "../codec/dynamic.ts";
import { terraformRemedies } from "../remedies.ts";
import { applyResource } from "../resource/apply.ts";
import {
  decodeMark,
  encodeMark,
  terraformKind,
  withoutPendingId,
  withPendingId,
} from "../resource/attribute-mapping.ts";
import { planDeclared } from "../resource/plan.ts";
import { scopeOf } from "../resource/provider-scope.ts";
import { importResource, readResource } from "../resource/read.ts";
import { destroyResource, planDestroy } from "../resource/remove.ts";
import { validateResource } from "../resource/validate.ts";
import { schemaOf } from "../schema/of-kind.ts";
import {
  ApplyResourceChange_RequestSchema,
  ApplyResourceChange_ResponseSchema,
  type DynamicValue,
  ImportResourceState_RequestSchema,
  ImportResourceState_ResponseSchema,
  PlanResourceChange_RequestSchema,
  PlanResourceChange_ResponseSchema,
  ReadResource_RequestSchema,
  ReadResource_ResponseSchema,
  UpgradeResourceState_RequestSchema,
  UpgradeResourceState_ResponseSchema,
  ValidateResourceConfig_RequestSchema,
  ValidateResourceConfig_ResponseSchema,
} from "../wire/tfplugin6.gen.ts";
import { type Calls, type Connection, failureOf, requireSession, toDiagnostics, toPath, unary } from "./call.ts";

/** The calls about managed resources: decode, ask the core, encode. */
export const calls: Calls = {
  ValidateResourceConfig: unary(
    ValidateResourceConfig_RequestSchema,
    ValidateResourceConfig_ResponseSchema,
    async ({ typeName, config, clientCapabilities }, connection) => {
      const { kind, attributes } = resourceOf(typeName);
      const allowed = clientCapabilities?.writeOnlyAttributesAllowed ?? false;
      const check = async () => validateResource(kind, decodeDynamic(config, attributes) ?? {}, allowed);
      return { diagnostics: await diagnosticsOf(kind, connection, check) };
    },
  ),

  UpgradeResourceState: unary(
    UpgradeResourceState_RequestSchema,
    UpgradeResourceState_ResponseSchema,
    async ({ typeName, version, rawState }, connection) => {
      const { kind, attributes } = resourceOf(typeName);
      let upgradedState: DynamicValue | undefined;
      const diagnostics = await diagnosticsOf(kind, connection, async () => {
        if (version > BigInt(kind.schemaVersion)) newer(kind, version);
        const text = new TextDecoder().decode(rawState?.json);
        const state = withoutPendingId(fromStateJson(text, attributes));
        if (connection.session !== undefined) scopeIn(connection).addRecorded(kind, state);
        upgradedState = encodeDynamic(fromStateJson(text, attributes), attributes);
        return [];
      });
      return { upgradedState, diagnostics };
    },
  ),

  ReadResource: unary(
    ReadResource_RequestSchema,
    ReadResource_ResponseSchema,
    async ({ typeName, currentState, private: mark }, connection) => {
      const { kind, attributes } = resourceOf(typeName);
      // Whatever fails: what is recorded stays.
      const answer = { newState: currentState, private: mark };
      const diagnostics = await diagnosticsOf(kind, connection, async () => {
        const state = decodeDynamic(currentState, attributes);
        if (state === null) return [];
        const read = await readResource(
          kind,
          withoutPendingId(state) as JsonObject,
          decodeMark(mark),
          scopeIn(connection),
        );
        answer.newState = encodeDynamic(read.state && withPendingId(read.state, read.mark), attributes);
        answer.private = encodeMark(read.mark);
        return read.diagnostics;
      });
      return { ...answer, diagnostics };
    },
  ),

  PlanResourceChange: unary(
    PlanResourceChange_RequestSchema,
    PlanResourceChange_ResponseSchema,
    async ({ typeName, priorState, proposedNewState, config, priorPrivate }, connection) => {
      const { kind, attributes } = resourceOf(typeName);
      const answer = { plannedState: proposedNewState, plannedPrivate: priorPrivate, requiresReplace: noPaths };
      const diagnostics = await diagnosticsOf(kind, connection, async () => {
        const scope = scopeIn(connection);
        const prior = priorIn(priorState, attributes);
        const mark = decodeMark(priorPrivate);
        if (decodeDynamic(proposedNewState, attributes) === null) {
          return prior === null ? [] : (await planDestroy(kind, prior, mark, scope)).diagnostics;
        }
        const declared = decodeDynamic(config, attributes) ?? {};
        const plan = await planDeclared(kind, { prior, config: declared, mark }, scope);
        // A plan with errors is not gone on with; its values need not be possible ones.
        if (!plan.diagnostics.some(isError)) {
          answer.plannedState = encodeDynamic(withPendingId(plan.planned, prior === null ? {} : mark), attributes);
        }
        answer.plannedPrivate = encodeMark(plan.mark);
        answer.requiresReplace = plan.requiresReplace.map(toPath);
        return plan.diagnostics;
      });
      return { ...answer, diagnostics };
    },
  ),

  ApplyResourceChange: unary(
    ApplyResourceChange_RequestSchema,
    ApplyResourceChange_ResponseSchema,
    async ({ typeName, priorState, plannedState, config, plannedPrivate }, connection, cancelled) => {
      const { kind, attributes } = resourceOf(typeName);
      const answer = { newState: priorState, private: plannedPrivate };
      const diagnostics = await diagnosticsOf(kind, connection, async () => {
        const scope = scopeIn(connection);
        const prior = priorIn(priorState, attributes);
        const mark = decodeMark(plannedPrivate);
        const planned = decodeDynamic(plannedState, attributes);
        if (planned === null) {
          const { diagnostics, left } =
            prior === null ? { diagnostics: [] } : await destroyResource(kind, prior, mark, scope, cancelled);
          Object.assign(answer, {
            newState: encodeDynamic(left?.state ?? null, attributes),
            private: left === undefined ? new Uint8Array() : encodeMark(left.mark),
          });
          return diagnostics;
        }
        const declared = decodeDynamic(config, attributes) ?? {};
        const applied = await applyResource(
          kind,
          { prior, planned: withoutPendingId(planned), config: declared, mark, ...(cancelled && { cancelled }) },
          scope,
        );
        Object.assign(answer, {
          newState: encodeDynamic(applied.state && withPendingId(applied.state, applied.mark), attributes),
          private: encodeMark(applied.mark),
        });
        return applied.diagnostics;
      });
      return { ...answer, diagnostics };
    },
  ),

  ImportResourceState: unary(
    ImportResourceState_RequestSchema,
    ImportResourceState_ResponseSchema,
    async ({ typeName, id }, connection) => {
      const { kind, attributes } = resourceOf(typeName);
      const importedResources: { typeName: string; state: DynamicValue; private: Uint8Array }[] = [];
      const diagnostics = await diagnosticsOf(kind, connection, async () => {
        const state = await importResource(kind, id, scopeIn(connection));
        importedResources.push({ typeName, state: encodeDynamic(state, attributes), private: new Uint8Array() });
        return [];
      });
      return { importedResources, diagnostics };
    },
  ),
};

const priorIn = (state: DynamicValue | undefined, attributes: Attributes): JsonObject | null => {
  const prior = decodeDynamic(state, attributes);
  return prior && (withoutPendingId(prior) as JsonObject);
};

const noPaths: ReturnType<typeof toPath>[] = [];

const scopeIn = (connection: Connection) => scopeOf(requireSession(connection), connection.env);

function resourceOf(type: string): { kind: Kind; attributes: Attributes } {
  const kind = terraformKind(type);
  return { kind, attributes: schemaOf(kind).attributes };
}

/** What the work has to say, or why it failed, in Terraform's terms; and what was noticed beside it. */
async function diagnosticsOf(kind: Kind, { warnings }: Connection, work: () => Promise<readonly Diagnostic[]>) {
  const diagnostics = await work().catch((error: unknown) => failureOf(error));
  return toDiagnostics([...warnings.splice(0), ...diagnostics], terraformRemedies(kind));
}

function newer(kind: Kind, version: bigint): never {
  fail("state.newer", `The state of this ${kind.noun} was written by a newer provider (schema version ${version})`, {
    remedies: ["Use that version of the provider or a later one."],
  });
}
