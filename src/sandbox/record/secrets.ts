/** Keeps what people typed in as a secret out of recordings: passwords, keys, tokens that the sandbox did not make. */

/** Names of fields that hold such things. The specification leaves many names open. */
const SECRET_NAME = /password|passphrase|secret|credential|token|api_?key/i;

export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

type Secret = string | number;

/**
 * Stands in for secrets. The same secret gets the same stand-in, which is as long as it, so that what is repeated with it
 * is judged alike.
 */
export class StandIns {
  readonly #known = new Map<Secret, Secret>();

  /** A copy of the JSON value of a request, with stand-ins for what its fields call secret. */
  replace(value: unknown): unknown {
    return walk(value, (secret) => this.#standInFor(secret));
  }

  /** A copy of the JSON value of an answer, in which an echo of such a secret is replaced likewise. */
  replaceEchoes(value: unknown): unknown {
    return this.#known.size === 0 ? value : walk(value, (secret) => this.#known.get(secret) ?? secret);
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

function walk(value: unknown, change: (secret: Secret) => Secret, secret = false): unknown {
  if (typeof value === "string" || typeof value === "number") return secret ? change(value) : value;
  if (Array.isArray(value)) return value.map((inner) => walk(inner, change, secret));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, walk(inner, change, secret || SECRET_NAME.test(name))]),
  );
}
