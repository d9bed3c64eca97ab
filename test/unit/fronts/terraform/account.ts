/** A sandbox with a provider session, and the calls of Terraform with their real messages. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { expect, onTestFinished } from "vitest";
import type { Clock, Diagnostic, JsonObject, ValueObject } from "../../../../src/core/model/index.ts";
import type { Attributes } from "../../../../src/core/model/schema.ts";
import { type Connection, newConnection } from "../../../../src/fronts/terraform/calls/call.ts";
import { calls } from "../../../../src/fronts/terraform/calls/data.ts";
import { catalogue } from "../../../../src/fronts/terraform/catalogue.ts";
import { decodeDynamic, encodeDynamic } from "../../../../src/fronts/terraform/codec/dynamic.ts";
import type { ProviderSession } from "../../../../src/fronts/terraform/index.ts";
import { openSession } from "../../../../src/fronts/terraform/provider/session.ts";
import {
  type Diagnostic as Message,
  ReadDataSource_RequestSchema,
  ReadDataSource_ResponseSchema,
  ValidateDataResourceConfig_RequestSchema,
  ValidateDataResourceConfig_ResponseSchema,
} from "../../../../src/fronts/terraform/wire/tfplugin6.gen.ts";
import type { Sandbox, SandboxOptions } from "../../../../src/sandbox/index.ts";
import { testClock } from "../../../support/clock.ts";
import { startSandbox } from "../../../support/sandbox.ts";

export interface AccountOptions {
  /** The provider block. */
  readonly config?: ValueObject;
  readonly sandbox?: SandboxOptions;
  readonly token?: keyof Sandbox["tokens"];
  readonly env?: Readonly<Record<string, string>>;
}

/** Returns a configuration with every attribute, null by default, as the codec passes it to the core. */
export function complete(attributes: Attributes, given: ValueObject): ValueObject {
  return { ...Object.fromEntries(Object.keys(attributes).map((name) => [name, null])), ...given };
}

/**
 * Formats each diagnostic as `error at name: There is no plan "x"`, without the code, which Terraform does not
 * receive.
 */
export function reportedBy(diagnostics: readonly Message[]): string[] {
  return diagnostics.map(({ severity, summary, attribute }) => {
    const steps = attribute?.steps.map(({ selector }) => String(selector.value)) ?? [];
    return `${severity === 1 ? "error" : "warning"}${steps.length > 0 ? ` at ${steps.join(".")}` : ""}: ${summary}`;
  });
}

export class OpenAccount {
  readonly sandbox: Sandbox;
  readonly session: ProviderSession;
  readonly warnings: readonly Diagnostic[];
  readonly connection: Connection;

  constructor(sandbox: Sandbox, session: ProviderSession, warnings: readonly Diagnostic[]) {
    this.sandbox = sandbox;
    this.session = session;
    this.warnings = warnings;
    this.connection = { ...newConnection({ env: {}, log: () => {} }), session };
  }

  get control(): Sandbox["control"] {
    return this.sandbox.control;
  }

  /** Reads a data source as Terraform does. */
  async tryRead(
    typeName: string,
    given: ValueObject = {},
  ): Promise<{ state: JsonObject | null; diagnostics: readonly Message[] }> {
    const { attributes } = schemaOf(typeName);
    const config = encodeDynamic(complete(attributes, given), attributes);
    const request = create(ReadDataSource_RequestSchema, { typeName, config });
    const bytes = await calls.ReadDataSource?.(toBinary(ReadDataSource_RequestSchema, request), this.connection);
    const { state, diagnostics } = fromBinary(ReadDataSource_ResponseSchema, bytes ?? new Uint8Array());
    return { state: decodeDynamic(state, attributes) as JsonObject | null, diagnostics };
  }

  /** Reads a data source. Fails if the read has diagnostics. */
  async read(typeName: string, given: ValueObject = {}): Promise<JsonObject> {
    const { state, diagnostics } = await this.tryRead(typeName, given);
    expect(reportedBy(diagnostics)).toEqual([]);
    if (state === null) throw new Error("no state and no diagnostics");
    return state;
  }

  /** Returns each request since the last call, for example `GET /services`. */
  sent(): string[] {
    const entries = this.control.requests();
    this.control.clearRequests();
    return entries.map(({ method, path }) => `${method} ${path.replace(/^\/api\/v1/, "").replace(/\?.*/, "")}`);
  }
}

function schemaOf(typeName: string) {
  const schema = catalogue.dataSources.get(typeName);
  if (schema === undefined) throw new Error(`no data source ${typeName}`);
  return schema;
}

/** Returns the diagnostics of `terraform validate` for a data source. */
export async function validated(typeName: string, given: ValueObject): Promise<string[]> {
  const { attributes } = schemaOf(typeName);
  const config = encodeDynamic(complete(attributes, given), attributes);
  const request = create(ValidateDataResourceConfig_RequestSchema, { typeName, config });
  const bytes = await calls.ValidateDataResourceConfig?.(
    toBinary(ValidateDataResourceConfig_RequestSchema, request),
    newConnection({ env: {}, log: () => {} }),
  );
  return reportedBy(fromBinary(ValidateDataResourceConfig_ResponseSchema, bytes ?? new Uint8Array()).diagnostics);
}

/** A sandbox without rate limit that pays and provisions orders at once, with a session on it. */
export async function openAccount(options: AccountOptions = {}): Promise<OpenAccount> {
  const clock = testClock();
  const sandbox = await startSandbox({
    clock,
    sleep: async () => {},
    rateLimit: 0,
    autoPay: true,
    provisioningSeconds: 0,
    jobSeconds: 0,
    ...options.sandbox,
  });
  onTestFinished(() => sandbox.close());
  return openSessionOn(sandbox, clock, options);
}

/** Opens another session on a sandbox: a later process of the provider. */
export async function openSessionOn(
  sandbox: Sandbox,
  clock: Clock,
  options: AccountOptions = {},
): Promise<OpenAccount> {
  const warnings: Diagnostic[] = [];
  const env = { HOSTING_BASE_URL: sandbox.url, HOSTING_TOKEN: sandbox.tokens[options.token ?? "agency"] };
  const session = await openSession(complete(catalogue.provider.attributes, options.config ?? {}), {
    stop: new AbortController().signal,
    env: { ...env, ...options.env },
    terraformVersion: "1.11.4",
    clock,
    folder: import.meta.dirname,
    onWarning: (warning) => warnings.push(warning),
  });
  onTestFinished(() => session.close());
  return new OpenAccount(sandbox, session, warnings);
}
