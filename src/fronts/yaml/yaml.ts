import { Composer, type Document, Lexer, Parser, type YAMLError } from "yaml";
import type { Mistakes } from "../source/mistakes.ts";
import { Source, type SourceFile } from "../source/source.ts";
import type { Tree } from "../source/tree.ts";
import { convert, Excess } from "./convert.ts";

/** What a file may hold. A declaration of a thousand services is a tenth of this. */
export const LIMITS = {
  /** Bytes of a file. */
  bytes: 1024 * 1024,
  /** Tokens (words, signs, blanks) of a file: what the parser's time grows with. */
  tokens: 500_000,
  /** Anchors and tags of a file: dear when they are piled up where only one may stand. */
  marks: 10_000,
  /** Levels of maps and lists in each other, aliases followed. */
  depth: 50,
  /** Values of a document, each alias counted as what it stands for. */
  values: 250_000,
  /** Documents of a file. */
  documents: 1000,
  /** Signs that fit nowhere; the rest of a file that has so many is not looked at. */
  errors: 100,
} as const;

/** The documents of a YAML file that could be read; empty ones are left out. */
export interface Read {
  readonly documents: readonly Tree[];
  /** False when some of the file could not be read, so that what it declares is not fully known. */
  readonly complete: boolean;
}

/**
 * Reads a YAML file (1.2, core schema, with merge keys) of one or several documents. A document with a syntax error is
 * left out whole: what stands behind the error would only give mistakes that are none.
 */
export function readYaml(file: SourceFile, index: number, mistakes: Mistakes): Read {
  const source = new Source(file, index);
  try {
    const composed = compose(source);
    const documents: Tree[] = [];
    let complete = true;
    for (const document of composed) {
      if (reportSyntax(document, source, mistakes)) {
        complete = false;
        continue;
      }
      const converted = convert(document.contents, source, LIMITS, mistakes);
      if (!converted.complete) complete = false;
      const { tree } = converted;
      if (tree !== undefined && !(tree.form === "leaf" && tree.value === null)) documents.push(tree);
    }
    return { documents, complete };
  } catch (error) {
    if (!(error instanceof Excess)) throw error;
    mistakes.add(error.span, "config.too_large", `${source.path} ${error.message}`, {
      fix: "Split the declaration into several files, and write out what many aliases repeat.",
    });
    return { documents: [], complete: false };
  }
}

/** Parses step by step, so that a hostile file is refused before it has cost time or stack. */
function compose(source: Source): Document.Parsed[] {
  const { text } = source;
  const here = (offset: number) => source.span(offset, offset + 1);
  if (text.length > LIMITS.bytes) throw new Excess("is larger than 1 MiB", here(0));
  const parser = new Parser();
  const composer = new Composer({
    schema: "core",
    resolveKnownTags: false,
    uniqueKeys: false, // compares every key with every other; convert.ts does it with a set
    prettyErrors: false,
    logLevel: "silent",
  });
  const documents: Document.Parsed[] = [];
  const take = (composed: Iterable<Document.Parsed>) => {
    for (const document of composed) documents.push(document);
    if (documents.length > LIMITS.documents)
      throw new Excess(`has more than ${LIMITS.documents} documents`, here(parser.offset));
  };
  let tokens = 0;
  let marks = 0;
  let errors = 0;
  for (const lexeme of new Lexer().lex(text)) {
    tokens += 1;
    if (tokens > LIMITS.tokens) throw new Excess(`has more than ${LIMITS.tokens} words and signs`, here(parser.offset));
    if (lexeme.startsWith("&") || lexeme.startsWith("!")) marks += 1;
    if (marks > LIMITS.marks) throw new Excess(`has more than ${LIMITS.marks} anchors and tags`, here(parser.offset));
    for (const token of parser.next(lexeme)) {
      if (token.type === "error") errors += 1;
      take(composer.next(token));
    }
    if (errors > LIMITS.errors) break;
    if (parser.stack.length > LIMITS.depth + 2) {
      throw new Excess(`is nested more than ${LIMITS.depth} levels deep`, here(parser.offset));
    }
  }
  for (const token of parser.end()) take(composer.next(token));
  take(composer.end(true, text.length));
  return documents;
}

/** What mends the usual mistakes, by the parser's own code. */
const FIXES: Partial<Record<YAMLError["code"], string>> = {
  TAB_AS_INDENT: "Indent with spaces.",
  BLOCK_AS_IMPLICIT_KEY: 'Put quotes around a value that contains ": ", and start a nested map on a new line.',
  BAD_SCALAR_START: "Put quotes around the value.",
  MULTILINE_IMPLICIT_KEY: "Check the indentation, and that each key is followed by a colon and a space.",
  BAD_INDENT: "Check the indentation, and that every bracket is closed.",
  BAD_DQ_ESCAPE: "Write backslashes twice in double quotes, or use single quotes.",
  TAG_RESOLVE_FAILED: "Remove the tag (the word that begins with `!`); put quotes around a text that begins with it.",
};

/** Reports the first error of each line; the others there follow from it. @returns whether there was any. */
function reportSyntax(document: Document.Parsed, source: Source, mistakes: Mistakes): boolean {
  // A tag that is not known is a warning to the parser. To a declaration it is a value that would mean something else.
  const errors: YAMLError[] = [...document.errors, ...document.warnings.filter((w) => w.code === "TAG_RESOLVE_FAILED")];
  const lines = new Set<number>();
  for (const { code, message, pos } of errors.toSorted((a, b) => a.pos[0] - b.pos[0])) {
    const span = source.span(Math.min(pos[0], source.text.length), Math.min(pos[1], source.text.length));
    const { line } = source.range(span.start, span.end);
    if (lines.has(line)) continue;
    lines.add(line);
    const template = templateAt(source.text, pos[0]);
    if (template !== undefined) {
      const summary = `The YAML cannot be parsed: \`${template}\` needs quotes inside {…} and […]`;
      mistakes.add(span, "config.syntax", summary, { fix: `Write "${template}", quotes included.` });
      // The brackets are out of step from here on: what else is wrong cannot be told.
      break;
    }
    const words = message.replace(/: ".*$/s, "").replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
    const fix = FIXES[code];
    mistakes.add(span, "config.syntax", `The YAML cannot be parsed: ${words}`, fix === undefined ? {} : { fix });
  }
  return errors.length > 0;
}

/** The template whose `{` the parser has taken for the beginning of a map: as it does inside brackets, without quotes. */
function templateAt(text: string, brace: number): string | undefined {
  if (text.slice(brace - 1, brace + 1) !== "${") return undefined;
  const [template] = /^\$\{[^{}\n]{1,200}\}/.exec(text.slice(brace - 1, brace + 300)) ?? [];
  return template ?? "${…}";
}
