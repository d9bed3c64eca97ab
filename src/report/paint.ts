// How text is to look, and its colours by meaning. Apart from the widths, whose tables take half as long to load as Node itself.
import { styleText } from "node:util";
import type { RemedyText } from "../core/model/index.ts";
import type { MoneyScale } from "./numbers.ts";

/** How text is to look; decided once by the caller, who knows the stream. */
export interface TextStyle {
  /** Whether to use ANSI colours. */
  readonly color: boolean;
  /** Columns of the terminal; absent when the output is not one, and then nothing is wrapped or cut. */
  readonly width?: number;
}

/** How messages are to look and to read. */
export interface MessageStyle extends TextStyle {
  /** What can be done about a diagnostic, in the language of the project. */
  readonly remedies: RemedyText;
}

/** How reports with amounts are to look and to read. */
export interface ReportStyle extends MessageStyle {
  readonly moneyScale?: MoneyScale;
}

/** Colours by meaning. Each takes text that is already escaped. */
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

/** The only place where colours are made. `validateStream: false`: NO_COLOR and the like were the caller's to judge. */
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

/** The sequences that colours are made of, and no others: all that the last look at an output lets through to a terminal. */
export const COLOURS: ReadonlySet<string> = new Set(
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this is what such a sequence begins with
  Object.values(paint(true)).flatMap((stroke: Stroke) => stroke("x").match(/\u001b\[[\d;]*m/g) ?? []),
);
