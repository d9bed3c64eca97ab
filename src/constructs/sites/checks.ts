import { Token } from "cdktf";

/**
 * What is wrong with a value, as a sentence that names the property; nothing when it is all right, when it is not given, or
 * when it is a token, whose value is known only to Terraform. The rules are those of the kinds; a test holds them against
 * these. A value is repeated in a message only where it is a word that could not be a secret.
 */
export type Check = (property: string, value: unknown) => string[];

const DOMAIN = /^(?=.{1,253}$)(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}\p{N}-]{2,63}$/u;
const EMAIL = /^(?:[A-Za-z0-9_'+-]+\.)*[A-Za-z0-9_'+-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+[A-Za-z]{2,}$/;
/** A number of the size that tokens have, which nothing that is paid or counted has. */
const HUGE = /-?\d+(?:\.\d+)?e\+(?:2[89]|30)\d/;
/** What CDKTF takes for such a number in a text, with whatever of these characters stands before and behind it. */
const FOUND = /[-|\d.+]+e[-|\d.eE+]+/g;

/** `${` that Terraform evaluates; `$${` is how a text says that it does not mean that. */
const TEMPLATE = /(?:^|[^$])(?:\$\$)*\$\{/;

/** Whether a value, or a part of a text, stands for something that only Terraform knows. */
export const isToken = (value: unknown): boolean =>
  Token.isUnresolved(value) ||
  (typeof value === "string" && (TEMPLATE.test(value) || hugeIn(value).some(isNumberToken)));

/**
 * Whether a value was made of a number that only Terraform knows, and is no such number any more: TypeScript computed with it,
 * or it stands in a text where CDKTF does not find it, as in `build-${number}`, where it has a second sign.
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
    if (isTorn(value)) {
      return [
        `${property}: ${shown(value)} is what is left of a number that only Terraform knows. Compute with Op or Fn, and join it to a text with Token.asString.`,
      ];
    }
    if (isToken(value)) return [];
    const found = check(property, value);
    return found === undefined ? [] : [found];
  };

/** A check of what must be given: JavaScript, and values from a file, do not know what the types say. */
export const needed =
  (check: Check): Check =>
  (property, value) =>
    value === undefined || value === null ? [`${property}: it is missing, and has no default`] : check(property, value);

/** A value as a message repeats it: one line, of bounded length. */
export const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}…"` : text;
};

const text = (pattern: RegExp, expected: string): Check =>
  given((property, value) =>
    typeof value === "string" && pattern.test(value) ? undefined : `${property}: ${shown(value)} is no ${expected}`,
  );

export const checkDomain = text(DOMAIN, "domain name, such as www.acme.example");
export const checkEmail = text(EMAIL, "e-mail address");

export const checkUrl = given((property, value) => {
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
  // What stands before an @ in an address is a password.
  if (url?.password) return `${property}: the address holds a password, which would stand in clear text in cdk.tf.json`;
  return url?.protocol === "https:" || url?.protocol === "http:"
    ? undefined
    : `${property}: ${shown(value)} is no http or https address`;
});

/** An instant in ISO 8601. */
export const checkInstant = given((property, value) =>
  typeof value === "string" && !Number.isNaN(Date.parse(/T[\d:.]+$/.test(value) ? `${value}Z` : value))
    ? undefined
    : `${property}: ${shown(value)} is no time such as 2027-01-31T00:00:00Z`,
);

export const checkPositive = given((property, value) =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0
    ? undefined
    : `${property}: ${shown(value)} is no positive whole number`,
);

/** A text of 1 to `most` characters. */
export const checkText = (most = Number.MAX_SAFE_INTEGER): Check =>
  given((property, value) => {
    if (typeof value === "string" && value !== "" && value.length <= most) return undefined;
    return most === Number.MAX_SAFE_INTEGER
      ? `${property}: expected a text that is not empty`
      : `${property}: expected a text of 1 to ${most} characters`;
  });

/** One of a few words (or numbers). @param words as one of the constants in words.ts. */
export const checkWord = (words: Readonly<Record<string, string | number>>): Check =>
  given((property, value) => {
    const known: readonly unknown[] = Object.values(words);
    return known.includes(value)
      ? undefined
      : `${property}: ${shown(value)} is not known; expected one of ${known.map((word) => JSON.stringify(word)).join(", ")}`;
  });
