/** Runs `policy test`: evaluates a policy for saved plans. Needs no account and no state, and sends no request. */
import { judgeCases } from "../project/policy-cases.ts";
import { escapeLine, plural } from "../report/index.ts";
import { type Action, printJson } from "./terminal.ts";

/** Runs `hostform policy test FILE…`. Returns 1 if a verdict differs from the expected one. */
export const runPolicyTest: Action<object, [files: readonly string[]]> = async (terminal, { source }, _, files) => {
  const results = (await Promise.all(files.map((file) => judgeCases(source, file)))).flat();
  const failed = results.filter(({ ok }) => !ok);
  if (terminal.json) printJson(terminal, "policy test", { cases: results });
  else {
    for (const { name, ok, expected, found } of results) {
      terminal.out(`${ok ? "ok    " : "FAILED"} ${escapeLine(name)}\n`);
      if (!ok) terminal.out(`       expected: ${textOf(expected)}; found: ${textOf(found)}\n`);
    }
    terminal.out(`${plural(results.length, "case")}, ${failed.length} failed.\n`);
  }
  return failed.length === 0 ? 0 : 1;
};

const textOf = ({ denies, warns }: { readonly denies: readonly string[]; readonly warns: readonly string[] }) =>
  [...denies.map((rule) => `${rule} denies`), ...warns.map((rule) => `${rule} warns`)].join(", ") || "nothing";
