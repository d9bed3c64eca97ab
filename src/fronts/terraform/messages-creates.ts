/** Texts of the provider: creates without a known outcome, and objects that an interrupted run created. */
import { type Catalogue, error, type Words, warning } from "../../core/messages/message.ts";
import type { Remedy } from "../../core/model/index.ts";
import { texts } from "./messages-settings.ts";

const ONE_MANAGER = "Only one resource may manage an object: two would undo each other's changes.";
const OTHERWISE =
  "If this is the same configuration in another folder, set HOSTFORM_PLACE to the same word in both. If you want two, set another `project`, or other attributes, here.";

type Noun = Words<"noun">;
type Of = Words<"what">;
type Object = Words<"noun" | "id">;

export const creates = {
  "plan.pending/unknown": error(({ noun, isBlind }: Noun & { isBlind: boolean }) =>
    texts(
      `It is not known whether the ${noun} was created`,
      "The response to the create request was lost. The state keeps the request, and Terraform marks it as tainted.",
      isBlind
        ? { do: "resolve" }
        : "Apply again: the provider adopts what was created, or creates it. It orders nothing twice.",
    ),
  ),
  "plan.pending/unseen": error(({ what }: Of) =>
    texts(
      `The request of the pending create of ${what} is not on this machine`,
      "Terraform sends the provider the request of a tainted instance only when it refreshes the state. Without the request a create could be sent twice, so nothing was sent.",
      "Plan again without `-refresh=false` on this machine, and apply that plan here.",
    ),
  ),
  "plan.pending/elsewhere": error(({ address }: Words<"address">) =>
    texts(
      `A create of ${address} is pending for another state, or this state has lost it`,
      "The project and the requested object are the same there and here.",
      `Apply there first. If that state is lost: import what was created; if nothing was, \`terraform apply\` once with HOSTFORM_STATE_HOME set to an empty folder. ${OTHERWISE}`,
    ),
  ),
  "plan.pending/attribute": error(({ noun, name, value }: Words<"noun" | "name" | "value">) =>
    texts(
      `${name} cannot change yet: the create of the ${noun} has no known outcome`,
      "The provider sent the request, and the response was lost. It finishes that request first, unchanged.",
      `Set \`${name}\` back to ${value}, apply, then change it.`,
    ),
  ),
  "plan.pending/reference": error(({ noun, name }: Words<"name"> & { noun: string | undefined }) =>
    texts(
      `${name} refers to a resource whose create has no known outcome`,
      noun && `The ${noun} is not created or changed until that create is finished.`,
      "Apply the resource that it refers to again: that finishes its create.",
    ),
  ),
  "apply.replayed/settles": warning(({ address, inState }: Words<"address"> & { inState: boolean }) =>
    texts(
      `${address} was begun by an interrupted run: the apply finishes it, and creates nothing twice`,
      // After a kill the store alone has the request: Terraform shows a create.
      inState
        ? "A replacement that Terraform shows is this settlement. If the replaced instance is the pending create of something else, which no resource declares, the apply removes that. With `prevent_destroy`: `terraform untaint ADDRESS`, then apply."
        : undefined,
    ),
  ),
  "apply.replayed/adopts": warning(({ address, noun, id }: Object & Words<"address">) =>
    texts(`${address} was created by an interrupted run as ${noun} ${id}: the apply adopts it, and creates nothing`),
  ),
  "apply.replayed/adopted": warning(({ noun, id }: Object) =>
    texts(`Adopted ${noun} ${id}, which an interrupted run created; nothing new was created`),
  ),
  "plan.gone/interrupted": error(({ noun, id }: Object) =>
    texts(
      `${noun} ${id}, which an interrupted run created, no longer exists`,
      "The provider does not order it again automatically: that would raise another invoice.",
      "Set another `reference` to order another one.",
    ),
  ),
  "plan.exists/owned": error(({ noun, id, owner }: Object & Words<"owner">) =>
    texts(
      `${noun} ${id}, which an interrupted run created, belongs to ${owner}`,
      ONE_MANAGER,
      "Remove one of the two from the configuration. If you want two objects, set other attributes here.",
    ),
  ),
  "plan.exists/edited": error(
    ({ name, did, was, adopt }: Words<"name" | "did" | "adopt"> & { was: string | undefined }) =>
      texts(
        `An interrupted run ${did} with another ${name}`,
        `${was === undefined ? `It has no ${name}.` : `Its ${name} is ${was}.`} Terraform could not record it, and the provider creates no second one.`,
        `${was === undefined ? `Remove \`${name}\` and apply, then add it` : `Set \`${name}\` back and apply, then change it`}${adopt}.`,
      ),
  ),
  "config.duplicate/running": error(({ address }: Words<"address">) =>
    texts(
      `Another process is creating ${address} now`,
      "Another apply of this configuration is running, or another of its provider blocks is the same account.",
      "Wait until the other apply has ended. Use one provider block for each account.",
    ),
  ),
  "provider.journal": warning(({ does, why, remedies }: Words<"does" | "why"> & { remedies: readonly Remedy[] }) =>
    texts(
      `The Terraform provider cannot ${does} its entries in the store`,
      `${why} If Terraform is killed before it writes its state, the next apply can only look in the account, and one-time secrets may be lost.`,
      ...remedies,
    ),
  ),
  "plan.exists/here": error(({ address, noun, id, object }: Object & Words<"address" | "object">) =>
    texts(
      `${address} already exists as ${noun} ${id}, which Terraform created`,
      `This run cannot see whether another address of this state holds it, or whether this state has lost it. ${ONE_MANAGER}`,
      { do: "move", when: "another address of this state holds it" },
      { do: "import", id: object },
    ),
  ),
  "plan.exists/elsewhere": error(({ address, noun, id }: Object & Words<"address">) =>
    texts(
      `${address} already exists as ${noun} ${id}, which Terraform created`,
      `It belongs to another state (another folder, workspace or backend). ${ONE_MANAGER}`,
      `If that state is no longer used: import it. ${OTHERWISE}`,
    ),
  ),
} satisfies Catalogue;
