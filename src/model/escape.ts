/**
 * The one place where text that hostform did not write itself becomes safe to print. Names, messages and values come
 * from the API and from files of others: a service name may hold an escape sequence that clears the terminal, a domain
 * a bidirectional control that makes it read as another. Everything invisible or acting is shown as `\u001b`.
 */

// Controls (C0, DEL, C1), formats (bidirectional, zero-width, tags), lone surrogates, line and paragraph separators and
// whatever else a font draws as nothing. Unicode's own classes, so that no list here grows old.
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
/** Whatever is unsafe in a text of several lines. */
export const UNSAFE_EXCEPT_BREAKS = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
/** A character by its code: `\\u001b`. */
export function visible(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** Text that must stay on one line: newlines and tabs are shown as `\n` and `\t`, other controls as `\u001b`. */
export function escapeLine(text: string): string {
  return text.replace(UNSAFE, (character) =>
    character === "\n" ? "\\n" : character === "\t" ? "\\t" : visible(character),
  );
}

/** Text that may run over several lines: newlines and tabs stay (CRLF becomes LF), other controls are shown. */
export function escapeText(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(UNSAFE_EXCEPT_BREAKS, visible);
}

/** A string as a quoted literal on one line, as JSON and HCL write it. */
export function quote(text: string): string {
  return `"${escapeLine(text.replaceAll("\\", "\\\\").replaceAll('"', '\\"'))}"`;
}

/** A text in the single quotes of a shell: the command that it stands in can be copied, whatever is in it. */
export function inQuotes(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
