/** The log of the API's requests, live, with the rate windows. */
import { html } from "hono/html";
import type { RequestEntry } from "../../record/journal.ts";
import { Refusal } from "../../refusal.ts";
import { type Page, ROOT, type Visit } from "../page.ts";
import { act } from "../parts/act.ts";
import { badge, httpStatus } from "../parts/badge.ts";
import { idOf } from "../parts/id.ts";
import { pathOf, requestTable } from "../parts/log.ts";
import { ratePictures } from "../parts/rate-picture.ts";
import { facts, section } from "../parts/table.ts";
import { code, counted, type Html, maybe, when } from "../parts/text.ts";

const SHOWN = 60;

export const requests: Page = {
  path: "/requests",
  nav: "/requests",
  title: () => "Requests",
  actions: {
    forget: {
      api: "DELETE /requests",
      run: ({ control }) => {
        control.clearRequests();
        return { text: "The log is empty." };
      },
    },
  },
  live: { rates, log },
  body: (visit) => {
    const paused = visit.query.get("live") === "off";
    const toggle = paused
      ? html`<a class="button" href="${ROOT}/requests">Go on live</a>`
      : html`<a class="button js" href="${ROOT}/requests?live=off">Pause</a>`;
    return html`${section("Rate window", html`<div id="rates" data-live>${rates(visit)}</div>`, { aside: toggle })}
${section(
  "Log",
  html`<div id="log" data-live>${log(visit)}</div>
<div class="row actions">${act(visit, { do: "forget", label: "Forget the log", confirm: "The rate windows go on." })}</div>`,
)}`;
  },
};

function rates(visit: Visit): Html {
  return ratePictures(visit, visit.control.requests());
}

/** Of all accounts, as the API has received them. */
function log({ control }: Visit): Html {
  const all = control.requests();
  const older =
    all.length > SHOWN
      ? html`<p class="hint">The newest ${SHOWN} of ${counted(all.length, "request")}. <code>GET /requests</code> has them all.</p>`
      : "";
  return html`${requestTable(all.slice(-SHOWN).toReversed(), "Requests to the API, newest first")}${older}`;
}

/** One request. */
export const request: Page = {
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
        html`${httpStatus(status)}${fault === null ? "" : html` ${badge("fault", "bad")} <a href="${ROOT}/faults">number ${fault}</a>`}`,
      ],
      ["Token", token === null ? "none, or an unknown one" : code(token)],
      [
        "Idempotency-Key",
        idempotency_key === null ? maybe(null) : html`<span class="break">${code(idempotency_key)}</span>`,
      ],
    ])}</div>
${section(
  "Body",
  body === null
    ? html`<p class="empty">It had none.</p>`
    : html`<pre tabindex="0" role="region" aria-label="Body"><code>${typeof body === "string" ? body : JSON.stringify(body, null, 2)}</code></pre>`,
)}`;
  },
};

function read(visit: Visit): RequestEntry {
  const id = idOf(visit, "request");
  const found = visit.control.requests().find((entry) => entry.id === id);
  if (found === undefined) throw new Refusal(404, `There is no request ${id} in the log. Old ones are dropped.`);
  return found;
}
