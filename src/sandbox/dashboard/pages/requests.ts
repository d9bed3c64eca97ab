/** Page of the log of API requests, and pictures of the rate windows (§8). */
import { html } from "hono/html";
import type { RequestEntry } from "../../http/journal.ts";
import type { RateView } from "../../http/rate.ts";
import type { Profile } from "../../profile/profile.ts";
import { Refusal } from "../../refusal.ts";
import { act, search, searched } from "../forms.ts";
import { badge, clockTime, code, counted, facts, type Html, httpStatus, maybe, section, table, when } from "../html.ts";
import { callAction, idOf, type Page, ROOT, type Visit } from "../page.ts";

const SHOWN = 60;

const requests: Page = {
  path: "/requests",
  title: () => "Requests",
  actions: { forget: callAction("clearRequests", "The log is empty.") },
  live: { rates: ratePictures, log },
  body: (visit) => {
    const paused = visit.query.get("live") === "off";
    const toggle = paused
      ? html`<a class="button" href="${ROOT}/requests">Resume</a>`
      : html`<a class="button js" href="${ROOT}/requests?live=off">Pause</a>`;
    return html`${section("Rate window", html`<div id="rates" data-live>${ratePictures(visit)}</div>`, toggle)}
${section(
  "Log",
  html`${search(`${ROOT}/requests`, visit.query, "Method, path, answer or token", ["live"])}
<div id="log" data-live>${log(visit)}</div>
<div class="row actions">${act(visit, { do: "forget", label: "Clear the log", confirm: "The rate windows stay as they are." })}</div>`,
)}`;
  },
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

const MINUTE = 60_000;
/** Width of the picture of one minute, in SVG units. */
const WIDTH = 600;
const LANE = 34;
const BARS = 60;

type BarTone = "good" | "wait" | "bad";

/** Number of requests within one second, by result. */
type Second = Record<BarTone, number>;

function answerOf({ status }: RequestEntry): BarTone {
  if (status === 429) return "bad";
  return status !== null && status < 400 ? "good" : "wait";
}

function seconds(entries: readonly RequestEntry[], now: number): Second[] {
  const bars = Array.from({ length: BARS }, (): Second => ({ good: 0, wait: 0, bad: 0 }));
  for (const entry of entries) {
    const ago = now - Date.parse(entry.at);
    if (ago < 0 || ago >= MINUTE) continue;
    const bar = bars[BARS - 1 - Math.floor(ago / 1000)];
    if (bar !== undefined) bar[answerOf(entry)] += 1;
  }
  return bars;
}

/** Returns pictures of the rate windows, for the tokens of the selected account. */
export function ratePictures(visit: Visit): Html {
  const entries = visit.control.requests();
  const rates = visit.control.rates().filter((rate) => rate.customer_id === visit.account.id);
  if (visit.about.settings.rateLimit === 0) return html`<p class="empty">The rate limit is off in this sandbox.</p>`;
  if (rates.length === 0) return html`<p class="empty">This account has no tokens.</p>`;
  return html`<ul class="rates">${rates.map((rate) => html`<li>${picture(rate, entries, visit)}</li>`)}</ul>`;
}

/** Event that allows new requests, by the profile's rule. */
const AGAIN: Readonly<Record<Profile["rate"], string>> = {
  fixed: "the window closes",
  sliding: "one more",
  bucket: "one more",
};

function picture(rate: RateView, entries: readonly RequestEntry[], { now, about }: Visit): Html {
  const rule = about.settings.profile.rate;
  const { token, limit, used, left, resets_at } = rate;
  const own = entries.filter((entry) => entry.token === token);
  const bars = seconds(own, Date.parse(now));
  const refused = bars.reduce((sum, bar) => sum + bar.bad, 0);
  const wait = resets_at === null ? 0 : Math.max(0, Math.ceil((Date.parse(resets_at) - Date.parse(now)) / 1000));
  const words = `${used} of ${limit} used, ${left} left`;
  const again = wait > 0 ? `${AGAIN[rule]} in ${wait} s` : "";
  const tallest = Math.max(4, ...bars.map((bar) => bar.good + bar.wait + bar.bad));
  const level = Math.round((WIDTH * used) / limit);
  const tone = left === 0 ? "bad" : left <= limit / 5 ? "wait" : "good";
  const last = refused > 0 ? `; ${counted(refused, "request")} refused with 429 in the last minute` : "";
  return html`<div class="rate-head"><strong>${token}</strong> <span class="nums">${words}</span></div>
<svg class="rate" viewBox="0 0 ${WIDTH} ${LANE + 14}" preserveAspectRatio="none" role="img" aria-label="${`Token ${token}: ${words}${again === "" ? "" : `, ${again}`}${last}.`}">
<rect class="lane" x="0" y="0" width="${WIDTH}" height="${LANE}"/>
${[1, 2, 3].map((quarter) => html`<line class="grid" x1="${quarter * 150}" x2="${quarter * 150}" y1="0" y2="${LANE}"/>`)}
${resets_at === null || rule !== "fixed" ? "" : windowStart(resets_at, now)}
${bars.map((bar, at) => stack(bar, at, tallest))}
<rect class="lane" x="0" y="${LANE + 6}" width="${WIDTH}" height="8" rx="4"/>
${level === 0 ? "" : html`<rect class="${tone}" x="0" y="${LANE + 6}" width="${level}" height="8" rx="4"/>`}
</svg>
<div class="rate-axis" aria-hidden="true"><span>60 s ago</span><span>${again}</span><span>now</span></div>`;
}

/** Returns a mark at the start of the current window. Earlier requests are not counted. */
function windowStart(resetsAt: string, now: string): Html {
  const x = WIDTH - ((Date.parse(now) - (Date.parse(resetsAt) - MINUTE)) / MINUTE) * WIDTH;
  if (x <= 0 || x > WIDTH) return html``;
  return html`<line class="opened" x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="0" y2="${LANE}"/>`;
}

function stack(bar: Second, at: number, tallest: number): Html {
  let y = LANE;
  return html`${(["good", "wait", "bad"] as const).map((kind) => {
    if (bar[kind] === 0) return "";
    const height = (LANE * bar[kind]) / tallest;
    y -= height;
    return html`<rect class="${kind}" x="${at * 10 + 1}" y="${y.toFixed(1)}" width="8" height="${height.toFixed(1)}"/>`;
  })}`;
}

export const requestPages: readonly Page[] = [requests, request];
