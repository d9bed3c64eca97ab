/** Messages about a fleet. */
import { type Catalogue, error, problemsOf, type Raise, raiseOf, type Words } from "../core/messages/message.ts";
import { some } from "../core/model/index.ts";

const messages = {
  "fleet.invalid": error(({ file, why }: Words<"file" | "why">) => ({
    summary: `${file}: ${why}`,
    remedies: ["Correct the file."],
  })),
  "fleet.project/none": error(({ file, why }: Words<"file" | "why">) => ({
    summary: `${file}: ${why}`,
    remedies: ["Correct the path. A project is a folder with a declaration."],
  })),
  "fleet.project/unmatched": error(({ names }: { readonly names: readonly string[] }) => ({
    summary: "No project of the fleet matches",
    detail: `The projects are ${some(names)}.`,
    remedies: ["Pass the name of a project, or a pattern such as `customers/*`."],
  })),
  "fleet.project/twice": error(({ file, name }: Words<"file" | "name">) => ({
    summary: `${file}: two entries select the project ${name}`,
    remedies: ["Remove one entry. Two environments of a project are two projects."],
  })),
  "fleet.project/git": error(({ url, why }: Words<"url" | "why">) => ({
    summary: `The repository ${url} could not be fetched`,
    detail: why,
    remedies: ["Check the URL, the branch, and the credentials of git on this machine."],
  })),
  "fleet.project/signature": error(({ url, commit, why }: Words<"url" | "commit" | "why">) => ({
    summary: `Commit ${commit} of ${url} has no valid signature of an allowed signer`,
    detail: why,
    remedies: ["Sign the commit, or add its signer to the file in `signers`. Until then, the project is not applied."],
  })),
  "fleet.guard": error(({ what, planned, limit }: Words<"what" | "planned" | "limit">) => ({
    summary: `The plans of the fleet would ${what} ${planned}; the limit is ${limit}`,
    detail: "No project was applied.",
    remedies: ["Apply fewer projects, or raise the limit in the file of the fleet."],
  })),
} satisfies Catalogue;

export const problem = problemsOf(messages);

/** Throws a message of the catalogue. */
export const raise: Raise<typeof messages> = raiseOf(messages);
