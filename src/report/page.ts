// Frame of HTML pages: style, policy, sections, lists and tables.
import { createHash } from "node:crypto";
import { html, raw } from "hono/html";
import { escapeText } from "./escape.ts";

/** A part of a page that `html` has escaped. */
export type Html = ReturnType<typeof html>;

/** Maximum number of rows in a table. More rows become plain lines, so that browsers can open the page. */
export const MOST_ROWS = 500;

const STYLE = `
:root{color-scheme:light dark;--line:light-dark(#d5dae1,#3a414c);--soft:light-dark(#5a6472,#a5afbd);--card:light-dark(#fff,#1b2027);
--bad:light-dark(#a8201a,#ff9a90);--warn:light-dark(#7a4f00,#f2c76a);--good:light-dark(#17652a,#86dd97);
font:16px/1.5 system-ui,sans-serif;background:light-dark(#f4f6f9,#12161b);color:light-dark(#1a212b,#e8edf3)}
body{margin:0}main{max-width:70rem;margin:0 auto;padding:1.5rem 1rem}
h1{font-size:1.1rem;margin:0;color:var(--soft);font-weight:600;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:0 0 .6rem}
.headline{font-size:1.5rem;line-height:1.3;font-weight:650;margin:.3rem 0 .6rem;overflow-wrap:anywhere}
.verdict{font-weight:600;margin:0}.refused{color:var(--bad)}.attention{color:var(--warn)}.ready{color:var(--good)}
section,.tile{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:1rem}section{margin-top:1rem}
.tiles{display:grid;grid-template-columns:repeat(6,1fr);gap:.75rem;margin:1.2rem 0 0}
.tile dt{color:var(--soft);font-size:.875rem}.tile dd{margin:0;font-size:1.25rem;font-weight:650;overflow-wrap:anywhere}
.alarm{border-color:var(--bad)}.alarm dd,.alarm h2{color:var(--bad)}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.4rem .7rem .4rem 0;vertical-align:top;
border-bottom:1px solid var(--line)}th{color:var(--soft);font-size:.875rem;font-weight:600}td{overflow-wrap:break-word;min-width:5rem;max-width:22rem}td:first-child{min-width:11rem}
tfoot td{font-weight:650}.num{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
ul{margin:0;padding-left:1.2rem}li{overflow-wrap:anywhere;margin:.25rem 0}.note{color:var(--soft);font-size:.875rem;margin:.6rem 0 0}
code{font:.9em ui-monospace,monospace}pre{overflow-x:auto;font:.8125rem/1.5 ui-monospace,monospace;margin:.6rem 0;padding-bottom:.4rem}summary{cursor:pointer;font-weight:600;overflow-wrap:anywhere}
:focus-visible{outline:2px solid light-dark(#0b57d0,#a8c7fa);outline-offset:2px}.added{color:var(--good)}.removed{color:var(--bad)}.changed{color:var(--warn)}
@media(max-width:64rem){.tiles{grid-template-columns:repeat(3,1fr)}}
@media(max-width:40rem){main{padding:1rem .75rem}.tiles{grid-template-columns:1fr 1fr}.tile dd{font-size:1.05rem}thead{display:none}table,tbody,tfoot,tr,td{display:block}
td,td:first-child{overflow-wrap:anywhere;border:0;padding:.1rem 0;min-width:0;max-width:none}
tr{border-bottom:1px solid var(--line);padding:.6rem 0}tr:last-child{border:0}td:first-child{font-weight:650}td:empty{display:none}
.num{text-align:left;white-space:normal}td[data-head]::before{content:attr(data-head) ": ";color:var(--soft);font-weight:400}}
@media print{:root{color-scheme:light;background:#fff;font-size:11px}main{padding:0;max-width:none}tr,li,.tile{break-inside:avoid}h2,summary{break-after:avoid}
.scroll,pre{overflow:visible}pre{white-space:pre-wrap}pre,td{overflow-wrap:anywhere}td,td:first-child{min-width:0}details::details-content{content-visibility:visible;block-size:auto}}
`;

/** Content security policy: only this style by its hash; no script, no request, no form. */
const POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; base-uri 'none'; form-action 'none'`;

/** Returns a whole page without scripts and without requests. */
export function pageHtml(heading: string, body: readonly Html[]): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${raw(POLICY)}">
<title>${heading}</title>
<style>${raw(STYLE)}</style>
</head>
<body>
<main>
<h1>${heading}</h1>
${joined(body)}
</main>
</body>
</html>
`;
  return escapeText(String(page));
}

/** Joins parts with a separator, as a value for `html`. */
export const joined = (parts: readonly (Html | string)[], by = "\n") =>
  parts.flatMap((part, at) => (at === 0 ? [part] : [by, part]));

export const section = (title: string, body: Html, name = "") =>
  html`<section${name && html` class="${name}"`}>
<h2>${title}</h2>
${body}
</section>`;

/** Returns a sentence. Backticks mark code. */
export const sentence = (text: string) =>
  text.split(/`([^`]+)`/).map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part));

/** Returns a list of sentences. Backticks mark code. */
export const list = (lines: readonly string[]) => html`<ul>
${joined(lines.map((line) => html`<li>${sentence(line)}</li>`))}
</ul>`;

/**
 * Returns a table that scrolls within its section, also by keyboard. A narrow screen stacks its rows. Above {@link MOST_ROWS} rows,
 * returns a list of lines.
 * @param from index of the first column with amounts.
 * @param label name of the table, unique on its page.
 * @param prose columns with sentences, in which backticks mark code.
 */
export function table(
  head: readonly string[],
  rows: readonly string[][],
  foot: readonly string[][] = [],
  from = head.length,
  label = head[0],
  prose: readonly string[] = [],
): Html {
  const number = (i: number) => i >= from && html` class="num"`;
  // Stacked rows print the head before each cell.
  const headOf = (i: number, text: string, named: number) =>
    i >= named && text !== "" && html` data-head="${head[i] ?? ""}"`;
  const bodyOf = (i: number, text: string) => (prose.includes(head[i] ?? "") ? sentence(text) : text);
  const row = (cells: readonly string[], named = 1) =>
    html`<tr>${cells.map((text, i) => html`<td${number(i)}${headOf(i, text, named)}>${bodyOf(i, text)}</td>`)}</tr>`;
  const lines = (all: readonly string[][]) => list(all.map((cells) => cells.filter((text) => text !== "").join(" · ")));
  if (rows.length > MOST_ROWS) return html`<p>${head.join(" · ")}</p>\n${lines(foot)}\n${lines(rows)}`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Table: ${label}"><table>
<thead><tr>${head.map((text, i) => html`<th${number(i)} scope="col">${text}</th>`)}</tr></thead>
<tbody>
${joined(rows.map((cells) => row(cells)))}
</tbody>
${foot.length > 0 && html`<tfoot>${foot.map((cells) => row(cells, from))}</tfoot>\n`}</table></div>`;
}
