/** Messages about a run, and about what the processes of a machine share: the store and the create lock. */
import { type Catalogue, either, error, type Words, warning } from "./message.ts";

/** `place`: file or folder of the store. `reason`: a clause such as "no space is left on the disk (ENOSPC)". */
type Failure = Words<"place" | "reason">;

/** The process that has the create lock. If unknown, `pid` is 0 and `project` is empty. */
type Turn = Words<"project" | "since"> & { pid: number };

function processIn({ pid, project }: { pid: number; project?: string }, p: "P" | "p" = "P"): string {
  const of = project ? ` (project ${project})` : "";
  if (pid > 0) return `${p}rocess ${pid}${of}`;
  return p === "P" ? "Another process" : "another process";
}

type Why = { readonly why: string | undefined };

export const processes = {
  interrupted: error({ summary: "The run was interrupted before it sent this change" }),
  "interrupted/halfway": warning({
    summary: "The apply of {address} was interrupted: completed requests are in the state, the others were not sent",
    remedies: [{ do: "apply_again" }],
  }),
  internal: error({
    summary: "Internal error: this is a defect of the program",
    detail: "{failure}",
    remedies: ["Run the command again with HOSTFORM_DEBUG=1 and report the output."],
  }),
  "file.refused": error(({ reason, failure }: Words<"reason"> & { readonly failure: string | undefined }) => ({
    summary: `A file cannot be read or written: ${reason}`,
    detail: failure,
    remedies: ["Correct this cause. Then run the command again."],
  })),
  "apply.skipped": error({
    summary: "Skipped {address}",
    detail: "{failed} must be applied first, and was not applied.",
    remedies: ["Fix {failed} and apply again."],
  }),
  "apply.skipped/missing": warning({
    summary: "Skipped {address}: its dependency {missing} does not exist",
    remedies: ["Fix the error of {missing} first."],
  }),
  "apply.waiting": warning({
    summary: "{address} waits for {other}",
    remedies: ["Apply again when {other} is ready."],
  }),
  "apply.waiting/lists": warning({
    summary: "{address} waits for {waitsFor}: the API lists no {noun}s of {waitsFor} until {waitsFor} is live",
    remedies: [{ do: "apply_again" }],
  }),
  "apply.waiting/live": either(({ what, noun, id, why, refusal }: Words<"what" | "noun" | "id" | "refusal"> & Why) => ({
    summary: `${what} waits until ${noun} ${id} is live${why === undefined ? "" : `: ${why}`}`,
    detail: refusal,
    remedies: [`Apply again when the ${noun} is live. The host provisions the ${noun} when its invoice is paid.`],
  })),

  "provider.ledger": warning({
    summary: "The rate limit is not shared with other processes",
    detail: "{place}: {reason}. Several processes with this token may exceed the limit, or create duplicates.",
    remedies: [
      "Set HOSTFORM_STATE_HOME to a writable folder. If no other process uses the token, set HOSTFORM_STORE=memory.",
    ],
  }),
  "provider.ledger/refused": warning({
    summary: "This process does not share the rate limit, and cannot create objects",
    detail: "{place}: {reason}. Without this file, a request could be sent twice.",
    remedies: ["End the process that holds the file, or use the newer version that wrote the file."],
  }),
  "provider.ledger/creates": warning({
    summary: "The create lock is disabled in this process",
    detail: "{place}: {reason}. A run with another state may create the same object.",
    remedies: ["Set HOSTFORM_STATE_HOME to a writable folder."],
  }),
  "store.unwritable": error({
    summary: "This run cannot write to the store of this machine",
    detail: "{place}: {reason}.",
    remedies: [
      "Set HOSTFORM_STATE_HOME to a writable folder. With HOSTFORM_STORE=memory, a killed run may lose track of created objects.",
    ],
  }),
  "store.unsafe": error(({ place, reason, mode }: Failure & { mode: 600 | 700 }) => ({
    summary: `${place} is not used: ${reason}`,
    detail: "This place holds requests and one-time secrets. Another user could read or change them.",
    remedies: [`If you own it, set its mode to ${mode}. Otherwise set HOSTFORM_STATE_HOME to your own folder.`],
  })),
  "store.busy": error((of: Partial<Words<"project">> & Words<"place"> & { pid: number; seconds: number }) => ({
    summary: `${processIn(of)} holds ${of.place}`,
    detail: `The process has not released the file for ${of.seconds} s. Without the file, a request could be sent twice.`,
    remedies: [{ do: "wake", pid: of.pid }, { do: "apply_again" }],
  })),
  "store.turn": error((of: Turn & { seconds: number }) => ({
    summary: `${processIn(of)} has held the create lock since ${of.since}`,
    detail: `This run has waited for ${of.seconds} s. The lock prevents that two runs create the same object. No request was sent.`,
    remedies: [{ do: "wait_for_lock" }, { do: "wake", pid: of.pid }],
  })),
  "store.taken_over": warning((of: Turn) => ({
    summary: `This run took over the create lock of ${processIn(of, "p")}`,
    detail: `It held the lock since ${of.since}, and sent no heartbeat for a minute. If it resumes, it reads the lists again.`,
    remedies: [{ do: "wake", pid: of.pid }],
  })),
  "store.newer": error({
    summary: "A newer version wrote {place}",
    detail: "This version cannot write to {place}.",
    remedies: ["Use the newer version, or set HOSTFORM_STATE_HOME to another folder."],
  }),
  "store.newer/database": error({
    summary: "A newer version changed the tables of the store in {place}",
    detail: "This version cannot use these tables.",
    remedies: ["Use the newer version, or set HOSTFORM_STORE to another database."],
  }),
  "store.unwritable/database": error(({ place, reason, isDenied }: Failure & { isDenied: boolean }) => ({
    summary: "This run cannot write to the store in PostgreSQL",
    detail: `${place}: ${reason}.`,
    remedies: [
      isDenied
        ? "Grant the role CREATE on the database, or run once with a role that has it. HOSTFORM_STORE=local uses a file of this machine."
        : "Check the log of the server.",
    ],
  })),
  "store.unreachable": error(({ place, reason, seconds }: Failure & { seconds: number }) => ({
    summary: "The store in PostgreSQL cannot be reached",
    detail: `${place}: ${reason}. ${seconds > 0 ? `This run has waited for ${seconds} s. ` : ""}Without the store, it sends no request.`,
    remedies: ["Check the database and the network. Then run the command again."],
  })),
  "store.unreachable/pooler": error({
    summary: "A connection pooler of {place} runs the statements of one session in several sessions",
    detail: "The store locks and listens in its session.",
    remedies: ["Use session pooling (PgBouncer: pool_mode=session), or connect to the server itself."],
  }),
  "store.waiting/database": warning({
    summary: "This run waits for the store in PostgreSQL",
    detail: "{place}: {reason}. Until then, it sends no request.",
    remedies: ["Wait. If the database does not return, check its server and the network."],
  }),
  "store.restored": warning({
    summary: "{place} was restored from a backup, or another server took over",
    detail:
      "The store may lack create requests. This run and others wait until the lists show the objects of these requests.",
    remedies: ["Check the account for objects of an interrupted apply. Import these objects."],
  }),
  "store.damaged": warning({
    summary: "{place} is corrupted, and this run started a new file",
    detail: "The old file is {place}.damaged. The new file lacks create requests that got no response.",
    remedies: ["Check the account for objects of an interrupted apply. Import these objects."],
  }),
  "store.turn_lost": error({
    summary: "This run lost the create lock, and did not send its create request",
    detail:
      "Another process takes over the lock after one minute without a heartbeat, or after the file of the store is replaced.",
    remedies: [{ do: "apply_again" }],
  }),
  "store.waiting": warning((of: Turn) => ({
    summary: `This run waits for ${processIn(of, "p")}, which has held the create lock since ${of.since}`,
    detail: "If that process sends no heartbeat for a minute, this run takes over the lock.",
    remedies: [{ do: "wait_for_lock" }, { do: "wake", pid: of.pid }],
  })),
  "store.waiting/file": warning((of: Turn & Words<"place">) => ({
    summary: `This run waits for ${processIn(of, "p")}, which has locked ${of.place} since ${of.since}`,
    detail: "This run creates no object until then. After a minute it skips all further creations.",
    remedies: [{ do: "wake", pid: of.pid }],
  })),
  "store.waiting/lists": warning({
    summary: "This run waits {seconds} s before its next creation",
    detail:
      "Another run with this token created an object, or stopped during a creation. The host's lists may not show the object yet.",
  }),
} satisfies Catalogue;
