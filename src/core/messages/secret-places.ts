/** Messages about the destination of a one-time secret that cannot receive it. */
import { type Catalogue, error, type Words } from "./message.ts";

type Secret = Words<"address" | "what" | "place">;
type File = Words<"file">;

const unwritten = <Given = unknown>(
  reason: (given: Given) => string,
  remedy: (given: Given) => string = () => "Name another file.",
) =>
  error((given: Given & Secret) => ({
    summary: `The ${given.what} of ${given.address} cannot be written to ${given.place}`,
    detail: reason(given),
    remedies: [remedy(given)],
  }));

const NO_ACCESS = "Get write access to its folder, or name another path.";

/** Remedies by error code of the operating system. */
const FIXES: Readonly<Record<string, string>> = {
  EACCES: NO_ACCESS,
  EPERM: NO_ACCESS,
  EROFS: "Name a path that can be written to.",
  ENOSPC: "Free space on the disk.",
};

export const secretPlaces = {
  "secret.output/elsewhere": unwritten(
    ({ file, folder }: File & Words<"folder">) => `The path is ${file}, which is not in ${folder}.`,
    () => "Name a file in that folder, or set outside_project to true if this file is intended.",
  ),
  "secret.output/link": unwritten(
    ({ file }: File) => `${file} is a symbolic link. Secrets are written to ordinary files only.`,
    () => "Name its target.",
  ),
  "secret.output/git": unwritten(() => "The file is in a .git folder, where git reads its settings and runs hooks."),
  "secret.output/own": unwritten(({ owner }: Words<"owner">) => `${owner} itself reads or writes this file.`),
  "secret.output/owner": unwritten(
    ({ file }: File) => `Another user owns ${file}.`,
    () => "Remove the file: the next run creates it. Or name another file.",
  ),
  "secret.output/mode": unwritten(
    ({ file }: File) => `Others can read or write ${file}.`,
    ({ argument }: File & Words<"argument">) => `Run chmod 600 ${argument} to remove the permissions of others.`,
  ),
  "secret.output/mount": unwritten(
    ({ file }: File) => `${file} is a mount point, so no other file can replace it.`,
    () => "Mount its folder instead.",
  ),
  "secret.output/form": unwritten(
    ({ file, isFolder }: File & { readonly isFolder: boolean }) =>
      `${file} is ${isFolder ? "a folder" : "not an ordinary file"}.`,
    () => "Name a file; it need not exist yet.",
  ),
  "secret.output/quotes": unwritten(
    () => "The secret contains characters that shells and readers of .env files quote differently.",
    () => "Use file or command in place of env_file.",
  ),
  "secret.output/encoding": unwritten(
    ({ file }: File) => `${file} is not a text file in UTF-8, so rewriting it would corrupt it.`,
  ),
  "secret.output/command": unwritten(
    ({ failure, isTest, output }: Words<"failure" | "output"> & { readonly isTest: boolean }) =>
      `The command ${failure}${isTest ? " in the test (HOSTFORM_SECRET_OUTPUT=test)" : ""}. ${output}`,
    () => "Correct the command, or name another.",
  ),
  "secret.output/system": unwritten(
    ({ failure }: Words<"failure">) => failure,
    ({ code, missing }: Words<"failure" | "code"> & { readonly missing: string | undefined }) => {
      if (code !== "ENOENT") return FIXES[code] ?? "Correct the path, or name another.";
      if (missing !== undefined) return `Run mkdir -p ${missing} to create its folder.`;
      // The folder exists, but no file can be created in it (/proc).
      return "Name a file in a folder where files can be created.";
    },
  ),
} satisfies Catalogue;
