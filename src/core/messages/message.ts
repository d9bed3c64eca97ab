import { type Code, type Diagnostic, type DiagnosticParts, errorOf, warningOf } from "../model/index.ts";

type Severity = Diagnostic["severity"];

interface Texts extends Pick<DiagnosticParts, "detail" | "remedies"> {
  readonly summary: string;
}

/** A message: its severity (`either`: the caller decides), and its texts as a pure function of its parameters. */
export interface Message<Given, Level = Severity | "either"> {
  readonly level: Level;
  texts(given: Given): Texts;
}

const message =
  <Level extends Severity | "either">(level: Level) =>
  <Given>(texts: (given: Given) => Texts): Message<Given, Level> => ({ level, texts });

export const error = message("error");
export const warning = message("warning");
export const either = message("either");

/** Messages by code; a code with several has one for each variant: `plan.exists/several`. */
export type Catalogue = { readonly [name in Code | `${Code}/${string}`]?: Message<never> };

/** Place of a diagnostic. It travels among the parameters, because most texts name it. */
type Place = Pick<DiagnosticParts, "address" | "object" | "attribute" | "range">;

type Parameters<M> =
  M extends Message<infer Given, infer Level>
    ? Given & Place & ("either" extends Level ? { readonly severity: Severity } : { readonly severity?: never })
    : never;

/** Returns the function that makes a diagnostic from a message of the catalogue and its parameters. */
export function problemsOf<Messages extends Catalogue>(catalogue: Messages) {
  return <Name extends keyof Messages & string>(name: Name, given: Parameters<Messages[Name]>): Diagnostic => {
    const { level, texts } = catalogue[name] as Message<unknown>;
    const [code] = name.split("/") as [Code];
    const { summary, detail, remedies } = texts(given);
    const { address, object, attribute, range, severity = level } = given as Place & { readonly severity?: Severity };
    const parts = { detail, object, remedies, address, attribute, range };
    return severity === "warning" ? warningOf(code, summary, parts) : errorOf(code, summary, parts);
  };
}
