import {
  type Code,
  type Diagnostic,
  type DiagnosticParts,
  errorOf,
  HostformError,
  type Remedy,
  warningOf,
} from "../model/index.ts";

type Severity = Diagnostic["severity"];

export interface Texts extends Pick<DiagnosticParts, "detail" | "remedies"> {
  readonly summary: string;
}

/** Parameters of type string. */
export type Words<Names extends string> = Readonly<Record<Names, string>>;

/**
 * A message: its severity (`either`: warning by default, error if the caller requires it), and a pure function from
 * parameters to texts.
 */
export interface Message<Own, Level = Severity | "either"> {
  readonly level: Level;
  texts(given: Own): Texts;
}

/** Names in braces in a text, such as `{file}`. Braces with other characters are text. */
type NamesIn<Text> = Text extends `${string}{${infer Name}}${infer Rest}`
  ?
      | (Name extends Uppercase<Name> | `${string}${" " | ":" | "." | "=" | "`" | "{" | "…"}${string}` ? never : Name)
      | NamesIn<Rest>
  : never;
type NamesOf<T extends Texts> =
  | NamesIn<T["summary"]>
  | NamesIn<T["detail"]>
  | NamesIn<NonNullable<T["remedies"]>[number]>;

type Filled<T extends Texts> = [NamesOf<T>] extends [never] ? unknown : Readonly<Record<NamesOf<T>, string | number>>;

/** Returns the function for messages. Each name in braces in a text is a parameter. */
const message =
  <Level extends Severity | "either">(level: Level) =>
  <const T extends Texts, Own>(
    texts: T | ((given: Own) => Texts),
  ): Message<unknown extends Own ? Filled<T> : NoInfer<Own>, Level> => ({
    level,
    texts: typeof texts === "function" ? (texts as Message<unknown>["texts"]) : (given) => filled(texts, given),
  });

/** Replaces the names in braces with their values. */
function filled({ summary, detail, remedies }: Texts, given: unknown): Texts {
  const values = new Map(Object.entries(given ?? {}));
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (all, name) => String(values.get(name) ?? all));
  return {
    summary: fill(summary),
    detail: detail && fill(detail),
    remedies: remedies?.map((remedy) => (typeof remedy === "string" ? fill(remedy) : remedy)),
  };
}

export const error = message("error");
export const warning = message("warning");
export const either = message("either");

/** Returns an error message with a fixed summary. Its detail contains place and reason. */
export const failure = (summary: string, ...remedies: readonly Remedy[]) =>
  error(({ place, reason }: Words<"place" | "reason">) => ({ summary, detail: `${place}: ${reason}.`, remedies }));

/** Messages by code. If a code has several messages, their names have a suffix: `plan.exists/held`. */
export type Catalogue = { readonly [name in Code | `${Code}/${string}`]?: Message<never> };

/** Location of a diagnostic. It is a parameter, because most texts contain it. */
type Place = Pick<DiagnosticParts, "address" | "object" | "attribute" | "range" | "because">;

/** Parameters of a message, with its location. */
export type Given<M> =
  M extends Message<infer Own, infer Level>
    ? ([Own] extends [never] ? unknown : Own) &
        Place & { readonly severity?: "either" extends Level ? Severity : undefined }
    : never;

/** Arguments after the name of a message. Optional if the message requires no parameter. */
export type Rest<M> = object extends Given<M> ? [given?: Given<M>] : [given: Given<M>];

/** Throws a HostformError with one message of a catalogue. */
export type Raise<Messages extends Catalogue> = <Name extends keyof Messages & string>(
  name: Name,
  ...given: Rest<Messages[Name]>
) => never;

/** Returns the function that throws a message of the catalogue. */
export function raiseOf<Messages extends Catalogue>(catalogue: Messages): Raise<Messages> {
  const problem = problemsOf(catalogue);
  return (name, ...given) => {
    throw new HostformError([problem(name, ...given)]);
  };
}

/** Returns the function that creates diagnostics from a catalogue. */
export function problemsOf<Messages extends Catalogue>(catalogue: Messages) {
  return <Name extends keyof Messages & string>(name: Name, ...[given]: Rest<Messages[Name]>): Diagnostic => {
    const { level, texts } = catalogue[name] as Message<unknown>;
    const [code] = name.split("/") as [Code];
    const { summary, detail, remedies } = texts(given);
    const {
      address,
      object,
      attribute,
      range,
      because,
      severity = level,
    } = (given ?? {}) as Place & { readonly severity?: Severity };
    const parts = { detail, object, remedies, address, attribute, range, because };
    return severity === "error" ? errorOf(code, summary, parts) : warningOf(code, summary, parts);
  };
}
