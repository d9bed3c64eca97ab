/** Derives the abilities of a token from responses to GET requests. Abilities without proof are unknown. */
import { namesAbility } from "../../core/api/chain.ts";
import { isOfTrack } from "../../core/api/classify.ts";
import { type Ability, type EndpointName, endpoints } from "../../core/api/endpoints.ts";
import { isRestriction } from "../../core/lifecycle/index.ts";
import { type Access, type AccountReport, ApiError, type EndpointAccess } from "../../core/model/index.ts";
import { recordsOf, type Sight, type Survey } from "./survey.ts";

type Rights = Pick<AccountReport, "abilities" | "endpoints" | "client_accounts" | "discount" | "restricted">;

const said = ({ problem, status }: Sight): string => {
  const words = problem instanceof ApiError ? problem.serverMessage : undefined;
  return (words ?? problem?.diagnostics[0]?.summary ?? `answered with ${status}`).replace(/[.\s]+$/, "");
};

const accessBy = ({ problem, status }: Sight): Access =>
  problem === undefined ? "yes" : status === 403 ? "no" : "unknown";

export function rightsIn({ sights, unlisted }: Survey): Rights {
  const ofAbility = (ability: Ability): Access => {
    const asked = sights.filter(({ endpoint }) => endpoints[endpoint].ability === ability);
    if (asked.some((sight) => accessBy(sight) === "yes")) return "yes";
    return asked.some(({ problem }) => namesAbility(problem, ability)) ? "no" : "unknown";
  };
  const abilities = { view: ofAbility("view"), technical: ofAbility("technical"), billing: ofAbility("billing") };
  const accounts = sights.find(({ endpoint }) => endpoint === "listAccounts");
  const isNoAgency = accounts?.status === 403 && isOfTrack(said(accounts));
  const clientAccounts = accounts !== undefined && accessBy(accounts) === "yes" ? "yes" : isNoAgency ? "no" : "unknown";
  const plans = recordsOf(sights, "listPlans");
  const hasDiscount = plans.some((plan) => "manage_discount_percent" in plan && plan.manage_discount_percent !== null);
  const outside = [...sights, unlisted].find((sight) => sight?.status === 403 && isRestriction(said(sight)));
  const restricted: Access = outside === undefined ? "unknown" : "yes";
  const inferred = (name: EndpointName): Pick<EndpointAccess, "access" | "why"> => {
    const { ability } = endpoints[name];
    const access = abilities[ability];
    if (name === "createAccount" && isNoAgency) return { access: "no", why: said(accounts) };
    if (access === "yes" && name === "createAccount")
      return { access: "unknown", why: "only the host knows the partner tier of the account" };
    if (access === "yes" && name === "createService" && restricted === "yes")
      return { access: "unknown", why: "the token is limited to services, and the host may reject an order" };
    const refusal = sights.find(({ problem }) => namesAbility(problem, ability));
    if (access === "no" && refusal !== undefined) return { access, why: said(refusal) };
    return { access, why: access === "yes" ? `the token has the ability "${ability}"` : "no GET shows it" };
  };
  const names = Object.keys(endpoints) as EndpointName[];
  return {
    abilities,
    endpoints: names.map((name) => {
      const { method, path, ability } = endpoints[name];
      const sight = sights.findLast(({ endpoint }) => endpoint === name);
      const seen = sight && { access: accessBy(sight), why: said(sight) };
      return { endpoint: `${method} ${path}`, ability, ...(seen ?? inferred(name)) };
    }),
    client_accounts: clientAccounts,
    discount: hasDiscount ? "yes" : plans.length > 0 ? "no" : "unknown",
    restricted,
  };
}
