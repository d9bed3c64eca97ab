/** Messages about a fleet. */
import { type Catalogue, error, problemsOf, type Raise, raiseOf, warning } from "../core/messages/message.ts";
import { type Diagnostic, HostformError, reasonOf, some } from "../core/model/index.ts";

const messages = {
  "fleet.invalid": error({ summary: "{file}: {why}", remedies: ["Correct the file."] }),
  "fleet.project/none": error({
    summary: "{file}: {why}",
    remedies: ["Correct the path. A project is a folder with a declaration."],
  }),
  "fleet.project/unmatched": error(({ names }: { readonly names: readonly string[] }) => ({
    summary: "No project of the fleet matches",
    detail: `The projects are ${some(names)}.`,
    remedies: ["Pass the name of a project, or a pattern such as `customers/*`."],
  })),
  "fleet.project/twice": error({
    summary: "{file}: two entries select the project {name}",
    detail: "A path without `*` takes precedence over a pattern, but both paths are complete.",
    remedies: ["Remove one entry. Two environments of a project are two projects."],
  }),
  "fleet.project/git": error({
    summary: "The repository {url} could not be fetched",
    detail: "{why}",
    remedies: ["Check the URL, the branch, and the credentials of git on this machine."],
  }),
  "fleet.project/commit": error({
    summary: "Commit {commit} of {url} is not used: the checkout keeps the last valid commit {accepted}",
    remedies: ["Correct the files in a new commit."],
  }),
  "fleet.project/signature": error({
    summary: "Commit {commit} of {url} has no valid signature of an allowed signer",
    detail: "{why}",
    remedies: ["Sign the commit, or add its signer to the file in `signers`. Until then, the project is not applied."],
  }),
  "fleet.guard": error({
    summary: "The plans of the fleet would {what} {planned}; the limit is {limit}",
    detail: "No project was applied.",
    remedies: ["Apply fewer projects, or raise the limit in the file of the fleet."],
  }),
  "fleet.guard/interval": error({
    summary: "The fleet would {what} {planned} within {minutes}; the limit is {limit}",
    detail: "The plan was not applied. hostform checks the project again after the interval.",
    remedies: ["Wait, or raise the limit in the file of the fleet."],
  }),
  "fleet.queue/store": error({
    summary: "The workers of a fleet need a PostgreSQL database, and HOSTFORM_STORE names none",
    remedies: [
      "Set HOSTFORM_STORE=postgres://USER@HOST/DATABASE. `fleet plan`, `status` and `apply` need no database.",
    ],
  }),
  "fleet.queue/package": error({
    summary: "The workers of a fleet require the npm package pg-boss",
    detail: "{why}",
    remedies: ["Install the npm packages pg-boss and pg in the same place as this program."],
  }),
  "fleet.queue/database": error({
    summary: "The queue of the fleet at {place} cannot be used",
    detail: "{why}",
    remedies: ["Check HOSTFORM_STORE, and that the role may create the schema hostform_fleet."],
  }),
  "fleet.queue/lost": warning({
    summary: "The queue of the fleet failed: {why}",
    remedies: ["Check the database. Running checks go on, and the worker connects again."],
  }),
} satisfies Catalogue;

export const problem = problemsOf(messages);

/** Throws a message of the catalogue. */
export const raise: Raise<typeof messages> = raiseOf(messages);

/** Returns an error outside of a check as diagnostics. */
export const troubleOf = (error: unknown): readonly Diagnostic[] =>
  error instanceof HostformError ? error.diagnostics : [problem("fleet.queue/lost", { why: whyOf(error) })];

/** Returns the words of an error. pg-boss emits copies of errors, which are not errors. */
export function whyOf(error: unknown): string {
  if (error instanceof Error) return reasonOf(error);
  const { message, code } = Object(error) as Readonly<Record<string, unknown>>;
  return String(message || code || "unknown");
}
