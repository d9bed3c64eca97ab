import { problem } from "../core/messages/index.ts";
import { type Diagnostic, errnoOf, fileFailure, HostformError, messageOf, NotUtf8 } from "../core/model/index.ts";

/** Error codes of the operating system and of `core/files` that are no defects of hostform. */
const OF_THE_MACHINE = [
  ...["ENOSPC", "EDQUOT", "EFBIG", "EIO", "EROFS", "EACCES", "EPERM"],
  ...["EOUTSIDE", "ELINK", "ENOTREGULAR", "EOWNER", "EMODE"],
];

/** Converts any error to diagnostics. An unexpected error becomes an internal error. */
export function diagnosticsOf(error: unknown): readonly Diagnostic[] {
  if (error instanceof HostformError) return error.diagnostics;
  if (error instanceof NotUtf8 || OF_THE_MACHINE.includes(errnoOf(error) ?? "")) {
    const failure = error instanceof NotUtf8 ? undefined : messageOf(error);
    return [problem("file.refused", { reason: fileFailure(error), failure })];
  }
  const failure = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return [problem("internal", { failure })];
}
