/** Whether the client could read what came: where it could not, hostform would stop. */
import { endpoints } from "../../core/api/endpoints.ts";
import type { ContractCheck } from "../../core/model/index.ts";
import { type Sight, type Survey, sights } from "../sight.ts";
import { check, type Outcome, pass, told, unseen } from "./verdict.ts";

/** One check for each endpoint that is read for what it holds. */
export function readableChecks(survey: Survey): readonly ContractCheck[] {
  const { missing, domains, strangers, paging } = survey;
  // Those that ask for a refusal, or for what is advisory, are judged elsewhere.
  const apart = new Set<Sight | undefined>([missing, ...Object.values(domains), ...Object.values(strangers)]);
  for (const page of [paging?.over, paging?.beyond]) apart.add(page);
  const read = sights(survey).filter((sight) => !apart.has(sight));
  const names = [...new Set(read.map(({ endpoint }) => endpoint))];
  return names.map((name) => {
    const { method, path } = endpoints[name];
    const outcome = readable(read.filter(({ endpoint }) => endpoint === name));
    return check(`read.${name}`, "§4 Endpoints", `hostform can read ${method} ${path}`, outcome);
  });
}

function readable(seen: readonly Sight[]): Outcome {
  const failed = seen.find(({ problem }) => problem !== undefined);
  if (failed?.problem === undefined) return pass();
  // The ability of a token is not the server's habit (§5), and the Manage track is not everybody's (§4 accounts).
  if (failed.answer?.status === 403) return unseen(told(failed.problem).detail);
  return { verdict: "stops", ...told(failed.problem) };
}
