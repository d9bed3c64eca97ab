// Complete results for every error response: the message, how far the request got, and whether the client may repeat it.
import { describe, expect, it } from "vitest";
import { refusal } from "../../../../src/core/api/classify.ts";
import { type EndpointName, endpoints } from "../../../../src/core/api/endpoints.ts";
import type { ApiReply, ApiRequest } from "../../../../src/core/api/exchange.ts";
import { START, testClock } from "../../../support/clock.ts";
import { fixOf } from "../../../support/remedies.ts";

const PAGE = "<!DOCTYPE html><html><head><title>Oh no</title></head></html>";
const OWN = '{"message":"No."}';
const FIELDS = '{"message":"Invalid","errors":{"domain":["Invalid","is taken"],"years":["Invalid"]}}';

/** One request for each retry rule, and for each kind of read. */
const REQUESTS: readonly EndpointName[] = [
  "listServices",
  "getService",
  "createService",
  "registerDomain",
  "createGrant",
  "suspendService",
];

type Answer = readonly [status: number, text: string, headers?: ApiReply["headers"], cut?: ApiReply["cut"]];

const ANSWERS: readonly Answer[] = [
  [400, OWN],
  [400, OWN, {}, "closed"],
  [400, "no"],
  [401, OWN],
  [401, ""],
  [403, OWN],
  [404, OWN],
  [404, ""],
  [404, " "],
  [404, '["no"]'],
  [404, "404 page not found"],
  [404, "<i>no</i>", { "content-type": "text/HTML" }],
  [404, PAGE],
  [407, PAGE],
  [408, OWN],
  [409, OWN],
  [410, ""],
  [410, PAGE],
  [422, OWN],
  [422, FIELDS],
  [422, '{"errors":{"domain":["is taken"]}}'],
  [422, '{"errors":["is taken"]}'],
  [422, '["no"]'],
  [422, "no"],
  [400, '{"errors":{"domain":["is taken"]}}'],
  [403, '{"message":" "}'],
  [403, '{"message":["No."]}'],
  [429, OWN],
  [429, "", { "retry-after": "3" }],
  [429, "", { "retry-after": "3" }, "closed"],
  [429, "slow down", { "x-ratelimit-remaining": " 0 " }],
  [429, "", { "x-ratelimit-remaining": "12" }],
  [429, ""],
  [429, PAGE, { "retry-after": "3" }],
  [300, OWN],
  [301, ""],
  [302, "", { location: "https://login.example/secret?x=1" }],
  [303, "", { location: "/relative" }],
  [304, ""],
  [399, ""],
  [418, OWN],
  [499, "no"],
  [500, OWN],
  [500, '{"message":"Is this the end?"}'],
  [500, '{"message":"Wait…"}'],
  [502, PAGE],
  [503, "down", { "retry-after": "7" }],
  [599, ""],
];

/** Returns the fields of the failure that differ between responses: `reached`, `transient` and the message. */
function read(endpoint: EndpointName, [status, text, headers = {}, cut]: Answer): string {
  const { method, path } = endpoints[endpoint];
  const request = { endpoint, method, path, headers: {}, secrets: [], attempt: 1, waitedMs: 0, left: 0 } as ApiRequest;
  const reply: ApiReply = { status, headers, text, ...(cut && { cut }) };
  const said = refusal(request, reply, { redact: (words) => words, clock: testClock(START) });
  const { reached, transient, waitMs, fieldErrors, serverMessage } = said;
  expect(said.status).toBe(status);
  const [{ code, summary, detail } = { code: "", summary: "", detail: "" }] = said.diagnostics;
  const flags = [code, `reached ${reached}`, ...(transient ? ["transient"] : []), waitMs && `wait ${waitMs} ms`];
  const fields = Object.keys(fieldErrors).length === 0 ? [] : [JSON.stringify(fieldErrors)];
  const lines = [
    flags.filter(Boolean).join(", "),
    summary,
    detail,
    fixOf(said.diagnostics[0]),
    serverMessage,
    ...fields,
  ];
  return lines.map((line) => `  ${(line ?? "-").replaceAll(`${method} /api/v1${path}`, "REQUEST")}`).join("\n");
}

describe("an error response", () => {
  // After an intended change, run `npm test -- -u test/unit/core/api/classify.test.ts` and review the diff of the
  // golden file.
  it("is classified as in the golden file", async () => {
    const text = ANSWERS.map((answer) => {
      const [status, body, headers, cut] = answer;
      const title = [status, JSON.stringify(body), headers && JSON.stringify(headers), cut].filter(Boolean).join(" ");
      const alike = Map.groupBy(REQUESTS, (name) => read(name, answer));
      return `# ${title}\n${[...alike].map(([said, names]) => `${names.join(", ")}\n${said}`).join("\n")}\n`;
    });
    await expect(text.join("\n")).toMatchFileSnapshot("../../../golden/api/refusals.txt");
  });

  it("has the sent request in its detail, unless the summary has the same request", () => {
    const detailOf = (path: string) => {
      const request = { endpoint: "getService", method: "GET", path, secrets: [] } as unknown as ApiRequest;
      const reply = { status: 403, headers: {}, text: OWN };
      return refusal(request, reply, { redact: (words) => words, clock: testClock(START) }).diagnostics[0]?.detail;
    };
    expect(detailOf("/services/{id}")).toBe("The server says: No.");
    expect(detailOf("/services/7")).toBe("GET /api/v1/services/7. The server says: No.");
  });
});
