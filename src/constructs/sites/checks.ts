// Finds mistakes in a resource and describes each in one sentence. Reads the values from the resource, not from its
// properties, so that a change through `site.service` is checked too. Also contains checks of single values, the reference of
// an order, and errors with the path of the construct.

import { createHash } from "node:crypto";
import { Token } from "cdktf";
import type { IConstruct } from "constructs";
import type { ClientAccount } from "../../../bindings/cdktf/lib/client-account/index.ts";
import type { Grant } from "../../../bindings/cdktf/lib/grant/index.ts";
import type { MigrationRequest } from "../../../bindings/cdktf/lib/migration-request/index.ts";
import type { Service } from "../../../bindings/cdktf/lib/service/index.ts";
import type { Webhook } from "../../../bindings/cdktf/lib/webhook/index.ts";
import { Currency, DeletionPolicy, EventName, Permission, Term } from "./words.ts";

const { SUSPEND: _, ...KEEPING } = DeletionPolicy;

export function serviceMistakes(service: Service): string[] {
  const { passwordInput: password, secretOutputInput: place } = service;
  return [
    ...needed(checkPositive)("planId", service.planIdInput),
    ...needed(checkWord(Currency))("currency", service.currencyInput),
    ...checkWord(Term)("term", service.termInput),
    ...checkDomain("domain", service.domainInput),
    ...checkText()("couponCode", service.couponCodeInput),
    ...checkText(LONGEST_REFERENCE)("reference", service.referenceInput),
    ...checkPositive("passwordVersion", service.passwordVersionInput),
    ...checkWord(DeletionPolicy)("deletionPolicy", service.deletionPolicyInput),
    ...(password !== undefined && !isToken(password)
      ? ["password: a literal text would stand in clear text in cdk.tf.json; use Password.fromVariable"]
      : []),
    ...(password !== undefined && place !== undefined
      ? ["password: only a password that the host generates has a secretOutput"]
      : []),
  ];
}

export function grantMistakes({ node, emailInput, permissionInput, expiresAtInput }: Grant): string[] {
  return [
    ...needed(checkEmail)("email", emailInput),
    ...needed(checkWord(Permission))("permission", permissionInput),
    ...checkInstant("expiresAt", expiresAtInput),
  ].map((mistake) => `grant ${shown(node.id)}: ${mistake}`);
}

export function migrationMistakes({ domainInput, deletionPolicyInput }: MigrationRequest): string[] {
  return [
    ...checkDomain("migration.domain", domainInput),
    ...checkWord(KEEPING)("migration.deletionPolicy", deletionPolicyInput),
  ];
}

export function accountMistakes(account: ClientAccount): string[] {
  return [
    ...needed(checkText())("name", account.nameInput),
    ...checkText()("companyName", account.companyNameInput),
    ...checkText()("companyNumber", account.companyNumberInput),
    ...checkText()("vatNumber", account.vatNumberInput),
    ...checkWord(Currency)("currency", account.currencyInput),
    ...checkWord(KEEPING)("deletionPolicy", account.deletionPolicyInput),
  ];
}

export function webhookMistakes({ urlInput, eventsInput = [] }: Webhook): string[] {
  return [
    ...needed(checkUrl)("url", urlInput),
    ...(isToken(eventsInput) ? [] : eventsInput.flatMap((event) => checkWord(EventName)("events", event))),
    ...(eventsInput.length === 0 ? ["events: at least one is needed"] : []),
  ];
}

/**
 * Returns error messages that begin with the name of the property. Empty for a valid or missing value, and for a token, whose
 * value only Terraform knows. A test compares the rules with those of the kinds. Messages never contain a possible secret.
 */
export type Check = (property: string, value: unknown) => string[];

const LABEL = String.raw`[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}\u00b7\u0375\u05f3\u05f4\u30fb-]{0,61}[\p{L}\p{M}\p{N}])`;
const LABELS = String.raw`(?:${LABEL}?[.\u3002\uff0e\uff61])+(?!\d+\.?$)${LABEL}`;
const DOMAIN = new RegExp(`^(?=.{1,254}$)${LABELS}\\.?$`, "u");
const EMAIL = new RegExp(String.raw`^(?!\.)(?!.*\.\.)[A-Za-z0-9_'+.-]*[A-Za-z0-9_+-]@${LABELS}$`, "u");
/** Pattern of a number that may encode a token. No amount or count is so large. */
const HUGE = /-?\d+(?:\.\d+)?e\+(?:2[89]|30)\d/;
/** Pattern of text that CDKTF may read as such a number, with adjacent characters. */
const FOUND = /[-|\d.+]+e[-|\d.eE+]+/g;

