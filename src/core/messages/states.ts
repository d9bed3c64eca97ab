/** Messages about the content of a state, its key, its journal and its writes. */
import type { Remedy } from "../model/index.ts";
import { type Catalogue, either, error, failure, type Words, warning } from "./message.ts";

const RESTORE = "Restore it from version control or a backup.";
const WRITER = "Use the program version that wrote it, or a later one.";
const NEW_KEY = "Generate a key with openssl rand -base64 32.";
const PLAN = "Run plan to compare the state with the account.";

/** `source`: "hosting.tfstate", "the text given". */
type Source = Words<"source">;
/** `place`: file or URL. `reason`: reason of the operating system. */
type Failure = Words<"place" | "reason">;
type Maybe<Name extends string> = { readonly [each in Name]: string | undefined };

const folder = failure("The folder of the state does not exist, or cannot be entered", "Create the folder.", {
  do: "name_state",
});

/** Returns an error message about the content of a state. */
const unreadable = (is: string, detail: string, ...remedies: readonly Remedy[]) =>
  error(({ source }: Source) => ({ summary: `The state in ${source} ${is}`, detail, remedies }));

const OF_OPENTOFU = {
  missing: [
    "is not set.",
    "Set TF_ENCRYPTION to its value in OpenTofu. For pbkdf2, HOSTFORM_STATE_PASSPHRASE alone is enough.",
  ],
  wrong: [
    "is set. Its key or the name of its provider is wrong, or the file was changed.",
    "Set TF_ENCRYPTION to its value in OpenTofu. If the file was changed, restore the backup beside it.",
  ],
  unsupported: [
    "is not enough. Supported: pbkdf2, external and aes_gcm.",
    "In OpenTofu, add a supported method, with the present one as its fallback. Then apply.",
  ],
};

