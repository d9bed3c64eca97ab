/** The requests that the API received, as rows. */
import { html } from "hono/html";
import type { RequestEntry } from "../../record/journal.ts";
import { ROOT } from "../page.ts";
import { badge, httpStatus } from "./badge.ts";
import { table } from "./table.ts";
import { clockTime, code, type Html, maybe } from "./text.ts";

/** Newest first. */
export function requestTable(entries: readonly RequestEntry[], caption: string): Html {
  return table({
    caption,
    unseen: true,
    columns: [
      { title: "Time" },
      { title: "Answer" },
      { title: "Request" },
      { title: "Token", wide: true },
      { title: "Idempotency-Key", wide: true },
    ],
    rows: entries.map((entry) => [
      html`<a href="${ROOT}/requests/${entry.id}" aria-label="Request ${entry.id}">${clockTime(entry.at)}</a>`,
      html`${httpStatus(entry.status)}${entry.fault === null ? "" : html` ${badge("fault", "bad")}`}`,
      html`<span class="method">${entry.method}</span> <span class="break">${code(pathOf(entry))}</span>`,
      entry.token === null ? html`<span class="none">none</span>` : code(entry.token),
      entry.idempotency_key === null
        ? maybe(null)
        : html`<span class="clip" title="${entry.idempotency_key}">${code(entry.idempotency_key)}</span>`,
    ]),
    empty: html`No requests yet. <a href="${ROOT}/settings#order">How to send one</a>.`,
  });
}

/** The path below /api/v1, with its query. */
export function pathOf({ path, query }: RequestEntry): string {
  const words = new URLSearchParams(
    Object.entries(query).flatMap(([name, values]) => values.map((value): [string, string] => [name, value])),
  ).toString();
  return `${path.replace(/^\/api\/v1(?=\/)/, "")}${words === "" ? "" : `?${words}`}`;
}
