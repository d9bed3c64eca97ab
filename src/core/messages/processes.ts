/** Messages about a run, and about the processes of one machine: their shared store, and their turns to create. */
import { type Catalogue, either, error, type Words, warning } from "./message.ts";

/** The file of the store or its folder, and a clause: "no space is left on the disk (ENOSPC)". */
type Failure = Words<"place" | "reason">;

/** A process that has the turn to create. `pid` is 0, and `project` empty, if it is unknown. */
type Turn = Words<"project" | "since"> & { pid: number };

function processIn({ pid, project }: { pid: number; project?: string }, p: "P" | "p" = "P"): string {
  const of = project ? ` (project ${project})` : "";
  if (pid > 0) return `${p}rocess ${pid}${of}`;
  return p === "P" ? "Another process" : "another process";
}

type Why = { readonly why: string | undefined };

export const processes = {
  interrupted: error(() => ({ summary: "The run was stopped before this was sent" })),
  "interrupted/halfway": warning(({ address }: Words<"address">) => ({
    summary: `${address} was stopped halfway: its answered requests are recorded, the rest was not sent`,
    remedies: ["Run the same command again: it does the rest."],
  })),
  internal: error(({ failure }: Words<"failure">) => ({
    summary: "This program has failed in a way that was not foreseen",
    detail: failure,
    remedies: ["Run the command again with HOSTFORM_DEBUG=1 and report the output."],
  })),
  "file.refused": error(({ reason, failure }: Words<"reason"> & { readonly failure: string | undefined }) => ({
    summary: `A file cannot be read or written: ${reason}`,
    detail: failure,
    remedies: ["Correct what the message names. Then run the command again."],
  })),
  "apply.skipped": error(({ address, failed }: Words<"address" | "failed">) => ({
    summary: `Skipped ${address}`,
    detail: `${failed}, which comes first, was not applied.`,
    remedies: [`Fix ${failed} and apply again.`],
  })),
  "apply.skipped/missing": warning(({ address, missing }: Words<"address" | "missing">) => ({
    summary: `Skipped ${address}: its dependency ${missing} does not exist`,
    remedies: [`Resolve ${missing} first.`],
  })),
  "apply.waiting": warning(({ address, other }: Words<"address" | "other">) => ({
    summary: `${address} waits for ${other}`,
    remedies: ["Run it again when that is done."],
  })),
  "apply.waiting/lists": warning(({ address, noun, waitsFor }: Words<"address" | "noun" | "waitsFor">) => ({
    summary: `${address} waits for ${waitsFor}: the API lists no ${noun}s of it until it is live`,
    remedies: [{ do: "apply_again" }],
  })),
  "apply.waiting/live": either(({ what, noun, id, why, refusal }: Words<"what" | "noun" | "id" | "refusal"> & Why) => ({
    summary: `${what} waits until ${noun} ${id} is live${why === undefined ? "" : `: ${why}`}`,
    detail: refusal,
    remedies: [`Run it again when the ${noun} is live. The host provisions it when its invoice is paid.`],
  })),

  "provider.ledger": warning(({ place, reason }: Failure) => ({
    summary: "This process counts its requests alone",
    detail: `${place}: ${reason}. Processes with this token may exceed the limit together, or create one object twice.`,
    remedies: [
      "Set HOSTFORM_STATE_HOME to a folder that you may write in, or HOSTFORM_STORE=memory if nothing else uses the token.",
    ],
  })),
  "provider.ledger/refused": warning(({ place, reason }: Failure) => ({
    summary: "This process counts its requests alone, and cannot create objects",
    detail: `${place}: ${reason}. A create that nobody can record might be sent twice.`,
    remedies: ["End the process that holds the file, or use the newer version that wrote it."],
  })),
  "provider.ledger/creates": warning(({ place, reason }: Failure) => ({
    summary: "This process does not take turns to create",
    detail: `${place}: ${reason}. A run with another state may create the same object.`,
    remedies: ["Set HOSTFORM_STATE_HOME to a folder that you may write in."],
  })),
  "store.unwritable": error(({ place, reason }: Failure) => ({
    summary: "This run cannot write the store of this machine",
    detail: `${place}: ${reason}.`,
    remedies: [
      "Set HOSTFORM_STATE_HOME to a folder that you may write in. HOSTFORM_STORE=memory permits creates that a kill may lose.",
    ],
  })),
  "store.unsafe": error(({ place, reason, mode }: Failure & { mode: 600 | 700 }) => ({
    summary: `${place} is not used: ${reason}`,
    detail: "It records requests, creates and one-time secrets. Another user could read or change them.",
    remedies: [`If it is yours, set its mode to ${mode}. Otherwise set HOSTFORM_STATE_HOME to a folder of your own.`],
  })),
  "store.busy": error((of: Partial<Words<"project">> & Words<"place"> & { pid: number; seconds: number }) => ({
    summary: `${processIn(of)} holds ${of.place}`,
    detail: `It has not released the file for ${of.seconds} s. A create that nobody can record might be sent twice.`,
    remedies: [{ do: "wake", pid: of.pid }, { do: "apply_again" }],
  })),
  "store.turn": error((of: Turn & { seconds: number }) => ({
    summary: `${processIn(of)} has had the turn to create since ${of.since}`,
    detail: `This run has waited for it for ${of.seconds} s. Turns prevent that two runs create one object. No request was sent.`,
    remedies: [{ do: "wait_for_lock" }, { do: "wake", pid: of.pid }],
  })),
  "store.taken_over": warning((of: Turn) => ({
    summary: `This run took the turn to create from ${processIn(of, "p")}`,
    detail: `It had the turn since ${of.since}, and gave no sign of life for a minute. If it goes on, it reads the lists again.`,
    remedies: [{ do: "wake", pid: of.pid }],
  })),
  "store.newer": error(({ place }: Words<"place">) => ({
    summary: `A newer version wrote ${place}`,
    detail: `This version cannot record a create there.`,
    remedies: ["Use the newer version, or set HOSTFORM_STATE_HOME to another folder."],
  })),
  "store.damaged": warning(({ place }: Words<"place">) => ({
    summary: `${place} is damaged, and this run started a new file`,
    detail: `The damaged file is ${place}.damaged. The new one lacks earlier creates without an answer.`,
    remedies: ["Look in the account for objects of an interrupted apply; an import adopts them."],
  })),
  "store.turn_lost": error(() => ({
    summary: "Another process took the turn to create",
    detail: `This process lost its turn: it did not answer for too long, or the file of the store was replaced. No request was sent.`,
    remedies: [{ do: "apply_again" }],
  })),
  "store.waiting": warning((of: Turn) => ({
    summary: `This run waits for ${processIn(of, "p")}, which has had the turn to create since ${of.since}`,
    detail: "If that process gives no sign of life for a minute, this run takes the turn.",
    remedies: [{ do: "wait_for_lock" }, { do: "wake", pid: of.pid }],
  })),
  "store.waiting/file": warning((of: Turn & Words<"place">) => ({
    summary: `This run waits for ${processIn(of, "p")}, which has held ${of.place} since ${of.since}`,
    detail: "No create can be recorded meanwhile. After a minute this run creates nothing more.",
    remedies: [{ do: "wake", pid: of.pid }],
  })),
  "store.waiting/lists": warning(({ seconds }: { seconds: number }) => ({
    summary: `This run waits ${seconds} s before it creates more`,
    detail:
      "Another run with this token created something, or was ended or frozen while it did. The host's lists may not show that yet.",
  })),
} satisfies Catalogue;