export const states = {
  "state.changing": warning({
    summary: "Another run changed the state during this plan",
    detail: "The plan contains unfinished changes of that run.",
    remedies: ["Plan again after that run.", { do: "wait_for_lock" }],
  }),
  "state.history": either({
    summary: "The history cannot be read or written",
    detail: "{place}: {reason}.",
    remedies: ["Fix the cause. With max_spend_month or max_orders_day, no order is sent until then."],
  }),
  "state.history/place": error({
    summary: "The backend http keeps no history",
    detail: "max_spend_month and max_orders_day need a history.",
    remedies: ["Set HOSTFORM_HISTORY to a file that all runs share."],
  }),
  "state.history/broken": either({
    summary: "The history was changed: line {line} does not continue the line before it",
    detail: "{place}.",
    remedies: ["Restore the history from a backup. If it is lost, move it away; the next run begins a new history."],
  }),
  "state.history/other": error({
    summary: "The histories of both places have different entries",
    detail: "Line {line} of {place} is another entry.",
    remedies: ["Move the history that you do not need to another name."],
  }),
  "state.unreadable/file": failure(
    "The state file cannot be read",
    "Check that it is a regular file with read permission.",
    { do: "name_state" },
  ),
  "state.unreadable/folder": folder,
  "state.unreadable/empty": unreadable(
    "is empty",
    "No write of a state leaves an empty file. A write was interrupted, or another program emptied the file.",
    RESTORE,
    "Delete the empty file only if nothing was ever applied with it.",
  ),
  "state.unreadable/merged": unreadable(
    "is not JSON",
    "It has the conflict markers of a version control system: two versions were merged.",
    "Restore one of the two versions. Then run plan.",
  ),
  "state.unreadable/json": error(({ source, place }: Source & Maybe<"place">) => ({
    summary: `The state in ${source} is not JSON`,
    detail: `Parsing failed${place === undefined ? "" : ` at ${place}`}. The file was cut off, or another program changed it.`,
    remedies: [RESTORE],
  })),
  "state.unreadable/malformed": error({
    summary: "The state in {source} is malformed",
    detail: "{issues}.",
    remedies: [RESTORE],
  }),
  "state.unreadable/mark": error({
    summary: "The private mark of {address} in {source} is corrupted",
    detail: "The field private should hold a JSON object in base64.",
    remedies: ["Restore the state from a backup.", { do: "forget", why: "restore" }],
  }),
  "state.unreadable/twice": error({
    summary: "{address} has two entries in the state in {source}",
    detail: "Someone edited the file, or a version control system merged two versions.",
    remedies: ["Compare the id of both with the account, and delete the wrong entry. Then run plan."],
  }),
  "state.unreadable/sealed": error({
    summary: "The encrypted {source} is corrupted",
    detail: "{why}.",
    remedies: [RESTORE],
  }),
  "state.unreadable/encryption": error({
    summary: "The encryption of the state is unknown",
    detail: "A newer version wrote the field key, or the field is corrupted.",
    remedies: [RESTORE, WRITER],
  }),
  "state.unreadable/backup": error({
    summary: "The backup of the state cannot be converted; no file was changed",
    detail: "{why}.",
    remedies: ["Remove or repair {place}. Then run the command again."],
  }),
  "state.newer": error(
    ({ source, format, newest }: Source & { readonly format: unknown; newest: number | string }) => ({
      summary: `The ${source} has format ${format}, and this version reads formats up to ${newest}`,
      remedies: [WRITER],
    }),
  ),
  "state.foreign": error(({ source, format }: Source & { readonly format: number | undefined }) => {
    const [detail, ...fix] =
      format === undefined
        ? ["It is JSON without a state format: version 4 is required.", "Restore the state from a backup."]
        : [
            `It has state format ${format}, which Terraform wrote before version 0.12. Format 4 is required.`,
            "Upgrade it with Terraform 0.13 or later: a refresh writes the new format.",
          ];
    return { summary: `${source} is not a supported state`, detail, remedies: [...fix, { do: "name_state" }] };
  }),
  "state.conflict": error(
    (of: { readonly field: "lineage" | "serial"; given: string | number; stored: string | number; place: string }) => ({
      summary:
        of.field === "lineage"
          ? "The given state belongs to another project"
          : "The given state is not newer than the stored state",
      detail: `Its ${of.field} is ${of.given}. The ${of.field} of ${of.place} is ${of.stored}.`,
      remedies: [
        "Pull the stored state, and import its missing objects into the given state.",
        { do: "allow", limits: [{ limit: "older_state" }], when: "nobody needs the content of the stored state" },
      ],
    }),
  ),

  "state.unwritable": error(({ place, reason, consequence }: Failure & Maybe<"consequence">) => ({
    summary: "The state could not be written",
    detail: [`${place}: ${reason}.`, consequence].filter(Boolean).join("\n"),
    remedies: [
      "Check disk space, permissions and network. Then run plan, and import the objects that the state lacks.",
    ],
  })),
  "state.unwritable/mount": error({
    summary: "The state file is a mount, so no other file can replace it",
    detail: "{place}: each write replaces the file, and needs its folder. No request was sent.",
    remedies: ["Mount the folder in place of the file."],
  }),
  "state.unwritable/lost": error(({ place }: Words<"place">) => ({
    summary: "A write of the state was accepted, but not stored",
    detail: `${place} still has other content.`,
    remedies: [`Check the disk or the server. A cache or a proxy may be the cause. ${PLAN}`],
  })),
  "state.unwritable/folder": folder,
  "state.unwritable/lock": failure("The state cannot be locked", "Check the write permission of its folder."),

  "state.key/unset": error({
    summary: "Neither {passphrase} nor {key} is set",
    remedies: [
      "Set {passphrase} to a long passphrase, {key} to 32 bytes in base64, or {command} to a command that prints a key.",
      NEW_KEY,
    ],
  }),
  "state.key/missing": error((of: Words<"from" | "variable"> & Maybe<"other" | "otherFrom">) => ({
    summary: `The state is encrypted, and ${of.variable} is not set`,
    detail: `It was encrypted with a ${of.from}${of.other === undefined ? "" : `, and ${of.other} holds a ${of.otherFrom}`}.`,
    remedies: [
      `Set ${of.variable} to the ${of.from} of the state${of.other === undefined ? "" : `, and unset ${of.other}`}.`,
    ],
  })),
  "state.key/wrong": error((of: Words<"from" | "variable" | "expected" | "found">) => ({
    summary: `The ${of.from} in ${of.variable} is not the ${of.from} of the state`,
    // A derived key has another fingerprint for each salt, so only a plain key has a comparable one.
    detail:
      of.from === "key"
        ? `Fingerprint of the key of the state: ${of.expected}. Fingerprint of the given key: ${of.found}.`
        : undefined,
    remedies: [`Set ${of.variable} to the ${of.from} of the state.`],
  })),
  "state.key/opentofu": error(
    ({ names, variable, why }: Words<"names" | "variable"> & { readonly why: keyof typeof OF_OPENTOFU }) => ({
      summary: `The state is encrypted by OpenTofu with ${names}`,
      detail: `${variable} ${OF_OPENTOFU[why][0]}`,
      remedies: OF_OPENTOFU[why].slice(1),
    }),
  ),
  "state.key/sealed": error({
    summary: "The {source} is encrypted",
    remedies: ["Set HOSTFORM_STATE_PASSPHRASE or HOSTFORM_STATE_KEY to the passphrase or key of the state."],
  }),
  "state.key/none": error({
    summary: "The state is not encrypted, so it has no key to replace",
    detail: "{place} is in clear text.",
    remedies: ["Set the new key in the variable of the current key.", { do: "encrypt_state" }],
  }),
  "state.key/several": error({
    summary: "{variables} are set",
    detail: "A state is encrypted with one of them.",
    remedies: [
      "Set only one: {passphrase} for a passphrase, {key} for a key, {command} for a command that prints a key.",
    ],
  }),
  "state.key/old": error({
    summary: "{variable} is set without a current key",
    detail: "Old keys can only decrypt.",
    remedies: ["Set one of {variables}, or unset {variable}."],
  }),
  "state.key/short": error({
    summary: "The passphrase in {variable} is too short",
    detail: "It has {is} characters. At least {least} are required.",
    remedies: ["Generate a passphrase with openssl rand -base64 24."],
  }),
  "state.key/form": error({
    summary: "{from} is not a key of 32 bytes",
    detail: "It has {is}. A key has 44 characters in base64, or 64 hexadecimal digits.",
    remedies: [NEW_KEY],
  }),
  "state.key/silent": error({
    summary: "The command in {variable} succeeded, but printed nothing",
    remedies: ["Correct the command: its output must be the key."],
  }),
  "state.key/empty": error({
    summary: "{variable} is set, but empty",
    detail: "A CI job without access to a secret sets its variable to an empty string.",
    remedies: ["Set its value, or unset it."],
  }),
  "state.key/clear": warning((of: Words<"variable" | "place" | "allow">) => ({
    summary: `${of.variable} is set, but the state is not encrypted`,
    detail: `${of.allow} permits clear text in ${of.place}, perhaps of another program. The next write encrypts the state.`,
    remedies: [{ do: "encrypt_state" }, `Then unset ${of.allow}.`],
  })),
  "state.unencrypted": error(
    ({ variable, place, held, allow }: Words<"place" | "allow"> & Maybe<"variable" | "held">) => {
      const [what, when, otherwise] =
        held === undefined
          ? [
              "state",
              "it was never encrypted",
              "If it was encrypted before, someone replaced it: restore it from a backup.",
            ]
          : ["journal of the state", "a run without the key wrote it", "If another program wrote it, move it away."];
      return {
        summary: `${variable === undefined ? "The state is encrypted" : `${variable} is set`}, but the ${what} is not encrypted`,
        detail: `Any program can write ${place}: only encryption proves its origin.${held === undefined ? "" : ` It holds: ${held}.`}`,
        remedies:
          variable === undefined
            ? ["Find out its origin, and move it away. Then run plan."]
            : [otherwise, { do: "encrypt_state", when }, `To read it in clear text for now: set ${allow}=1.`],
      };
    },
  ),

  "state.journal/file": failure(
    "The journal of the state cannot be read",
    "Check that it is a regular file with read permission. It holds the changes of an interrupted run.",
  ),
  "state.journal/format": error({
    summary: "The journal of the state has an unknown format",
    detail: "An interrupted run, probably of a newer version, wrote {place}.",
    remedies: [WRITER],
  }),
  "state.journal/torn": warning(({ place, bytes }: Words<"place"> & { readonly bytes: number }) => ({
    summary: "The incomplete end of the journal of the state was ignored",
    detail: `${place} ${bytes === 0 ? "is empty" : `ends with ${bytes} bytes of an incomplete line`}. An interrupted run sends no request after such a line.`,
    remedies: ["No action is needed. If another program wrote the file, restore a copy before you apply."],
  })),
  "state.journal": error({
    summary: "The journal of the state is corrupted",
    detail: "Line {line} of {place} was changed after an interrupted run. Readable content: {held}.",
    remedies: [
      "Restore the file from a copy. Without a copy: move it away, run plan, and import the objects that the state lacks.",
    ],
  }),
  "state.journal/foreign": error(
    (of: Words<"place" | "held" | "lineage" | "state" | "found"> & { readonly serial: number }) => ({
      summary: "The journal does not belong to the state",
      detail: `${of.place} continues serial ${of.serial} of lineage ${of.lineage}. ${of.state} ${of.found}.\nThe journal holds: ${of.held}.`,
      remedies: [
        of.serial === 0
          ? "Remove that state if it belongs to another project. Then run plan."
          : `Restore the state with serial ${of.serial}, possibly from ${of.state}.backup. Then run plan.`,
        `If another state has all these changes, move ${of.place} away.`,
      ],
    }),
  ),

  "plan.address/state": error(({ target, near }: Words<"target"> & Maybe<"near">) => ({
    summary: `The state has no resource ${target}`,
    detail: near && `Did you mean "${near}"?`,
    remedies: [{ do: "see", what: "addresses" }],
  })),
  "usage/address": error({
    summary: "{given} is not an address",
    remedies: ['Write an address such as hosting_grant.acme["a@b.example"].'],
  }),
  "usage/instances": error({
    summary: "{count} instances cannot all move to {to}",
    remedies: ["Omit the key of the destination, or move each instance with its own key."],
  }),
  "usage/types": error({
    summary: "{from} cannot move to {to}: the types differ",
    remedies: ["Choose a destination of the same type."],
  }),
  "usage/occupied": error(({ address }: Words<"address">) => ({
    summary: `${address} is already in the state`,
    remedies: ["Move that resource first.", { do: "forget", address, why: "replace" }],
  })),
} satisfies Catalogue;
