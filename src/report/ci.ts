/** Formats diagnostics for CI: GitHub annotations, SARIF, and GitLab's code quality report. */
import { createHash } from "node:crypto";
import path from "node:path";
import { type Diagnostic, isError, type RemedyText, type SourceRange } from "../core/model/index.ts";

/** An annotation of a line in a GitHub diff. */
export interface Annotation {
  readonly level: "error" | "warning";
  readonly properties: Readonly<Record<string, string | number>>;
  readonly message: string;
}

interface Places {
  /** Absolute path of the folder to which the files of diagnostics are relative. */
  readonly cwd: string;
  /** Absolute path of the repository (`GITHUB_WORKSPACE`, `CI_PROJECT_DIR`). Default: `cwd`. */
  readonly root: string | undefined;
}

/** Returns the path of a file relative to the repository, with `/`. */
function pathIn({ cwd, root = cwd }: Places, { file }: SourceRange): string {
  return path.relative(root, path.resolve(cwd, file)).replaceAll(path.sep, "/");
}

const wordsOf = (diagnostic: Diagnostic, remedies: RemedyText, between: string): string =>
  [diagnostic.summary, diagnostic.detail, remedies(diagnostic)].filter(Boolean).join(between);

/** Returns an annotation for each diagnostic with a location. GitHub shows ten of each level for a step. */
export function annotationsOf(diagnostics: readonly Diagnostic[], places: Places, remedies: RemedyText): Annotation[] {
  return diagnostics.flatMap((diagnostic) => {
    const { severity, code, range } = diagnostic;
    if (range === undefined) return [];
    const { line, column, endLine, endColumn } = range;
    const columns = line === endLine && { col: column, endColumn };
    const properties = { file: pathIn(places, range), line, endLine, ...columns, title: code };
    return { level: severity, properties, message: wordsOf(diagnostic, remedies, "\n") };
  });
}

/** Returns the diagnostics as a SARIF 2.1.0 log, for `upload-sarif` and editors. @param version of hostform */
export function sarifOf(
  diagnostics: readonly Diagnostic[],
  places: Places,
  remedies: RemedyText,
  version: string,
): object {
  const rules = [...new Set(diagnostics.map(({ code }) => code))].sort();
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "hostform", version, rules: rules.map((id) => ({ id })) } },
        columnKind: "utf16CodeUnits",
        results: diagnostics.map((diagnostic) => ({
          ruleId: diagnostic.code,
          level: diagnostic.severity,
          message: { text: wordsOf(diagnostic, remedies, " ") },
          ...(diagnostic.range !== undefined && { locations: [locationOf(diagnostic.range, places)] }),
        })),
      },
    ],
  };
}

function locationOf(range: SourceRange, places: Places): object {
  const { line: startLine, column: startColumn, endLine, endColumn } = range;
  const uri = pathIn(places, range).split("/").map(encodeURIComponent).join("/");
  const region = { startLine, startColumn, endLine, endColumn };
  return { physicalLocation: { artifactLocation: { uri }, region } };
}

/** Returns GitLab's code quality report. A diagnostic without a location gets the first line of a file. */
export function codeQualityOf(
  diagnostics: readonly Diagnostic[],
  places: Places,
  remedies: RemedyText,
): readonly object[] {
  const file = diagnostics.find(({ range }) => range !== undefined)?.range?.file ?? "hosting.yaml";
  const nowhere: SourceRange = { file, line: 1, column: 1, endLine: 1, endColumn: 1 };
  const seen = new Map<string, number>();
  return diagnostics.map((diagnostic) => {
    const { code, summary, range = nowhere, attribute = [] } = diagnostic;
    const file = pathIn(places, range);
    // Omit the line, so that lines inserted above do not change the fingerprint.
    const same = JSON.stringify([code, file, summary, attribute]);
    const nth = seen.get(same) ?? 0;
    seen.set(same, nth + 1);
    return {
      description: wordsOf(diagnostic, remedies, " "),
      check_name: code,
      fingerprint: createHash("sha256").update(`${same}${nth}`).digest("hex"),
      severity: isError(diagnostic) ? "major" : "minor",
      location: { path: file, lines: { begin: range.line } },
    };
  });
}
