/** Tables and lists of facts. */
import { html } from "hono/html";
import type { Html } from "./text.ts";

export interface Column {
  title: string;
  /** `end` for numbers. */
  align?: "end";
  /** Left out on narrow screens. */
  wide?: boolean;
  /** The title is for screen readers alone: a column of buttons. */
  unseen?: boolean;
}

type Cell = Html | string | number;

export interface TableParts {
  caption: string;
  /** The caption is for screen readers alone: a heading above says the same. */
  unseen?: boolean;
  columns: readonly Column[];
  /** The first cell of each row is its heading. */
  rows: readonly (readonly Cell[])[];
  /** In place of a table without rows. */
  empty: Cell;
}

/** A table that scrolls by itself where it does not fit, also by keyboard. */
export function table({ caption, unseen = false, columns, rows, empty }: TableParts): Html {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table>
<caption class="${unseen ? "unseen" : ""}">${caption}</caption>
<thead><tr>${columns.map((column) => headCell(column))}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cells.map((cell, at) => bodyCell(cell, columns[at], at))}</tr>`)}</tbody>
</table></div>`;
}

function classOf(column: Column | undefined): string {
  return [column?.align === "end" ? "end" : "", column?.wide ? "wide" : ""].filter(Boolean).join(" ");
}

function headCell(column: Column): Html {
  const title = column.unseen ? html`<span class="unseen">${column.title}</span>` : column.title;
  return html`<th scope="col" class="${classOf(column)}">${title}</th>`;
}

function bodyCell(cell: Cell, column: Column | undefined, at: number): Html {
  if (at === 0) return html`<th scope="row" class="${classOf(column)}">${cell}</th>`;
  return html`<td class="${classOf(column)}">${cell}</td>`;
}

/** What is known of one record: names and values. Those named in `broad` take the place of two. */
export function facts(pairs: readonly (readonly [string, Cell])[], broad: readonly string[] = []): Html {
  return html`<dl class="facts">${pairs.map(([name, value]) => html`<div class="${broad.includes(name) ? "broad" : ""}"><dt>${name}</dt> <dd>${value}</dd></div>`)}</dl>`;
}

/** A part of a page with its heading. `aside` stands at the end of the heading's line. */
export function section(heading: string, body: Html | Html[], { aside = html`` }: { aside?: Html } = {}): Html {
  const id = `h-${heading.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`;
  return html`<section class="card" aria-labelledby="${id}">
<div class="card-head"><h2 id="${id}">${heading}</h2>${aside}</div>
${body}
</section>`;
}

export const PAGE_SIZE = 50;

/** One page of a list, by the query's `page`. */
export function paged<T>(items: readonly T[], query: URLSearchParams): { items: T[]; page: number; pages: number } {
  const pages = Math.max(1, Math.ceil(items.length / PAGE_SIZE));
  const wanted = Number(query.get("page") ?? "1");
  const page = Number.isInteger(wanted) ? Math.min(Math.max(wanted, 1), pages) : 1;
  return { items: items.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE), page, pages };
}

/** Links to the pages before and after; nothing for a list of one page. */
export function pager(path: string, query: URLSearchParams, { page, pages }: { page: number; pages: number }): Html {
  if (pages === 1) return html``;
  const to = (target: number, label: string, on: boolean) => {
    if (!on) return html`<span class="none">${label}</span>`;
    const wanted = new URLSearchParams(query);
    wanted.set("page", String(target));
    return html`<a href="${path}?${wanted}">${label}</a>`;
  };
  return html`<nav class="pager" aria-label="Pages of the list">
${to(page - 1, "Newer", page > 1)} <span>Page ${page} of ${pages}</span> ${to(page + 1, "Older", page < pages)}
</nav>`;
}
