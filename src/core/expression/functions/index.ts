/**
 * Terraform functions whose result depends only on their arguments. In: typed values. Out: the typed value that Terraform
 * computes, or an `ExpressionError`. Must not: depend on the machine, the time or chance, or reveal
 * secret arguments in messages.
 */
import type { Typed } from "../typed-value.ts";
import { COLLECTIONS } from "./collections.ts";
import { CONVERSIONS } from "./conversions.ts";
import { DATES } from "./dates.ts";
import { call, type Definition } from "./definition.ts";
import { FORMAT } from "./format.ts";
import { LISTS } from "./lists.ts";
import { NUMBERS } from "./numbers.ts";
import { PATTERNS } from "./patterns.ts";
import { STRINGS } from "./strings.ts";

const FUNCTIONS: ReadonlyMap<string, Definition> = new Map(
  [COLLECTIONS, CONVERSIONS, DATES, FORMAT, LISTS, NUMBERS, PATTERNS, STRINGS].flatMap((family) =>
    Object.entries(family),
  ),
);

/** Names of all functions, for suggestions. */
export const FUNCTION_NAMES: readonly string[] = [...FUNCTIONS.keys()].sort();

/** Terraform functions that hostform does not support. Most depend on the machine, the time or chance. */
export const KNOWN_ELSEWHERE: ReadonlySet<string> = new Set(
  `abspath base64gzip basename bcrypt cidrhost cidrnetmask cidrsubnet cidrsubnets convert csvdecode dirname ephemeralasnull
  file filebase64 filebase64sha256 filebase64sha512 fileexists filemd5 fileset filesha1 filesha256 filesha512 list log map
  pathexpand plantimestamp rsadecrypt templatefile templatestring textdecodebase64 textencodebase64 timestamp type uuid
  uuidv5 yamldecode yamlencode`.split(/\s+/),
);

export const ONLY_IN_OPENTOFU: ReadonlySet<string> = new Set(
  `assumeequal assumelistlength assumelistlengthmax assumelistlengthmin assumemaplength assumemaplengthmax
  assumemaplengthmin assumenotnull assumesetlength assumesetlengthmax assumesetlengthmin assumestringprefix base64gunzip
  cidrcontains urldecode`.split(/\s+/),
);

/**
 * Calls a function. `try` and `can` are not included, because they receive unevaluated expressions.
 * @returns undefined if the function does not exist.
 * @throws ExpressionError with offset 0.
 * @throws Refusal if only Terraform supports the call.
 */
export function callFunction(name: string, args: readonly Typed[]): Typed | undefined {
  const definition = FUNCTIONS.get(name);
  return definition === undefined ? undefined : call(name, definition, args);
}
