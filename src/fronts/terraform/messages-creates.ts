/** Texts of the provider: creates without a known outcome, and objects that an interrupted run created. */
import { type Catalogue, error, type Words, warning } from "../../core/messages/message.ts";
import type { Remedy } from "../../core/model/index.ts";
import { texts } from "./messages-settings.ts";

const ONE_MANAGER = "Only one resource may manage an object: two resources would revert each other's changes.";
const OTHERWISE =
  "If this is the same configuration in another folder, set HOSTFORM_PLACE to the same word in both folders. For two objects, set another `project`, or other attributes, in this configuration.";

type Noun = Words<"noun">;
type Object = Words<"noun" | "id">;

export const creates = {
  "plan.pending/unknown": error(({ noun, isBlind }: Noun & { isBlind: boolean }) =>
    texts(
      `The create request of the ${noun} has no known outcome`,
      "The response was lost. The state keeps the request, and Terraform marks the resource as tainted.",
      isBlind
        ? { do: "resolve" }
        : "Apply again: the provider adopts the created object, or creates it. It orders nothing twice.",
    ),
  ),
  "plan.pending/unseen": error(
    texts(
      "The request of the pending create of {what} is not on this machine",
      "Terraform sends the request of a tainted instance only during a refresh. Without the request, the provider could create a second object, so it sent no request.",
      "Plan again without `-refresh=false` on this machine, and apply that plan on this machine.",
    ),
  ),
  "plan.pending/elsewhere": error(({ address }: Words<"address">) =>
    texts(
      `Another state has a pending create of ${address}, or this state lost its pending create`,
      "Both states have the same project and request the same object.",
      `Apply with the other state first. If that state is lost, import the created object. If the request created nothing, run \`terraform apply\` once with HOSTFORM_STATE_HOME set to an empty folder. ${OTHERWISE}`,
    ),
  ),
  "plan.pending/attribute": error(
    texts(
      "{name} cannot change yet: the create of the {noun} has no known outcome",
      "The provider sent the request, and the response was lost. The next apply completes that request first, unchanged.",
      "Set `{name}` back to {value}, apply, then change it.",
    ),
  ),
  "plan.pending/reference": error(({ noun, name }: Words<"name"> & { noun: string | undefined }) =>
    texts(
      `${name} refers to a resource whose create has no known outcome`,
      noun && `The provider does not create or change the ${noun} before that create is complete.`,
      `Apply again, and include the resource that ${name} refers to. The apply completes the create of that resource first.`,
    ),
  ),
  "apply.replayed/settles": warning(({ address, inState }: Words<"address"> & { inState: boolean }) =>
    texts(
      `An interrupted run sent the create of ${address}: the apply completes the create, and creates nothing twice`,
      // After a kill, only the store contains the request, so Terraform shows a create.
      inState
        ? "Terraform shows this completion as a replacement. If the replaced instance is the pending create of an undeclared object, the apply removes that object. With `prevent_destroy`, run `terraform untaint ADDRESS`, then apply."
        : undefined,
    ),
  ),
  "apply.replayed/adopts": warning(
    texts("An interrupted run created {address} as {noun} {id}: the apply adopts it, and creates nothing"),
  ),
  "apply.replayed/adopted": warning(
    texts("The apply adopted {noun} {id} from an interrupted run, and created nothing"),
  ),
  "plan.gone/interrupted": error(
    texts(
      "{noun} {id} from an interrupted run no longer exists",
      "The provider does not order the {noun} again automatically, because a new order has its own invoice.",
      "To order another {noun}, set another `reference`.",
    ),
  ),
  "plan.exists/owned": error(
    texts(
      "{noun} {id} from an interrupted run belongs to {owner}",
      ONE_MANAGER,
      "Remove one of the two resources from the configuration. For two objects, set other attributes in this resource.",
    ),
  ),
  "plan.exists/edited": error(
    ({ name, did, was, adopt }: Words<"name" | "did" | "adopt"> & { was: string | undefined }) =>
      texts(
        `An interrupted run ${did} with another ${name}`,
        `${was === undefined ? `The object has no ${name}.` : `The ${name} of the object is ${was}.`} The state does not contain the object, and the provider creates no second object.`,
        `${was === undefined ? `Remove \`${name}\` and apply, then add the attribute` : `Set \`${name}\` back and apply, then change the value`}${adopt}.`,
      ),
  ),
  "config.duplicate/running": error(
    texts(
      "Another process is creating {address} now",
      "Another apply of this configuration is running, or another provider block of it uses the same account.",
      "Wait until the other apply has ended. Use one provider block for each account.",
    ),
  ),
  "provider.journal": warning(({ does, why, remedies }: Words<"does" | "why"> & { remedies: readonly Remedy[] }) =>
    texts(
      `The Terraform provider cannot ${does} its entries in the store`,
      `${why} If Terraform is killed before it writes its state, the next apply can only search the account, and one-time secrets may be lost.`,
      ...remedies,
    ),
  ),
  "plan.exists/here": error(({ address, noun, id, object }: Object & Words<"address" | "object">) =>
    texts(
      `${address} already exists: Terraform created ${noun} ${id}`,
      `Either another address of this state contains the object, or this state has lost the object. ${ONE_MANAGER}`,
      { do: "move", when: "another address of this state contains the object" },
      { do: "import", id: object },
    ),
  ),
  "plan.exists/elsewhere": error(({ address, noun, id }: Object & Words<"address">) =>
    texts(
      `${address} already exists: Terraform created ${noun} ${id}`,
      `The object belongs to another state (another folder, workspace or backend). ${ONE_MANAGER}`,
      `If that state is no longer used, import the object. ${OTHERWISE}`,
    ),
  ),
} satisfies Catalogue;
