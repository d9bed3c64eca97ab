/** Messages about a status that hostform does not understand, or that does not permit a change yet. */
import { type Diagnostic, type Json, openJson, type QueuedJob, type Remedy } from "../model/index.ts";
import { type Catalogue, either, error, type Words, warning } from "./message.ts";
import type { Resource } from "./objects.ts";

export interface Status extends Resource {
  /** Alias of the provider whose `status_words` gives the word a meaning. */
  readonly provider: string;
  readonly status: Json | undefined;
  /** The job that hostform last requested, unless its end is known. */
  readonly job: QueuedJob | undefined;
}

/** The reason, if it is known. */
type Why = { readonly why: string | undefined };

/** An outcome that waits, and the failure that it waits for. */
type Waiting = Words<"name"> & { readonly reason: Pick<Diagnostic, "summary" | "detail" | "remedies"> };

const because = ({ summary, detail }: Waiting["reason"]) => [`${summary}.`, detail].filter(Boolean).join(" ");

type Unknown = Status & Words<"names">;

const unknown = ({ status }: Status) =>
  status == null ? "the API shows no status" : `its status ${openJson(status)} is unknown`;

const suspension = ({ toward }: QueuedJob) => (toward === "suspended" ? "the suspension" : "the end of the suspension");

const evidence = ({ noun, job }: Status) => {
  if (job === undefined) return `No request changes a ${noun} whose status is unknown.`;
  const then = job.before === null ? "" : `, when the status was ${openJson(job.before)}`;
  return `The request for ${suspension(job)} left at ${job.since}${then}.`;
};

/** After a requested job, the likely meaning is its result; else only the object itself shows the right remedy. */
function remedy({ status, provider, job }: Status): Remedy {
  if (status == null) return "Compare it with the dashboard. Changes wait until the API shows a status.";
  const map = { do: "map_status", provider, word: status } as const;
  if (job !== undefined) {
    const shows = job.toward === "suspended" ? "suspended" : "up again";
    return { ...map, phases: [job.toward], when: `the dashboard shows it as ${shows}` };
  }
  return { ...map, phases: /suspen|paus/i.test(String(status)) ? ["suspended", "live"] : ["live", "suspended"] };
}

const unknownStatus =
  <Given extends Status>(clause: (given: Given) => string) =>
  (given: Given) => ({
    summary: `${clause(given)}: ${unknown(given)}`,
    detail: evidence(given),
    remedies: [remedy(given)],
  });

export const statusWords = {
  "plan.unknown_status/unchanged": either(
    unknownStatus(({ names, address }: Unknown) => `${names} of ${address} cannot change`),
  ),
  "condition.unknown_status": warning(unknownStatus(({ address }: Status) => address)),
  "condition.unknown_status/unchanged": warning(
    unknownStatus(({ names, address }: Unknown) => `${names} of ${address} cannot change`),
  ),
  "condition.unknown_status/unchecked": warning(
    unknownStatus(({ names, address }: Unknown) => `The account does not show ${names} of ${address}`),
  ),
  "plan.unknown_status/withheld": warning((given: Status & Words<"address" | "other">) => ({
    summary: `${given.address} stays as it is: ${given.other}, which comes first, has an unknown status`,
    detail: "A deletion waits for changes that may fail, so that nothing is lost because of them.",
    remedies: [remedy(given)],
  })),
  "plan.unknown_status/ordered": warning(
    unknownStatus(({ names, address }: Unknown) => `${names} of ${address} must wait`),
  ),
  "plan.unknown_status/ended": error(
    unknownStatus(
      ({ job, address }: Status & { job: QueuedJob }) =>
        `The account does not confirm ${suspension(job)} of ${address}`,
    ),
  ),
  "plan.prevented/status": either((given: Status) => ({
    summary: `The removal of ${given.address} must wait: ${unknown(given)}`,
    detail: 'The recorded deletion_policy is "suspend", which needs a known status.',
    remedies: [remedy(given), { do: "forget" }],
  })),
  "secret.output/waiting": warning(({ address, name, reason }: Waiting & Words<"address">) => ({
    summary: `The state keeps the ${name} of ${address} until the next apply can write it`,
    detail: because(reason),
    remedies: [...(reason.remedies ?? []), { do: "apply_again" }],
  })),
  "apply.skipped/output": warning(({ name, reason }: Waiting) => ({
    summary: `The output ${name} keeps its recorded value`,
    detail: because(reason),
    remedies: [...(reason.remedies ?? []), { do: "apply_again" }],
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
} satisfies Catalogue;
