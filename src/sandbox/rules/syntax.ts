/** The syntax of names and addresses that requests carry. */

const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/i;

/** A host name with at least two labels and an ending that is not a number. Internationalised names come as punycode. */
export function isDomainName(value: string): boolean {
  const labels = value.split(".");
  if (value.length > 253 || labels.length < 2 || !labels.every((label) => LABEL.test(label))) return false;
  return /^([a-z]{2,63}|xn--[a-z0-9-]{1,59})$/i.test(labels.at(-1) ?? "");
}

/** An address with one @ and a domain name after it. */
export function isEmail(value: string): boolean {
  const at = value.lastIndexOf("@");
  return (
    value.length <= 254 &&
    /^[^\s@"<>]{1,64}$/.test(value.slice(0, Math.max(at, 0))) &&
    isDomainName(value.slice(at + 1))
  );
}

/** An absolute http or https URL (§4: "must be a valid URL"). */
export function isWebUrl(value: string): boolean {
  if (/\s/.test(value) || !URL.canParse(value)) return false;
  const { protocol, hostname } = new URL(value);
  return (protocol === "https:" || protocol === "http:") && hostname !== "";
}

/** An international or national telephone number. */
export function isPhone(value: string): boolean {
  return /^\+?[0-9][0-9 ().-]{3,24}$/.test(value);
}

/** Two letters, as in ISO 3166-1. */
export function isCountry(value: string): boolean {
  return /^[A-Za-z]{2}$/.test(value);
}
