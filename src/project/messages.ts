/** The catalogue of the messages that only a project has. It names no command and no option: remedies are data. */

import { type Catalogue, error, type Given, problemsOf, type Words, warning } from "../core/messages/message.ts";
import { HostformError, some } from "../core/model/index.ts";

const NEW_PLAN = { do: "advise", on: "new_plan" } as const;
const TRUST = { do: "advise", on: "trust_author" } as const;
const RESOLVE = { do: "resolve" } as const;

/** @param on the advice. @param words of the advice. */
const advise = <const On extends string>(on: On, ...[name, other]: readonly string[]) =>
  ({ do: "advise", on, ...(name !== undefined && { name }), ...(other !== undefined && { other }) }) as const;

type File = Words<"file">;

const messages = {
  "usage/base": error(({ ref, why, fix }: Words<"ref" | "why" | "fix">) => ({
    summary: `The base ${ref} ${why}`,
    remedies: [fix, "Or plan without a base."],
  })),
  "usage/base_alone": error(({ other }: Words<"other">) => ({
    summary: `A base cannot be combined with ${other}`,
    detail: "The plan contains all changes since the commit.",
    remedies: ["Pass one of them."],
  })),
  "usage/base_of_stack": error(() => ({
    summary: "A base compares declarations in YAML, and this is a stack",
    remedies: ["Plan without a base, or name targets."],
  })),
  "trust.untrusted/base": error(() => ({
    summary: "A base cannot be combined with an untrusted declaration",
    detail: "It runs git in the repository of the declaration.",
    remedies: [
      "Plan without a base. A refresh of the changes reads only what the declaration changes against the state.",
    ],
  })),
  "usage/refresh_budget": error(() => ({
    summary: "A budget for reads needs a refresh of everything",
    detail: "A smaller refresh always reads the objects that the plan changes, and no others.",
    remedies: ["Pass one of them."],
  })),
  "usage/environments": error(({ names }: { readonly names: readonly string[] }) => ({
    summary: `This project has environments: ${names.join(", ")}`,
    detail: "Each has its own account and state.",
    remedies: [advise("choose_environment")],
  })),
  "trust.untrusted/environments": warning(({ folder, isSet }: Words<"folder"> & { readonly isSet: boolean }) => ({
    summary: `The environments in ${folder} of the untrusted project are not read`,
    remedies: isSet ? [] : ["Set HOSTFORM_ENVIRONMENTS to the same folder of the main branch."],
  })),
  "usage/two_states": error(() => ({
    summary: "A state file is named, and the declaration names a backend",
    detail: "The state is kept in one place only.",
    remedies: [advise("one_state")],
  })),
  "usage/untrusted": error(({ work }: Words<"work">) => ({
    summary: `${work} is not for untrusted declarations`,
    detail: "An untrusted declaration can be validated and planned. Both change nothing.",
    remedies: ["Do it where the declaration is trusted."],
  })),
  "usage/untrusted_app": error(() => ({
    summary: "The app is a program of the untrusted project, and is not run",
    remedies: [advise("synthesize_elsewhere")],
  })),
  "trust.file/outside": error(({ file, isNamable }: File & { readonly isNamable: boolean }) => ({
    summary: `${file} leads outside the project, and is not read`,
    remedies: ["Put the file itself there.", ...(isNamable ? [advise("name_file")] : [])],
  })),
  "trust.file/link": error(({ file }: File) => ({
    summary: `${file} is a link, which an untrusted project may not use`,
    remedies: ["Put the file itself there."],
  })),
  "trust.file/irregular": error(({ file }: File) => ({
    summary: `${file} is not a regular file`,
    remedies: ["Put a regular file there."],
  })),
  "trust.file/detour": error(({ file }: File) => ({
    summary: `${file} leads outside the project through a link`,
    remedies: ["Name the target of the link instead."],
  })),
  "trust.file/policy": error(({ file }: File) => ({
    summary: `The policy ${file} lies in the untrusted project`,
    remedies: ["Name the policy of the main branch, in another folder."],
  })),
  "trust.file/state": error(({ file }: File) => ({
    summary: `The state ${file} lies outside the project`,
    remedies: ["Remove it from the declaration, and set it in the environment.", TRUST],
  })),
  "trust.untrusted/setting": error(({ what }: Words<"what">) => ({
    summary: `The untrusted declaration ${what}`,
    remedies: ["Remove it from the declaration, and set it in the environment.", TRUST],
  })),
  "trust.untrusted/backend": error(({ type }: Words<"type">) => ({
    summary: `The untrusted declaration names the backend ${type}`,
    remedies: [advise("copy_state")],
  })),
  "trust.untrusted/unused_backend": warning(({ type }: Words<"type">) => ({
    summary: `The backend ${type} of the untrusted declaration is not used`,
    detail: "A state file is named.",
  })),
  "trust.untrusted/scale": error(({ alias }: Words<"alias">) => ({
    summary: `The untrusted declaration sets the scale of amounts (money_scale) for the provider ${alias}`,
    remedies: [
      "Remove it, and set HOSTING_MONEY_SCALE beside HOSTING_BASE_URL: the plan shows amounts by that. The same number in both is accepted.",
    ],
  })),
  "trust.untrusted/budget": error(({ alias }: Words<"alias">) => ({
    summary: `The untrusted declaration asks for more than 60 requests a minute for the provider ${alias}`,
    remedies: ["Ask for 60 at most: with more, the host refuses requests of others that use the token."],
  })),
  "trust.untrusted/words": error(({ alias, word }: Words<"alias" | "word">) => ({
    summary: `The untrusted declaration gives a known status another meaning (status_words: ${word}) for the provider ${alias}`,
    remedies: ["Keep only words that hostform does not know.", TRUST],
  })),
  "trust.untrusted/variable": error(({ name }: Words<"name">) => ({
    summary: `The untrusted stack reads the environment variable TF_VAR_${name}`,
    remedies: [advise("give_variable", name), "If anyone may see the variable, add its name to HOSTFORM_ENV_ALLOW."],
  })),
  "stack.files/none": error(({ file }: File) => ({
    summary: `There is no *.tf.json in ${file}`,
    remedies: [advise("synthesize")],
  })),
  "stack.manifest/circle": error(({ names }: Words<"names">) => ({
    summary: `The stacks depend on each other in a circle: ${names}`,
    remedies: ["Remove one of the references between these stacks."],
  })),
  "stack.variables/stray": error(({ name }: Words<"name">) => ({
    summary: `None of the stacks declares a variable ${JSON.stringify(name)}`,
    remedies: [advise("stray_variable")],
  })),
  "stack.variables/arguments": error(({ name, option }: Words<"name" | "option">) => ({
    summary: `${name} sets Terraform's \`-${option}\`, which hostform does not apply`,
    detail: "The same stack would mean two things, depending on who applies it.",
    remedies: [advise("own_arguments", name)],
  })),
  "stack.remote_state/unapplied": error(({ stack, sibling }: Words<"stack" | "sibling">) => ({
    summary: `Stack ${sibling}, which ${stack} refers to, has not been applied yet`,
    detail: "Its outputs are unknown until then.",
    remedies: [advise("apply_first", sibling, stack)],
  })),
  "usage/stack": error(({ meant, names }: Words<"meant" | "names">) => ({
    summary: `There is no stack ${meant}`,
    detail: `The stacks are ${names}.`,
    remedies: [advise("name_stack")],
  })),
  "plan.address/unknown": error(({ name, meant, purpose }: Words<"name" | "meant" | "purpose">) => ({
    summary: `No resource ${name} is declared or recorded, which is to be ${purpose}.${meant}`,
    remedies: ["Give the address as a plan shows it."],
  })),
  "plan.saved/unfit": error(({ held }: { readonly held: readonly string[] }) => ({
    summary: "The plan cannot be applied as a whole",
    detail: held.length === 0 ? "The token may not read all declared objects." : `Held back: ${some(held)}.`,
    remedies: [held.length === 0 ? "Plan with a token that may change the account." : "Apply the other changes alone."],
  })),
  "plan.saved/unreadable": error(({ file, reason }: File & Words<"reason">) => ({
    summary: `The plan ${file} cannot be read: ${reason}`,
    remedies: [advise("plan_file")],
  })),
  "plan.saved/foreign": error(({ file, detail }: File & Words<"detail">) => ({
    summary: `${file} is not a plan that hostform saved`,
    detail,
    remedies: [NEW_PLAN],
  })),
  "plan.saved/file": error(({ file, what, detail }: File & Words<"what" | "detail">) => ({
    summary: `${file} ${what}`,
    detail,
    remedies: [NEW_PLAN],
  })),
  "plan.saved/stale": error(({ summary, detail }: Words<"summary" | "detail">) => ({
    summary,
    detail,
    remedies: ["No request was sent.", NEW_PLAN],
  })),
  "usage/place": error(({ file, detail, holds }: File & Words<"detail"> & { readonly holds: "plan" | "report" }) => ({
    summary: holds === "plan" ? `The plan cannot be saved as ${file}` : `The report cannot be written to ${file}`,
    detail: `${detail} Nothing was changed.`,
    remedies: [advise(holds === "plan" ? "name_plan" : "name_report")],
  })),
  "state.backend/forgotten": error(({ file }: File) => ({
    summary: "The backend has no state yet, but there is a state file in the project's folder",
    detail: `A backend is declared, so ${file} is no longer used.`,
    remedies: [advise("push_state", file)],
  })),
  "state.backend/http": error(({ host }: Words<"host">) => ({
    summary: `Plain http to ${host} would expose the state to the network`,
    detail: "http is accepted for loopback addresses only.",
    remedies: [
      "Use https.",
      { do: "allow", limits: [{ limit: "insecure_http" }], when: "the connection is protected in another way" },
    ],
  })),
  "state.unwritable/kept": warning(({ file }: File) => ({
    summary: `The records of this run are kept in ${file}`,
    detail: "The backend lacks some of them. The file may hold secrets; only you can read it.",
    remedies: [advise("push_kept", file)],
  })),
  "state.unwritable/lost": warning(({ reason }: Words<"reason">) => ({
    summary: "The records of this run could not be kept in a file either",
    detail: reason,
    remedies: ["Plan again: the plan finds the objects in the account, and you can import them."],
  })),
  "terraform.export/encrypted": warning(() => ({
    summary: "The state is encrypted, and Terraform cannot read it",
    remedies: [advise("decrypt_state")],
  })),
  "plan.pending/adoption": error(({ names }: Words<"names">) => ({
    summary: `Nothing was adopted: ${names} may exist in the account, and the state does not show it`,
    remedies: [{ do: "apply_again" }, RESOLVE],
  })),
  "plan.pending/forgotten": error(({ address }: Words<"address">) => ({
    summary: `${address} was not forgotten: it may have been ordered`,
    detail: "Its record prevents a second order.",
    remedies: [RESOLVE],
  })),
  "plan.address/not_pending": error(({ name, meant }: Words<"name" | "meant">) => ({
    summary: `The state has no resource ${name}.${meant}`,
    remedies: [{ do: "see", what: "pending" }],
  })),
  "api.not_found/candidate": error(({ noun, id }: Words<"noun" | "id">) => ({
    summary: `Nothing was settled: ${noun} ${id} does not exist`,
    remedies: [RESOLVE],
  })),
  "usage/no_list": error(({ noun }: Words<"noun">) => ({
    summary: `There is nothing to wait for: the API has no call that shows a ${noun}`,
    remedies: [RESOLVE],
  })),
  "usage/recorded": error(({ address, noun, recorded, id }: Words<"address" | "noun" | "recorded" | "id">) => ({
    summary: `${address} is already in the state, as ${noun} ${recorded}`,
    remedies: [recorded === id ? "Nothing to do." : { do: "forget", why: "replace", when: `${id} is the right one` }],
  })),
  "usage/adopt_files": error(() => ({
    summary: "An adoption writes the files of a folder: it takes neither single files nor a stack",
    remedies: [advise("adopt_folder")],
  })),
  "usage/adopt_format": error(({ format }: Words<"format">) => ({
    summary: `The format ${format} is for a folder without a declaration in YAML`,
    remedies: [advise("export")],
  })),
  "usage/no_clients": error(() => ({
    summary: "A client is selected, but no file assigns services to clients: the API does not",
    remedies: [advise("clients_file")],
  })),
  "usage/unmatched": error(({ pattern }: Words<"pattern">) => ({
    summary: `The pattern ${pattern} matches no domain of the account`,
    remedies: [{ do: "see", what: "services" }],
  })),
  "file.refused/kept": error(({ file, reason }: File & Words<"reason">) => ({
    summary: `The lists of the account cannot be kept: ${reason}`,
    detail: file,
    remedies: ["Free space.", { do: "name_state" }],
  })),
} satisfies Catalogue;

export const problem = problemsOf(messages);

/** @throws HostformError with one message. */
export function refuse<Name extends keyof typeof messages>(name: Name, given: Given<(typeof messages)[Name]>): never {
  throw new HostformError([problem(name, given)]);
}
