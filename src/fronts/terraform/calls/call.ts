import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { type Diagnostic, fail } from "../../../core/model/index.ts";
import type { ProviderSession } from "../index.ts";
import type { ProcessEnvironment } from "../wire/handshake.ts";
import type { Log } from "../wire/log.ts";

/**
 * The state of one connection of Terraform's. A process has one, except in reattach mode, where one process serves many
 * configurations at once: so nothing of a configuration is global.
 */
export interface Connection {
  /** What ConfigureProvider opened; undefined before it (validation and functions run without a configuration). */
  session: ProviderSession | undefined;
  /** Terraform gave up a call: what it answered is in nobody's state. */
  unheard: boolean;
  /** As ConfigureProvider gave it ("1.11.4"); undefined before it. */
  terraformVersion: string | undefined;
  /** What was noticed since the last answer that could tell it: it goes with the next one. */
  readonly warnings: Diagnostic[];
  /** Aborted by StopProvider (Ctrl-C), and when the connection is lost. */
  readonly stop: AbortController;
  /** The environment of the process. */
  readonly env: ProcessEnvironment;
  /** Terraform's log (TF_LOG). Nothing secret may be given to it. */
  readonly log: Log;
}

/**
 * One call: the bytes of a request message in, those of an answer out. What the user should know is a diagnostic in the
 * answer; it throws only what is a defect. `cancelled` is aborted when Terraform gives up the call.
 */
type Call = (request: Uint8Array, connection: Connection, cancelled?: AbortSignal) => Promise<Uint8Array>;

/** By the name of the rpc: "ReadResource". */
export type Calls = Readonly<Record<string, Call>>;

/** A connection that is not configured yet. */
export function newConnection({ env, log }: Pick<Connection, "env" | "log">): Connection {
  return {
    session: undefined,
    unheard: false,
    terraformVersion: undefined,
    warnings: [],
    stop: new AbortController(),
    env,
    log,
  };
}

/** @throws HostformError when the provider is not configured. */
export function requireSession(connection: Connection): ProviderSession {
  return (
    connection.session ??
    fail("internal", "The provider is not configured", {
      detail: "Terraform made a call that needs the account before it configured the provider.",
      remedies: ["Run the command again; if it stays, report it with the command and its output."],
    })
  );
}

/**
 * A call from its two messages: decodes the request, encodes what `answer` gives.
 *
 * @param answer what the user should know of a failure is a diagnostic in its result; it throws only what is a defect.
 */
export function unary<I extends DescMessage, O extends DescMessage>(
  input: I,
  output: O,
  answer: (
    request: MessageShape<I>,
    connection: Connection,
    cancelled?: AbortSignal,
  ) => MessageInitShape<O> | Promise<MessageInitShape<O>>,
): Call {
  return async (request, connection, cancelled) =>
    toBinary(output, create(output, await answer(fromBinary(input, request), connection, cancelled)));
}
