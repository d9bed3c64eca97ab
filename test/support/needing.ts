/**
 * Declares tests that need programs (see `programs.ts`): `describeWith(TERRAFORM)("a webhook", …)` and
 * `itWith(MANDOC)("the pages", …)`.
 */
import { describe, it, type TestOptions } from "vitest";
import { type Program, verdictOn } from "./programs.ts";

declare module "vitest" {
  interface TaskMeta {
    /** Name of the missing program that the test needs. */
    missing?: string;
  }
}

type Body = () => void | Promise<void>;
type Rest = [options: TestOptions, body: Body] | [body: Body];
type Declare = (title: string, options: TestOptions, body: Body) => void;

/**
 * Declares tests for the available programs.
 * @param fail Declares a failing test with this title.
 */
function needing(
  programs: readonly Program[],
  run: Declare,
  skip: Declare,
  fail: (title: string, why: string) => void,
) {
  const verdict = verdictOn(programs, process.env);
  return (title: string, ...rest: Rest): void => {
    const [options, body] = rest.length === 2 ? rest : [{}, rest[0]];
    if (verdict.do === "run") run(title, options, body);
    else if (verdict.do === "fail") fail(title, verdict.message);
    else {
      const meta = { missing: verdict.program };
      skip(`${title} (SKIPPED: ${verdict.program} is missing)`, { ...options, meta }, body);
    }
  };
}

const failing = (title: string, why: string) =>
  it(title, () => {
    throw new Error(why);
  });

export const describeWith = (...programs: readonly Program[]) => needing(programs, describe, describe.skip, failing);
export const itWith = (...programs: readonly Program[]) => needing(programs, it, it.skip, failing);
