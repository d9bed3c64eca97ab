import { breakCommands, escapeLine, escapeText, visible } from "../core/model/index.ts";
import { COLOURS } from "./paint.ts";

export { escapeLine, escapeText, jsonText, quote } from "../core/model/index.ts";

const UNSAFE_OR_COLOUR =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a colour begins with one
  /\u001b\[[\d;]*m|(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Escapes a text directly before its output to a stream, as a second safeguard. Newlines, tabs and the colours of `paint.ts` stay. An
 * already escaped text stays unchanged.
 */
export function escapeOutput(text: string): string {
  return text.replace(UNSAFE_OR_COLOUR, (found) =>
    found.length === 1 || !found.startsWith("\u001b") ? visible(found) : COLOURS.has(found) ? found : shown(found),
  );
}

/** Escapes the beginning of an unknown sequence, so that its rest is plain text. */
const shown = (sequence: string) => `${visible(sequence)}${sequence.slice(1)}`;

/**
 * Returns text as a code span for a line of Markdown. Only in a code span are mark-up, HTML, links, images and the references of code
 * hosts (`@name`, `#1`, `!1`) plain text. A backslash is not enough, because hosts search the rendered text for references.
 */
export function escapeMarkdown(text: string): string {
  const line = escapeLine(text);
  if (line === "") return "` `";
  const ticks = "`".repeat(longestRun(line) + 1);
  // Markdown removes one space on both sides. Without the spaces, a backtick at an end would belong to the fence.
  const room = /^[` ]|[` ]$/.test(line) ? " " : "";
  return `${ticks}${room}${line}${room}${ticks}`;
}

/** Words and numbers without a meaning as link, reference or mark-up at any code host. Excludes hexadecimal words: they may be commits. */
const PLAIN =
  /^(?!.*\b[\da-f]{7,40}\b)["'(]*(?:\p{L}+(?:['’-]\p{L}+)*|[+−-]?\d[\d.,]*%?|\d{4}-\d\d-\d\d|[·/−–-])[)"'.,;:?]*$/iu;
/**
 * Returns a sentence for a line of Markdown. Only plain words and numbers stay outside code spans, because the sentence may contain
 * foreign text. Names, addresses, and parts in backticks or quotes become code spans ({@link escapeMarkdown}), with a space between two.
 */
export function sentenceMarkdown(text: string): string {
  const word = (one: string): string => {
    if (/^[.,;:?)]*$/.test(one) || PLAIN.test(one)) return one;
    const [, open = "", body = "", end = ""] = /^(\(?)(.*?)([,;:?]*\.?)$/u.exec(one) ?? [];
    const isClosed = body.endsWith(")") && !body.includes("(");
    const name = isClosed ? body.slice(0, -1) : body;
    if (name === "" || (open !== "" && body.includes(")") && !isClosed)) return escapeMarkdown(one);
    return `${open}${PLAIN.test(name) ? name : escapeMarkdown(name)}${isClosed ? ")" : ""}${end}`;
  };
  return escapeLine(text)
    .split(/(`[^`]+`|(?<=^|[\s(])"[^"`]*"(?=$|[\s.,;:)]))/)
    .map((part, at) => {
      if (at % 2 === 0) return part.split(" ").map(word).join(" ");
      return escapeMarkdown(part.startsWith("`") ? part.slice(1, -1) : part);
    })
    .reduce((text, part) => `${text}${text.endsWith("`") && part.startsWith("`") ? " " : ""}${part}`, "");
}

/**
 * Breaks the commands of CI agents, and the commands of code hosts at the start of a line (`/approve`), in a Markdown document with a
 * backslash. One job creates a comment, and another job may print it. A search for a secret still finds the secret.
 */
export function breakMarkdown(text: string): string {
  return breakCommands(text, (character) => `\\${character}`).replace(/^([ \t]*)\//gm, "$1\\/");
}

/** Returns a text as a fenced block of Markdown. No line of the text can close the block. Ends with a newline. */
export function fenceMarkdown(text: string, language: "diff" | "text"): string {
  const body = escapeText(text);
  const fence = "`".repeat(Math.max(3, longestRun(body) + 1));
  return `${fence}${language}\n${body.endsWith("\n") || body === "" ? body : `${body}\n`}${fence}\n`;
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}
