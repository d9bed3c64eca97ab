/** Texts, amounts and instants as the pages show them. Everything goes through hono's `html`, which escapes. */
import { html } from "hono/html";

/** A piece of a page, escaped. */
export type Html = ReturnType<typeof html>;

/**
 * Characters that nobody sees and that change what is seen: controls, and the format characters that turn the direction of
 * text or have no width. The two joiners stay, since names in some scripts need them, and so do line ends and tabs.
 */
const UNSEEN = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** The text with what cannot be seen written out, as ⟨U+202E⟩. Every page goes through it as a whole before it leaves. */
export function visible(text: string): string {
  return text.replace(
    UNSEEN,
    (found) => `⟨U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
}

/** A text that came from outside: apart from the direction of what stands around it. */
export function shown(text: string): Html {
  return html`<bdi>${text}</bdi>`;
}

/** The same in the typeface of identifiers. */
export function code(text: string): Html {
  return html`<code>${shown(text)}</code>`;
}

/** "—" where there is nothing. */
export function maybe(text: string | null | undefined): Html {
  return text === null || text === undefined || text === "" ? html`<span class="none">—</span>` : shown(text);
}

/** An amount of minor units: "4.50 USD". */
export function money(amount: number, currency: string): string {
  const sign = amount < 0 ? "−" : "";
  const digits = String(Math.abs(amount)).padStart(3, "0");
  const whole = digits.slice(0, -2).replace(/\B(?=(?:\d{3})+$)/g, " ");
  return `${sign}${whole}.${digits.slice(-2)} ${currency}`;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

function dayOf(iso: string): string {
  return `${Number(iso.slice(8, 10))} ${MONTHS[Number(iso.slice(5, 7)) - 1] ?? "?"} ${iso.slice(0, 4)}`;
}

/** An instant, or a date, in UTC: "21 Nov 2026, 10:00:00". */
export function when(iso: string | null): Html {
  if (iso === null) return maybe(null);
  const time = iso.length > 10 ? html`, <span class="nums">${iso.slice(11, 19)}</span>` : "";
  return html`<time datetime="${iso}">${dayOf(iso)}${time}</time>`;
}

/** The time of day alone, for tables of one day; the whole instant is in its title. */
export function clockTime(iso: string): Html {
  return html`<time class="nums" datetime="${iso}" title="${iso}">${iso.slice(11, 19)}</time>`;
}

const DAY = 86_400_000;
const SPANS: readonly (readonly [number, string])[] = [
  [DAY, "day"],
  [3_600_000, "hour"],
  [60_000, "minute"],
  [1000, "second"],
];

/** How far off an instant is: "in 3 days", "2 minutes ago", "now". A date counts by days. */
export function fromNow(iso: string, now: string): string {
  const date = iso.length === 10;
  const ms = date ? Date.parse(iso) - Date.parse(now.slice(0, 10)) : Date.parse(iso) - Date.parse(now);
  if (date && ms === 0) return "today";
  for (const [size, unit] of SPANS) {
    const count = Math.floor(Math.abs(ms) / size);
    if (count === 0) continue;
    const words = `${count} ${unit}${count === 1 ? "" : "s"}`;
    return ms > 0 ? `in ${words}` : `${words} ago`;
  }
  return "now";
}

/** "3 services", "1 service". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
