import { createHash } from "node:crypto";
import { isToken } from "./checks.ts";

/** The longest `reference` that is accepted. */
export const LONGEST_REFERENCE = 200;

/** What stands for itself in Terraform's templates, in a shell and in a table. */
const PLAIN = /[^\p{L}\p{N}._@/-]/gu;

/**
 * The name of an order that has no domain: the path of its construct, from which the Idempotency-Key is made (§4). The same
 * path gives the same name on every machine and in every run; two paths give two names: what cannot stand in the name, or
 * is too long for it, is told apart by a hash of the whole path.
 *
 * @param path of the construct, stack first: `production/acme/build`
 * @returns 1 to 200 characters: letters, digits and `._@/-`
 * @throws Error for a path with a token in it, which is another in every run
 */
export function orderReference(path: string): string {
  if (isToken(path)) {
    throw new Error(
      "The path of this construct holds a token, so it gives no stable name for the order. Give `reference`, or an id without tokens.",
    );
  }
  const plain = path.replace(PLAIN, "_");
  if (plain === path && path.length <= LONGEST_REFERENCE) return path;
  const mark = createHash("sha256").update(path).digest("hex").slice(0, 16);
  return `${plain.slice(0, LONGEST_REFERENCE - mark.length - 1)}-${mark}`;
}
