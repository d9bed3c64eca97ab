/** Parts that every call shares: connection, messages, and the translation of diagnostics. */
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import type { Kind } from "../../../core/kinds/kind.ts";
import {
  type AttributePath,
  breakCommands,
  type Clock,
  type Diagnostic,
  escapeLine,
  escapeText,
  hasCode,
  type RemedyText,
} from "../../../core/model/index.ts";
import type { ProviderSession } from "../index.ts";
import { problem, refuse } from "../messages.ts";
import { terraformRemedies } from "../remedies.ts";
import { Activity } from "../resource/activity.ts";
import type { Answer } from "../resource/attribute-mapping.ts";
import type { Enforcement } from "../resource/enforcement.ts";
import { failureOf } from "../resource/notices.ts";
import type { CallContext } from "../wire/grpc.ts";
import type { ProcessEnvironment } from "../wire/handshake.ts";
import type { Log } from "../wire/log.ts";
import {
  AttributePathSchema,
  type ClientCapabilities,
  Deferred_Reason,
  DiagnosticSchema,
  type Diagnostic as Message,
  Provider,
  Diagnostic_Severity as Severity,
} from "../wire/tfplugin6.gen.ts";

/**
 * The state of one connection. In reattach mode one process serves many configurations at once, so no state of a configuration is
 * global.
 */
export interface Connection {
  /** Opened by ConfigureProvider; undefined before (validation and functions need no configuration). */
  session: ProviderSession | undefined;
  /** True if the client of ConfigureProvider allows deferred responses. */
  mayDefer?: boolean;
  /** The policy of the runner, read by ConfigureProvider. */
  enforcement?: Enforcement | undefined;
  /** True if Terraform cancelled a call, and therefore dropped its response. */
  isAnswerLost: boolean;
  /** Warnings for the next response about a resource or a data source. */
  readonly warnings: Diagnostic[];
  /** Aborted by StopProvider (Ctrl-C), and when the connection is lost. */
  readonly stop: AbortController;
  readonly env: ProcessEnvironment;
  /** Terraform's folder. Default: the folder of the process. */
  readonly folder?: string | undefined;
  readonly clock?: Clock | undefined;
  /** Terraform's log (TF_LOG). Must not receive a secret. */
  readonly log: Log;
  readonly activity: Activity;
}

/** Parts of the process that a connection uses. */
export type Host = Pick<Connection, "env" | "folder" | "clock" | "log">;

/**
 * Converts the bytes of a request message to the bytes of a response, or sends a stream of them. A response contains failures for the
 * user as diagnostics. Throws only defects.
 */
type Call = (request: Uint8Array, connection: Connection, context?: CallContext) => Promise<Uint8Array | undefined>;

/** Calls by the name of their rpc, for example `ReadResource`. */
export type Calls = Readonly<Record<string, Call>>;

/** Creates an unconfigured connection. */
export function newConnection(host: Host): Connection {
  return {
    session: undefined,
    isAnswerLost: false,
    warnings: [],
    stop: new AbortController(),
    activity: new Activity(),
    ...host,
  };
}

/** Returns the session. @throws HostformError if the provider is not configured. */
export function requireSession(connection: Connection): ProviderSession {
  return connection.session ?? refuse(problem("internal/not_configured"));
}

/** The rpcs of the protocol, each with the schemas of its request and response. */
export const rpcs = Provider.method;

/**
 * Creates a call from the two messages of its rpc: decodes the request, encodes the response.
 *
 * @param answer returns failures for the user as diagnostics, and throws only defects.
 */
export function unary<I extends DescMessage, O extends DescMessage>(
  { input, output }: { readonly input: I; readonly output: O },
  answer: (
    request: MessageShape<I>,
    connection: Connection,
    cancelled?: AbortSignal,
  ) => MessageInitShape<O> | Promise<MessageInitShape<O>>,
): Call {
  return (request, connection, context) =>
    connection.activity.during(async () => {
      const found = await answer(fromBinary(input, request), connection, context?.cancelled);
      const { diagnostics = [] } = found as { readonly diagnostics?: readonly Partial<Message>[] };
      connection.activity.hasFailed ||= diagnostics.some(({ severity }) => severity === Severity.ERROR);
      return toBinary(output, create(output, found));
    });
}

/**
 * Creates a call with a stream of responses.
 *
 * @param answer sends each response by `send`, which waits until Terraform can receive the next. Stops after `cancelled`. Sends failures
 *   for the user as diagnostics, and throws only defects.
 */
