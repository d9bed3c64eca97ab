/**
 * The only script of the dashboard. It updates an open page with parts from the server, except a part that is expanded or
 * contains selected text. Focus and scroll position stay. Without the script, a page must be reloaded.
 */
export const LIVE = `"use strict";
(() => {
  const from = document.body.dataset.liveFrom;
  const current = document.querySelector(".side [aria-current]");
  if (current !== null) current.scrollIntoView({ block: "nearest", inline: "center" });
  const offline = document.getElementById("offline");
  if (from === undefined) return;
  const latest = new Map();

  const inUse = (region) => {
    const selection = getSelection();
    const selected = selection !== null && !selection.isCollapsed && region.contains(selection.anchorNode);
    return selected || region.querySelector("details[open]") !== null;
  };

  const put = (id, markup) => {
    const region = document.getElementById(id);
    if (region === null || latest.get(id) === markup || inUse(region)) return;
    latest.set(id, markup);
    const focused = region.contains(document.activeElement) ? document.activeElement : null;
    const link = focused && focused.getAttribute("href");
    const places = [...region.querySelectorAll(".scroll")].map((one) => one.scrollLeft);
    region.innerHTML = markup;
    const tables = [...region.querySelectorAll(".scroll")];
    tables.forEach((one, at) => { one.scrollLeft = places[at] || 0; });
    if (focused === null) return;
    const same = link && [...region.querySelectorAll("a")].find((one) => one.getAttribute("href") === link);
    (same || tables[0] || document.getElementById("main")).focus({ preventScroll: true });
  };

  let source;
  const open = () => {
    source = new EventSource(from);
    source.onmessage = ({ data }) => {
      offline.hidden = true;
      for (const [id, markup] of Object.entries(JSON.parse(data))) put(id, markup);
    };
    source.onerror = () => { offline.hidden = false; };
  };
  const close = () => { if (source) source.close(); };
  document.addEventListener("visibilitychange", () => { close(); if (!document.hidden) open(); });
  addEventListener("pagehide", close);
  addEventListener("pageshow", ({ persisted }) => { if (persisted) open(); });
  if (!document.hidden) open();
})();
`;

