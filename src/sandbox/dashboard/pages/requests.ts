/** Page of the log of API requests, and the rate windows of the tokens (§8). */
import { html } from "hono/html";
import type { RequestEntry } from "../../http/journal.ts";
import { Refusal } from "../../refusal.ts";
import { act, search, searched } from "../forms.ts";
import {
  badge,
  clockTime,
  code,
  counted,
  facts,
  fromNow,
  type Html,
  httpStatus,
  maybe,
  section,
  table,
  when,
} from "../html.ts";
import { callAction, idOf, type Page, ROOT, type Visit } from "../page.ts";

const SHOWN = 60;

const requests: Page = {
  path: "/requests",
  title: () => "Requests",
  actions: { forget: callAction("clearRequests", "The log is empty.") },
  live: { rates: rateWindows, log },
  body: (visit) => html`${section("Rate window", html`<div id="rates" data-live>${rateWindows(visit)}</div>`)}
${section(
  "Log",
  html`${search(`${ROOT}/requests`, visit.query, "Method, path, answer or token")}
<div id="log" data-live>${log(visit)}</div>
<div class="row actions">${act(visit, { do: "forget", label: "Clear the log", confirm: "The rate windows stay as they are." })}</div>`,
)}`,
};

/** Returns the log of all accounts. */
function log({ control, query }: Visit): Html {
  const text = searched(query);
  const all = control.requests().filter((entry) => text === "" || wordsOf(entry).includes(text));
  const older =
    all.length > SHOWN
      ? html`<p class="hint">The newest ${SHOWN} of ${counted(all.length, "request")}. <code>GET /requests</code> lists all.</p>`
      : "";
  return html`${requestTable(all.slice(-SHOWN).toReversed(), "Requests to the API, newest first")}${older}`;
}

/** Returns the text that a search compares. */
function wordsOf(entry: RequestEntry): string {
  const { method, path, query, status, token } = entry;
  return [method, path, ...Object.values(query).flat(), status ?? "cut", token ?? "none"].join(" ").toLowerCase();
}

const request: Page = {
  path: "/requests/:id",
  nav: "/requests",
  title: (visit) => {
    const entry = read(visit);
    return `${entry.method} ${pathOf(entry)}`;
  },
  body: (visit) => {
    const { id, at, token, idempotency_key, status, fault, body } = read(visit);
    return html`<div class="card">${facts([
      ["No.", html`<span class="nums">${id}</span>`],
      ["Received", when(at)],
      [
        "Answer",
        html`${httpStatus(status)}${fault !== null && html` ${badge("fault", "bad")} <a href="${ROOT}/faults">number ${fault}</a>`}`,
      ],
      ["Token", token === null ? "none or unknown" : code(token)],
      [
        "Idempotency-Key",
        idempotency_key === null ? maybe(null) : html`<span class="break">${code(idempotency_key)}</span>`,
      ],
    ])}</div>
${section(
  "Body",
  body === null
    ? html`<p class="empty">No body.</p>`
    : html`<pre tabindex="0" role="region" aria-label="Text of the body"><code>${typeof body === "string" ? body : JSON.stringify(body, null, 2)}</code></pre>`,
)}`;
  },
};

function read(visit: Visit): RequestEntry {
  const id = idOf(visit, "request");
  const found = visit.control.requests().find((entry) => entry.id === id);
  if (found === undefined) throw new Refusal(404, `There is no request ${id} in the log. Old ones are dropped.`);
  return found;
}

/** Returns a table of requests, newest first. */
export function requestTable(entries: readonly RequestEntry[], caption: string): Html {
  return table({
    caption,
    columns: { Time: "", Answer: "", Request: "", Token: "wide", "Idempotency-Key": "wide" },
    items: entries,
    row: (entry) => [
      html`<a href="${ROOT}/requests/${entry.id}" ><span class="unseen">Request ${entry.id}, </span>${clockTime(entry.at)}</a>`,
      html`${httpStatus(entry.status)}${entry.fault !== null && html` ${badge("fault", "bad")}`}`,
      html`<span class="method">${entry.method}</span> <span class="break">${code(pathOf(entry))}</span>`,
      entry.token === null ? html`<span class="none">none</span>` : code(entry.token),
      entry.idempotency_key === null
        ? maybe(null)
        : html`<span class="clip" title="${entry.idempotency_key}">${code(entry.idempotency_key)}</span>`,
    ],
    empty: html`No requests yet. <a href="${ROOT}/settings#order">How to send one</a>.`,
  });
}

/** Returns the path below /api/v1, with its query. */
function pathOf({ path, query }: RequestEntry): string {
  const words = new URLSearchParams(
    Object.entries(query).flatMap(([name, values]) => values.map((value): [string, string] => [name, value])),
  ).toString();
  return `${path.replace(/^\/api\/v1(?=\/)/, "")}${words === "" ? "" : `?${words}`}`;
}

/** Returns the rate window of each token of the selected account. */
export function rateWindows(visit: Visit): Html {
  const rates = visit.control.rates().filter((rate) => rate.customer_id === visit.account.id);
  if (visit.about.settings.rateLimit === 0) return html`<p class="empty">The rate limit is off in this sandbox.</p>`;
  if (rates.length === 0) return html`<p class="empty">This account has no tokens.</p>`;
  return html`<ul class="rates">${rates.map(({ token, limit, used, left, resets_at }) => {
    const words = `${used} of ${limit} used, ${left} left`;
    const more =
      resets_at !== null &&
      resets_at > visit.now &&
      html` <span class="hint">more ${fromNow(resets_at, visit.now)}</span>`;
    return html`<li><strong>${token}</strong> <span class="nums">${words}</span>${more}
<meter max="${limit}" value="${used}" aria-label="${`Requests of the token ${token} in the last minute`}"></meter></li>`;
  })}</ul>`;
}

export const requestPages: readonly Page[] = [requests, request];
