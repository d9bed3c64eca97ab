import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import * as z from "zod";
import { raise } from "../messages/index.ts";
import { messageOf, type PolicyVerdict } from "../model/index.ts";

/** Maximum duration of a function, in milliseconds. */
const MOST_MS = 5_000;

/** Returns true for a file with a function. All other files contain rules. */
export const isFunctionFile = (file: string): boolean => /\.[cm]?[jt]s$/.test(file);

/** Arguments of a function, as JSON values. */
export type FunctionInput = readonly [effects: unknown, conditions: unknown, plan: unknown];

const found = z.array(
  z
    .strictObject({
      deny: z.literal(true).optional(),
      warn: z.literal(true).optional(),
      address: z.string().optional(),
      sentence: z.string().min(1).max(1000),
    })
    .refine(({ deny, warn }) => (deny === undefined) !== (warn === undefined), "expected either deny or warn"),
);

/** Program of the function's thread. */
const PROGRAM = `
const { parentPort, workerData } = require("node:worker_threads");
import(workerData.url).then(async ({ default: judge }) => {
  if (typeof judge !== "function") throw new Error("its default export is no function");
  parentPort.postMessage({ said: await judge(...workerData.input) });
}).catch((error) => parentPort.postMessage({ failed: String(error?.message ?? error).slice(0, 500) }));
`;

/**
 * Runs a function in its own thread without environment variables. The function gets only the plan.
 * @param file Absolute path. @param shown Path for people.
 * @throws HostformError `policy.failed` if the function throws, takes too long, or returns no list of findings.
 */
export async function runFunction(
  file: string,
  shown: string,
  input: FunctionInput,
  mostMs = MOST_MS,
): Promise<PolicyVerdict[]> {
  const refuse = (why: string): never => {
    raise("policy.failed", { file: shown, why });
  };
  const { said, failed } = await answerOf(file, input, mostMs).catch((error: unknown) => refuse(messageOf(error)));
  if (failed !== undefined) refuse(failed);
  const parsed = found.safeParse(said);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return refuse(`its result is no list of findings (${issue?.path.join(".") || "all of it"}: ${issue?.message})`);
  }
  return parsed.data.map(({ warn, sentence, address }) => ({
    level: warn ? "warn" : "deny",
    rule: "function",
    file: shown,
    sentence: sentence.replace(/\.$/, ""),
    ...(address !== undefined && { address }),
  }));
}

interface Answer {
  readonly said?: unknown;
  readonly failed?: string;
}

async function answerOf(file: string, input: FunctionInput, mostMs: number): Promise<Answer> {
  const workerData = { url: pathToFileURL(file).href, input };
  // Drop the function's output, because standard output may be a JSON document.
  const worker = new Worker(PROGRAM, { eval: true, workerData, env: {}, stdin: true, stdout: true, stderr: true });
  worker.stdout.resume();
  worker.stderr.resume();
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const timer = setTimeout(() => resolve({ failed: `it took more than ${mostMs / 1000} seconds` }), mostMs);
  worker.once("message", resolve);
  worker.once("error", reject);
  worker.once("exit", () => resolve({ failed: "it ended without a result" }));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
