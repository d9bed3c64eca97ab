/** A client of the agency. TypeScript checks the list below. */
export interface Client {
  /** Part of addresses and of the names of orders: do not change it. */
  readonly id: string;
  readonly name: string;
  readonly companyNumber?: string;
  readonly currency: "GEL" | "USD" | "EUR";
  readonly team?: Readonly<Record<string, "view" | "manage">>;
  readonly unpaid?: boolean;
  readonly sites: readonly Site[];
}

export interface Site {
  /** Part of its domain. */
  readonly name: string;
  readonly kind: "site" | "shop" | "server";
  /** Whether there is a copy of it in staging. */
  readonly staged?: boolean;
  /** The platform that it moves from. */
  readonly from?: "cpanel" | "plesk" | "wordpress";
  /** Set it for a site whose password the agency sets; raise it to set another. */
  readonly passwordVersion?: number;
}

const site: Site = { name: "www", kind: "site" };
const shop: Site = { name: "shop", kind: "shop" };

export const clients: readonly Client[] = [
  { id: "acme", name: "Acme", companyNumber: "405000001", currency: "USD", sites: [site, { ...shop, staged: true }] },
  { id: "batumi-tours", name: "Batumi Tours", currency: "GEL", sites: [{ ...site, from: "cpanel" }] },
  { id: "cafe-leila", name: "Cafe Leila", currency: "GEL", sites: [site] },
  { id: "dadiani", name: "Dadiani Law", currency: "EUR", team: { "office@dadiani.example": "view" }, sites: [site] },
  { id: "elbrus", name: "Elbrus Gear", currency: "EUR", sites: [{ ...shop, staged: true }] },
  { id: "fresco", name: "Fresco Art", currency: "USD", sites: [site] },
  { id: "gori-mills", name: "Gori Mills", companyNumber: "405000007", currency: "GEL", sites: [site] },
  { id: "hazel", name: "Hazel Farms", currency: "EUR", unpaid: true, sites: [site] },
  {
    id: "imereti",
    name: "Imereti Wines",
    currency: "EUR",
    sites: [site, { ...shop, staged: true, from: "wordpress" }],
  },
  { id: "jvari", name: "Jvari Books", currency: "GEL", sites: [shop] },
  { id: "kazbek", name: "Kazbek Guides", currency: "USD", sites: [site] },
  { id: "lagodekhi", name: "Lagodekhi Park", currency: "GEL", sites: [site] },
  { id: "mtkvari", name: "Mtkvari Boats", currency: "GEL", sites: [{ ...site, from: "plesk" }] },
  { id: "nino", name: "Nino Design", currency: "USD", sites: [{ ...site, passwordVersion: 1 }] },
  { id: "oni", name: "Oni Honey", currency: "EUR", sites: [shop] },
  { id: "poti-port", name: "Poti Port", currency: "USD", sites: [site, { name: "tracking", kind: "server" }] },
  { id: "racha", name: "Racha Cheese", currency: "GEL", sites: [shop] },
  { id: "svaneti", name: "Svaneti Treks", currency: "EUR", team: { "irma@svaneti.example": "manage" }, sites: [site] },
  { id: "tusheti", name: "Tusheti Wool", currency: "GEL", sites: [site] },
  { id: "ushba", name: "Ushba Climbing", currency: "USD", sites: [site] },
];
