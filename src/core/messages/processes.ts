/** Messages about the processes of one machine: their shared store, and their turns to create. */
import { type Catalogue, error, type Words, warning } from "./message.ts";

/** The file of the store or its folder, and a clause: "no space is left on the disk (ENOSPC)". */
type Failure = Words<"place" | "reason">;

export const processes = {
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
  "store.busy": error(({ place, seconds }: Words<"place"> & { seconds: number }) => ({
    summary: `Another process holds ${place}`,
    detail: `It has not released the file for ${seconds} s.`,
    remedies: ["End the process that hangs. Then apply again."],
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
  "plan.pending/turns": error(({ address, turns }: Words<"address"> & { turns: number }) => ({
    summary: `This run did not send the create of ${address} again`,
    detail: `Other runs created objects in each of ${turns} turns.`,
    remedies: [{ do: "apply_again" }],
  })),
  "store.turn_lost": error(() => ({
    summary: "Another process took the turn to create",
    detail: `This process lost its turn: it did not answer for too long, or the file of the store was replaced. No request was sent.`,
    remedies: [{ do: "apply_again" }],
  })),
  "store.waiting": warning(({ pid, project, since }: Words<"project" | "since"> & { pid: number }) => ({
    summary: "This run waits for another process on this machine, which creates objects",
    detail: `${pid === 0 ? "A process of an earlier version" : `Process ${pid} (project ${project})`} has had the turn since ${since}. Turns prevent that two runs create one object.`,
    remedies: ["Wait for that process, or end it if it hangs."],
  })),
} satisfies Catalogue;