/** Pattern of `${`, which Terraform evaluates. `$${` is escaped. */
const TEMPLATE = /(?:^|[^$])(?:\$\$)*\$\{/;

/** Returns true if a value, or a part of a string, is a token. Only Terraform knows its value. */
export const isToken = (value: unknown): boolean =>
  Token.isUnresolved(value) ||
  (typeof value === "string" && (TEMPLATE.test(value) || hugeIn(value).some(isNumberToken)));

/**
 * Returns true if a value was computed from a token and is no token any more: TypeScript calculated with it, or CDKTF does
 * not find it in a string. Example: in `build-${number}`, the token is negative, so there are two minus signs.
 */
const isTorn = (value: unknown): boolean =>
  (typeof value === "number" && HUGE.test(String(value)) && !Token.isUnresolved(value)) ||
  (typeof value === "string" && !hugeIn(value).every(isNumberToken));

const hugeIn = (text: string): string[] => (text.match(FOUND) ?? []).filter((found) => HUGE.test(found));

const isNumberToken = (found: string): boolean => Token.isUnresolved(Number(found));

const given =
  (check: (property: string, value: unknown) => string | undefined): Check =>
  (property, value) => {
    if (value === undefined || value === null) return [];
    const found = isTorn(value)
      ? `${property}: ${shown(value)} was computed from a number that only Terraform knows. Compute with Op or Fn, and join it to a text with Token.asString.`
      : isToken(value)
        ? undefined
        : check(property, value);
    return found === undefined ? [] : [found];
  };

/** Checks a required value. JavaScript and values from files bypass the types. */
export const needed =
  (check: Check): Check =>
  (property, value) =>
    value === undefined || value === null ? [`${property}: required, without a default`] : check(property, value);

/** Formats a value for a message: one line of limited length. */
export const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}…"` : text;
};

const text = (pattern: RegExp, expected: string): Check =>
  given((property, value) =>
    typeof value === "string" && pattern.test(value) ? undefined : `${property}: ${shown(value)} is not ${expected}`,
  );

export const checkDomain = text(DOMAIN, "a domain name, such as www.acme.example");
export const checkEmail = text(EMAIL, "an e-mail address");

/** Pattern of a URL in which every parser finds the same host. */
const PLAIN_HOST = /^https?:\/\/(?:[^\s/?#@\\]*@)?[^\s/?#@\\]+(?:[/?#]|$)/i;

export const checkUrl = given((property, value) => {
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
  // The text before an @ may contain a password.
  if (url?.password) return `${property}: the address holds a password, which would stand in clear text in cdk.tf.json`;
  return url !== undefined && PLAIN_HOST.test(String(value).trim())
    ? undefined
    : `${property}: ${shown(value)} is not an http or https address`;
});

const MOMENT = /^\d{4}-\d\d-\d\d(?:T(?:[01]\d|2[0-3]):\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d))?$/;
/** Outside this range, hosts may read the date as "no date". */
const [FIRST, LAST] = ["1971-01-01", "9999-12-30"].map(Date.parse) as [number, number];

/** Checks an ISO 8601 time with an offset, or a calendar date. */
export const checkInstant = given((property, value) => {
  const text = typeof value === "string" && MOMENT.test(value) ? value : "";
  const [at, start] = [Date.parse(text), Date.parse(text.slice(0, 10))];
  const isReal = at >= FIRST && at < LAST && new Date(start).toISOString().startsWith(text.slice(0, 10));
  return isReal
    ? undefined
    : `${property}: ${shown(value)} is not a time such as 2027-01-31T00:00:00Z, with an offset, or a day such as 2027-01-31`;
});

export const checkPositive = given((property, value) =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0
    ? undefined
    : `${property}: ${shown(value)} is not a positive whole number`,
);

/** Checks a string of 1 to `most` characters. */
export const checkText = (most = Number.POSITIVE_INFINITY): Check =>
  given((property, value) => {
    if (typeof value === "string" && value !== "" && value.length <= most) return undefined;
    return `${property}: expected a ${Number.isFinite(most) ? `string of 1 to ${most} characters` : "non-empty string"}`;
  });

/** Checks one of several words or numbers. @param words A constant of words.ts. */
const checkWord = (words: Readonly<Record<string, string | number>>): Check =>
  given((property, value) => {
    const known: readonly unknown[] = Object.values(words);
    return known.includes(value)
      ? undefined
      : `${property}: ${shown(value)} is not known; expected one of ${known.map((word) => JSON.stringify(word)).join(", ")}`;
  });

/** Maximum length of a `reference`. */
export const LONGEST_REFERENCE = 200;

/** Pattern of characters that may have a special meaning in Terraform's templates, in a shell or in a table. */
const PLAIN = /[^\p{L}\p{N}._@/-]/gu;

/**
 * Returns the reference of an order without a domain. It is derived from the path of its construct, and the Idempotency-Key
 * is derived from it (§4). The same path gives the same reference on every machine and in every run. Different paths give
 * different references: a hash of the complete path replaces invalid characters and excess length.
 *
 * @param path Path of the construct, stack first: `production/acme/build`
 * @returns 1 to 200 characters: letters, digits and `._@/-`
 * @throws Error for a path with a token, because the path would differ in every run
 */
export function orderReference(path: string): string {
  if (isToken(path)) {
    throw new Error(
      "The path of this construct holds a token, so the order has no stable name. Set `reference`, or use an id without tokens.",
    );
  }
  const plain = path.replace(PLAIN, "_");
  if (plain === path && path.length <= LONGEST_REFERENCE) return path;
  const mark = createHash("sha256").update(path).digest("hex").slice(0, 16);
  return `${plain.slice(0, LONGEST_REFERENCE - mark.length - 1)}-${mark}`;
}

/** Adds the path of the construct to an error, as errors at synthesis have. */
export function withPath<T>(construct: IConstruct, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw refusal(construct.node.path, error instanceof Error ? error.message : String(error), error);
  }
}

/** Returns an error with the path of the construct. */
export const refusal = (path: string, message: string, cause?: unknown): Error =>
  new Error(`[${path}] ${message}`, cause === undefined ? undefined : { cause });
