/** How a command ended. */
export interface CommandEnd {
  /** Absent: well. Else what completes the sentence "It …": "ended with exit code 3". */
  readonly failure?: string;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a program, without a shell, in a bounded time; never throws.
 * @param input its standard input. @param env added to the environment.
 */
export type CommandRunner = (
  command: readonly [string, ...string[]],
  input: string,
  env: Readonly<Record<string, string>>,
) => Promise<CommandEnd>;

/** How long a command may take: a vault may have to wake up; somebody may have to touch a key. */
export const SECRET_COMMAND_MS = 60_000;

const MOST_LINES = 5;
const MOST_CHARACTERS = 500;
/** Shorter texts are no secrets: an answer of `y` would blacken every y. */
const SHORTEST_SECRET = 4;

/** Sentences on what a command that failed has said, the secret in it blotted out. */
export function endOfErrors(stderr: string, secret: string): string {
  const words = lastLines(stderr, secret);
  return words === "" ? "It wrote nothing to standard error." : `The end of its standard error:\n${words}`;
}

function lastLines(text: string, secret: string): string {
  const hidden = secret.trim();
  const clean = hidden.length < SHORTEST_SECRET ? text : text.replaceAll(hidden, "(secret)");
  const end = clean.trimEnd().split("\n").slice(-MOST_LINES).join("\n");
  return end.length > MOST_CHARACTERS ? `…${end.slice(-MOST_CHARACTERS)}` : end;
}
