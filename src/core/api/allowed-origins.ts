import { type Diagnostic, fail } from "../model/index.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What an address is for, and the place that named it. */
export interface AddressUse extends Pick<Diagnostic, "range" | "attribute"> {
  /** "provider beta", "the backend". */
  readonly of: string;
}

const VARIABLE = "HOSTFORM_ALLOWED_ORIGINS";
const FORM = `Give origins with commas between, such as \`${VARIABLE}=https://api.example.com,https://gitlab.example\`; or unset it.`;

/**
 * The one check before a credential goes anywhere: where HOSTFORM_ALLOWED_ORIGINS is set, an address must have one of its
 * origins. An address that is none is left to the one who uses it.
 * @throws HostformError `trust.origin`; also for a list that is empty or not readable: a pin that was lost must not hold for nothing.
 */
export function requireAllowedOrigin(address: string | URL, env: Environment, { of, ...place }: AddressUse): void {
  const origin = originOf(String(address));
  const allowed = allowedOrigins(env);
  if (allowed === undefined || origin === undefined || allowed.includes(origin)) return;
  fail("trust.origin", `${of} leads to ${origin}, where no credentials may go`, {
    detail: `${VARIABLE} allows ${allowed.join(", ")}. Nothing was sent.`,
    remedies: [`Correct the address, or add it to ${VARIABLE}.`],
    ...place,
  });
}

/** Whether HOSTFORM_ALLOWED_ORIGINS is set and names the origin of this address. @throws HostformError as above. */
export function isNamedOrigin(address: string, env: Environment): boolean {
  const origin = originOf(address);
  return origin !== undefined && (allowedOrigins(env)?.includes(origin) ?? false);
}

function allowedOrigins(env: Environment): readonly string[] | undefined {
  const text = env[VARIABLE];
  if (text === undefined) return undefined;
  const words = text.split(/[\s,]+/).filter((word) => word !== "");
  const origins = words.map(
    (word) => originOf(word) ?? fail("trust.origin", `${VARIABLE} holds what is no origin`, { remedies: [FORM] }),
  );
  if (origins.length === 0) fail("trust.origin", `${VARIABLE} is set and empty`, { remedies: [FORM] });
  return origins;
}

/** `https://api.example.com`, `postgres://db.example:5432`: the scheme, the host, and the port where it is not the usual one. */
function originOf(text: string): string | undefined {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  return url === undefined || url.host === "" ? undefined : `${url.protocol}//${url.host.toLowerCase()}`;
}

/** A declaration that sends the token elsewhere than HOSTING_BASE_URL says: a warning, unless that place is allowed by name. */
export function overrideWarnings(
  address: string | undefined,
  env: Environment,
  { of, ...place }: AddressUse,
): Diagnostic[] {
  const { HOSTING_BASE_URL: usual } = env;
  if (!usual || address === undefined) return [];
  const [there, here] = [originOf(address), originOf(usual)];
  if (there === undefined || there === here || isNamedOrigin(address, env)) return [];
  return [
    {
      severity: "warning",
      code: "trust.override",
      summary: `${of} sends its token to ${there}, not to HOSTING_BASE_URL`,
      detail: "The provider's settings name that address.",
      remedies: [`Remove \`base_url\` if that is not meant. Where it is, set ${VARIABLE} to the origins that are.`],
      ...place,
    },
  ];
}
