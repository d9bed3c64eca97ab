/** The provider of one connection: the table of all calls, and the calls about schema and configuration. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Wait } from "../../../core/api/index.ts";
import { type Diagnostic, type Schema, systemClock } from "../../../core/model/index.ts";
import { catalogue } from "../catalogue.ts";
import { decodeDynamic } from "../codec/dynamic.ts";
import type { ProviderFunction } from "../index.ts";
import { validateProviderConfig } from "../provider/config.ts";
import { failureOf } from "../resource/notices.ts";
import { toProtoIdentity } from "../schema/identity.ts";
import { toProtoSchema, typeBytes } from "../schema/proto.ts";
import { noSuchMethod, type Peer } from "../wire/grpc.ts";
import type { Log } from "../wire/log.ts";
import { type FunctionSchema, StringKind } from "../wire/tfplugin6.gen.ts";
import { type Calls, diagnosed, type Host, newConnection, rpcs, toDiagnostics, unary } from "./call.ts";
import { calls as dataCalls } from "./data.ts";
import { calls as listCalls } from "./list.ts";
import { calls as resourceCalls } from "./resource.ts";

/** Creates an unconfigured provider. */
export function createProvider(host: Host): Peer {
  const connection = newConnection(host);
  let running = 0;
  let isCut = false;
  return {
    async handle(method, request, context) {
      const call = Object.hasOwn(calls, method) ? calls[method] : undefined;
      if (call === undefined) throw noSuchMethod(method);
      running++;
      const answer = await call(request, connection, context).finally(() => running--);
      if (context?.cancelled?.aborted) connection.isAnswerLost = true;
      return answer;
    },
    async finish() {
      // After Ctrl-C Terraform may end without writing its state, and it drops the response to a cancelled call.
      const { stop, isAnswerLost, session } = connection;
      if (stop.signal.aborted || isAnswerLost || !session?.isOpen) return;
      await session.entries.answered();
      await session.holdings.end();
    },
    stop() {
      isCut ||= running > 0;
      connection.stop.abort();
    },
    async close() {
      const { session } = connection;
      connection.session = undefined;
      // Terraform does not end a provider in debug mode.
      if (session?.isOpen && !isCut) await session.holdings.end();
      await session?.close();
    },
  };
}

/**
 * Capabilities. `planDestroy`: `deletion_policy = "prevent"` is an error of the plan. `getProviderSchemaOptional`: Terraform reads the
 * schema only once, which saves one of three process starts.
 */
const serverCapabilities = { planDestroy: true, getProviderSchemaOptional: true, generateResourceConfig: true };

const LONG_WAIT_MS = 5_000;

/** Logs long waits; concurrent waits are logged once. */
function waitLog(log: Log): (ms: number, wait?: Wait) => void {
  let until = 0;
  return (ms, wait) => {
    const now = Date.now();
    if (ms < LONG_WAIT_MS || now < until) return;
    until = now + ms;
    const seconds = Math.ceil(ms / 1000);
    const { ms: _, ...why } = wait ?? {};
    log("info", `waiting ${seconds} s for the request budget`, { ...why, seconds });
  };
}

/** Every rpc by its name. */
export const calls: Calls = {
  GetProviderSchema: unary(rpcs.getProviderSchema, () => ({
    provider: toProtoSchema(catalogue.provider),
    resourceSchemas: schemas(catalogue.resources),
    dataSourceSchemas: schemas(catalogue.dataSources),
    ephemeralResourceSchemas: schemas(catalogue.ephemeral),
    listResourceSchemas: schemas(catalogue.lists),
    functions: functionMessages(),
    serverCapabilities,
  })),

  GetResourceIdentitySchemas: unary(rpcs.getResourceIdentitySchemas, () => ({
    identitySchemas: Object.fromEntries([...catalogue.identities].map(([type, one]) => [type, toProtoIdentity(one)])),
  })),

  GetMetadata: unary(rpcs.getMetadata, () => ({
    serverCapabilities,
    resources: [...catalogue.resources.keys()].map((typeName) => ({ typeName })),
    dataSources: [...catalogue.dataSources.keys()].map((typeName) => ({ typeName })),
    ephemeralResources: [...catalogue.ephemeral.keys()].map((typeName) => ({ typeName })),
    listResources: [...catalogue.lists.keys()].map((typeName) => ({ typeName })),
    functions: [...catalogue.functions.keys()].map((name) => ({ name })),
  })),

  GetFunctions: unary(rpcs.getFunctions, () => ({
    functions: functionMessages(),
  })),

  ValidateProviderConfig: unary(rpcs.validateProviderConfig, async ({ config }) => ({
    diagnostics: await diagnosed(() =>
      validateProviderConfig(decodeDynamic(config, catalogue.provider.attributes) ?? {}),
    ),
  })),

  ConfigureProvider: unary(rpcs.configureProvider, async ({ config, terraformVersion }, connection) => {
    const { stop, env, folder, clock, log } = connection;
    const before = connection.session;
    connection.session = undefined;
    await before?.close();
    const warnings: Diagnostic[] = [];
    let answered = false;
    try {
      // Loading the API client is a third of the start-up time, and most processes only validate.
      const { openSession } = await import("../provider/session.ts");
      if (env.HOSTFORM_POLICY !== undefined) {
        const { Enforcement } = await import("../resource/enforcement.ts");
        connection.enforcement = await Enforcement.open(env, folder ?? process.cwd(), clock ?? systemClock);
      }
      connection.session = await openSession(decodeDynamic(config, catalogue.provider.attributes) ?? {}, {
        stop: stop.signal,
        env,
        folder,
        clock,
        terraformVersion,
        onWait: waitLog(log),
        onWarning(warning) {
          // A later warning is part of the next response that reads or changes the account.
          (answered ? connection.warnings : warnings).push(warning);
          if (answered) log("warn", warning.summary, { code: warning.code });
        },
      });
      return { diagnostics: toDiagnostics(warnings) };
    } catch (error) {
      return { diagnostics: toDiagnostics([...warnings, ...failureOf(error)]) };
    } finally {
      answered = true;
    }
  }),

  /** Responds at once: Terraform itself waits for the running calls. */
  StopProvider: unary(rpcs.stopProvider, (_, connection) => {
    connection.stop.abort();
    return {};
  }),

  ...resourceCalls,
  ...dataCalls,
  ...listCalls,
};

function schemas(of: ReadonlyMap<string, Schema>) {
  return Object.fromEntries([...of].map(([name, schema]) => [name, toProtoSchema(schema)]));
}

function functionMessages() {
  return Object.fromEntries([...catalogue.functions].map(([name, one]) => [name, toProtoFunction(one)]));
}

function toProtoFunction(one: ProviderFunction): MessageInitShape<typeof FunctionSchema> {
  return {
    summary: one.summary,
    description: one.description,
    descriptionKind: StringKind.MARKDOWN,
    parameters: one.parameters.map(({ name, type, description }) => ({
      name,
      type: typeBytes(type),
      description,
      descriptionKind: StringKind.MARKDOWN,
    })),
    return: { type: typeBytes(one.returns) },
  };
}
