/**
 * The one script of the dashboard. It puts in what the server sends while a page is open, and leaves alone what somebody is
 * using: an open part, a selected text. Focus and the place in a table that scrolls stay. Without it everything works, by reloading.
 */
export const LIVE = `"use strict";
(() => {
  document.documentElement.classList.add("scripted");
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

/** The icon of the tab. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><g fill="#2a7fc9"><rect x="2" y="3" width="20" height="5" rx="1.5"/><rect x="2" y="9.5" width="20" height="5" rx="1.5" opacity=".7"/><rect x="2" y="16" width="20" height="5" rx="1.5" opacity=".45"/></g></svg>
`;
