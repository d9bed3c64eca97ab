/** Texts of the provider about objects, their changes and their addresses. `NAME` and `ADDRESS` are placeholders, because Terraform sends no address. */
import { type Catalogue, either, error, problemsOf, type Words, warning } from "../../core/messages/message.ts";
import { type Diagnostic, HostformError } from "../../core/model/index.ts";
import { creates } from "./messages-creates.ts";
import { settings, texts } from "./messages-settings.ts";

const ONE_ADDRESS = "An object can be managed under one address only.";
const RENAMED = { do: "move", when: "it was renamed" } as const;
type Noun = Words<"noun">;
/** `what`: kind, id and name of an object. */
type Of = Words<"what">;
type Object = Words<"noun" | "id">;
/** `names`: names of attributes, in one text. */
type Deferred = Words<"noun" | "names">;

/** Change of an object that the API cannot delete. `leaves`: Terraform removes the object from the state. */
type Effect = Of & Noun & { readonly leaves: boolean };

const deferred = ({ noun, names }: Deferred) => `Deferred until the ${noun} is live: ${names}`;
const STATE_HAS = "Terraform requires the declared value in the state. The provider marks the value as pending.";

const messages = {
  ...creates,
  ...settings,

  // After a change.
  "apply.waiting/job": warning(
    texts(
      "A job of the {noun} is queued and not complete yet",
      undefined,
      "The next plan shows whether the job is complete. `timeouts` sets how long the apply waits.",
    ),
  ),
  "apply.waiting/payment": warning(texts("The {noun} is ordered and waits for the payment of its invoice", "{detail}")),
  "apply.waiting/not_done": warning(
    texts(
      "Not complete yet: {names} of the {noun}",
      STATE_HAS,
      "Apply again: the next plan contains the missing change.",
    ),
  ),
  "apply.waiting/applied": warning((given: Deferred) =>
    texts(deferred(given), STATE_HAS, `Apply again when the ${given.noun} is live.`),
  ),
  "apply.waiting/planned": warning((given: Deferred) => texts(deferred(given), undefined, "Apply again after that.")),
  "apply.waiting/unlisted": warning(
    texts(
      "The API lists the {noun}s of {waitsFor} only when the service is live",
      "Until then, the provider keeps the recorded values and creates no new object there.",
      "Pay the invoice of the service. Apply again when the service is live.",
    ),
  ),
  "apply.waiting/suspension": error(
    texts(
      "The suspension of {noun} {id} is queued and not complete yet",
      'Its deletion_policy is "suspend": Terraform removes the object from the state only after the suspension.',
      'Run the command again later, or allow more time: `timeouts = { delete = "20m" }`.',
    ),
  ),
  "apply.skipped/step": warning(
    texts(
      "{noun} {id} was created, but a step after it failed",
      "The state contains the completed steps. This is a warning, because Terraform would recreate the object after an error.",
      "Apply again: the next plan contains the missing steps.",
    ),
  ),
  "apply.drifted": warning(
    texts(
      "{name} of the {noun}: the API returned a different value than the provider sent",
      "The API returned {value}.",
      "The next plan shows the difference.",
    ),
  ),

  // Objects that several addresses, or several states, may hold.
  "plan.exists/declared_twice": error(({ what, noun }: Of & Noun) =>
    texts(
      `${what} belongs to another address of this state`,
      `Two addresses declare the same ${noun}. ${ONE_ADDRESS}`,
      RENAMED,
      "Otherwise, remove one of the two blocks, or declare other values.",
    ),
  ),
  "plan.exists/unseen": warning(({ what, seen, object }: Of & Words<"seen" | "object">) =>
    texts(
      `${what} already exists: this state contained it at ${seen}`,
      "If the state no longer contains the object (`terraform state rm`), the apply fails and creates nothing.",
      { do: "import", id: object, when: "this address must manage the object again" },
      RENAMED,
    ),
  ),
  "plan.exists/imported": error(({ what, seen }: Of & { seen: string | undefined }) =>
    texts(
      `${what} already belongs to another address of this state`,
      `${seen === undefined ? "" : `The provider last read the object there at ${seen}. `}${ONE_ADDRESS} Otherwise, a removal of one address would delete the object of the other address.`,
      RENAMED,
      "To import the object here instead, run `terraform state rm` with the other address, then `terraform plan` without an `import` block. Then import the object.",
    ),
  ),
  "plan.exists/two_addresses": error(
    texts(
      "{noun} {id} already belongs to another address of this state",
      ONE_ADDRESS,
      "To change the address of the object, use a `moved` block instead of the import.",
    ),
  ),
  "plan.exists/half": error(({ what, other, isUnseen }: Of & Words<"other"> & { isUnseen: boolean }) =>
    texts(
      `${what} was not deleted: its replacement already exists`,
      `The replacement is ${other}, and ${other} belongs to another address. ${isUnseen ? "The plan was created on another machine, or with another token" : "The plan does not include that address"}. The provider sent no request.`,
      "Plan and apply both addresses on this machine, without `-target`.",
    ),
  ),
  "plan.exists/in_the_way": warning(
    texts(
      "{noun} {id} already exists, and may be another object than the object that this resource replaces",
      "If this state does not contain the object, the apply orders nothing.",
      "If the state was lost, import the object.",
    ),
  ),
  "state.duplicate": either(
    ({ what, noun, instances, severity }: Of & Noun & { instances: number; severity: string }) =>
      texts(
        `${what} belongs to ${instances === 2 ? "two addresses" : `${instances} addresses`} of this state`,
        severity === "error"
          ? `Terraform destroys no address, because all of them refer to the same ${noun}.`
          : ONE_ADDRESS,
        "Run `terraform state rm` with the address that must not manage the object. Then plan with the other address declared, and apply.",
      ),
  ),
  "state.shared": warning(
    texts(
      "{what} is in two states",
      "This state: {here}. The other state: {there}, last read at {seen}. Each state reverts the changes of the other state.",
      "Remove the object from one of the two states: from this state with a `removed` block and `destroy = false`.",
      "If the other state is no longer used, ignore this warning.",
    ),
  ),
  "state.stranger/host": error(({ noun, id, operation }: Object & Words<"operation">) =>
    texts(
      `${noun} ${id} was recorded at another URL of the API`,
      `The object was not ${operation}: at another host, the same id is another object.`,
      operation === "refreshed"
        ? "Correct `base_url`. If the host has a new URL, run `terraform state rm` and import the object."
        : "Correct `base_url`. If the host has a new URL, apply once with a refresh. The refresh compares the objects.",
    ),
  ),
  "state.stranger/create": error(
    texts(
      "The create request of {what} was sent to another URL of the API",
      "The response was lost, and only that host can show the outcome. The provider sent no request here, because a request could create a second object.",
      "Correct `base_url`. If the host has a new URL, run `terraform state rm`. If the dashboard shows the object, import it.",
    ),
  ),
  "apply.replayed/moves": warning(({ what, isKept }: Of & { isKept: boolean }) =>
    texts(
      `${what} moves to another address of this state${isKept ? ": the apply sends no request for the object" : ", with other values: the apply deletes the object and creates it again"}`,
      "Terraform counts the object as added and destroyed.",
    ),
  ),
  "apply.replayed/moved": warning(({ what, isKept }: Of & { isKept: boolean }) =>
    texts(
      `${what} moved from another address of this state${isKept ? "; the apply sent no request for the object" : ", with other values: the apply deleted the object and created it again"}`,
    ),
  ),
  "apply.replayed/takes_over": warning(
    texts("{what} was removed from another address of this state: the apply adopts the object at this address"),
  ),
  "apply.waiting/at_old_address": error(({ what, hasFailed }: Of & { hasFailed: boolean }) =>
    texts(
      `${what} still belongs to its old address`,
      `The plan moves the object to another address. ${hasFailed ? "The apply failed" : "Terraform was stopped"} before the move. The provider sent no request: the object exists, and the state contains it.`,
      "Apply again: the apply completes the move.",
    ),
  ),
  "apply.waiting/left_over": warning(
    texts(
      "{what} exists, and belongs to no address of this state",
      "An apply removed the object from its old address, and ended before it recorded the object at its new address. The store on this machine still has the object's data.",
      "Declare the object again and apply. The apply adopts the object with its secret.",
      "If you do not need the object, delete it in the dashboard.",
    ),
  ),

  // Replacements and removals.
  "plan.immutable/late": error(
    texts(
      "{name} of {what} cannot be changed",
      "The {noun} was created without {name}; the configuration sets {value}. The API has no call that changes the {name} of a {noun}.",
      "Remove the attribute from the configuration.",
    ),
  ),
  "plan.immutable/reference": error(({ what, name }: Of & Words<"name">) =>
    texts(
      `reference of ${what} cannot be changed`,
      `The API identifies the order by its name ${JSON.stringify(name)}.`,
      "Restore the old reference in the configuration. Or set `replace_on_change = true` to order a new service (with its own invoice).",
    ),
  ),
  "plan.prevented/replacement": error(({ noun, id, canSuspend }: Object & { canSuspend: boolean }) =>
    texts(
      `${noun} ${id} cannot be replaced: its deletion_policy is "prevent"`,
      `The API cannot delete a ${noun}: the old ${noun} would stay in the account, and Terraform would stop managing it.`,
      `Set \`deletion_policy = "forget"\`${canSuspend ? ' (or "suspend")' : ""}, apply, then change the resource.`,
    ),
  ),
  "plan.exists/beside": error(
    texts(
      "{noun} {id} cannot be replaced",
      "The API cannot delete a {noun}: the account would contain the old {noun} and the new {noun}.",
      "Plan without `-replace`. If Terraform has marked the resource as tainted, run `terraform untaint`.",
    ),
  ),
  // Terraform destroys the old object first, because no host sells the same name twice.
  "plan.prevented/suspended_first": warning(
    texts(
      "The apply suspends the old {noun} before it orders the new {noun}",
      "If the API rejects the order (an invalid coupon, an unavailable plan), the old {noun} stays suspended without a replacement until an order succeeds.",
      'With `deletion_policy = "forget"`, the old {noun} stays online until you cancel it in the dashboard.',
    ),
  ),
  "plan.prevented/not_found": error(
    texts(
      "{address} cannot be removed: this account does not contain {noun} {id}",
      'Its deletion_policy is "prevent". The object may exist in another account.',
      "Check the token and the base URL of the provider. If the object no longer exists, replace its block by a `removed` block with `destroy = false`.",
    ),
  ),
  "plan.prevented/left_behind": warning(
    texts(
      "The replaced {noun} {id} still exists",
      "A run of hostform created the new {noun} and could not delete the old {noun}.",
      "The next change of this resource deletes the old {noun}. Or delete the old {noun} in the dashboard.",
    ),
  ),
  "terraform.reference/unknown": error(
    texts(
      "The `reference` of a replacement must be known at plan time",
      "Otherwise, Terraform would release {noun} {id} before the provider knows the name of the new order. Without a `reference`, the domain is the name.",
      "Set a value that is known at plan time.",
    ),
  ),
  "terraform.reference/same": error(
    texts(
      "A replacement needs a new `reference`",
      'The order of {noun} {id} has the name "{name}". The API would treat the new order as a repetition, and order nothing.',
      'Set `reference` to another name, for example "{name}-2". If the {noun} still exists, also set `replace_on_change = true`.',
    ),
  ),
  // One name is one order: a second resource with the same name would receive the service of the first resource.
  "config.duplicate/order": error(({ name, noun, id, isBlind }: Object & Words<"name"> & { isBlind: boolean }) =>
    texts(
      `The order "${name}" already exists in the state: ${noun} ${id}`,
      isBlind
        ? "A registered domain cannot be registered again."
        : "The Idempotency-Key is derived from the name. For a second order, the API would return the service of the first order.",
      `If the resource was renamed, add a \`moved\` block. If Terraform has marked the resource as tainted, run \`terraform untaint\`.${isBlind ? "" : " For two services, set another `reference` in the second resource."}`,
    ),
  ),
  "plan.offline": warning(({ what, noun, leaves }: Effect) =>
    texts(
      `The apply suspends ${what}, and the ${noun} goes offline`,
      leaves
        ? `Terraform calls the suspension "destroy", because the API cannot delete a ${noun}. The ${noun} stays in the account, and Terraform stops managing it.`
        : 'Terraform calls the suspension "update in-place".',
      leaves
        ? `To end the ${noun} permanently, cancel it in the dashboard.`
        : `To keep the ${noun} online, remove \`suspended\`.`,
    ),
  ),
  "plan.stays": warning(({ what, noun, isBilled }: Of & Noun & { isBilled: boolean }) =>
    texts(
      `${what} stays in the account${isBilled ? ", and the host still bills it" : ""}`,
      `Terraform shows "destroy", but the API cannot delete a ${noun}. Terraform only stops managing the ${noun}.`,
      `To end the ${noun}, cancel it in the dashboard.`,
    ),
  ),

  // Refreshes and imports.
  "plan.unread/ability": warning(
    texts(
      "Not compared with the account: recorded {nouns}",
      'The token lacks the ability "{ability}" (403). The plan uses the recorded values.{more}',
      "To compare them with the account, plan with a token that has this ability.",
    ),
  ),
  "plan.expired": warning(
    texts(
      "{what} no longer exists, and the apply does not create it again: {expired}",
      undefined,
      "Remove the resource, or set a later `expires_at`.",
    ),
  ),
  "apply.skipped/parent": warning(
    texts(
      "Skipped {what}: its {noun} {parent} no longer exists",
      undefined,
      "Remove both resources, or restore the {noun} first.",
    ),
  ),
  // Terraform combines warnings with the same summary: many objects give one warning.
  "account.unlisted": warning(
    texts(
      "No list shows a new {noun} yet",
      "{what} was created at {created}. The provider keeps the recorded values.",
      "No action is needed. After `list_lag`, a plan shows the account again.",
    ),
  ),
  usage: error(({ noun, parent, id, example }: Noun & Words<"parent" | "id" | "example">) =>
    texts(
      `The import id of a ${noun} is ${parent}/ID`,
      `The given id is ${JSON.stringify(id)}.`,
      `Example: \`terraform import ${example}\`.`,
    ),
  ),
  "plan.gone/import": error(
    ({
      noun,
      id,
      how,
      type,
      name,
      isListed,
      isNested,
    }: Object & Words<"how" | "type" | "name"> & { isListed: boolean; isNested: boolean }) =>
      texts(
        `${noun} ${id} ${how}`,
        `${isListed ? "The API lists the object as ended, so Terraform cannot manage it." : "The account of this provider configuration does not contain the object."}${isNested ? "" : ` The import id of a ${noun} is its \`id\` or its \`${name}\`.`}`,
        `Correct the id; the data source \`${type}s\` lists the existing ones. Or use the provider configuration (token) of the account that contains the object.`,
      ),
  ),
  "account.foreign/identity": error(
    texts(
      "The identity of {what} is of another account: its origin is {given}, and the provider uses {access}",
      "Each API has its own ids.",
      "Use the provider configuration of that account, or remove `origin` from the identity.",
    ),
  ),
  "secret.output/outside": warning(
    texts(
      "The {name} of {address} will be written to {real}",
      "The path is outside of the project. `outside_project` allows this.",
    ),
  ),
  "secret.output/folder": warning(
    texts(
      "The folder {missing} for the {name} of {address} does not exist",
      "Without the folder, the apply fails before the request.",
      "Create the folder before the apply.",
    ),
  ),
} satisfies Catalogue;

export const problem = problemsOf(messages);

/** Throws the diagnostics as a HostformError. */
export function refuse(...diagnostics: readonly Diagnostic[]): never {
  throw new HostformError(diagnostics);
}
