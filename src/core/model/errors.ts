import type { Code } from "./codes.ts";
import type { Remedy } from "./remedy.ts";
import { NotUtf8 } from "./text.ts";
import type { AttributePath } from "./value.ts";

/** A place in a source file; lines and columns count from 1, the end is exclusive. */
export interface SourceRange {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  /** The text of the first line, for the caret. */
  readonly text?: string;
  /** Places that use it, nearest first: the value of a parameter in its template, a template at the block that names it. */
  readonly usedAt?: readonly Pick<SourceRange, "file" | "line" | "column">[];
  /** The path of the construct that stands there (`agency/acme/site`), in what was synthesized. */
  readonly construct?: string;
}

/** Something a person should know: what is wrong (summary), where and what came (detail), what to do (remedies). */
export interface Diagnostic {
  readonly severity: "error" | "warning";
  readonly code: Code;
  readonly summary: string;
  readonly detail?: string;
  /** One or several ways out; each front renders them in its own language. */
  readonly remedies?: readonly Remedy[];
  /** The resource it is about. */
  readonly address?: string;
  /** The existing object that it is about, by the id that `import` takes. */
  readonly object?: string;
  /** The attribute of that resource it is about. */
  readonly attribute?: AttributePath;
  /** The place in the declaration. */
  readonly range?: SourceRange;
  /** Cause of it: the address of a resource in trouble, or the code of another diagnostic. Reports fold it under its cause. */
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

/** Codes of errors about one resource. Limits, identities and mistakes in files or options have others. */
const OF_ONE = /^(?:plan\.(?!unfit)|api\.|secret\.)/;

/** Returns true for an error that holds back one resource and what depends on it. Any other error stops the whole plan. */
export const isOfOne = (one: Diagnostic): boolean => isError(one) && one.address !== undefined && OF_ONE.test(one.code);

/** Returns a function that finds the first cause of a diagnostic among the others: itself if nothing there caused it. */
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

/** Number of errors that no other diagnostic caused. */
export function countErrors(diagnostics: readonly Diagnostic[]): number {
  const cause = causesIn(diagnostics);
  return diagnostics.filter((one) => isError(one) && cause(one) === one).length;
}

/** Adds the place in the declaration to a diagnostic that knows only address and attribute. */
export function located(diagnostic: Diagnostic, range: SourceRange | undefined): Diagnostic {
  return diagnostic.range !== undefined || range === undefined ? diagnostic : { ...diagnostic, range };
}

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
export function fail(code: Code, summary: string, parts?: DiagnosticParts): never {
  throw new HostformError([errorOf(code, summary, parts)]);
}

/** @throws HostformError with all of these diagnostics, if there are any. */
export function failWith(problems: readonly Diagnostic[]): void {
  if (problems.length > 0) throw new HostformError(problems);
}

/**
 * How far a request got: `no` = it never left, or the server certainly refused it unprocessed (429);
 * `answered` = a complete answer came; `maybe` = it may have been carried out (the answer was lost or unreadable).
 */
export type Reached = "no" | "answered" | "maybe";

/** Facts about a request that failed. */
export interface ApiFailure {
  readonly code: Code;
  readonly summary: string;
  /** `POST /api/v1/services/{id}/suspend`: method and path template. */
  readonly endpoint: string;
  readonly reached: Reached;
  /** The HTTP status, when an answer came. */
  readonly status?: number | undefined;
  /** The server's own words, escaped where they are printed. */
  readonly serverMessage?: string | undefined;
  /** §7, 422: dotted field path -> messages. */
  readonly fieldErrors?: Readonly<Record<string, readonly string[]>> | undefined;
  /** The API says that it is busy with another request that changes something. */
  readonly isBusy?: boolean | undefined;
  /** Wait that the server asked for, in milliseconds. */
  readonly waitMs?: number | undefined;
  readonly detail?: string | undefined;
  readonly remedies?: readonly Remedy[] | undefined;
}

/** A request to the Hosting Automation API that failed. */
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
 * Returns true if a 403 names a limit of the token: its restriction to some services (§5.2), or an ability. The object may be of
 * the account then. Any other 403 of an object that no list shows says that another account has it.
 */
export const namesLimit = (error: unknown): boolean =>
  error instanceof ApiError &&
  isForbidden(error) &&
  /restrict|scoped?\b|outside|abilit/i.test(error.serverMessage ?? "");

/** The API says that the object (or its parent) does not exist. A 403 does not say so, nor does a page of a proxy. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.diagnostics[0]?.code === "api.not_found";
}

/** Returns true also for a page of a proxy with the same status, or for the API's own form of the answer (§7 Gaps). */
export function saysNotFound(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 404 || error.status === 410);
}

/** Returns true if an answer is no list, so that the list proves nothing. */
export const isNoList = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status === 200 && error.diagnostics[0]?.code === "api.inconclusive";

/** Node's own error codes (`ENOENT`, `ECONNREFUSED`), for errors of unknown type. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/* Why the system refused to read or write a file, in words. */
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

/** Why a file cannot be read or written, for the end of a sentence: `it is a folder`. @throws any other error. */
export function fileFailure(error: unknown): string {
  if (error instanceof NotUtf8) return error.message;
  const errno = errnoOf(error);
  if (errno === undefined) throw error;
  return REASONS[errno] ?? errno;
}

/** The same failure with its diagnostics changed; an error that has none as it is. */
export function amended(error: unknown, amend: (each: Diagnostic) => Partial<Diagnostic>): unknown {
  if (!(error instanceof HostformError)) return error;
  const diagnostics = error.diagnostics.map((each) => ({ ...each, ...amend(each) }));
  return new HostformError(diagnostics, { cause: error });
}

/** Returns true for a failure whose first diagnostic has one of these codes. */
export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof HostformError && codes.includes(error.diagnostics[0]?.code ?? "");

/** Returns the reasons against creates for a plan: a store that is busy now may be free when the plan is applied. */
export const refusalsOfPlan = (refusals: readonly Diagnostic[]): readonly Diagnostic[] =>
  refusals.filter(({ code }) => code !== "store.busy");

/** The words of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** For `catch`: handles what was explained to the user; any other error is thrown on. */
export const ifExplained =
  <T>(handle: (error: HostformError) => T) =>
  (error: unknown): T => {
    if (error instanceof HostformError) return handle(error);
    throw error;
  };

/** For `catch`: handles what the file system refused, by its reason in words; any other error is thrown on. */
export const ifErrno =
  <T>(handle: (reason: string) => T) =>
  (error: unknown): T =>
    handle(fileFailure(error));

/** The same as `promise.catch(handle)`, for a step that promises nothing. */
export function attempt<T, U>(step: () => T, handle: (error: unknown) => U): T | U {
  try {
    return step();
  } catch (error) {
    return handle(error);
  }
}
