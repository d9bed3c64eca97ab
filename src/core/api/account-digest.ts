import { scryptSync } from "node:crypto";

/**
 * About 1 ms and 1 MiB for each guess. A token of a host's making is too long to be guessed at all; this is for one that
 * is not, should the names of the files get about. No key of our own is mixed in: it would have to lie in the same folder.
 */
const COST = { N: 1024, r: 8, p: 1 };
const BYTES = 16;

/**
 * A name for an account as it is reached with a token, which does not give the token away: always the same for the same
 * two, on every machine.
 * @param baseUrl normalised, so that one account has one name.
 * @returns 32 hexadecimal digits.
 */
export function accountDigest(baseUrl: string, token: string): string {
  return scryptSync(token, `hostform account\n${baseUrl}`, BYTES, COST).toString("hex");
}
