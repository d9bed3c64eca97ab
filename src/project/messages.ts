/**
 * Catalogue of messages about a project. The texts contain no command and no option: a remedy is data, and each front end
 * renders it as a command.
 */

import {
  type Catalogue,
  either,
  error,
  problemsOf,
  type Raise,
  raiseOf,
  type Words,
  warning,
} from "../core/messages/message.ts";
import { type Remedy, some } from "../core/model/index.ts";

const NEW_PLAN = { do: "advise", on: "new_plan" } as const;
const TRUST = { do: "advise", on: "trust_author" } as const;
const RESOLVE = { do: "resolve" } as const;

/** Returns a remedy that is advice. @param on Topic. @param words Parameters of the text. */
const advise = <const On extends string>(on: On, ...[name, other]: readonly string[]) =>
  ({ do: "advise", on, ...(name !== undefined && { name }), ...(other !== undefined && { other }) }) as const;

type File = Words<"file">;

const messages = {
  "config.by_hand/invalid": error({
    summary: "No file was written: the edited declaration has errors",
    remedies: ["Correct the command, or edit the declaration by hand."],
  }),
  "config.by_hand/used": error({
    summary: "No file was written: {user} uses {used}",
    remedies: ["First remove {user}, or its reference."],
  }),
  "config.by_hand/declared": error(({ text, address }: Words<"text" | "address">) => ({
    summary: text === address ? `${text} is already declared` : `${text} is already declared as ${address}`,
    remedies: ["Pass another name, or change the existing block."],
  })),
  "config.by_hand/domain": error(({ domain, declared, fix }: Words<"domain" | "declared" | "fix">) => ({
    summary: `No file was written: the template makes the domain ${declared} from ${domain}`,
    remedies: [fix === "" ? "Pass another domain, or declare the service by hand." : `Pass ${fix}.`],
  })),
  "config.by_hand/name": error(({ address, domain, renamed }: Words<"address" | "domain" | "renamed">) => ({
    summary: `No file was written: the domain of ${address} would become ${renamed}`,
    remedies: [`Declare the domain ${domain} without \`\${name}\` first.`],
  })),
  "config.by_hand/effect": error(({ others }: { readonly others: readonly string[] }) => ({
    summary: `No file was written: the edit would also change ${some(others)}`,
    remedies: ["Edit the shared lines by hand."],
  })),
  "config.by_hand/environments": error(({ names }: { readonly names: readonly string[] }) => ({
    summary: `No file was written: the change would apply to all environments (${names.join(", ")})`,
    remedies: ["Declare the value as a variable, and set the variable in one environment."],
  })),
  "plan.address": error({
    summary: "{text} is not declared.{near}",
    remedies: ["Pass the address of a resource, or the domain of a service."],
  }),
  "plan.address/several": error(({ text, addresses }: Words<"text"> & { readonly addresses: readonly string[] }) => ({
    summary: `${text} is the domain of ${some(addresses)}`,
    remedies: ["Pass the address of one resource."],
  })),
  "plan.address/person": error({
    summary: "{email} has no grant.{near}",
    detail: "The declaration, the state and the {searched} in the account have no grant of this person.",
    remedies: ["Pass the e-mail address of a grant."],
  }),
  "usage/not_service": error({
    summary: "{address} is not a service",
    remedies: ["Pass the domain or the address of a service."],
  }),
  "usage/email": error({
    summary: "{email} is not an e-mail address",
    remedies: ["Pass the e-mail address of a person."],
  }),
  "usage/split": error({
    summary: "Nothing was moved: {why}",
    remedies: ["Correct the command, or move the blocks and the state entries by hand."],
  }),
  "usage/split_nothing": error({
    summary: "Nothing was moved: {what} has no block",
    remedies: [
      "Pass a file, a client or a project with blocks.",
      "If an earlier run was interrupted: the move is complete if the plans of both projects have no changes.",
    ],
  }),
  "usage/rename": error({
    summary: "{to} is not a new name",
    remedies: ["Pass a name, or an address of the same type without a key."],
  }),
  "usage/base": error({ summary: "The base {ref} {why}", remedies: ["{fix}", "Or plan without a base."] }),
  "usage/base_alone": error({
    summary: "A base cannot be combined with {other}",
    detail: "With a base, the plan contains all changes since the commit.",
    remedies: ["Pass either a base or {other}."],
  }),
  "usage/base_of_stack": error({
    summary: "A base requires a declaration in YAML, but this project is a stack",
    remedies: ["Plan without a base, or select targets."],
  }),
  "trust.untrusted/base": error({
    summary: "A base cannot be combined with an untrusted declaration",
    detail: "A base runs git in the repository of the declaration.",
    remedies: ["Plan without a base. To read only objects that differ from the state, refresh only changed resources."],
  }),
  "usage/refresh_budget": error({
    summary: "A budget for reads requires a refresh of all objects",
    detail: "Other refresh modes read only the objects that a plan needs, so a budget cannot limit them.",
    remedies: ["Remove the budget, or refresh all objects."],
  }),
  "usage/environments": error(({ names }: { readonly names: readonly string[] }) => ({
    summary: `This project has environments: ${names.join(", ")}`,
    detail: "Each environment has its own account and state.",
    remedies: [advise("choose_environment")],
  })),
  "trust.untrusted/environments": warning(({ folder, isSet }: Words<"folder"> & { readonly isSet: boolean }) => ({
    summary: `The environments in ${folder} of the untrusted project are not read`,
    remedies: isSet ? [] : ["Set HOSTFORM_ENVIRONMENTS to the same folder of the main branch."],
  })),
  "usage/two_states": error(() => ({
    summary: "A state file is selected, but the declaration has a backend",
    detail: "A state can have only one location.",
    remedies: [advise("one_state")],
  })),
  "usage/months": error(({ most }: { readonly most: number }) => ({
    summary: `The number of months is not a whole number from 1 to ${most}`,
    remedies: ["Pass a number such as 12."],
  })),
  "usage/untrusted": error({
    summary: "{work} is not allowed for an untrusted declaration",
    detail: "An untrusted declaration can only be validated and planned.",
    remedies: ["Run the command in a job that trusts the declaration."],
  }),
  "usage/untrusted_app": error(() => ({
    summary: "The app is a program of the untrusted project, so it is not run",
    remedies: [advise("synthesize_elsewhere")],
  })),
  "trust.file/outside": error(({ file, isNamable }: File & { readonly isNamable: boolean }) => ({
    summary: `${file} is outside the project, so it is not read`,
    remedies: ["Replace it by a file inside the project.", ...(isNamable ? [advise("name_file")] : [])],
  })),
  "trust.file/link": error({
    summary: "{file} is a link, which is not allowed in an untrusted project",
    remedies: ["Replace the link by the file."],
  }),
  "trust.file/irregular": error({
    summary: "{file} is not a regular file",
    remedies: ["Replace it by a regular file."],
  }),
  "trust.file/detour": error({
    summary: "{file} is outside the project, because it uses a link",
    remedies: ["Use the path of the link's target."],
  }),
  "trust.file/policy": error({
    summary: "The policy {file} is in the untrusted project",
    remedies: ["Use the policy of the main branch, in another folder."],
  }),
  "trust.file/proposed": error({
    summary: "The declaration names {file}, which is outside the project",
    detail: "An agent can change the declaration, so it can name only files in the project.",
    remedies: [
      "Move the file into the project. Or set the token in HOSTING_TOKEN, and name the state where the server starts.",
    ],
  }),
  "trust.file/state": error({
    summary: "The state {file} is outside the project",
    remedies: ["Remove this setting from the declaration, and set it in the environment.", TRUST],
  }),
  "trust.untrusted/setting": error({
    summary: "The untrusted declaration {what}",
    remedies: ["Remove this setting from the declaration, and set it in the environment.", TRUST],
  }),
  "trust.untrusted/backend": error(({ type }: Words<"type">) => ({
    summary: `The untrusted declaration has the backend ${type}`,
    remedies: [advise("copy_state")],
  })),
  "trust.untrusted/channels": warning({
    summary: "A run of an untrusted declaration sends no notifications, so `notify` is not used",
  }),
  "notify.failed": warning(({ channel, failure, fix }: Words<"channel" | "failure"> & { fix: readonly Remedy[] }) => ({
    summary: `The notification to ${channel} failed: ${failure}`,
    remedies: [...fix, "Then send a test notification."],
  })),
  "notify.failed/none": error({
    summary: "The project has no channel for notifications",
    remedies: ["Add a channel under `notify`, or set HOSTFORM_NOTIFY to a URL or a program."],
  }),
  "trust.untrusted/scale": error({
    summary: "The untrusted declaration sets the scale of amounts (money_scale) for the provider {alias}",
    remedies: [
      "Remove money_scale, and set HOSTING_MONEY_SCALE where HOSTING_BASE_URL is set. You can keep money_scale if it equals HOSTING_MONEY_SCALE.",
    ],
  }),
  "trust.untrusted/budget": error({
    summary: "The untrusted declaration sets more than 60 requests a minute for the provider {alias}",
    remedies: ["Set at most 60. With more, the host rejects requests of other programs with this token."],
  }),
  "trust.untrusted/words": error({
    summary:
      "The untrusted declaration changes the meaning of a known status (status_words: {word}) for the provider {alias}",
    remedies: ["Map only status words that hostform does not know.", TRUST],
  }),
  "trust.untrusted/variable": error(({ name }: Words<"name">) => ({
    summary: `The untrusted stack reads the environment variable TF_VAR_${name}`,
    remedies: [advise("give_variable", name), "If the variable is not secret, add its name to HOSTFORM_ENV_ALLOW."],
  })),
  "stack.files/none": error(({ file }: File) => ({
    summary: `No *.tf.json was found in ${file}`,
    remedies: [advise("synthesize")],
  })),
  "stack.manifest/circle": error({
    summary: "The dependencies of the stacks form a cycle: {names}",
    remedies: ["Remove one of the references between these stacks."],
  }),
  "stack.variables/stray": error(({ name }: Words<"name">) => ({
    summary: `None of the stacks declares a variable ${JSON.stringify(name)}`,
    remedies: [advise("stray_variable")],
  })),
  "stack.variables/arguments": error(({ name, option }: Words<"name" | "option">) => ({
    summary: `${name} sets Terraform's \`-${option}\`, which hostform does not apply`,
    detail: "Without it, hostform and Terraform would apply the same stack differently.",
    remedies: [advise("own_arguments", name)],
  })),
  "stack.remote_state/unapplied": error(({ stack, sibling }: Words<"stack" | "sibling">) => ({
    summary: `Stack ${stack} refers to stack ${sibling}, which has not been applied yet`,
    detail: `The outputs of ${sibling} are unknown until the stack is applied.`,
    remedies: [advise("apply_first", sibling, stack)],
  })),
  "usage/stack": error(({ meant, names }: Words<"meant" | "names">) => ({
    summary: `Unknown stack ${meant}`,
    detail: `The stacks are ${names}.`,
    remedies: [advise("name_stack")],
  })),
  "plan.address/unknown": error({
    summary: "{name} cannot be {purpose}: no such resource is declared or in the state.{meant}",
    remedies: ["Pass the address as a plan shows it."],
  }),
  "plan.saved/unfit": error(({ held }: { readonly held: readonly string[] }) => ({
    summary: "The plan cannot be applied as a whole",
    detail: `Skipped resources: ${some(held)}.`,
    remedies: ["Apply the other changes alone."],
  })),
  "plan.saved/unread": error(({ unread = [] }: { readonly unread?: readonly string[] }) => ({
    summary: "The plan is only for reading",
    detail: `The token lacks the ability "technical", and cannot read ${some(unread)}.`,
    remedies: ['Plan with a token that has the ability "technical".'],
  })),
  "plan.saved/unreadable": error(({ file, reason }: File & Words<"reason">) => ({
    summary: `The plan ${file} cannot be read: ${reason}`,
    remedies: [advise("plan_file")],
  })),
  "plan.saved/file": error({ summary: "{file} {what}", detail: "{detail}", remedies: [NEW_PLAN] }),
  "plan.saved/stale": error({ summary: "{summary}", detail: "{detail}", remedies: [NEW_PLAN, "No request was sent."] }),
  "usage/place": error(({ file, detail, holds }: File & Words<"detail" | "holds">) => ({
    summary: `The ${holds} cannot be ${holds === "plan" || holds === "mandate" ? "saved as" : "written to"} ${file}`,
    detail: `${detail} Nothing was changed.`,
    remedies: [
      holds === "plan" || holds === "report"
        ? advise(holds === "plan" ? "name_plan" : "name_report")
        : `Name another file, such as acme.${holds}.`,
    ],
  })),
  "state.backend/forgotten": error(({ file }: File) => ({
    summary: "The backend has no state yet, but the project's folder has a state file",
    detail: `The declared backend replaces ${file}, which is no longer used.`,
    remedies: [advise("push_state", file)],
  })),
  "state.backend/none": error({
    summary: "The state cannot be migrated: the declaration has no remote backend",
    remedies: ["Add `backend` with `http`, `pg` or `s3` to the declaration."],
  }),
  "monitor.telemetry": warning({
    summary: "OTEL_EXPORTER_OTLP_ENDPOINT is set, but the packages of OpenTelemetry are not installed",
    remedies: [
      "Run `npm install @opentelemetry/api @opentelemetry/sdk-node` where hostform is installed, or unset the variable. A single executable cannot load packages.",
    ],
  }),
  "state.backend/settings": error({
    summary: "The backend s3 lacks settings, or has settings that are not valid",
    detail: "{issues}.",
    remedies: ["Set bucket, key and region, or AWS_REGION."],
  }),
  "state.backend/credentials": error(({ profile }: { readonly profile: string | undefined }) => ({
    summary: "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set",
    detail: "hostform reads the credentials of the bucket only from the environment.",
    remedies: [
      `Set them, or run: eval "$(aws configure export-credentials --profile ${profile ?? "NAME"} --format env)"`,
    ],
  })),
  "state.backend/http": error({
    summary: "Plain http to {host} would expose the state to the network",
    detail: "http is accepted for loopback addresses only.",
    remedies: [
      "Use https.",
      { do: "allow", limits: [{ limit: "insecure_http" }], when: "the connection is protected in another way" },
    ],
  }),
  "state.backend/storage": either({
    summary: "`{call}` of the state failed",
    detail: "{place}: {reason}.",
    remedies: ["Fix the storage. After an error of `release`, the state can stay locked."],
  }),
  "state.unwritable/kept": warning(({ file }: File) => ({
    summary: `The state of this run is in ${file}`,
    detail: "The backend has only a part of this state. The file may contain secrets; only you can read it.",
    remedies: [advise("push_kept", file)],
  })),
  "state.unwritable/lost": warning({
    summary: "The state of this run could not be saved in the backend or in a file",
    detail: "{reason}",
    remedies: ["Plan again. The plan finds new objects in the account, so you can import them."],
  }),
  "terraform.export/encrypted": warning(({ engine }: Words<"engine">) => ({
    summary: "The state is encrypted, and Terraform cannot read it",
    remedies: [
      engine === "tofu" ? "Use OpenTofu, which reads it with the same TF_ENCRYPTION." : advise("decrypt_state"),
    ],
  })),
  "plan.pending/adoption": error({
    summary: "Nothing was adopted: {names} may exist in the account, but the state has no id",
    remedies: [{ do: "apply_again" }, RESOLVE],
  }),
  "plan.pending/forgotten": error({
    summary: "{address} was not removed from the state: it may have been ordered",
    detail: "The state entry prevents a second order.",
    remedies: [RESOLVE],
  }),
  "plan.address/not_pending": error({
    summary: "The state has no resource {name}.{meant}",
    remedies: [{ do: "see", what: "pending" }],
  }),
  "api.not_found/candidate": error({ summary: "Nothing was changed: {noun} {id} does not exist", remedies: [RESOLVE] }),
  "usage/no_list": error({
    summary: "hostform cannot wait for the {noun}: the API has no call that shows it",
    remedies: [RESOLVE],
  }),
  "usage/recorded": error(({ address, noun, recorded, id }: Words<"address" | "noun" | "recorded" | "id">) => ({
    summary: `${address} is already in the state, as ${noun} ${recorded}`,
    remedies: [
      recorded === id ? "No action is needed." : { do: "forget", why: "replace", when: `${id} is the right ${noun}` },
    ],
  })),
  "usage/adopt_files": error(() => ({
    summary: "An adoption writes all files of a folder, so single files and stacks are not supported",
    remedies: [advise("adopt_folder")],
  })),
  "usage/adopt_format": error(({ format }: Words<"format">) => ({
    summary: `The format ${format} requires a folder without a declaration in YAML`,
    remedies: [advise("export")],
  })),
  "usage/no_clients": error(() => ({
    summary: "A client is selected, but no file assigns services to clients, and the API has no clients",
    remedies: [advise("clients_file")],
  })),
  "usage/unmatched": error({
    summary: "The pattern {pattern} matches no domain of the account",
    remedies: [{ do: "see", what: "services" }],
  }),
  "file.refused/kept": error({
    summary: "The lists that the API returned cannot be saved: {reason}",
    detail: "{file}",
    remedies: ["Free disk space.", { do: "name_state" }],
  }),
} satisfies Catalogue;

export const problem = problemsOf(messages);

/** Throws a message of the catalogue. */
export const raise: Raise<typeof messages> = raiseOf(messages);
