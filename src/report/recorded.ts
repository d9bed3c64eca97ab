// Formats the state as a page and as Markdown. Sends no request.
import { html } from "hono/html";
import {
  capitalized,
  clientOf,
  formatMoney,
  formatNumber,
  idOf,
  type Json,
  type KindWords,
  type OutputState,
  parseAddress,
  type ResourceState,
  shorten,
} from "../core/model/index.ts";
import { breakMarkdown, escapeMarkdown } from "./escape.ts";
import { plural, UNSCALED } from "./numbers.ts";
import { outputTexts } from "./outputs.ts";
import { list, pageHtml, section, table } from "./page.ts";
import {
  bytesOf,
  COMMENT_BYTES,
  code,
  fitting,
  table as markdownTable,
  markerOf,
  more,
  tableRow,
} from "./plan-document.ts";
import { type PlanReportOptions, siteText } from "./plan-report.ts";

export interface Recorded {
  /** Name of the project, if the declaration is readable. */
  readonly project: string | undefined;
  readonly serial: number;
  readonly resources: readonly ResourceState[];
  readonly outputs: ReadonlyMap<string, OutputState>;
}

export interface RecordedOptions extends PlanReportOptions {
  /** Returns the names of secret attributes. */
  readonly hidden: (resource: ResourceState) => ReadonlySet<string>;
  /** Returns the nouns of a resource type. */
  readonly words: (type: string) => KindWords;
}

/** Returns the state as one HTML page without scripts or external resources. Escapes every string. */
export function renderRecordedHtml(recorded: Recorded, options: RecordedOptions): string {
  const { heading, headline, notes, attention, tables } = recordedReport(recorded, options);
  return pageHtml(heading, [
    html`<p class="headline">${headline}</p>`,
    ...notes.map((note) => html`<p class="note">${note}</p>`),
    ...(attention.length > 0 ? [section("Needs attention", list(attention))] : []),
    ...tables.map(({ title, head, rows }) => section(`${title}: ${formatNumber(rows.length)}`, table(head, rows))),
  ]);
}

/** Returns the state as Markdown. Rows beyond the size of a comment are counted. */
export function renderRecordedMarkdown(recorded: Recorded, options: RecordedOptions): string {
  const { heading, headline, notes, attention, tables } = recordedReport(recorded, options);
  const todo = attention.map((line) => [line.replaceAll("`", "")]);
  const points = { title: "Needs attention", head: ["What to do"], rows: todo };
  const sections = [points, ...tables]
    .filter(({ rows }) => rows.length > 0)
    .map(({ title, head, rows }) => {
      const cells = rows.map((row) => row.map((text) => (text === "" ? "" : code(text))));
      return { title: `${title}: ${formatNumber(rows.length)}`, head, cells };
    });
  const lines = [
    markerOf(recorded.project ?? "", "state"),
    `### ${escapeMarkdown(heading)}\n`,
    `**${headline}**\n`,
    ...notes.map((note) => `${note}\n`),
  ];
  const frames = sections.map(({ title, head }) => bytesOf(markdownTable(title, head, [head]).join("\n")) + CUT_BYTES);
  let room = COMMENT_BYTES - frames.reduce((sum, bytes) => sum + bytes, bytesOf(lines.join("\n")));
  for (const { title, head, cells } of sections) {
    const rows = cells.map((row) => `${tableRow(row)}\n`);
    const shown = fitting(rows, room);
    room -= bytesOf(rows.slice(0, shown).join(""));
    lines.push(...markdownTable(title, head, cells.slice(0, shown)), ...more(cells.length - shown, "row"));
  }
  return breakMarkdown(lines.join("\n"));
}

/** Maximum size of the sentence for omitted rows, in bytes. */
const CUT_BYTES = 100;

/** Maximum length of a cell. */
const LONGEST_CELL = 300;

