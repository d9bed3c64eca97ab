type Environment = Readonly<Record<string, string | undefined>>;

/** Names the variables, separated by commas or spaces, that child processes inherit although they are hostform's own. */
export const CHILD_ENV = "HOSTFORM_CHILD_ENV";

/** The API tokens, the keys of the state, and what opens its backend. */
const OWN =
  /^(?:HOSTING_(?:[A-Z0-9_]+_)?TOKEN(?:_[A-Z0-9_]+)?|HOSTFORM_STATE_(?!HOME$|TIMEOUT$)\w+|TF_HTTP_PASSWORD|PG(?:[A-Z]+|_\w+))$/;

/**
 * The environment of a program that the user, or a declaration, has hostform run: without the credentials of hostform
 * itself, except for those that {@link CHILD_ENV} names.
 * @param tokens further variables that hold an API token.
 */
export function childEnvironment(env: Environment, tokens: readonly (string | undefined)[] = []): Environment {
  const asked = new Set((env[CHILD_ENV] ?? "").split(/[\s,]+/));
  const isKept = (name: string) => asked.has(name) || !(OWN.test(name) || tokens.includes(name));
  return Object.fromEntries(Object.entries(env).filter(([name]) => isKept(name)));
}
