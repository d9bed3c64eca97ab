// The comment on a pull request as a forge shows it: as much of Markdown as the comment has.
import { html } from "hono/html";

const STYLE = `
body { margin: 24px; font: 14px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; color: #1f2328; background: #fff }
article { border: 1px solid #d1d9e0; border-radius: 6px }
header { padding: 8px 16px; background: #f6f8fa; border-bottom: 1px solid #d1d9e0; color: #59636e }
header b { color: #1f2328 }
div { padding: 4px 16px 16px }
h3, h4 { margin: 16px 0 8px; line-height: 1.25 }
p, ul { margin: 0 0 12px }
table { border-collapse: collapse; margin: 0 0 12px }
th, td { border: 1px solid #d1d9e0; padding: 5px 10px; text-align: left }
tr:nth-child(even) td { background: #f6f8fa }
code { font: 85% ui-monospace, Menlo, Consolas, monospace; background: #eff1f3; border-radius: 4px; padding: 1px 5px }
pre { background: #f6f8fa; padding: 12px; overflow: hidden; font: 12px/1.45 ui-monospace, Menlo, Consolas, monospace }
blockquote { border-left: 4px solid #d1d9e0; margin: 0 0 12px; padding-left: 12px; color: #59636e }
summary { cursor: pointer }`;

/** The comment in the frame of a forge. */
export function commentPage(markdown: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>A comment</title><style>${STYLE}</style>
<article><header><b>hosting-bot</b> commented</header><div>${blocks(markdown)}</div></article></html>`;
}

const inline = (text: string) =>
  text
    .split(/(`+)(.+?)\1/)
    .map((part, at) => {
      if (at % 3 === 1) return "";
      if (at % 3 === 2) return `<code>${html`${part.trim()}`}</code>`;
      const plain = String(html`${part.replace(/\\([^\w\s])/g, "$1")}`);
      return plain.replace(/\*\*(.+?)\*\*/g, "<strong>$1</strong>");
    })
    .join("");

function blocks(markdown: string): string {
  const fenced = markdown.split(/^(`{3,})\w*\n([\s\S]*?)^\1$/m);
  return fenced
    .map((part, at) => {
      if (at % 3 === 1) return "";
      return at % 3 === 2
        ? `<pre>${html`${part}`}</pre>`
        : part
            .split(/\n{2,}/)
            .map(block)
            .join("\n");
    })
    .join("");
}

function block(text: string): string {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("<!--"));
  const [first = ""] = lines;
  if (lines.length === 0) return "";
  if (/^<\/?(?:details|summary)/.test(first)) return lines.join("\n");
  if (first.startsWith("|")) return table(lines);
  const heading = /^(#+) (.*)/.exec(first);
  if (heading)
    return `<h${heading[1]?.length}>${inline(heading[2] ?? "")}</h${heading[1]?.length}>${block(lines.slice(1).join("\n"))}`;
  if (first.startsWith("- ")) return `<ul>${lines.map((line) => `<li>${inline(line.slice(2))}</li>`).join("")}</ul>`;
  if (first.startsWith("> ")) return `<blockquote>${inline(lines.map((line) => line.slice(2)).join(" "))}</blockquote>`;
  return `<p>${inline(lines.join(" "))}</p>`;
}

function table([head = "", , ...rows]: readonly string[]): string {
  const row = (line: string, tag: string) =>
    `<tr>${line
      .slice(1, line.lastIndexOf("|"))
      .split(/(?<!\\)\|/)
      .map((cell) => `<${tag}>${inline(cell.trim())}</${tag}>`)
      .join("")}</tr>`;
  return `<table>${row(head, "th")}${rows.map((line) => row(line, "td")).join("")}</table>`;
}
