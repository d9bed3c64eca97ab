/** Formats texts, amounts and times for the pages. All output is escaped by hono's `html`. */
import { html } from "hono/html";

/** An escaped part of a page. */
export type Html = ReturnType<typeof html>;

/**
 * Pattern of invisible characters: control characters, and format characters that have no width or change the direction of
 * text. Excludes line ends, tabs and the two joiners, which some scripts need.
 */
const UNSEEN = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** Replaces invisible characters by their code, such as ⟨U+202E⟩. Used for each complete page. */
export function visible(text: string): string {
  return text.replace(
    UNSEEN,
    (found) => `⟨U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
}

/** Isolates an external text from the direction of the surrounding text. */
export function shown(text: string): Html {
  return html`<bdi>${text}</bdi>`;
}

export function code(text: string): Html {
  return html`<code>${shown(text)}</code>`;
}

/** Returns the text, or "—" if it is missing. */
export function maybe(text: string | null | undefined): Html {
  return text === null || text === undefined || text === "" ? html`<span class="none">—</span>` : shown(text);
}

/** Returns a domain, path or URL that can break at any character. */
export function long(text: string): Html {
  return html`<span class="long">${shown(text)}</span>`;
}

/** Formats an amount in minor units: "4.50 USD". */
export function money(amount: number, currency: string): string {
  const sign = amount < 0 ? "−" : "";
  const digits = String(Math.abs(amount)).padStart(3, "0");
  const whole = digits.slice(0, -2).replace(/\B(?=(?:\d{3})+$)/g, " ");
  return `${sign}${whole}.${digits.slice(-2)} ${currency}`;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Formats a time or date in UTC: "21 Nov 2026, 10:00:00". */
export function when(iso: string | null): Html {
  if (iso === null || iso === "") return maybe(null);
  const time = iso.length > 10 && html`, <span class="nums">${iso.slice(11, 19)}</span>`;
  const month = MONTHS[Number(iso.slice(5, 7)) - 1] ?? "?";
  return html`<time datetime="${iso}">${Number(iso.slice(8, 10))} ${month} ${iso.slice(0, 4)}${time}</time>`;
}

/** Formats the time of day, for tables about one day. The title contains the complete time. */
export function clockTime(iso: string): Html {
  return html`<time class="nums" datetime="${iso}" title="${iso}">${iso.slice(11, 19)}</time>`;
}

const SPANS: readonly (readonly [number, "day" | "hour" | "minute" | "second"])[] = [
  [86_400_000, "day"],
  [3_600_000, "hour"],
  [60_000, "minute"],
  [1000, "second"],
];
const DISTANCE = new Intl.RelativeTimeFormat("en");

/** Formats the distance to a time: "in 3 days", "2 minutes ago", "now". For a date, in days. */
export function fromNow(iso: string, now: string): string {
  if (iso === "") return "";
  const date = iso.length === 10;
  const ms = Date.parse(iso) - Date.parse(date ? now.slice(0, 10) : now);
  if (date && ms === 0) return "today";
  const [size, unit] = SPANS.find(([size]) => Math.abs(ms) >= size) ?? [1000, "second"];
  return Math.abs(ms) < size ? "now" : DISTANCE.format(Math.trunc(ms / size), unit);
}

/** Returns "3 services" or "1 service". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Status words by tone. Other words are "quiet". */
const TONES: Readonly<Record<"good" | "wait" | "bad", readonly string[]>> = {
  good: ["active", "provisioned", "paid", "delivered", "accepted", "completed"],
  wait: ["pending", "provisioning", "unpaid", "offered", "draft", "submitted", "in_progress"],
  bad: ["suspended", "failed", "abandoned", "blocked", "fraud", "overdue"],
};

/** Returns a status word with its colour. The word itself must contain the meaning. */
export function badge(word: string, given?: "good" | "wait" | "bad" | "quiet"): Html {
  const tone = given ?? Object.entries(TONES).find(([, words]) => words.includes(word))?.[0] ?? "quiet";
  return html`<span class="badge ${tone}">${word.replaceAll("_", " ")}</span>`;
}

/** Formats the status of a response, such as 201, or a word if there was no response. */
export function httpStatus(status: number | null, none = "cut"): Html {
  if (status === null) return html`<span class="badge bad">${none}</span>`;
  const tone = status < 300 ? "good" : status < 400 ? "quiet" : status < 500 ? "wait" : "bad";
  return html`<span class="badge nums ${tone}">${status}</span>`;
}

type Cell = Html | string | number;

interface TableParts<T> {
  caption: string;
  /** True to show the caption. By default, only screen readers read it, because a heading usually has the same text. */
  captionShown?: boolean;
  /**
   * Columns by title. `end`: numbers, aligned right. `wide`: hidden on narrow screens. `unseen`: buttons, with a title only
   * for screen readers.
   */
  columns: Readonly<Record<string, "" | "end" | "wide" | "end wide" | "end unseen">>;
  items: readonly T[];
  /** Returns the cells of an item. The first cell is the heading of the row. */
  row(item: T, at: number): readonly Cell[];
  /** Text of an empty table. */
  empty: Cell;
  list?: List | undefined;
}

/** List in pages, by the query parameter `page`. */
export interface List {
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Returns a table. A wide table can be scrolled, also with the keyboard. */
export function table<T>({ caption, captionShown = false, columns, items, row, empty, list }: TableParts<T>): Html {
  if (items.length === 0) return html`<p class="empty">${empty}</p>`;
  const [shown, pager] = list === undefined ? [items] : paged(list, items);
  const classes = Object.values(columns).map((flags) => flags.replace(" unseen", ""));
  return html`<div class="scroll" role="region" aria-label="Table: ${caption}" tabindex="0"><table>
<caption class="${captionShown || "unseen"}">${caption}</caption>
<thead><tr>${Object.entries(columns).map(
    ([title, flags], at) =>
      html`<th scope="col" class="${classes[at]}">${flags.includes("unseen") ? html`<span class="unseen">${title}</span>` : title}</th>`,
  )}</tr></thead>
<tbody>${shown.map(
    (item, number) =>
      html`<tr>${row(item, number).map((cell, at) =>
        at === 0
          ? html`<th scope="row" class="${classes[at]}">${cell}</th>`
          : html`<td class="${classes[at]}">${cell}</td>`,
      )}</tr>`,
  )}</tbody>
</table></div>${pager}`;
}

/** Returns the fields of a record as names and values. Fields in `broad` have double width. */
export function facts(pairs: readonly (readonly [string, Cell])[], broad: readonly string[] = []): Html {
  return html`<dl class="facts">${pairs.map(([name, value]) => html`<div class="${broad.includes(name) && "broad"}"><dt>${name}</dt> <dd>${value}</dd></div>`)}</dl>`;
}

/** Returns a section with its heading. `aside` is at the end of the heading's line. */
export function section(heading: string, body: Html, aside?: Html | false): Html {
  const id = `h-${heading.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`;
  return html`<section class="card" aria-labelledby="${id}">
<div class="card-head"><h2 id="${id}">${heading}</h2>${aside}</div>
${body}
</section>`;
}

export const PAGE_SIZE = 50;

/** Returns one page of the items, with links to the previous and next page. */
function paged<T>({ path, query }: List, items: readonly T[]): readonly [shown: readonly T[], pager?: Html] {
  const pages = Math.max(1, Math.ceil(items.length / PAGE_SIZE));
  const wanted = Number(query.get("page") ?? "1");
  const page = Number.isInteger(wanted) ? Math.min(Math.max(wanted, 1), pages) : 1;
  const shown = items.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
  if (pages === 1) return [shown];
  const to = (target: number, label: string, on: boolean) => {
    if (!on) return html`<span class="none">${label}</span>`;
    const wanted = new URLSearchParams(query);
    wanted.set("page", String(target));
    return html`<a href="${path}?${wanted}">${label}</a>`;
  };
  const pager = html`<nav class="pager" aria-label="Pages of the list">
${to(page - 1, "Newer", page > 1)} <span>Page ${page} of ${pages}</span> ${to(page + 1, "Older", page < pages)}
</nav>`;
  return [shown, pager];
}
