/** Texts of the provider: objects, their changes and their addresses. `NAME` and `ADDRESS` stand for what Terraform does not send. */
import { type Catalogue, either, error, problemsOf, type Words, warning } from "../../core/messages/message.ts";
import { type Diagnostic, HostformError } from "../../core/model/index.ts";
import { creates } from "./messages-creates.ts";
import { settings, texts } from "./messages-settings.ts";

const ONE_ADDRESS = "An object can be managed under one address only.";
const RENAMED = { do: "move", when: "it was renamed" } as const;
type Noun = Words<"noun">;
/** An object. `what`: its kind, id and name. */
type Of = Words<"what">;
/** An object that an apply replaces or that a run created. */
type Object = Words<"noun" | "id">;
/** Names of attributes, in one text. */
type Deferred = Words<"noun" | "names">;

/** A change of an object that the API cannot delete. `leaves`: the object leaves the state. */
type Effect = Of & Noun & { readonly leaves: boolean };

const deferred = ({ noun, names }: Deferred) => `Deferred until the ${noun} is live: ${names}`;
const STATE_HAS = "The state has the declared value, as Terraform requires, with a mark that it is not done.";

const messages = {
  ...creates,
  ...settings,

  // After a change.
  "apply.waiting/job": warning(({ noun }: Noun) =>
    texts(
      `A job of the ${noun} is queued and not done yet`,
      undefined,
      "The next plan shows whether it is done. `timeouts` sets how long the apply waits.",
    ),
  ),
  "apply.waiting/payment": warning(({ noun, detail }: Words<"noun" | "detail">) =>
    texts(`The ${noun} is ordered and waits for the payment of its invoice`, detail),
  ),
  "apply.waiting/not_done": warning(({ noun, names }: Deferred) =>
    texts(`Not done yet: ${names} of the ${noun}`, STATE_HAS, "Apply again: the next plan shows it."),
  ),
  "apply.waiting/applied": warning((given: Deferred) =>
    texts(deferred(given), STATE_HAS, `Apply again when the ${given.noun} is live.`),
  ),
  "apply.waiting/planned": warning((given: Deferred) =>
    texts(deferred(given), undefined, "Apply again when it is live."),
  ),
  "apply.waiting/unlisted": warning(({ noun, waitsFor }: Words<"noun" | "waitsFor">) =>
    texts(
      `The API lists no ${noun}s of ${waitsFor} until it is live`,
      "The provider keeps what the state has of them, and creates new ones when it is live.",
      "Apply again when it is live. It is provisioned when its invoice is paid.",
    ),
  ),
  "apply.waiting/suspension": error(({ noun, id }: Object) =>
    texts(
      `The suspension of ${noun} ${id} is queued and not done yet`,
      'Its deletion_policy is "suspend": it leaves the state only when it is suspended.',
      'Run the command again later, or allow more time: `timeouts = { delete = "20m" }`.',
    ),
  ),
  "apply.skipped/step": warning(({ noun, id }: Object) =>
    texts(
      `${noun} ${id} was created, but a step after it failed`,
      "The state has what was done. This is a warning because Terraform would recreate the object after an error.",
      "Apply again: the next plan shows what is missing.",
    ),
  ),
  "apply.drifted": warning(({ noun, name, value }: Words<"noun" | "name" | "value">) =>
    texts(
      `The API returned another ${name} for the ${noun} than was sent`,
      `It returned ${value}.`,
      "The next plan shows the difference.",
    ),
  ),

  // Objects that several addresses, or several states, may hold.
  "plan.exists/declared_twice": error(({ what, noun }: Of & Noun) =>
    texts(
      `${what} is at another address of this state, which keeps it`,
      `Two addresses declare the same ${noun}. ${ONE_ADDRESS}`,
      RENAMED,
      "Otherwise remove one of the two, or declare other values.",
    ),
  ),
  "plan.exists/unseen": warning(({ what, seen, object }: Of & Words<"seen" | "object">) =>
    texts(
      `${what} exists already: this state had it at ${seen}`,
      "If it has left the state (`terraform state rm`), the apply creates nothing and fails.",
      { do: "import", id: object, when: "this address is to manage it again" },
      RENAMED,
    ),
  ),
  "plan.exists/imported": error(({ what, seen }: Of & { seen: string | undefined }) =>
    texts(
      `${what} is at another address of this state already`,
      `${seen === undefined ? "" : `The provider saw it there at ${seen}. `}${ONE_ADDRESS} The removal of one would take the object away from the other.`,
      RENAMED,
      "If it shall leave that address: `terraform state rm`, then `terraform plan` without an `import` block, then import it.",
    ),
  ),
  "plan.exists/two_addresses": error(({ noun, id }: Object) =>
    texts(
      `Another address of this state already has ${noun} ${id}`,
      ONE_ADDRESS,
      "To manage it under another address, use a `moved` block instead of the import.",
    ),
  ),
  "plan.exists/half": error(({ what, other, isUnseen }: Of & Words<"other"> & { isUnseen: boolean }) =>
    texts(
      `${what} is not deleted: what replaces it exists`,
      `Its address becomes ${other}, which another address has. ${isUnseen ? "The plan was made on another machine, or with another token" : "The plan does not include that address"}. Nothing was sent.`,
      "Plan and apply both addresses here, without `-target`.",
    ),
  ),
  "plan.exists/in_the_way": warning(({ noun, id }: Object) =>
    texts(
      `${noun} ${id} already exists, and may not be the one that this replaces`,
      "If this state does not have it, the apply orders nothing.",
      "If the state was lost, import it.",
    ),
  ),
  "state.duplicate": either(
    ({ what, noun, instances, severity }: Of & Noun & { instances: number; severity: string }) =>
      texts(
        `${instances === 2 ? "Two addresses" : `${instances} addresses`} of this state have ${what}`,
        severity === "error" ? `Neither is destroyed: the ${noun} would be gone for both.` : ONE_ADDRESS,
        "`terraform state rm` the address that should not have it, run `terraform plan` while the other one is declared, then apply.",
      ),
  ),
  "state.shared": warning(({ what, here, there, seen }: Of & Words<"here" | "there" | "seen">) =>
    texts(
      `${what} is in two states`,
      `Here: ${here}. There: ${there}, last seen at ${seen}. Each undoes the changes of the other.`,
      "Remove it from one of the two states: here with a `removed` block and `destroy = false`.",
      "If the other state is no longer used, ignore this.",
    ),
  ),
  "state.stranger/host": error(({ noun, id, operation }: Object & Words<"operation">) =>
    texts(
      `${noun} ${id} was recorded at another URL of the API`,
      `It is not ${operation}: at another host the same id is another object.`,
      operation === "refreshed"
        ? "Correct `base_url`. If it is the same host at a new URL: `terraform state rm` it and import it."
        : "Correct `base_url`. If the host has moved: apply once with a refresh, which compares the objects.",
    ),
  ),
  // Only the host that a create was sent to can show its outcome.
  "state.stranger/create": error(({ what }: Of) =>
    texts(
      `The create request of ${what} was sent to another URL of the API`,
      "The response was lost, and only that host knows the created object. No request was sent here, because it could create a second object.",
      "Correct `base_url`. If the host has moved: look in the dashboard, `terraform state rm` it, and import it if it was created.",
    ),
  ),
  "apply.replayed/moves": warning(({ what }: Of) =>
    texts(
      `${what} moves to another address of this state: the apply sends no request for it`,
      "Terraform counts it as added and destroyed.",
    ),
  ),
  "apply.replayed/recreates": warning(({ what }: Of) =>
    texts(
      `${what} moves to another address of this state, with other values: the apply deletes it and creates it again, at once`,
    ),
  ),
  "apply.replayed/took_over": warning(({ what }: Of) =>
    texts(`Took over ${what} from another address of this state; no request changed it`),
  ),
  "apply.replayed/recreated": warning(({ what }: Of) =>
    texts(`Deleted ${what}, which another address of this state gave up, and created it again`),
  ),
  "apply.replayed/takes_over": warning(({ what }: Of) =>
    texts(`${what} was left by another address of this state: the apply takes it over`),
  ),
  "apply.waiting/at_old_address": error(({ what, hasFailed }: Of & { hasFailed: boolean }) =>
    texts(
      `${what} is still at its old address`,
      `Another address of this plan takes it over, and ${hasFailed ? "this apply failed before that" : "Terraform was stopped before that"}. No request was sent: it exists, and the state has it.`,
      "Apply again: that goes on.",
    ),
  ),
  "apply.waiting/left_over": warning(({ what }: Of) =>
    texts(
      `${what} exists, and no address of this state has it`,
      "An apply took it from its old address, and ended before the new address had it. The store of this machine keeps what is known of it.",
      "Declare it again and apply: that takes it over, with its secret.",
      "If you do not need it, delete it in the dashboard.",
    ),
  ),

  // Replacements and removals.
  "plan.immutable/late": error(({ what, noun, name, value }: Of & Noun & Words<"name" | "value">) =>
    texts(
      `${name} of ${what} cannot be changed`,
      `It was created without one, and would become ${value}. The API has no call that changes the ${name} of a ${noun}.`,
      "Remove it from the configuration.",
    ),
  ),
  "plan.immutable/reference": error(({ what, name }: Of & Words<"name">) =>
    texts(
      `reference of ${what} cannot be changed`,
      `It was ordered under the name ${JSON.stringify(name)}, by which the API knows the order.`,
      "Set the old one again in the configuration.",
    ),
  ),
  "plan.prevented/replacement": error(({ noun, id, canSuspend }: Object & { canSuspend: boolean }) =>
    texts(
      `${noun} ${id} cannot be replaced: its deletion_policy is "prevent"`,
      `The API cannot delete a ${noun}: the old one would stay in the account, and Terraform would stop managing it.`,
      `Set \`deletion_policy = "forget"\`${canSuspend ? ' (or "suspend")' : ""}, apply, then make the change.`,
    ),
  ),
  "plan.exists/beside": error(({ noun, id }: Object) =>
    texts(
      `${noun} ${id} cannot be replaced`,
      `The API cannot delete a ${noun}: the old one would stay in the account beside the new one.`,
      "Plan without `-replace`. If Terraform has marked it as tainted, `terraform untaint` it.",
    ),
  ),
  // Terraform destroys first: no host sells the same name twice.
  "plan.prevented/suspended_first": warning(({ noun }: Noun) =>
    texts(
      `The old ${noun} is suspended before the new one is ordered`,
      "If the API refuses the order (an invalid coupon, a plan that is not sold), the old one stays suspended and nothing replaces it until an order succeeds.",
      'With `deletion_policy = "forget"` the old one runs until you cancel it in the dashboard.',
    ),
  ),
  "plan.prevented/not_found": error(({ address, noun, id }: Object & Words<"address">) =>
    texts(
      `${address} may not be removed: this account does not have ${noun} ${id}`,
      'Its deletion_policy is "prevent". It may still exist in another account, whose token gives the same response.',
      "Check the token and the base URL of the provider. If it has ended: a `removed` block with `destroy = false` in place of its block.",
    ),
  ),
  "plan.prevented/left_behind": warning(({ noun, id }: Object) =>
    texts(
      `${noun} ${id}, which this one replaced, still exists`,
      "A run of hostform created the new one and could not delete the old one.",
      `The next change of this ${noun} deletes it; or delete it in the dashboard.`,
    ),
  ),
  "terraform.reference/unknown": error(({ noun, id }: Object) =>
    texts(
      "The `reference` of a replacement must be known at plan time",
      `Otherwise ${noun} ${id} would be released before the provider knows whether the new order has another name. Without a \`reference\` the name is the domain.`,
      "Set a value that is known at plan time.",
    ),
  ),
  "terraform.reference/same": error(({ noun, id, name }: Object & Words<"name">) =>
    texts(
      "A replacement needs a new `reference`",
      `${noun} ${id} was ordered under the name "${name}". The API would take the new order for a repetition, and order nothing.`,
      `Set \`reference\` to another name, for example "${name}-2".`,
    ),
  ),
  // One name is one order: a second resource with it would get the service of the first.
  "config.duplicate/order": error(({ name, noun, id, isBlind }: Object & Words<"name"> & { isBlind: boolean }) =>
    texts(
      `The order "${name}" is ${noun} ${id}, which the state already has`,
      isBlind
        ? "A registered domain cannot be registered again."
        : "The Idempotency-Key is derived from the name: the API would return the service of the first order for a second one.",
      `If the resource was renamed, add a \`moved\` block. If Terraform has marked it as tainted, \`terraform untaint\` it.${isBlind ? "" : " If you want two, set another `reference` on the second."}`,
    ),
  ),
  "plan.offline": warning(({ what, noun, leaves }: Effect) =>
    texts(
      `${what} is suspended: it goes offline`,
      leaves
        ? `Terraform calls it "destroy". The API cannot delete a ${noun}. Its deletion_policy suspends it; it stays in the account, and Terraform stops managing it.`
        : 'Terraform calls it "update in-place".',
      leaves ? "To end it for good, cancel it in the dashboard." : "Remove `suspended` if you do not want that.",
    ),
  ),
  "plan.stays": warning(({ what, noun, isBilled }: Of & Noun & { isBilled: boolean }) =>
    texts(
      `${what} stays in the account${isBilled ? ", and the host still bills it" : ""}`,
      `Terraform calls it "destroy". The API cannot delete a ${noun}, so Terraform only stops managing it.`,
      "To end it, cancel it in the dashboard.",
    ),
  ),

  // Refreshes and imports.
  "plan.unread/ability": warning(({ nouns, ability, more }: Words<"nouns" | "ability" | "more">) =>
    texts(
      `Not compared with the account: recorded ${nouns}`,
      `The token may not list them (403): it lacks the ability "${ability}". The plan uses what the state has.${more}`,
      "To see what differs, plan with a token that has this ability.",
    ),
  ),
  "plan.expired": warning(({ what, expired }: Of & Words<"expired">) =>
    texts(`${what} is gone and is not created again: ${expired}`, undefined, "Remove it, or set a later `expires_at`."),
  ),
  "apply.skipped/parent": warning(({ what, noun, parent }: Of & Noun & Words<"parent">) =>
    texts(
      `Skipped ${what}: its ${noun} ${parent} no longer exists`,
      undefined,
      `Remove both, or restore the ${noun} first.`,
    ),
  ),
  // Terraform shows warnings that have the same summary as one: many objects make one warning.
  "account.unlisted": warning(({ what, noun, created }: Of & Noun & Words<"created">) =>
    texts(
      `No list shows a new ${noun} yet`,
      `${what} was created at ${created}. The provider keeps what the state has.`,
      "Nothing to do. When `list_lag` is over, a plan shows what the account has.",
    ),
  ),
  usage: error(({ noun, parent, id, example }: Noun & Words<"parent" | "id" | "example">) =>
    texts(
      `The import id of a ${noun} is ${parent}/ID`,
      `It was ${JSON.stringify(id)}.`,
      `For example \`terraform import ${example}\`.`,
    ),
  ),
  "plan.gone/import": error(
    ({
      noun,
      id,
      how,
      type,
      isListed,
      isNested,
    }: Object & Words<"how" | "type"> & { isListed: boolean; isNested: boolean }) =>
      texts(
        `${noun} ${id} ${how}`,
        `${isListed ? "It has ended: nothing is left to manage." : "The account of this provider configuration does not have it."}${isNested ? "" : ` The import id of a ${noun} is its id alone.`}`,
        `Correct the id; the data source \`${type}s\` lists the existing ones. Or use the provider configuration (token) of the account that has it.`,
      ),
  ),
  "secret.output/outside": warning(({ address, name, real }: Words<"address" | "name" | "real">) =>
    texts(
      `The ${name} of ${address} will be written to ${real}`,
      "It is outside of the project, as `outside_project` allows.",
    ),
  ),
} satisfies Catalogue;

export const problem = problemsOf(messages);

/** @throws HostformError with the diagnostics. */
export function refuse(...diagnostics: readonly Diagnostic[]): never {
  throw new HostformError(diagnostics);
}
