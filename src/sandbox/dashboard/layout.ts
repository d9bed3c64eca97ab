/** Frame of each page: head, navigation, account, clock, and the message of the last action. */
import { html, raw } from "hono/html";
import { PROBLEM_ID } from "./forms.ts";
import { badge, type Html, shown, when } from "./html.ts";
import { type Page, ROOT, type Said, type Visit } from "./page.ts";

/** Navigation: entries of the vendor's dashboard, and entries of the sandbox. */
const NAVIGATION: readonly (readonly [group: string, entries: readonly (readonly [path: string, name: string])[]])[] = [
  ["Account", [["/", "Overview"], ...named("Services", "Invoices", "API tokens", "Webhooks", "Migrations")]],
  ["Sandbox", named("Requests", "Clock", "Faults", "Settings")],
];

/** Returns entries. The path of an entry is the last word of its name. */
function named(...names: string[]): [path: string, name: string][] {
  return names.map((name) => [`/${name.split(" ").at(-1)?.toLowerCase()}`, name]);
}

const hrefOf = (path: string) => (path === "/" ? "/" : `${ROOT}${path}`);

export async function layout(page: Page, visit: Visit, said: Said | undefined): Promise<Html> {
  const title = page.title(visit);
  const body = String(await page.body(visit));
  return frame(
    title,
    html`
<header class="top">
<a class="brand" href="/"><svg class="mark" viewBox="0 0 24 24" aria-hidden="true"><rect x="2" y="3" width="20" height="5" rx="1.5"/><rect x="2" y="9.5" width="20" height="5" rx="1.5"/><rect x="2" y="16" width="20" height="5" rx="1.5"/></svg>Hosting <span class="tag">sandbox</span></a>
${accounts(visit)}
<a class="pill" href="${ROOT}/clock"><span class="unseen">Clock of the sandbox: </span><span id="top-clock" data-live>${topClock(visit)}</span></a>
</header>
<div class="columns">
<nav class="side" aria-label="Pages">${NAVIGATION.map(
      ([group, entries]) =>
        html`<p class="group">${group}</p><ul aria-label="${group}">${entries.map(
          ([path, name]) =>
            html`<li><a href="${hrefOf(path)}"${path === (page.nav ?? page.path) && html` aria-current="page"`}>${name}</a></li>`,
        )}</ul>`,
    )}</nav>
<main id="main" tabindex="-1">
${said === undefined ? "" : flash(said)}
${problem(visit, body)}
<h1>${title}</h1>
${raw(body)}
${calls(page)}
</main>
</div>`,
    `${ROOT}/live?page=${encodeURIComponent(visit.here)}`,
  );
}

/** Returns the message of a rejected form that the page no longer contains, such as the button of a deleted row. */
function problem({ failed }: Visit, body: string): Html {
  if (failed === undefined || body.includes(`id="${PROBLEM_ID}"`)) return html``;
  return html`<p class="problem" role="alert" id="${PROBLEM_ID}">${failed.message}</p>`;
}

/** Returns the clock, which is a live part of every page. */
export function topClock({ now, frozen }: Visit): Html {
  return html`${when(now)} UTC${frozen && html` ${badge("frozen", "quiet")}`}`;
}

export function lostPage(title: string, message: string): Page {
  return {
    path: "",
    title: () => title,
    body: () => html`<p>${shown(message)}</p><p><a href="/">To the overview</a></p>`,
  };
}

/** Returns a page without navigation, for a rejected request. */
export function plainPage(title: string, message: string): Html {
  return frame(
    title,
    html`<main id="main" tabindex="-1" class="alone"><h1>${title}</h1>
<p>${shown(message)}</p><p><a href="/">To the overview</a></p></main>`,
  );
}

function frame(title: string, body: Html, live?: string): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title} · Hosting sandbox</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${ROOT}/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${ROOT}/style.css">
<script src="${ROOT}/live.js" defer></script>
</head>
<body${live !== undefined && html` data-live-from="${live}"`}>
<a class="skip" href="#main">Skip to the content</a>
<p class="offline" id="offline" role="status" hidden>The sandbox no longer answers. This page shows its last state.</p>
${body}
</body>
</html>
`;
}

function accounts({ accounts: all, account, here }: Visit): Html {
  return html`<form method="post" action="${ROOT}/account" class="accounts" aria-label="Account">
<input type="hidden" name="back" value="${here}">
${all.map(
  ({ id, name }) =>
    html`<button name="account" value="${id}" aria-pressed="${id === account.id ? "true" : "false"}"><span class="unseen">Account </span>${name}</button>`,
)}</form>`;
}

function flash({ text, once }: Said): Html {
  const value =
    once !== undefined &&
    html`<p class="once"><span>${once.label}</span> <code id="once">${once.value}</code> <span class="hint">It is shown only once. Copy it now.</span></p>`;
  return html`<div class="flash" role="status"><p>${shown(text)}</p>${value}</div>`;
}

/** Lists the buttons of the page as calls of the control API. */
function calls({ actions = {} }: Page): Html {
  const unique = [...new Set(Object.values(actions).map(({ api }) => api))];
  if (unique.length === 0) return html``;
  return html`<details class="calls"><summary>The same by API</summary>
<p>Each button here is a call of the control API, on this port:</p>
<ul>${unique.map((call) => html`<li><code>${call}</code></li>`)}</ul></details>`;
}
