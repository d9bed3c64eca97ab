/** Texts of the provider about its configuration, values on the wire, data sources and actions. */
import { type Catalogue, either, error, type Words, warning } from "../../core/messages/message.ts";
import { type Condition, counted, type Diagnostic, type Remedy } from "../../core/model/index.ts";

export const texts = <
  const Summary extends string,
  const Detail extends string | undefined,
  const Remedies extends readonly Remedy[],
>(
  summary: Summary,
  detail?: Detail,
  ...remedies: Remedies
): { readonly summary: Summary; readonly detail?: Detail; readonly remedies?: Remedies } => ({
  summary,
  ...(detail !== undefined && { detail }),
  ...(remedies.length > 0 && { remedies }),
});

const PROJECT_FORM = "Use 1 to 64 letters, digits, `.`, `_` and `-`, beginning and ending with a letter or digit.";
const REPORT = "Run the command again. If it fails again, report the command and its output.";
const BACKUP =
  "Restore the state from a backup. Or remove the resource with `terraform state rm` and import the object again.";

/** `what`: kind, id and name of an object. */
type Of = Words<"what">;
type Place = { readonly place: string | undefined };
/** `file`: file with a password whose destination failed. */
type Recovered = Words<"place"> & { file: string | undefined; reason: Diagnostic | undefined };
const OTHER_SERVICE = "No request was sent: in another account, the same id is another service.";
const IMPORT_INSTEAD =
  "Replace the `moved` block by a `removed` block with `destroy = false` for the old resource, and an `import` block for the new resource.";