export function streamed<I extends DescMessage, O extends DescMessage>(
  { input, output }: { readonly input: I; readonly output: O },
  answer: (
    request: MessageShape<I>,
    connection: Connection,
    stream: { send(response: MessageInitShape<O>): Promise<void>; readonly cancelled: AbortSignal | undefined },
  ) => Promise<void>,
): Call {
  return (request, connection, { cancelled, send } = {}) =>
    connection.activity.during(async () => {
      await answer(fromBinary(input, request), connection, {
        send: async (response) => send?.(toBinary(output, create(output, response))),
        cancelled,
      });
      return undefined;
    });
}

/**
 * Translates diagnostics for Terraform: summary, then detail and remedies, at the attribute. Terraform prints them unchanged, so no text
 * may act as a command of a CI agent in its log.
 * @param isWaiting the diagnostics are failures of an object that waits ({@link Answer.waiting}).
 */
export function toDiagnostics(
  diagnostics: readonly Diagnostic[],
  remedies: RemedyText = terraformRemedies(),
  isWaiting = false,
): Message[] {
  return diagnostics.map((diagnostic) => {
    const { severity, summary, detail, attribute } = diagnostic;
    return create(DiagnosticSchema, {
      severity: severity === "error" && !isWaiting ? Severity.ERROR : Severity.WARNING,
      summary: breakCommands(escapeLine(summary)),
      detail: breakCommands(
        escapeText([detail, remedies(diagnostic)].filter((part) => part !== undefined && part !== "").join("\n\n")),
      ),
      ...(attribute !== undefined && attribute.length > 0 && { attribute: toPath(attribute) }),
    });
  });
}

/** Returns the part of a path that Terraform locates: `attr` and `attr[index]`. For a deeper path, Terraform locates the resource. */
export function toPath(path: AttributePath) {
  return create(AttributePathSchema, {
    steps: path.map((step, i) => ({
      selector:
        typeof step === "number"
          ? { case: "elementKeyInt" as const, value: BigInt(step) }
          : i === 0
            ? { case: "attributeName" as const, value: step }
            : { case: "elementKeyString" as const, value: step },
    })),
  });
}

/** Returns true if a later plan will know the whole configuration of the provider, and the client can wait for it. */
export const waitsForConfig = ({ mayDefer = false, session }: Connection): boolean =>
  mayDefer && session?.isOpen === false;

/** Deferral of one call: replaces a failure that a later plan does not have, if the client allows it. */
export class Deferral {
  /** Part of the response. */
  readonly answer: { deferred?: { readonly reason: Deferred_Reason } } = {};
  readonly #connection: Connection;
  readonly #capabilities: ClientCapabilities | undefined;

  /**
   * @param capabilities of a call that may wait for a service. Plans of resources pass none: Terraform also allows deferrals in an apply,
   *   but accepts no deferred resource there.
   */
  constructor(connection: Connection, capabilities?: ClientCapabilities) {
    this.#connection = connection;
    this.#capabilities = capabilities;
  }

  /** Defers the call because something that it needs does not exist yet. */
  waits(reason: Deferred_Reason = Deferred_Reason.ABSENT_PREREQ): void {
    this.answer.deferred = { reason };
  }

  /** Returns the step. Its failure becomes a deferral if possible. */
  instead(step: () => Promise<Found>): () => Promise<Found> {
    return async () => {
      try {
        return await step();
      } catch (error) {
        if (this.#connection.mayDefer && hasCode(error, "terraform.not_known"))
          this.waits(Deferred_Reason.PROVIDER_CONFIG_UNKNOWN);
        else if (this.#capabilities?.deferralAllowed && hasCode(error, "apply.waiting")) this.waits();
        else throw error;
        return [];
      }
    };
  }
}

/** Diagnostics of a step. */
type Found = readonly Diagnostic[] | Pick<Answer, "diagnostics" | "waiting">;

/**
 * Returns the diagnostics of a step, including its failure.
 * @param kind of the step's resource.
 * @param noticed further diagnostics, reported for success and failure.
 */
export async function diagnosed(
  step: () => Found | Promise<Found>,
  { kind, noticed = [] }: { readonly kind?: Kind; readonly noticed?: Diagnostic[] } = {},
): Promise<Message[]> {
  let found: Found;
  try {
    found = await step();
  } catch (error) {
    found = failureOf(error);
  }
  const { diagnostics, waiting = [] } = "diagnostics" in found ? found : { diagnostics: found };
  const remedies = terraformRemedies(kind);
  return [
    ...toDiagnostics(noticed.splice(0), remedies),
    ...toDiagnostics(waiting, remedies, true),
    ...toDiagnostics(diagnostics, remedies),
  ];
}
