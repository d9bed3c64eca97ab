import { create } from "@bufbuild/protobuf";
import {
  type AttributePath,
  breakCommands,
  type Diagnostic,
  escapeLine,
  escapeText,
  HostformError,
  isCiLog,
  type RemedyText,
} from "../../../core/model/index.ts";
import { terraformRemedies } from "../remedies.ts";
import { describeDefect, logError } from "../wire/log.ts";
import {
  AttributePathSchema,
  DiagnosticSchema,
  type Diagnostic as Message,
  Diagnostic_Severity as Severity,
} from "../wire/tfplugin6.gen.ts";

/**
 * This front's one translator of what people should know: summary, then detail and what to do, at the attribute. Terraform
 * prints it as it is: where that is the log of a CI, it holds no command of its agent.
 */
export function toDiagnostics(
  diagnostics: readonly Diagnostic[],
  remedies: RemedyText = terraformRemedies(),
  env = process.env,
): Message[] {
  const inLog = (text: string) => (isCiLog(env) ? breakCommands(text) : text);
  return diagnostics.map((diagnostic) => {
    const { severity, summary, detail, attribute } = diagnostic;
    return create(DiagnosticSchema, {
      severity: severity === "error" ? Severity.ERROR : Severity.WARNING,
      summary: inLog(escapeLine(summary)),
      detail: inLog(
        escapeText([detail, remedies(diagnostic)].filter((part) => part !== undefined && part !== "").join("\n\n")),
      ),
      ...(attribute !== undefined && attribute.length > 0 && { attribute: toPath(attribute) }),
    });
  });
}

/** Terraform points at `attr` and `attr[index]`; deeper paths still name the attribute. */
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

/** What a failure has to say. A mistake of ours is told as one, in words that hold no value; where it happened goes to the log. */
export function failureOf(error: unknown): Diagnostic[] {
  if (error instanceof HostformError) return [...error.diagnostics];
  logError("a call failed", error);
  return [
    {
      severity: "error",
      code: "internal",
      summary: "The provider met a mistake of its own",
      detail: describeDefect(error).summary,
      remedies: ["Report it, with the command and the output of `TF_LOG=debug`. Nothing is lost: apply again."],
    },
  ];
}