/** Returns the parts of both formats: points for a person, and a table for each kind and for the outputs. */
function recordedReport({ project, serial, resources, outputs }: Recorded, options: RecordedOptions) {
  const types = [...Map.groupBy(resources, typeOf)]
    .map(([type, all]) => ({ words: options.words(type), all }))
    .toSorted((a, b) => (a.words.rank ?? resources.length) - (b.words.rank ?? resources.length));
  const counts = types.map(({ words, all }) => plural(all.length, words.noun, words.plural));
  const tables = types.map(({ words, all }) => tableOf(words, all, resources, options));
  const values = outputTexts(outputs).map(([name, text]) => [name, shorten(text, LONGEST_CELL)]);
  const isUnscaled = resources.some((one) => {
    const { price, currency } = one.attributes;
    return typeof price === "number" && options.moneyScale?.(String(currency), one.provider) === undefined;
  });
  const note = `From the state with serial ${serial}. hostform did not read the account. A plan shows the differences.`;
  return {
    heading: project === undefined ? "hostform state" : `hostform state: ${project}`,
    headline: counts.length === 0 ? "The state has no resources." : `The state has ${counts.join(", ")}.`,
    notes: isUnscaled ? [note, UNSCALED] : [note],
    attention: [
      ...resources.flatMap(({ address, private: { pending } }) => {
        if (pending === undefined) return [];
        const fix = options.remedies({ address, remedies: [{ do: "resolve" }] });
        return [[`The result of the create request is unknown (${address}).`, fix].filter(Boolean).join(" ")];
      }),
      ...recordedConditions(resources, options),
    ],
    tables: [...tables, ...(values.length > 0 ? [{ title: "Outputs", head: ["Output", "Value"], rows: values }] : [])],
  };
}

/** Returns a sentence for each undeclared suspension in the state. */
export function recordedConditions(
  resources: readonly ResourceState[],
  { hidden, words }: Pick<RecordedOptions, "hidden" | "words">,
): string[] {
  return resources.flatMap((one) => {
    const { address, attributes, private: mark } = one;
    if (mark.suspended?.since === undefined) return [];
    const { noun, site = "" } = words(typeOf(one));
    const name = hidden(one).has(site) || attributes[site] == null ? "" : ` (${textOf(attributes[site])})`;
    const since = mark.suspended.since.slice(0, 10);
    return [
      `${address}: ${noun} ${textOf(attributes.id ?? null)}${name} is suspended, but not declared as suspended. Suspended since ${since} or earlier.`,
    ];
  });
}

const typeOf = ({ address }: ResourceState) => parseAddress(address)?.type ?? "resource";

/** Returns a table of the resources of one kind, sorted by name. Omits empty columns. */
function tableOf(
  words: KindWords,
  own: readonly ResourceState[],
  all: readonly ResourceState[],
  options: RecordedOptions,
) {
  const { hidden, moneyScale } = options;
  const value = (one: ResourceState, name: string): Json =>
    one.attributes[name] != null && hidden(one).has(name) ? "(sensitive value)" : (one.attributes[name] ?? null);
  const text = (one: ResourceState, ...names: readonly string[]) =>
    shorten(textOf(names.map((name) => value(one, name)).find((found) => found !== null) ?? null), LONGEST_CELL);
  const noun = capitalized(words.noun);
  const { parent } = words;
  const parents = new Map(all.map((one) => [idOf(one.provider, typeOf(one), `${one.attributes.id}`), one]));
  const site = (one: ResourceState) => {
    const found = parent && parents.get(idOf(one.provider, parent.type, `${one.attributes[parent.attribute]}`));
    return found === undefined ? "" : text(found, options.words(typeOf(found)).site ?? "");
  };
  const price = (one: ResourceState) => {
    const [amount, currency] = [value(one, "price"), text(one, "currency")];
    if (typeof amount !== "number") return textOf(amount);
    const cycle = text(one, "billing_cycle");
    return `${formatMoney(amount, currency, moneyScale?.(currency, one.provider))}${cycle && `, ${cycle}`}`;
  };
  const columns: Readonly<Record<string, (one: ResourceState) => string>> = {
    [noun]: (one) => {
      const client = clientOf({ provider: one.provider, client: one.private.client });
      return siteText({ site: text(one, words.name) || one.address, client });
    },
    Site: site,
    Plan: (one) => text(one, "plan", "plan_id"),
    Status: (one) => text(one, "status"),
    Suspended: (one) => (one.attributes.suspended === true ? "yes" : ""),
    Price: price,
    "Next due": (one) => text(one, "next_due_date"),
    Permission: (one) => text(one, "permission"),
    Expires: (one) => text(one, "expires_at"),
    Events: (one) => text(one, "events"),
    Resource: ({ address }) => address,
    ID: (one) => text(one, "id"),
  };
  const rows = own.map((one) => Object.values(columns).map((cell) => cell(one)));
  const used = Object.keys(columns).map((_, i) => rows.some((row) => row[i] !== ""));
  const kept = (cells: readonly string[]) => cells.filter((_, i) => used[i]);
  return { title: capitalized(words.plural), head: kept(Object.keys(columns)), rows: rows.map(kept).toSorted(byName) };
}

const byName = ([a = ""]: readonly string[], [b = ""]: readonly string[]) => (a < b ? -1 : Number(a > b));

function textOf(value: Json): string {
  if (value === null) return "";
  if (Array.isArray(value)) return value.map(textOf).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
