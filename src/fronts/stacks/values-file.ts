import { type Diagnostic, isObject, type JsonObject } from "../../core/model/index.ts";
import { DiagnosticCollector } from "../source/diagnostics.ts";
import { Source, type SourceFile } from "../source/source.ts";
import { toJson } from "../source/tree.ts";
import { readTree } from "./json.ts";

/** Values of variables by name; undefined when the file is no JSON object. */
export interface ValuesFile {
  readonly values: JsonObject | undefined;
  /** Keys that are given twice, and numbers that would be changed by reading them: none of the values may be used then. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads a `*.tfvars.json` as Terraform does: its texts are literals. No message shows a line of it, which may hold a secret. */
export function readValuesFile(file: SourceFile): ValuesFile {
  const diags = new DiagnosticCollector();
  const tree = readTree(new Source({ ...file, quotable: false }), diags);
  const values = tree && toJson(tree);
  const diagnostics = tree === undefined ? [] : diags.list();
  return { values: isObject(values) ? (values as JsonObject) : undefined, diagnostics };
}
