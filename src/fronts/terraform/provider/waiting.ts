import { fail } from "../../../core/model/index.ts";
import type { Session } from "../contract.ts";

/**
 * Refuses to go on without settings that are unknown yet. It is not located: the call that needs them is about a
 * resource, and Terraform would look for the attribute there.
 */
export function notKnown(settings: readonly string[]): never {
  const names = settings.map((name) => `\`${name}\``).join(", ");
  return fail(
    "terraform.not_known",
    `The provider's ${names} ${settings.length === 1 ? "is" : "are"} known only after apply`,
    {
      detail:
        "It comes from something that is still to be made, and what the account holds has to be looked at before.",
      remedies: [
        "Give a value that is known when the plan is made, or apply what it comes from first: `terraform apply -target=…`.",
      ],
    },
  );
}

/** The session of a configuration that is not known as a whole: whatever needs the account throws {@link notKnown}. */
export function waitingSession(
  settings: readonly string[],
  parts: Pick<Session, "clock" | "stop" | "secretOutputs" | "secretDestination">,
): Session {
  const needed = () => notKnown(settings);
  return {
    ...parts,
    isOpen: false,
    get client() {
      return needed();
    },
    get account() {
      return needed();
    },
    get settings() {
      return needed();
    },
    get project() {
      return needed();
    },
    get host() {
      return needed();
    },
    get self() {
      return needed();
    },
    get place() {
      return needed();
    },
    get moneyScale() {
      return needed();
    },
    get journal() {
      return needed();
    },
    close: async () => {},
  };
}
