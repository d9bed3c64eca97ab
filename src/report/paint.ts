// Styles of text and colours by meaning. Separate from `text-style.ts`, whose width tables load slowly.
import { styleText } from "node:util";
import type { RemedyText } from "../core/model/index.ts";
import type { MoneyScale } from "./numbers.ts";

/** Style of a text. The caller knows the stream. */
export interface TextStyle {
  readonly color: boolean;
  /** Number of columns of the terminal. Absent without a terminal: then no line is wrapped or cut. */
  readonly width?: number;
}

/** Style of messages. */
export interface MessageStyle extends TextStyle {
  /** Formats remedies in the language of the project. */
  readonly remedies: RemedyText;
}

/** Style of reports with amounts. */
export interface ReportStyle extends MessageStyle {
  readonly moneyScale?: MoneyScale;
}

/** Functions that colour text by its meaning. The text must already be escaped. */
export interface Paint {
  readonly bold: Stroke;
  readonly dim: Stroke;
  readonly added: Stroke;
  readonly changed: Stroke;
  readonly removed: Stroke;
  readonly error: Stroke;
  readonly warning: Stroke;
  readonly good: Stroke;
  readonly fix: Stroke;
}

type Stroke = (text: string) => string;
type Format = Parameters<typeof styleText>[0];

/** Creates the only functions that colour text. `validateStream` is false, because the caller has already respected NO_COLOR. */
export function paint(color: boolean): Paint {
  const stroke =
    (format: Format): Stroke =>
    (text) =>
      color && text !== "" ? styleText(format, text, { validateStream: false }) : text;
  return {
    bold: stroke("bold"),
    dim: stroke("dim"),
    added: stroke("green"),
    changed: stroke("yellow"),
    removed: stroke("red"),
    error: stroke(["bold", "red"]),
    warning: stroke(["bold", "yellow"]),
    good: stroke(["bold", "green"]),
    fix: stroke("cyan"),
  };
}

/** ANSI sequences of the colours in {@link Paint}. No other sequence reaches a terminal. */
export const COLOURS: ReadonlySet<string> = new Set(
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this is what such a sequence begins with
  Object.values(paint(true)).flatMap((stroke: Stroke) => stroke("x").match(/\u001b\[[\d;]*m/g) ?? []),
);
