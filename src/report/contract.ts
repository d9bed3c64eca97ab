import {
  type ContractCheck,
  type ContractReport,
  type ContractRow,
  isJudged,
  type Verdict,
} from "../core/model/index.ts";
import { escapeLine } from "./escape.ts";
import { plural } from "./numbers.ts";
import { flowText, type Paint, pad, paint as painter, type TextStyle, wrap } from "./text-style.ts";

const WORDS: Readonly<Record<Verdict, string>> = {
  pass: "pass",
  differs: "DIFFERS",
  stops: "STOPS",
  not_seen: "not seen",
};
const MAX_PROSE = 120;

/** How a server is, for people: the gaps as it fills them, the specification's statements, and what to do with both. Ends with a newline. */
export function renderContract(report: ContractReport, style: TextStyle): string {
  const paint = painter(style.color);
  const width = style.width === undefined ? undefined : Math.max(40, Math.min(MAX_PROSE, style.width));
  const lines = [
    `${paint.bold("What the specification leaves open")}, as ${escapeLine(report.base_url)} fills it:`,
    ...rowLines(report.rows, paint, width),
    "",
    `${paint.bold("What the specification says")}:`,
    ...report.checks.flatMap((check) => checkLines(check, paint, width)),
    "",
    ...conclusion(report, paint),
  ];
  return `${flowText(lines.join("\n"), width, 10)}\n`;
}

function rowLines(rows: readonly ContractRow[], paint: Paint, width: number | undefined): string[] {
  const seen = rows.filter(({ finding }) => finding === "seen" || finding === "other");
  const rest = rows.filter(({ finding }) => finding === "nothing" || finding === "untold");
  const name = Math.max(0, ...seen.map((row) => row.switch.length));
  const shown = seen.flatMap((row) => {
    const stroke = row.value === row.default ? paint.dim : paint.changed;
    const value = row.finding === "other" ? paint.warning("other") : stroke(escapeLine(row.value ?? ""));
    const head = `  ${pad(row.switch, name)}  ${value}`;
    return [head, ...indented(row.evidence, 4, width, paint.dim)];
  });
  if (rest.length === 0) return shown;
  const notReported = [...Map.groupBy(rest, ({ evidence }) => evidence)].flatMap(([reason, same]) =>
    indented(`${same.map((row) => row.switch).join(", ")}: ${reason}`, 2, width, paint.dim),
  );
  return [...shown, "Not seen:", ...notReported];
}

function checkLines(
  { verdict, clause, says, detail, fix }: ContractCheck,
  paint: Paint,
  width: number | undefined,
): string[] {
  const strokes = { pass: paint.good, differs: paint.warning, stops: paint.error, not_seen: paint.dim };
  const head = `  ${strokes[verdict](pad(WORDS[verdict], 8))}  ${escapeLine(says)} ${paint.dim(`(${escapeLine(clause)})`)}`;
  if (verdict === "pass") return [head];
  return [
    head,
    ...(detail === undefined ? [] : indented(detail, 12, width, paint.dim)),
    ...(fix === undefined || verdict === "not_seen" ? [] : indented(`Fix: ${fix}`, 12, width, paint.fix)),
  ];
}

function indented(text: string, by: number, width: number | undefined, stroke: (text: string) => string): string[] {
  return wrap(escapeLine(text), width === undefined ? undefined : width - by).map(
    (line) => `${" ".repeat(by)}${stroke(line)}`,
  );
}

function conclusion(report: ContractReport, paint: Paint): string[] {
  const { checks, profile, requests, repeated, wrote } = report;
  const count = (verdict: Verdict) => checks.filter((check) => check.verdict === verdict).length;
  const [stopping, differing] = [count("stops"), count("differs")];
  const closed = checks.filter((check) => check.id.startsWith("read.") && check.verdict === "not_seen").length;
  const are = closed === 1 ? "is" : "are";
  const asFarAs = closed > 0 ? `, as far as the token may read: ${plural(closed, "endpoint")} ${are} closed to it` : "";
  const verdict =
    stopping > 0
      ? paint.error(`hostform cannot work with ${plural(stopping, "thing")} that this server does; see STOPS above.`)
      : paint.good(`hostform can work with this server${asFarAs}.`);
  const differ =
    differing === 0
      ? ""
      : ` It differs from the specification in ${plural(differing, "point")} that hostform copes with.`;
  const again = repeated === 0 ? "" : `, of which ${plural(repeated, "repetition")}`;
  const like =
    profile === ""
      ? "A sandbox is like it by default: hostform sandbox"
      : `A sandbox is like it with: hostform sandbox --profile ${escapeLine(profile)}`;
  const found = isJudged(report)
    ? [`${verdict}${differ}`, like]
    : [paint.error("Nothing could be checked: the token may read nothing. Use one with more abilities.")];
  const changed = wrote ? "The webhook that was registered was for this check alone." : "Nothing was changed.";
  return [...found, paint.dim(`${plural(requests, "request")}${again}. ${changed}`)];
}
