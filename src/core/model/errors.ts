import type { Code } from "./codes.ts";
import type { Remedy } from "./remedy.ts";
import { NotUtf8 } from "./text.ts";
import type { AttributePath } from "./value.ts";

/** A location in a source file. Lines and columns start at 1; the end is exclusive. */
export interface SourceRange {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  /** Text of the first line, to print with a caret. */
  readonly text?: string;
  /**
   * Places that use this location, nearest first: the template that contains a parameter, or the block that contains a
   * template.
   */
  readonly usedAt?: readonly Pick<SourceRange, "file" | "line" | "column">[];
  /** Path in a declaration that is a value, such as `services.www.plan_id`. */
  readonly path?: string;
  /** Path of the construct at this location (`agency/acme/site`) in synthesized code. */
  readonly construct?: string;
}

/** Message for the user: the problem (summary), its context (detail), and fixes (remedies). */
export interface Diagnostic {
  readonly severity: "error" | "warning";
  readonly code: Code;
  readonly summary: string;
  readonly detail?: string;
  /** Possible fixes. Each front end shows them in its own language. */
  readonly remedies?: readonly Remedy[];
  /** Affected resource. */
  readonly address?: string;
  /** Affected existing object. Its id is valid for `import`. */
  readonly object?: string;
  /** Affected attribute of the resource. */
  readonly attribute?: AttributePath;
  /** Location in the declaration. */
  readonly range?: SourceRange;
  /**
   * Cause: the address of a failing resource, or the code of another diagnostic. Reports print the diagnostic below its
   * cause.
   */
  readonly because?: string;
}

/** Optional parts of a diagnostic. Undefined parts are dropped. */
export type DiagnosticParts = {
  readonly [Part in keyof Omit<Diagnostic, "severity" | "code" | "summary">]: Diagnostic[Part] | undefined;
};

export function errorOf(code: Code, summary: string, parts: DiagnosticParts = {}): Diagnostic {
  return { severity: "error", code, summary, ...given(parts) };
}

export function warningOf(code: Code, summary: string, parts: DiagnosticParts = {}): Diagnostic {
  return { severity: "warning", code, summary, ...given(parts) };
}

const given = (parts: DiagnosticParts) =>
  Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));

export function isError(diagnostic: Diagnostic): boolean {
  return diagnostic.severity === "error";
}

/** Codes of errors that concern one resource. */
const OF_ONE = /^(?:plan\.(?!unfit)|api\.|secret\.)/;

/** Returns true if the error only skips one resource and its dependents. Any other error stops the plan. */
export const isOfOne = (one: Diagnostic): boolean => isError(one) && one.address !== undefined && OF_ONE.test(one.code);

/**
 * Returns the function that finds the root cause of a diagnostic in the list. If there is no cause: the diagnostic itself.
 */
export function causesIn(diagnostics: readonly Diagnostic[]): (one: Diagnostic) => Diagnostic {
  const named = new Map<string, Diagnostic>();
  for (const one of diagnostics.toSorted((a, b) => Number(isError(b)) - Number(isError(a))))
    for (const name of [one.code, one.address ?? one.code]) if (!named.has(name)) named.set(name, one);
  return (one) => {
    const seen = new Set([one]);
    for (let at = one; ; ) {
      const cause = named.get(at.because ?? "");
      if (cause === undefined || seen.has(cause)) return at;
      seen.add(cause);
      at = cause;
    }
  };
}

/** Returns the number of errors that no other diagnostic caused. */
export function countErrors(diagnostics: readonly Diagnostic[]): number {
  const cause = causesIn(diagnostics);
  return diagnostics.filter((one) => isError(one) && cause(one) === one).length;
}

/** Adds the location in the declaration, unless the diagnostic already has one. */
export function located(diagnostic: Diagnostic, range: SourceRange | undefined): Diagnostic {
  return diagnostic.range !== undefined || range === undefined ? diagnostic : { ...diagnostic, range };
}

/** An expected failure, with diagnostics for the user. Reports print no stack trace. */
export class HostformError extends Error {
  override readonly name: string = "HostformError";
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[], options?: ErrorOptions) {
    super(diagnostics.map((d) => d.summary).join("; "), options);
    this.diagnostics = diagnostics;
  }
}

/** Throws an error with one diagnostic. */
export function fail(code: Code, summary: string, parts?: DiagnosticParts): never {
  throw new HostformError([errorOf(code, summary, parts)]);
}

/** Throws all diagnostics as one error. Does nothing if there are none. @throws HostformError */
export function failWith(problems: readonly Diagnostic[]): void {
  if (problems.length > 0) throw new HostformError(problems);
}

/**
 * How far a request got. `no`: not sent, or rejected without processing (429). `answered`: the response was complete.
 * `maybe`: the response was lost or unreadable, and the host may have processed the request.
 */
export type Reached = "no" | "answered" | "maybe";

/** Facts about a failed request. */
export interface ApiFailure {
  readonly code: Code;
  readonly summary: string;
  /** Method and path template, for example `POST /api/v1/services/{id}/suspend`. */
  readonly endpoint: string;
  readonly reached: Reached;
  /** HTTP status. Undefined without a response. */
  readonly status?: number | undefined;
  /** Message of the host, unescaped. */
  readonly serverMessage?: string | undefined;
  /** Messages by dotted field path (§7, 422). */
  readonly fieldErrors?: Readonly<Record<string, readonly string[]>> | undefined;
  /** True if the API is busy with another changing request. */
  readonly isBusy?: boolean | undefined;
  /** Wait requested by the host, in milliseconds. */
  readonly waitMs?: number | undefined;
  readonly detail?: string | undefined;
  readonly remedies?: readonly Remedy[] | undefined;
}

