/** Messages about resources that the API did not show, and about changes that wait because of them or of a refusal. */
import { some } from "../model/index.ts";
import { type Catalogue, either, error, type Words, warning } from "./message.ts";

/** Changes that wait for the resource at `address`. `others`: those of other resources, which depend on it. */
type HeldBack = Words<"address"> & {
  readonly others: readonly string[];
  readonly isOwn: boolean;
  readonly isUnread: boolean;
};

function waiting({ others, isOwn, address }: HeldBack): string {
  const rest = others.length === 1 ? `the change of ${others[0]}` : `${others.length} changes`;
  if (others.length === 0) return `The change of ${address} is held back`;
  const after = others.length === 1 ? "is" : "are";
  return isOwn ? `The change of ${address} and ${rest} are held back` : `${capital(rest)} ${after} held back`;
}

/** Resources that need an ability, and the words of the API. */
type Lacking = Words<"ability" | "said"> & { readonly addresses: readonly string[] };

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

export const trouble = {
  "plan.unread": error(({ address, noun, said }: Words<"address" | "noun" | "said">) => ({
    summary: `${address} cannot be planned: the token does not see what this ${noun} belongs to`,
    detail: `No list shows it, and the API refuses it: ${said}.`,
    remedies: ["If another account owns it now, stop declaring both.", "If not, use a token that sees it."],
  })),
  "plan.held_back": warning((given: HeldBack) => ({
    summary: waiting(given),
    detail: [
      given.isUnread ? `The API did not show ${given.address}.` : `${given.address} has an error.`,
      ...(given.others.length > 0 ? [`Held back with it: ${some(given.others)}.`] : []),
    ].join(" "),
    remedies: [
      given.isUnread
        ? "Plan again when the API shows it, or apply the other changes alone."
        : `Resolve ${given.address} first, or apply the other changes alone.`,
    ],
  })),
  "plan.ability": either(({ ability, addresses, said }: Lacking) => ({
    summary:
      addresses.length === 1
        ? `${addresses[0]} needs the ability "${ability}", which the token lacks`
        : `${addresses.length} resources need the ability "${ability}", which the token lacks`,
    detail: `${addresses.length === 1 ? "" : `They are ${some(addresses)}. `}The API refused a request (403): ${said}.`,
    remedies: [`Use a token with the ability "${ability}".`],
  })),
  "plan.restricted/order": either(({ said }: Words<"address" | "said">) => ({
    summary: "The token is restricted to services, and a new service is outside the restriction",
    detail: `The host refuses the order, or its lists do not show the service. Its words: ${said}.`,
    remedies: ["Order with a token of the whole account."],
  })),
  "plan.restricted": warning(({ address, noun, id, said }: Words<"address" | "noun" | "id" | "said">) => ({
    summary: "A restricted token orders a service, and its lists will not show the service",
    detail: `No list shows ${noun} ${id} (${address}): ${said}.`,
    remedies: ["Order with a token of the whole account, or add each new service to the restriction of this token."],
  })),
} satisfies Catalogue;
