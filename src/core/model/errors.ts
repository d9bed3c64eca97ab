import type { Code } from "./codes.ts";
import type { Diagnostic } from "./diagnostic.ts";
import type { Remedy } from "./remedy.ts";

/** A failure that is explained to the user: it carries diagnostics, never needs a stack trace. */
export class HostformError extends Error {
  override readonly name: string = "HostformError";
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[], options?: ErrorOptions) {
    super(diagnostics.map((d) => d.summary).join("; "), options);
    this.diagnostics = diagnostics;
  }
}

/** Throws one error diagnostic; the common case. */
export function fail(code: Code, summary: string, more: Omit<Diagnostic, "severity" | "code" | "summary"> = {}): never {
  throw new HostformError([{ severity: "error", code, summary, ...more }]);
}

/**
 * How far a request got: `no` = it never left, or the server certainly refused it unprocessed (429);
 * `answered` = a complete answer came; `maybe` = it may have been carried out (the answer was lost or unreadable).
 */
export type Reached = "no" | "answered" | "maybe";

/** A request to the Hosting Automation API that failed. */
export class ApiError extends HostformError {
  override readonly name = "ApiError";
  /** The HTTP status, when an answer came. */
  readonly status: number | undefined;
  /** `POST /api/v1/services/{id}/suspend`: method and path template. */
  readonly endpoint: string;
  readonly reached: Reached;
  /** The server's own words, escaped where they are printed. */
  readonly serverMessage: string | undefined;
  /** §7, 422: dotted field path -> messages. */
  readonly fieldErrors: Readonly<Record<string, readonly string[]>>;

  constructor(
    details: {
      code: Code;
      summary: string;
      endpoint: string;
      reached: Reached;
      status?: number | undefined;
      serverMessage?: string | undefined;
      fieldErrors?: Readonly<Record<string, readonly string[]>>;
      detail?: string | undefined;
      remedies?: readonly Remedy[] | undefined;
    },
    options?: ErrorOptions,
  ) {
    const { code, summary, detail, remedies } = details;
    super([{ severity: "error", code, summary, ...(detail && { detail }), ...(remedies && { remedies }) }], options);
    this.status = details.status;
    this.endpoint = details.endpoint;
    this.reached = details.reached;
    this.serverMessage = details.serverMessage;
    this.fieldErrors = details.fieldErrors ?? {};
  }
}

/** Node's own error codes (`ENOENT`, `ECONNREFUSED`), for errors of unknown type. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