export const settings = {
  // The provider's configuration.
  "config.invalid_value/project": error(
    texts(
      "project: expected the name of a project",
      "The Idempotency-Key of every order is derived from the project. Do not change the project after the first order.",
      PROJECT_FORM,
    ),
  ),
  "config.invalid_value/project_variable": error(
    texts("The environment variable HOSTFORM_PROJECT is not the name of a project", undefined, PROJECT_FORM),
  ),
  "config.invalid_value/setting": error(
    texts("{path}: {message}", undefined, "Correct the value; the provider's page describes the setting."),
  ),
  "config.secret": error(
    texts(
      '"{name}" holds an API token',
      undefined,
      "Set `token` from a sensitive variable, or remove the attribute and set the environment variable HOSTING_TOKEN. If you shared the file, revoke the token.",
    ),
  ),
  "config.duplicate/token": error(
    texts("{first} and {second} both set the API token", undefined, "Set only one of them."),
  ),
  "provider.base_url": error(
    texts(
      "The provider has no base URL",
      undefined,
      "Set `base_url` in the provider block, or the environment variable HOSTING_BASE_URL. To try without an account: `hostform sandbox`.",
    ),
  ),
  "provider.token": warning(texts("Other users can read the token file", "{file}", "`chmod 600 {word}`.")),
  "trust.untrusted": error(
    texts(
      "HOSTFORM_UNTRUSTED is set, but Terraform runs the programs in a configuration",
      "The provider cannot restrict an untrusted configuration. No request was sent.",
      "If you trust the configuration, unset HOSTFORM_UNTRUSTED. To plan an untrusted stack in JSON, use hostform without Terraform.",
    ),
  ),
  "mandate.required": error(
    texts(
      "HOSTFORM_APPROVERS is set, but Terraform knows no mandates",
      "Nothing changes the account without a mandate. No request was sent.",
      "Apply the configuration without Terraform and with a mandate.",
    ),
  ),
  // No attribute: Terraform would search for the attribute in the resource of the call.
  "terraform.not_known": error(({ names }: { names: readonly string[] }) =>
    texts(
      `The provider's ${names.map((name) => `\`${name}\``).join(", ")} ${names.length === 1 ? "is" : "are"} known only after apply`,
      "The value depends on a resource that does not exist yet, and the plan must read the account.",
      "Set a value that is known at plan time, or apply that resource first: `terraform apply -target=…`.",
    ),
  ),
  "internal/not_configured": error(
    texts(
      "The provider is not configured",
      "Terraform sent a call that needs the account before it configured the provider.",
      REPORT,
    ),
  ),
  "internal/defect": error(
    texts(
      "The provider has a defect",
      "{summary}",
      "Report the defect, with the command and the output of `TF_LOG=debug`. No record is lost: apply again.",
    ),
  ),
  "internal/absent": error(texts("This provider has no {what}")),
  "terraform.install": error(
    texts(
      "The Terraform provider of the npm package cannot be installed on Windows",
      "Terraform starts the provider by a shell script, and Windows cannot run shell scripts.",
      "Install the provider with the single executable, hostform.exe (docs/install.md). It needs no Node.js.",
    ),
  ),

  // Values on the wire. No text repeats a value, which may be secret.
  "internal/written": error(
    texts(
      "The provider returned a value that does not match its schema: {place}",
      "Expected {expected}.",
      "Report the command and its output.",
    ),
  ),
  "internal/unread": error(
    texts(
      "The provider cannot read a value that Terraform sent",
      "{words}",
      "Run the command again. If it fails again, report the command and the versions of Terraform and the provider.",
    ),
  ),
  "config.invalid_value/form": error(
    texts("{place}: expected {expected}, found {found}", undefined, "Set {expected}."),
  ),
  "config.invalid_value/proto": error(
    texts("A map has the key __proto__, and the provider cannot send this key", undefined, "Rename the key."),
  ),
  "state.unreadable/attribute": error(texts("The state of {place} cannot be read: {why}", undefined, BACKUP)),
  "state.unreadable/private": error(
    texts(
      "The private data of this resource in the state is corrupted",
      "The field `private` of the instance must be a JSON object from the provider.",
      BACKUP,
    ),
  ),
  "state.newer": error(({ noun, version }: Words<"noun"> & { version: bigint }) =>
    texts(
      `A newer provider wrote the state of this ${noun} (schema version ${version})`,
      undefined,
      "Use that version of the provider or a later version.",
    ),
  ),

  // Moves from other providers.
  "terraform.move/source": error(({ source, sources }: Words<"source"> & { sources: readonly string[] }) =>
    texts(
      `The provider cannot move the state of ${source}`,
      `It can move the state of ${sources.join(", ")}.`,
      IMPORT_INSTEAD,
    ),
  ),
  "terraform.move/kind": error(({ path, noun, found }: Words<"path" | "noun"> & { found: string | undefined }) =>
    texts(
      `The restapi_object does not manage a ${noun}`,
      `Its path is ${JSON.stringify(path)}.`,
      found === undefined ? IMPORT_INSTEAD : `Move it to a ${found}.`,
    ),
  ),
  "terraform.move/no_id": error(({ source, noun, parent }: Words<"source" | "noun"> & { parent: string | undefined }) =>
    texts(
      `The state of ${source} does not contain the id of a ${noun}`,
      `A move needs the id, so that the provider never orders or creates a second object. ${source === "restapi_object" ? "The id is the attribute `id`" : `The provider reads ${parent === undefined ? "`id`" : `\`id\` and \`${parent}\``} in \`${source === "null_resource" ? "triggers" : "input` or `triggers_replace"}\``}.`,
      IMPORT_INSTEAD,
    ),
  ),
  "terraform.move/unread": error(
    texts(
      "{noun} {id} was moved from another provider, and must be read first",
      "The state contains only its id.",
      "Plan without `-refresh=false`.",
    ),
  ),

  // The configuration of a resource or a data source.
  "terraform.too_old": error(
    texts(
      "{name} needs Terraform 1.11 or later (OpenTofu 1.11)",
      "The attribute is write-only: an older Terraform would write the value to the plan and the state.",
      "Use a newer Terraform. Or remove {name} and set the value in the dashboard.",
    ),
  ),
  "config.computed": error(({ name, of, near }: Words<"name" | "of"> & { near: string | undefined }) =>
    texts(
      `\`${name}\` is set by the API and cannot be declared`,
      undefined,
      // Example: `plan = 11` instead of `plan_id`.
      `Remove the attribute. To use its value elsewhere, write \`${of}.${name}\`.${near === undefined ? "" : ` Did you mean \`${near}\`?`}`,
    ),
  ),
  "config.invalid_value/duration": error(({ name, value }: Words<"name" | "value">) =>
    texts(
      `timeouts.${name}: expected a duration such as "90s", "20m" or "1h30m"`,
      `The value is ${JSON.stringify(value.slice(0, 80))}.`,
    ),
  ),
  "config.missing_attribute/value": error(
    texts(
      "{name}: expected a value, found {found}",
      undefined,
      "Set `{name}`. If the attribute is optional, you can omit it (null).",
    ),
  ),
  "config.missing_attribute/action_secret": error(
    texts(
      "`password` or `secret_output` is required, and neither has a value",
      "If `password` is set, its value is ephemeral: with `-invoke`, Terraform removes it before it invokes the action.",
      "Set one of them. With `-invoke`, set `password` from a variable that is sensitive and not ephemeral.",
    ),
  ),
  "config.invalid_value/action_password": error(
    texts(
      "A service of type {type} needs `{right}`, not `{wrong}`",
      "The host generates the password only for Root VPS and Virtual Desktop.",
      "Replace `{wrong}` by `{right}`.",
    ),
  ),
  "config.missing_attribute/one_of": error(texts("{words} is required", undefined, "Set {words}.")),
  "config.invalid_value/one_of": error(
    texts("Only one of {words} can be set", undefined, "Remove one of the attributes."),
  ),
  "config.invalid_value/word": error(
    ({ name, given, words, more }: Words<"name" | "given" | "more"> & { words: readonly string[] }) =>
      texts(
        `There is no ${name} ${JSON.stringify(given)}`,
        undefined,
        `Set one of ${words.map((word) => `\`${word}\``).join(", ")}. ${more}`.trimEnd(),
      ),
  ),
  "config.invalid_value/domain": error(
    texts("{name} is not a domain name{why}", undefined, "Example of a domain name: acme.example."),
  ),

  // Actions.
  "terraform.action/suspend": warning(
    texts(
      "The action suspends {what}, and the service goes offline",
      "A resource with `suspended = false` for this service ends the suspension at its next apply.",
      "To keep the service online, remove the action from `-invoke` or `action_trigger`. To suspend it permanently, set `suspended = true` in its resource.",
    ),
  ),
  "terraform.action/unsuspend": warning(
    texts(
      "The action ends the suspension of {what}",
      "A resource with `suspended = true` for this service suspends it again at its next apply.",
    ),
  ),
  "terraform.action/reset_password": warning(({ what, place }: Of & Place) =>
    texts(
      `The action sets a new password for ${what}, and the old password becomes invalid`,
      place && `The host generates the password, and the provider writes it to ${place}.`,
    ),
  ),
  "terraform.action/open_panel": warning(
    texts(
      "The action requests a one-time URL for the control panel of {what}",
      "The URL goes to {place}. It signs on anyone who opens it.",
    ),
  ),
  "terraform.action/domain": error(
    texts(
      "The action expects the domain {domain}, and finds {what}",
      "No request was sent.",
      "Correct `service_id` or `domain`, or use the account of the service.",
    ),
  ),
  "terraform.action/other": error(
    texts(
      "The {source} contains {known}, and the account contains {what}",
      OTHER_SERVICE,
      "Correct `base_url` and the token. If the host changed the service, refresh the state and plan again.",
    ),
  ),
  "terraform.action/unplanned": error(
    texts(
      "No plan on this store contains the action on {what}",
      OTHER_SERVICE,
      "Use the account, the folder and the store of the plan. Or set `domain` in the action and plan again.",
    ),
  ),
  "terraform.action/new": warning(
    texts(
      "The plan cannot check the action, because the service has no id yet",
      "The action fails after the order if the invoice must be paid first. A policy judges the action after the order.",
      "Use `-invoke` when the service is live.",
    ),
  ),
  "terraform.action/reset_open": warning(
    texts(
      "The last password reset of {what} has no known result",
      "The old password may be invalid, and `secret_output` may contain it.",
      "Invoke the action again.",
    ),
  ),
  "terraform.action/lost": error(({ what, place }: Of & Place) =>
    texts(
      `The response about the new password of ${what} was lost`,
      `The old password may be invalid.${place ? ` The old password may still be in ${place}.` : ""}`,
      "Invoke the action again: a repeated reset is safe.",
    ),
  ),
  "terraform.action/unneeded": warning(
    texts("{what} is already {done}: the action sends a request only if this changes before the invocation"),
  ),
  "terraform.action/stuck": error(({ what, reasons }: Of & { reasons: readonly Condition[] }) =>
    texts(
      `The action cannot change ${what}`,
      reasons.flatMap(({ summary, detail }) => [`${summary}.`, detail ?? []].flat()).join(" "),
      ...reasons.flatMap(({ remedies }) => remedies ?? []),
    ),
  ),
  "terraform.action/early": either(({ what }: Of & { severity: Diagnostic["severity"] }) =>
    texts(
      `${what} is not live yet, and the action needs a live service`,
      undefined,
      "Invoke the action when the service is live.",
    ),
  ),
  "terraform.action/ended": error(
    texts("{what} has ended (status {status})", "No request was sent.", "Correct `service_id`, or remove the action."),
  ),
  "terraform.action/job": warning(
    texts(
      "The host accepted the request about {what}, and its job is not complete yet",
      undefined,
      "The next plan reads the status. Do not invoke the action again before that.",
    ),
  ),
  "terraform.action/browser": error(
    texts(
      "The browser could not be opened: {failure}",
      "The one-time URL was not used, and no output contains it.",
      "Run Terraform on a machine with a browser, or set `secret_output`.",
    ),
  ),
  "secret.output/action": error(({ what, place, file, reason }: Of & Recovered) =>
    texts(
      `The new password of ${what} could not be written to ${place}`,
      [reason?.detail, file && `The password is in the file ${file}, which only you can read.`]
        .filter(Boolean)
        .join(" "),
      file === undefined
        ? "Correct `secret_output` and invoke the action again: the host generates another password."
        : `Move the password to its place and delete ${file}. Or correct \`secret_output\` and invoke the action again.`,
    ),
  ),

  // Lookups of data sources.
  "terraform.lookup/none": error(texts("There is no {what}", undefined, "{fix}")),
  "terraform.lookup/several": error(texts("There is more than one {what}", "Found: {found}.", "{fix}")),

  // List resources, and configuration generated from them.
  "terraform.lookup/limit": warning(
    ({ noun, limit, total }: Words<"noun"> & { limit: number; total: number | undefined }) =>
      texts(
        `The list ends after ${counted(limit, noun)}: ${total === undefined ? `more ${noun}s match` : `${total} match`}`,
        undefined,
        `Set \`limit = ${total ?? limit * 10}\` in the \`list\` block, beside \`provider\`, or set more filters in \`config\`.`,
      ),
  ),
  "terraform.lookup/requests": error(
    texts(
      "The {noun}s of {count} {parents} take {count} requests; max_requests allows {most}",
      "The API allows 60 requests a minute for a token.",
      "Select fewer {parents} with `domain`, or set `max_requests = {count}`.",
    ),
  ),
  "apply.waiting/hidden": warning(
    texts("The list lacks the {noun}s of {of}", "The API lists them only when the service is live."),
  ),
  "config.missing_attribute/generated": warning(
    texts(
      "The configuration of {what} has no {names}",
      "{why}",
      "Set {names} in the generated block before you plan. The data source `hosting_plans` lists the hosting plans.",
    ),
  ),
} satisfies Catalogue;
