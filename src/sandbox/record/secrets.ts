/** Keeps what people typed in as a secret out of recordings: passwords, keys, tokens that the sandbox did not make. */

/** Names of fields that hold such things, whatever else is in the name. The specification leaves many names open. */
const SECRET_NAME = /pass(?:word|phrase|wd|code)|secret|credential|token|bearer|cookie|(?:api|private|ssh)_?key/i;

/** Words that make a name one of a secret when they stand in it by themselves. */
const SECRET_WORD = /^(?:pass|ftppass|pwd|pw|pin|otp|login|auth|private|key|rsa|username)$/i;

export function isSecretName(name: string): boolean {
  const words = name.split(/[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])/);
  return SECRET_NAME.test(name) || words.some((word) => SECRET_WORD.test(word));
}

type Secret = string | number;

/**
 * Stands in for secrets. The same secret gets the same stand-in, which is as long as it, so that what is repeated with it
 * is judged alike.
 */
export class StandIns {
  readonly #known = new Map<Secret, Secret>();
  /** Values of tokens that requests came with. */
  readonly #tokens = new Set<string>();

  /** A copy of the JSON value of a request, with stand-ins for what its fields and its URLs call secret. */
  replace(value: unknown): unknown {
    return walk(value, (given, secret) => (secret ? this.#standInFor(given) : this.#text(given)));
  }

  /** A copy of the JSON value of an answer, in which an echo of such a secret is replaced likewise. */
  replaceEchoes(value: unknown): unknown {
    return walk(value, (given, secret) => (secret ? this.#known.get(given) : undefined) ?? this.#text(given));
  }

  /** The text without what its URLs hold as a secret, and without the tokens that requests came with. */
  text(text: string): string {
    const withoutUser = text.replace(/(?<=:\/\/)[^\s/?#@]+(?=@)/g, (user) =>
      user
        .split(":")
        .map((part) => this.#standInFor(part))
        .join(":"),
    );
    let masked = withoutUser.replace(/([?&]([^=&#\s]+)=)([^&#\s]+)/g, (whole, head: string, name: string, value) =>
      isSecretName(name) ? `${head}${this.#standInFor(value)}` : whole,
    );
    for (const token of this.#tokens) masked = masked.replaceAll(token, "stand-in-for-token");
    return masked;
  }

  /** The value of a token that a request came with, from its header: known from now on. */
  learnToken(authorization: string | undefined): void {
    const value = /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
    // A shorter one stands in too many other texts.
    if (value !== undefined && value.length >= 8) this.#tokens.add(value);
  }

  #text(value: Secret): Secret {
    return typeof value === "string" ? this.text(value) : value;
  }

  #standInFor(secret: Secret): Secret {
    const known = this.#known.get(secret) ?? this.#make(secret);
    this.#known.set(secret, known);
    return known;
  }

  #make(secret: Secret): Secret {
    if (typeof secret === "number") return this.#known.size + 1;
    // A blank is judged as a blank, and tells nothing.
    if (secret.trim() === "") return secret;
    const length = [...secret].length;
    const text = `stand-in-${this.#known.size + 1}-`.padEnd(length, "x");
    return length < text.length ? "x".repeat(length) : text;
  }
}

function walk(value: unknown, change: (value: Secret, secret: boolean) => Secret, secret = false): unknown {
  if (typeof value === "string" || typeof value === "number") return change(value, secret);
  if (Array.isArray(value)) return value.map((inner) => walk(inner, change, secret));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, walk(inner, change, secret || isSecretName(name))]),
  );
}
