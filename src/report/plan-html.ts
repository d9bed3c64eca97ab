import type { Plan } from "../core/model/index.ts";
import { escapeHtml } from "./escape.ts";
import { type LineSign, type PlanDocumentOptions, planDocument, signOf } from "./plan-document.ts";

const STYLE = `
:root { color-scheme: light dark; font-family: system-ui, sans-serif; line-height: 1.5 }
main { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
pre, code { font-family: ui-monospace, monospace }
pre { overflow-x: auto; padding: 0.75rem 1rem; border: 1px solid #8885; border-radius: 0.4rem; line-height: 1.4 }
.summary { font-size: 1.2rem; font-weight: 600 }
.refusal, .removed { color: light-dark(#b3261e, #ff8a80) }
.added { color: light-dark(#1b6e2c, #7ddc8c) }
.changed { color: light-dark(#855800, #f0c060) }
`;

const CLASSES: Readonly<Record<LineSign, string>> = { "+": "added", "-": "removed", "~": "changed", "!": "removed" };

/**
 * A plan as one page for a browser: no script, nothing loaded from elsewhere, and a policy in the page that forbids both.
 * Every text is escaped.
 */
export function renderPlanHtml(plan: Plan, options: PlanDocumentOptions): string {
  const { summary, refusal, facts, diagnostics, blocks } = planDocument(plan, options);
  const title = `hostform plan: ${plan.project}`;
  return [
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    `<title>${escapeHtml(title)}</title>`,
    `<style>${STYLE}</style>`,
    "</head>",
    "<body>",
    "<main>",
    `<h1>${escapeHtml(title)}</h1>`,
    `<p class="summary">${escapeHtml(summary)}</p>`,
    ...(refusal === undefined ? [] : [`<p class="refusal">${escapeHtml(refusal)}</p>`]),
    "<ul>",
    ...facts.map((fact) => `<li>${escapeHtml(fact)}</li>`),
    "</ul>",
    ...diagnostics.map((text) => `<pre>${escapeHtml(text)}</pre>`),
    ...blocks.map((block) => `<pre>${block.split("\n").map(lineHtml).join("\n")}</pre>`),
    `<p>Made ${escapeHtml(plan.timestamp)} from the state with serial ${plan.serial}.</p>`,
    "</main>",
    "</body>",
    "</html>",
    "",
  ].join("\n");
}

function lineHtml(line: string): string {
  const { sign } = signOf(line);
  return sign === undefined ? escapeHtml(line) : `<span class="${CLASSES[sign]}">${escapeHtml(line)}</span>`;
}
