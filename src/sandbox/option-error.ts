/** An option that cannot be used. The message is a sentence for the person who gave it, and says the way out. */
export class SandboxOptionError extends Error {
  override name = "SandboxOptionError";
  /** The option whose content is at fault, when the message cannot name it: a file may stand behind it. */
  readonly option: string | undefined;

  constructor(message: string, option?: string) {
    super(message);
    this.option = option;
  }
}
