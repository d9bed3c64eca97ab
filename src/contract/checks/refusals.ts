/** §5, §7 and §8, held against refusals, headers and the harmless writes. */
import { rateHints } from "../../core/api/rate-headers.ts";
import { type ContractCheck, isObject } from "../../core/model/index.ts";
import { excerpt } from "../excerpt.ts";
import { refusals422 } from "../rows/errors.ts";
import { isSuccess, type Sight, type Survey, sights, type Written } from "../sight.ts";
import { check, differs, type Outcome, pass, stops, told, unseen } from "./verdict.ts";

export function refusalChecks(survey: Survey, written: Written | undefined): readonly ContractCheck[] {
  const { strangers, missing, domains } = survey;
  return [
    check("auth.none", "§5.1", "A request without a token is refused", stranger(strangers.none)),
    check("auth.unknown", "§5.1", "A request with an unknown token is refused", stranger(strangers.unknown)),
    check("errors.403", "§7", "403 says in message which check failed", forbidden(survey, written)),
    check("errors.404", "§7 Gaps", "A service that does not exist is not found (404)", notFound(missing)),
    check("errors.422", "§7", "422 has message and an object of field errors", invalid(survey, written)),
    check("rate.limit", "§8 Request rate", "60 requests a minute for each token", rate(survey)),
    check(
      "domains.get",
      "§4 Endpoints",
      "GET /domains/check tells which domains are available",
      availability([domains.many, domains.single]),
    ),
    ...(written === undefined ? [] : writtenChecks(written)),
  ];
}

function writtenChecks(written: Written): readonly ContractCheck[] {
  const { invalid: refused, registered, id, secretName, removed, gone, domains } = written;
  const registration = (): Outcome => {
    if (registered === undefined) return unseen(written.skipped ?? "None was registered.");
    if (registered.answer?.status === 403) return unseen("The token may not register webhooks (403).");
    if (registered.answer?.status === 422) {
      return unseen("The address that does not exist is refused (422). Give one of yours with --webhook-url.");
    }
    if (registered.problem !== undefined) return { verdict: "stops", ...told(registered.problem) };
    if (secretName === undefined) return stops("The answer holds no signing secret; it is told only this once.");
    return id === undefined
      ? differs("The answer holds no id; hostform finds it in the list.")
      : pass(`The secret is named ${secretName}.`);
  };
  const removal = (): Outcome => {
    if (removed === undefined) return unseen("No webhook was there to remove.");
    if (gone === false) return stops("It was in the list afterwards.");
    return removed.problem === undefined ? pass() : { verdict: "stops", ...told(removed.problem) };
  };
  const strict = (): Outcome => {
    if (refused?.answer === undefined || refused.answer.status === 403)
      return unseen("It was not answered, or may not be asked.");
    return isSuccess(refused)
      ? differs("It was accepted, and removed again.")
      : pass(`It is refused (${refused.answer.status}).`);
  };
  return [
    check("webhooks.invalid", "§4 POST /webhooks", "A webhook needs a URL and an event", strict()),
    check("webhooks.secret", "§4 POST /webhooks", "A registration answers with the signing secret", registration()),
    check("webhooks.removed", "§4 Endpoints", "DELETE /webhooks/{id} removes the subscription", removal()),
    check(
      "domains.post",
      "§4 Endpoints",
      "POST /domains/check tells which domains are available",
      availability([domains]),
    ),
  ];
}

function stranger(sight: Sight): Outcome {
  const { answer, problem } = sight;
  if (answer === undefined) return unseen(problem === undefined ? "It was not answered." : told(problem).detail);
  if (isSuccess(sight)) return differs(`It is answered with ${answer.status}. Tell the host: anybody may look.`);
  const usual = answer.status === 401 || answer.status === 403;
  return usual ? pass(`It is answered with ${answer.status}.`) : differs(`It is answered with ${answer.status}.`);
}

function forbidden(survey: Survey, written: Written | undefined): Outcome {
  const more = [written?.invalid, written?.registered].filter((sight) => sight !== undefined);
  const own = sights(survey).filter((one) => !Object.values(survey.strangers).includes(one));
  const met = [...own, ...more].filter(({ answer }) => answer?.status === 403);
  const [first] = met;
  if (first === undefined) return unseen("Nothing was refused.");
  const silent = met.find(({ answer }) => !isObject(answer?.json) || typeof answer.json.message !== "string");
  if (silent !== undefined) return differs(`${silent.title}: ${excerpt(silent.answer?.json)}.`);
  return pass(`${first.title}.`);
}

/** Only 404 and 410 are taken for gone; what hides behind another answer is never thought to be removed. */
function notFound(missing: Sight): Outcome {
  const { answer, problem } = missing;
  if (answer === undefined) return unseen(problem === undefined ? "It was not answered." : told(problem).detail);
  if (answer.status === 404 || answer.status === 410) {
    return problem !== undefined && problem.diagnostics[0]?.code === "api.malformed"
      ? differs(
          `It is answered with a page (${answer.status}), which may be a proxy's. hostform looks into the list before it takes it for the API's word.`,
          "Ask the host for an answer in JSON, or without a body.",
        )
      : pass(`It is answered with ${answer.status}.`);
  }
  const consequence = "hostform cannot see that a service is gone, and stops at those that are.";
  return differs(`It is answered with ${answer.status}. ${consequence}`);
}

function invalid(survey: Survey, written: Written | undefined): Outcome {
  const met = refusals422(survey, written);
  const [first] = met;
  if (first === undefined) return unseen("No values were refused (422).");
  const odd = met.find(
    ({ answer }) => !isObject(answer?.json) || typeof answer.json.message !== "string" || !isObject(answer.json.errors),
  );
  return odd === undefined ? pass(`${first.title}.`) : differs(`${odd.title}: ${excerpt(odd.answer?.json)}.`);
}

function rate(survey: Survey): Outcome {
  const limits = sights(survey).map(({ answer }) => rateHints(answer?.headers ?? {}, 0).limit);
  const limit = limits.find((one) => one !== undefined);
  if (limit === undefined) return unseen("No answer tells the limit. hostform keeps to 60.");
  if (limit === 60) return pass();
  const keeps = limit < 60 ? "hostform keeps to that." : "hostform keeps to 60.";
  return differs(`The server says ${limit}. ${keeps}`);
}

function availability(asked: readonly Sight[]): Outcome {
  const found = asked.find((sight) => isSuccess(sight));
  const [first] = asked;
  if (found !== undefined) {
    return /"(?:is_?available|available|status)"/i.test(found.answer?.text ?? "")
      ? pass(`${found.title}.`)
      : differs(`hostform does not see which are available: ${excerpt(found.answer?.json)}.`);
  }
  if (first?.answer?.status === 403) return unseen("The token may not ask (403).");
  const statuses = asked.map(({ title, answer }) => `${title}: ${answer?.status ?? "no answer"}`).join("; ");
  return differs(`${statuses}. hostform shows availability as unknown.`);
}