/** A failed request to the Hosting Automation API. */
export class ApiError extends HostformError {
  override readonly name = "ApiError";
  readonly status: ApiFailure["status"];
  readonly endpoint: string;
  readonly reached: Reached;
  readonly serverMessage: ApiFailure["serverMessage"];
  readonly fieldErrors: NonNullable<ApiFailure["fieldErrors"]>;
  readonly isBusy: boolean;
  readonly waitMs: number | undefined;

  constructor({ code, summary, detail, remedies, ...failure }: ApiFailure, options?: ErrorOptions) {
    super([{ severity: "error", code, summary, ...(detail && { detail }), ...(remedies && { remedies }) }], options);
    this.status = failure.status;
    this.endpoint = failure.endpoint;
    this.reached = failure.reached;
    this.serverMessage = failure.serverMessage;
    this.fieldErrors = failure.fieldErrors ?? {};
    this.isBusy = failure.isBusy ?? false;
    this.waitMs = failure.waitMs;
  }
}

export const isForbidden = (error: unknown) => error instanceof ApiError && error.status === 403;

/**
 * Returns true if the message of a 403 mentions a limit of the token: its scope (§5.2) or an ability. The object may then
 * belong to this account. Any other 403 for an unlisted object means that it belongs to another account.
 */
export const namesLimit = (error: unknown): boolean =>
  error instanceof ApiError &&
  isForbidden(error) &&
  /restrict|scoped?\b|outside|abilit/i.test(error.serverMessage ?? "");

/**
 * Returns true if the API itself reports that the object or its parent does not exist. False for a 403 or an error page of a
 * proxy.
 */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.diagnostics[0]?.code === "api.not_found";
}

/** Returns true for any 404 or 410, also from a proxy, or in a format that §7 does not define. */
export function saysNotFound(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 404 || error.status === 410);
}

/** Returns true if the response was not a list. It then proves nothing about objects. */
export const isNoList = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status === 200 && error.diagnostics[0]?.code === "api.inconclusive";

/** Returns Node's error code (`ENOENT`, `ECONNREFUSED`) of any error. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/* Reasons why the operating system rejects access to a file. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a part of the path is not a folder",
  EISDIR: "it is a folder",
  EACCES: "its permissions do not allow it",
  EPERM: "its permissions do not allow it",
  EROFS: "the file system is read-only",
  ENOSPC: "no space is left on the disk (ENOSPC)",
  EDQUOT: "the disk quota is used up (EDQUOT)",
  EFBIG: "it is larger than the system allows (EFBIG)",
  EIO: "the disk reports a fault (EIO)",
  EBUSY: "it is in use, or is a mount of its own: mount its folder instead (EBUSY)",
  EEXIST: "another file of that name is there",
  ELOOP: "its links lead in a circle",
  ENAMETOOLONG: "its name is too long",
  EOUTSIDE: "it leads outside the project",
  ELINK: "it is a link",
  ENOTREGULAR: "it is not a regular file",
  EOWNER: "another user owns it",
  EMODE: "others may read or write it",
};

/**
 * Returns the reason why a file cannot be read or written. Completes a sentence: `it is a folder`.
 * @throws any other error.
 */
export function fileFailure(error: unknown): string {
  if (error instanceof NotUtf8) return error.message;
  const errno = errnoOf(error);
  if (errno === undefined) throw error;
  return REASONS[errno] ?? errno;
}

/** Returns a copy of the error with changed diagnostics. Other errors are returned unchanged. */
export function amended(error: unknown, amend: (each: Diagnostic) => Partial<Diagnostic>): unknown {
  if (!(error instanceof HostformError)) return error;
  const diagnostics = error.diagnostics.map((each) => ({ ...each, ...amend(each) }));
  return new HostformError(diagnostics, { cause: error });
}

/** Returns true if the first diagnostic of an error has one of these codes. */
export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof HostformError && codes.includes(error.diagnostics[0]?.code ?? "");

/** Returns the refused creations that matter for a plan. Omits a busy store, because it may be free at the apply. */
export const refusalsOfPlan = (refusals: readonly Diagnostic[]): readonly Diagnostic[] =>
  refusals.filter(({ code }) => code !== "store.busy");

/** Returns the message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the code and words of the system: `ENOSPC: no space left on device, write`. */
export function reasonOf(error: unknown): string {
  // All addresses of a host failed. The first failure is reported.
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  const message = messageOf(error);
  const code = errnoOf(error);
  if (code === undefined || message.includes(code)) return message;
  return message === "" ? code : `${code}: ${message}`;
}

/** Returns a `catch` handler for {@link HostformError}. Other errors are rethrown. */
export const ifExplained =
  <T>(handle: (error: HostformError) => T) =>
  (error: unknown): T => {
    if (error instanceof HostformError) return handle(error);
    throw error;
  };

/** Returns a `catch` handler for file errors. The handler receives the reason. Other errors are rethrown. */
export const ifErrno =
  <T>(handle: (reason: string) => T) =>
  (error: unknown): T =>
    handle(fileFailure(error));

/** Synchronous counterpart of `promise.catch(handle)`. */
export function attempt<T, U>(step: () => T, handle: (error: unknown) => U): T | U {
  try {
    return step();
  } catch (error) {
    return handle(error);
  }
}
