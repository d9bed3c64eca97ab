import { readFile, stat } from "node:fs/promises";
import { type Diagnostic, errnoOf, fail } from "../model/index.ts";

/** Where an API token is kept: an environment variable, or a file by its absolute path. */
export type TokenSource = { readonly env: string } | { readonly file: string };

/** What reading a token needs, and how its messages name things. */
export interface TokenReading {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** "provider beta". */
  readonly of: string;
  /** What else can be done where a variable is missing, as a part of a sentence. */
  readonly otherwise?: string;
  /** What a relative `token_file` is relative to: "the declaration". */
  readonly relativeTo: string;
  /** The place that failures point at. */
  readonly place: Pick<Diagnostic, "range" | "attribute">;
}

export interface FoundToken {
  readonly token: string;
  /** It lies in a file that others on this machine may read. */
  readonly readableByOthers: boolean;
}

/** Reads a token, without the space around it. @throws HostformError `provider.token`, which never holds it. */
export async function readToken(source: TokenSource, reading: TokenReading): Promise<FoundToken> {
  return "env" in source ? fromVariable(source.env, reading) : fromFile(source.file, reading);
}

function fromVariable(variable: string, { env, of, otherwise, place }: TokenReading): FoundToken {
  const token = env[variable]?.trim();
  if (token) return { token, readableByOthers: false };
  const state = token === undefined ? "not set" : "empty";
  return fail("provider.token", `No API token for ${of}: the environment variable ${variable} is ${state}`, {
    remedies: [
      `Create a token in the dashboard (API Tokens) and set it: \`export ${variable}=…\`${otherwise === undefined ? "" : `, ${otherwise}`}. To try without an account: \`hostform sandbox\`.`,
    ],
    ...place,
  });
}

async function fromFile(file: string, { of, relativeTo, place }: TokenReading): Promise<FoundToken> {
  try {
    const { mode } = await stat(file);
    const readableByOthers = process.platform !== "win32" && (mode & 0o077) !== 0;
    const token = (await readFile(file, "utf8")).trim();
    if (token === "") {
      fail("provider.token", `The token file of ${of} is empty`, {
        detail: file,
        remedies: ["Write the API token into it."],
        ...place,
      });
    }
    return { token, readableByOthers };
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return fail("provider.token", `The token file of ${of} cannot be read`, {
      detail: `${file}: ${errnoOf(error)}`,
      remedies: [`Check \`token_file\`; the path is relative to ${relativeTo}.`],
      ...place,
    });
  }
}
