import { breakCommands, escapeLine, escapeText, visible } from "../core/model/index.ts";
import { COLOURS } from "./paint.ts";

export { escapeLine, escapeText, jsonText, quote } from "../core/model/index.ts";

const UNSAFE_OR_COLOUR =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a colour begins with one
  /\u001b\[[\d;]*m|(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * The last look at a text on its way to a stream: whatever was forgotten above is shown here. Newlines, tabs and the
 * colours of `text-style.ts` stay; a text that went through the functions above is not changed.
 */
export function escapeOutput(text: string): string {
  return text.replace(UNSAFE_OR_COLOUR, (found) =>
    found.length === 1 || !found.startsWith("\u001b") ? visible(found) : COLOURS.has(found) ? found : shown(found),
  );
}

/** A sequence that is not one of our colours, with its beginning made visible: what follows is then only text. */
const shown = (sequence: string) => `${visible(sequence)}${sequence.slice(1)}`;

/**
 * Text within a line of Markdown, as a code span: the one form in which neither mark-up, HTML, links and images nor the
 * references of code hosts (`@name`, `#1`, `!1`) mean anything. A backslash before them would not do: hosts look for
 * references in the text that comes out.
 */
export function escapeMarkdown(text: string): string {
  const line = escapeLine(text);
  if (line === "") return "` `";
  const ticks = "`".repeat(longestRun(line) + 1);
  // One space on both sides is taken off again; without it a tick at an end would belong to the fence.
  const room = /^[` ]|[` ]$/.test(line) ? " " : "";
  return `${ticks}${room}${line}${room}${ticks}`;
}

/** A word or a number that no code host makes a link, a reference or mark-up of. Digits and letters a to f alone may be a commit. */
const PLAIN =
  /^(?!.*\b[\da-f]{7,40}\b)["'(]*(?:\p{L}+(?:['’-]\p{L}+)*|[+−-]?\d[\d.,]*%?|\d{4}-\d\d-\d\d|[·/−–-])[)"'.,;:?]*$/iu;
/**
 * A sentence within a line of Markdown: own words as they are; names, addresses and what stands in backticks or in quotes as
 * code spans ({@link escapeMarkdown}), with a space between two. It may hold words of others: only plain words and numbers stay outside of code.
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
 * A document in Markdown that no agent of a CI acts on when a job prints it: a comment is made in one job and shown in
 * another. The backslash that breaks a command hides no secret from those who look for it later.
 */
export function breakMarkdown(text: string): string {
  return breakCommands(text, (character) => `\\${character}`);
}

/** Text of several lines as a fenced block of Markdown, which nothing in it can close. Ends with a newline. */
export function fenceMarkdown(text: string, language: "diff" | "text"): string {
  const body = escapeText(text);
  const fence = "`".repeat(Math.max(3, longestRun(body) + 1));
  return `${fence}${language}\n${body.endsWith("\n") || body === "" ? body : `${body}\n`}${fence}\n`;
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}
