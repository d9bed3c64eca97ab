import type { FaultRequest } from "../../src/sandbox/index.ts";

/** Losses of a response: whether the server has carried out the request, and whether the received part proves it. */
export const losses: readonly {
  loss: string;
  fault: Omit<FaultRequest, "path" | "method">;
  done: boolean;
  says?: true;
}[] = [
  {
    loss: "the connection is cut before the server does anything",
    fault: { phase: "before", drop: true },
    done: false,
  },
  { loss: "the server fails before it does anything", fault: { phase: "before", status: 500 }, done: false },
  { loss: "the connection is cut after the commit", fault: { phase: "after", drop: true }, done: true },
  { loss: "the answer breaks off in mid-body", fault: { phase: "mid-body" }, done: true },
  { loss: "the answer breaks off before its end", fault: { phase: "body-end" }, done: true, says: true },
  { loss: "the server fails after the commit", fault: { phase: "after", status: 500 }, done: true },
  {
    loss: "a proxy answers HTML after the commit",
    fault: { phase: "after", status: 502, body: "<html></html>" },
    done: true,
  },
  { loss: "the answer is empty", fault: { phase: "after", status: 204 }, done: true },
];
