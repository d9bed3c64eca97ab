/** Formats the first line of a plan, which names its accounts. */
import type { Place, Plan } from "../core/model/index.ts";
import { escapeLine } from "./escape.ts";
import { plural } from "./numbers.ts";

/** Returns for example `production · api.host.example · 58 services, www.acme.example and others`; undefined without an opened account. */
export function placeText({ places = [] }: Pick<Plan, "places">): string | undefined {
  return places.length === 0 ? undefined : places.map(textOf).join("; ");
}

function textOf({ name, host, services, domain }: Place): string {
  const others = services === 1 ? "" : " and others";
  const named = domain === null || services === 0 ? "" : `, ${domain}${others}`;
  const held = services === null ? [] : [`${plural(services, "service")}${named}`];
  return [name, host, ...held].map(escapeLine).join(" · ");
}

/** Returns the name of a plan for the heading of a page or a comment. Empty without a name. */
export function titleOf({ project, places = [] }: Pick<Plan, "project" | "places">): string {
  const place = placeText({ places }) ?? "";
  return places.length === 1 || project === "" ? place : [project, place].filter((part) => part !== "").join(": ");
}
