/** An option that cannot be used. The message is a sentence for the person who gave it, and says the way out. */
export class SandboxOptionError extends Error {
  override name = "SandboxOptionError";
}
