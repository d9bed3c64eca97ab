/**
 * Checks hostform's assumptions against a real server. In: a `Prober`, which can call only the reading endpoints and the
 * registration and removal of a webhook; hostform's vocabulary. Out: a report of how the server fills each gap of the
 * specification, where it differs from the specification, and the sandbox's profile that is like it. Must not: order,
 * suspend, mail or set anything; show data of customers, or a token; import the sandbox.
 */
import type { Prober } from "../core/api/probe.ts";
import type { ContractReport } from "../core/model/index.ts";
import { contractChecks } from "./checks.ts";
import type { Vocabulary } from "./record-checks.ts";
import { contractRows, profileOf } from "./rows.ts";
import { Asker, MOST_READS, type Survey, takeSurvey } from "./survey.ts";
import { type Leftover, MOST_WRITES, tryWrites, type WriteOptions } from "./writes.ts";

export { SWITCHES, type Switch } from "./evidence.ts";
export type { Vocabulary } from "./record-checks.ts";
export { type Leftover, leftoverDiagnostic } from "./writes.ts";

export interface ContractOptions {
  readonly prober: Pick<Prober, "probe" | "requests" | "repeated" | "limited">;
  /** As it is shown. */
  readonly baseUrl: string;
  readonly vocabulary: Vocabulary;
  /** Sends the harmless writes too. */
  readonly write?: Omit<WriteOptions, "signal"> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The largest number of requests, without repetitions after failures. */
export function mostRequests(write: boolean): number {
  return MOST_READS + (write ? MOST_WRITES : 0);
}

/**
 * Asks and reports. It stops when the first answer shows that this is not the API, or that the token is not valid.
 * @throws ApiError when there is nothing to report on; HostformError `contract.leftover`; the signal's reason.
 */
export async function checkContract({
  prober,
  baseUrl,
  vocabulary,
  write,
  signal,
}: ContractOptions): Promise<{ readonly report: ContractReport; readonly leftover?: Leftover }> {
  const asker = new Asker(prober, signal);
  const taken = await takeSurvey(asker, ({ answer, problem }) => {
    // A token without this ability may have others; a page, a redirect or no answer is not the API.
    if (problem !== undefined && answer?.status !== 403) throw problem;
  });
  const written = write === undefined ? undefined : await tryWrites(asker, { ...write, signal });
  const { limited: answer } = prober;
  const limited = answer && { endpoint: "listPlans" as const, title: "A request", answer, problem: answer.refusal };
  const survey: Survey = { ...taken, limited };
  const rows = contractRows(survey, written);
  const report: ContractReport = {
    base_url: baseUrl,
    wrote: written !== undefined,
    requests: prober.requests,
    repeated: prober.repeated,
    rows,
    checks: contractChecks(survey, written, vocabulary),
    profile: profileOf(rows),
  };
  return { report, ...(written?.leftover !== undefined && { leftover: written.leftover }) };
}
