import { isError } from "../../core/model/index.ts";
import { diagnosticJson, plural, renderDiagnostics } from "../../report/index.ts";
import { type Invocation, printJson } from "../io.ts";
import { checkProject } from "../project.ts";

/** `hostform validate`: checks the declaration without a token and without any request. */
export async function runValidate(invocation: Invocation): Promise<number> {
  const { desired, diagnostics } = await checkProject(invocation);
  const errors = diagnostics.filter(isError).length;
  if (invocation.options.json) {
    printJson(invocation, {
      format_version: "1.0",
      valid: errors === 0,
      error_count: errors,
      warning_count: diagnostics.length - errors,
      diagnostics: diagnostics.map(diagnosticJson),
    });
  } else {
    if (diagnostics.length > 0) invocation.io.err(renderDiagnostics(diagnostics, invocation.errLook));
    if (desired !== undefined) {
      const files = plural(desired.files.length, "file");
      invocation.io.out(
        `${invocation.stack === undefined ? "The declaration" : "The stack"} is valid: ${plural(desired.resources.length, "resource")} in ${files}.\n`,
      );
    }
  }
  return errors === 0 ? 0 : 1;
}
