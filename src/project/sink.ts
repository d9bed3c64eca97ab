import { breakCommands, visible } from "../core/model/index.ts";
import { escapeOutput, jsonText } from "../report/escape.ts";
import type { Redaction } from "./redaction.ts";

/** The ways in which a text that leaves shows what would begin a command of a CI's agent: as its readers take it literally. */
const SHOWN = {
  /** Also JSON and HCL: `\u005b` means the same within their strings. */
  text: visible,
  markdown: (character: string) => `\\${character}`,
  html: (character: string) => `&#${character.charCodeAt(0)};`,
} as const;

export type LeavingFormat = keyof typeof SHOWN | "terminal";

/**
 * The one way out: streams, reports, saved plans, pages, comments and logs pass it. Known secrets are hidden, what would act on a
 * terminal is shown, and the commands that an agent of a CI would execute are broken, except on a terminal.
 * @param line what the last line has so far, where a text is written in pieces.
 */
export function leaving(text: string, redaction: Redaction, format: LeavingFormat = "text", line = ""): string {
  const safe = escapeOutput(redaction.redact(text));
  // What was written before holds no command, so only the last character of one can need a change, and it is in the text.
  return format === "terminal" ? safe : breakCommands(line + safe, SHOWN[format]).slice(line.length);
}

/** The same for a document in JSON. Secrets are hidden in its values, before they are escaped. */
export function leavingJson(value: unknown, redaction: Redaction, indent = 0): string {
  return `${breakCommands(jsonText(redaction.redactValue(value), indent))}\n`;
}