export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><g fill="#2a7fc9"><rect x="2" y="3" width="20" height="5" rx="1.5"/><rect x="2" y="9.5" width="20" height="5" rx="1.5" opacity=".7"/><rect x="2" y="16" width="20" height="5" rx="1.5" opacity=".45"/></g></svg>
`;

/** Styles: first colours, frame and navigation, then the content. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: light-dark(#f4f5f7, #101418);
  --card: light-dark(#ffffff, #181d23);
  --ink: light-dark(#17202b, #e4e8ee);
  --soft: light-dark(#5b6675, #9aa6b5);
  --line: light-dark(#e0e4ea, #2a323c);
  --strong-line: light-dark(#8a95a5, #647182);
  --hover: light-dark(#eef1f5, #212831);
  --accent: light-dark(#0b5fa8, #78b9f2);
  --on-accent: light-dark(#ffffff, #0b1a28);
  --good: light-dark(#19703a, #6fcf8e);
  --good-bg: light-dark(#e5f4ea, #16301f);
  --wait: light-dark(#8a5a00, #e6b455);
  --wait-bg: light-dark(#fcf2dc, #34290f);
  --bad: light-dark(#b3261e, #ff9188);
  --bad-bg: light-dark(#fdeae8, #3b1a18);
  --quiet-bg: light-dark(#eceff3, #262e37);
  font: 14px/1.45 system-ui, -apple-system, "Segoe UI", sans-serif;
}
* { box-sizing: border-box }
body { margin: 0; background: var(--page); color: var(--ink) }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: 2px }
code, pre { font: 12.5px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace }
h1 { font-size: 20px; line-height: 1.3; margin: 0 0 16px; letter-spacing: -0.01em; overflow-wrap: anywhere }
h2 { font-size: 14px; margin: 0 }
p { margin: 0 0 8px }
ul, ol, dl, dd { margin: 0; padding: 0; list-style: none }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px }
main:focus-visible, main:focus { outline: none }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.skip { position: absolute; left: 8px; top: -60px; z-index: 2; padding: 8px 14px; background: var(--card); border: 1px solid var(--strong-line); border-radius: 6px }
.skip:focus { top: 8px }
.nums { font-variant-numeric: tabular-nums; white-space: nowrap }
.hint, .none { color: var(--soft) }
.hint { font-size: 13px }
td .hint { white-space: normal; overflow-wrap: anywhere }

.top { display: flex; align-items: center; gap: 20px; padding: 0 20px; min-height: 52px; background: var(--card); border-bottom: 1px solid var(--line) }
.brand { display: flex; align-items: center; gap: 9px; font-weight: 650; color: inherit; text-decoration: none; font-size: 15px }
.mark { width: 22px; height: 22px; fill: var(--accent) }
.mark rect:nth-child(2) { opacity: 0.7 }
.mark rect:nth-child(3) { opacity: 0.45 }
.tag { font-size: 11px; font-weight: 600; padding: 1px 7px; border-radius: 9px; background: var(--wait-bg); color: var(--wait) }
.accounts { display: flex; margin-left: auto; border: 1px solid var(--strong-line); border-radius: 7px; overflow: clip }
.accounts button { border: 0; padding: 5px 12px; background: none; color: var(--soft); font: inherit; cursor: pointer }
.accounts button + button { border-left: 1px solid var(--strong-line) }
.accounts button:hover { background: var(--hover) }
.accounts button:focus-visible { outline-offset: -3px }
.accounts button[aria-pressed="true"] { background: var(--quiet-bg); color: var(--ink); font-weight: 600 }
.pill { color: inherit; text-decoration: none; padding: 4px 10px; border-radius: 7px; white-space: nowrap }
.pill:hover { background: var(--hover) }
.offline { margin: 0; padding: 8px 20px; background: var(--bad-bg); color: var(--bad) }

.columns { display: grid; grid-template-columns: 176px minmax(0, 1fr); max-width: 1320px }
.side { padding: 18px 10px 24px 12px }
.group { font-size: 12px; font-weight: 600; color: var(--soft); padding: 0 10px; margin: 0 0 4px }
.side ul + .group { margin-top: 18px }
.side a { display: block; padding: 5px 10px; border-radius: 6px; color: inherit; text-decoration: none }
.side a:hover { background: var(--hover) }
.side a[aria-current] { background: light-dark(#e1ecf7, #1c3148); font-weight: 600 }
main { padding: 20px 20px 48px 12px; min-width: 0 }
main.alone { max-width: 40rem; margin: 10vh auto }

/* Beside the navigation a table of a tablet has no room. */
@media (max-width: 920px) {
  .columns { display: block }
  .side { display: flex; overflow-x: auto; padding: 6px 10px; border-bottom: 1px solid var(--line); background: var(--card); scrollbar-width: none }
  .group { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
  .side ul { display: flex }
  .side ul + .group + ul { border-left: 1px solid var(--line); margin-left: 6px; padding-left: 6px }
  .side a { white-space: nowrap; padding: 7px 6px }
  main { padding: 16px 14px 40px }
}
@media (max-width: 760px) {
  .top { flex-wrap: wrap; gap: 6px 12px; padding: 8px 14px }
  .pill { margin-left: auto; padding: 4px 0; font-size: 12px }
  .accounts { order: 3; margin-left: 0; width: 100% }
  .accounts button { flex: 1 }
}
@media (forced-colors: active) {
  .badge, .tag, .button { border: 1px solid }
  .accounts button[aria-pressed="true"], .side a[aria-current] { outline: 2px solid; outline-offset: -2px }
}

.card { background: var(--card); border: 1px solid var(--line); border-radius: 9px; padding: 14px 16px; margin: 0 0 16px }
.card-head { display: flex; align-items: center; gap: 12px; margin: 0 0 10px }
.card-head > :not(h2) { margin-left: auto; font-size: 13px }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 370px), 1fr)); gap: 0 16px; align-items: start }
.lead { color: var(--soft); max-width: 46rem; margin-bottom: 14px }
.note { padding: 8px 12px; border-radius: 7px; background: var(--wait-bg); color: var(--wait) }
.empty { color: var(--soft); margin: 4px 0 }

.flash { padding: 10px 14px; margin: 0 0 16px; border-radius: 8px; background: var(--good-bg); border: 1px solid var(--good) }
.flash p { margin: 0 }
.flash .once { margin-top: 6px }
.once code { padding: 2px 6px; border-radius: 4px; background: var(--card); user-select: all; overflow-wrap: anywhere }

.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 10px; margin: 0 0 16px }
.tiles a { display: flex; flex-direction: column; height: 100%; padding: 10px 14px; background: var(--card); border: 1px solid var(--line); border-radius: 9px; color: inherit; text-decoration: none }
.tiles a:hover { border-color: var(--strong-line) }
.tile-name { color: var(--soft) }
.tile-count { font-size: 24px; font-weight: 650; line-height: 1.25; letter-spacing: -0.01em }

.scroll { position: relative; overflow-x: auto; margin: 0 -16px; padding: 0 16px }
.scroll:focus-visible { outline-offset: -2px }
table { border-collapse: collapse; width: 100% }
caption { text-align: left; font-weight: 600; padding: 10px 0 4px }
th, td { text-align: left; font-weight: 400; padding: 6px 14px 6px 0; border-bottom: 1px solid var(--line); vertical-align: middle; white-space: nowrap }
th:last-child, td:last-child { padding-right: 0 }
thead th { color: var(--soft); font-size: 12.5px; padding-top: 2px }
tbody tr:last-child > * { border-bottom: 0 }
tbody tr:hover > * { background: light-dark(#f8fafc, #1c2229) }
.end { text-align: right }
.end .row { justify-content: flex-end }
.two th, .two td { white-space: normal }
.clip code { display: inline-block; max-width: 22ch; overflow: hidden; text-overflow: ellipsis; vertical-align: bottom }
.break { white-space: normal }
.break code { overflow-wrap: anywhere }
.long { display: inline-block; min-width: min(100%, 14ch); white-space: normal; overflow-wrap: anywhere; vertical-align: top }
.long code { vertical-align: baseline }
td:has(.long), th:has(.long) { white-space: normal }
a > .long { text-decoration: underline 1px }
.method { display: inline-block; min-width: 4.2em; color: var(--soft); font-size: 12px; font-weight: 600 }
.pager { display: flex; gap: 14px; padding-top: 10px }

.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(230px, 1fr)); gap: 12px 20px }
.facts > div { min-width: 0 }
.facts dt { color: var(--soft); font-size: 12.5px }
.facts dd { overflow-wrap: anywhere }
.facts .broad { grid-column: span 2 }
.clock-now { margin: 0; font-size: 17px; font-weight: 600 }
.clock-now .badge { font-size: 12.5px; margin-left: 8px; vertical-align: 2px }
@media (max-width: 560px) { .facts .broad { grid-column: auto } }
.plain li { padding: 4px 0 }
.plain .row { align-items: center }
.due > li { padding: 5px 0; border-bottom: 1px solid var(--line) }
.due > li:last-child { border-bottom: 0 }
.under { line-height: 1.35 }
.end .under { white-space: nowrap }
.under a { color: inherit }
.narrow { display: none }

.badge { display: inline-block; padding: 1px 8px; border-radius: 10px; font-size: 12.5px; font-weight: 550; background: var(--quiet-bg); white-space: nowrap }
.badge::before { content: "●"; font-size: 8px; margin-right: 5px; vertical-align: 2px }
.badge.good { background: var(--good-bg); color: var(--good) }
.badge.wait { background: var(--wait-bg); color: var(--wait) }
.badge.wait::before { content: "◐" }
.badge.bad { background: var(--bad-bg); color: var(--bad) }
.badge.bad::before { content: "▲" }
.badge.quiet::before { content: "○" }
.chip { display: inline-block; padding: 0 7px; margin: 1px 0; border: 1px solid var(--line); border-radius: 10px; font-size: 12.5px }

.button { display: inline-block; padding: 4px 11px; border: 1px solid var(--strong-line); border-radius: 6px; background: var(--card); color: var(--ink); font: inherit; font-size: 13px; line-height: 1.45; text-decoration: none; cursor: pointer; white-space: nowrap }
.button:hover { background: var(--hover) }
.button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent) }
.button.primary:hover { background: light-dark(#094f8c, #98cbf7) }
.button.danger { color: var(--bad); border-color: var(--bad) }
.button.danger:hover { background: var(--bad-bg) }
.row { display: flex; gap: 8px; align-items: flex-start }
.row.wrap { flex-wrap: wrap }
.actions { margin-top: 14px; align-items: center }
.actions > .confirm[open] { flex-basis: 100% }

.field { margin: 0 0 12px; padding: 0; border: 0; min-width: 0 }
.field > label, legend { display: block; padding: 0; margin: 0 0 3px; font-size: 13px; font-weight: 550 }
input:not([type="checkbox"]), select { font: inherit; color: inherit; max-width: 100%; padding: 5px 8px; background: light-dark(#fff, #11161b); border: 1px solid var(--strong-line); border-radius: 6px; min-height: 32px }
input[aria-invalid] { border-color: var(--bad) }
.field .hint, .field .problem { display: block; margin: 3px 0 0 }
.checks { display: flex; flex-wrap: wrap; gap: 4px 18px }
.check { display: flex; align-items: center; gap: 6px; padding: 2px 0; overflow-wrap: anywhere }
.problem { color: var(--bad); font-size: 13px }
.act > .problem, main > .problem { padding: 6px 10px; border-radius: 6px; background: var(--bad-bg); font-size: 14px; white-space: normal; text-align: left }
.inline { display: flex; flex-wrap: wrap; gap: 0 12px; align-items: flex-end }
.inline > .problem { flex-basis: 100% }
.inline .buttons { margin: 0 0 12px }
.inline .button { min-height: 32px }
input[type="number"] { width: 8.5em }
.card > .inline:last-child, .actions + .inline { margin: 14px 0 -12px }
.filter { display: flex; flex-wrap: wrap; gap: 0 12px; align-items: flex-end; margin-bottom: 4px }
.filter .button { margin-bottom: 12px; min-height: 32px }
.grid-fields { display: grid; grid-template-columns: repeat(auto-fill, minmax(210px, 1fr)); gap: 0 16px }
.grid-fields select { width: 100% }
.tabs { display: flex; flex-wrap: wrap; gap: 2px; margin: 0 0 12px -10px }
.tabs a { display: block; padding: 4px 10px; border-radius: 6px; color: inherit; text-decoration: none }
.tabs a:hover { background: var(--hover) }
.tabs a[aria-current] { background: var(--quiet-bg); font-weight: 600 }

summary { cursor: pointer }
.confirm > summary { list-style: none }
.confirm > summary::-webkit-details-marker { display: none }
.confirm[open] > form { margin-top: 8px; padding: 10px 12px; border: 1px solid var(--line); border-radius: 7px; white-space: normal; text-align: left; max-width: 34rem }
.calls { color: var(--soft); font-size: 13px; margin-top: 8px }
.calls p { margin: 6px 0 }
pre { margin: 0; padding: 10px 12px; overflow-x: auto; border: 1px solid var(--line); border-radius: 7px; background: var(--page); white-space: pre-wrap; overflow-wrap: anywhere }

.rates { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 300px), 1fr)); gap: 14px 24px }
meter { display: block; width: 100% }
@media (max-width: 760px) {
  .wide { display: none }
  .narrow { display: block }
  th, td { white-space: normal; padding-right: 10px }
  .under { overflow-wrap: anywhere }
  .clip code { max-width: 12ch }
  .method { min-width: 0 }
  td .confirm[open] > form { padding: 6px 5px }
}
`;
