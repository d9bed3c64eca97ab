import { z } from "zod";
import { attribute } from "./attribute.ts";

/** The id that the API gives to every object. */
export const idAttribute = (of: string) =>
  attribute(z.string(), { description: `Identifier of the ${of}, given by the API.`, computed: true });

export const createdAtAttribute = () =>
  attribute(z.string(), { description: "When it was created (ISO 8601), as the API tells it.", computed: true });

/** What happens to an object without a DELETE endpoint when its block is removed. */
export const deletionPolicy = (...more: readonly "suspend"[]) => {
  const meanings = `as the API cannot delete it: \`prevent\` refuses the plan, \`forget\` drops it from the state and leaves it running${
    more.length > 0 ? ", `suspend` suspends it first and then forgets it" : ""
  }.`;
  return attribute(z.enum(["prevent", "forget", ...more]).optional(), {
    description: `What removal of the block means, ${meanings} Kept in the state, so that it still holds when the block is gone.`,
    hcl: `What destroying it means, ${meanings} The policy in the state counts: a changed one is to be applied before the resource is destroyed.`,
    change: "recorded",
    computed: true,
    default: "prevent",
    unreadable: true,
  });
};

const DOMAIN = /^(?=.{1,253}$)(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}\p{N}-]{2,63}$/u;

/** A domain name: at least two labels, letters of any script. */
export const domainName = () => z.string().regex(DOMAIN, "expected a domain name such as www.acme.example");
