/** Creates certificates for test servers. The tests need no OpenSSL, and the repository contains no key. */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";

/** A certificate and its key, in PEM format. */
export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
}

interface Wanted {
  readonly subject: string;
  /** Domain names and IP addresses. Default: {@link OWN_NAMES}. */
  readonly names?: readonly string[];
  /** First and last day, as ISO dates. Default: 2020 to 2120. */
  readonly from?: string;
  readonly until?: string;
}

/** Names of the test servers. */
const OWN_NAMES = ["api.hosting.test", "proxy.hosting.test", "localhost", "127.0.0.1", "::1"];

/** Creates a private authority. */
export function testAuthority(subject: string) {
  const keys = newKeys();
  const self = { subject, privateKey: keys.privateKey };
  return {
    /** Certificate of the authority, in PEM format. */
    cert: certificate({ subject, names: [] }, keys.publicKey, self, true),
    /** Returns a server certificate that the authority signed. */
    issue(wanted: Wanted): TestCertificate {
      const { publicKey, privateKey } = newKeys();
      return { cert: certificate(wanted, publicKey, self), key: pem(privateKey) };
    },
  };
}

/** Returns a certificate that its own key signed. */
export function selfSignedCertificate(wanted: Wanted): TestCertificate {
  const { publicKey, privateKey } = newKeys();
  return {
    cert: certificate(wanted, publicKey, { subject: wanted.subject, privateKey }),
    key: pem(privateKey),
  };
}

const newKeys = () => generateKeyPairSync("ec", { namedCurve: "P-256" });
const pem = (key: KeyObject) => String(key.export({ type: "pkcs8", format: "pem" }));

/** Returns an X.509 version 3 certificate (RFC 5280) in DER (X.690), signed with ECDSA and SHA-256. */
function certificate(
  { subject, names = OWN_NAMES, from = "2020-01-01", until = "2120-01-01" }: Wanted,
  publicKey: KeyObject,
  issuer: { readonly subject: string; readonly privateKey: KeyObject },
  isAuthority = false,
): string {
  const algorithm = sequence(ECDSA_WITH_SHA256);
  const unsigned = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(8)])),
    algorithm,
    nameOf(issuer.subject),
    sequence(time(from), time(until)),
    nameOf(subject),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(basicConstraints(isAuthority), ...(names.length > 0 ? [alternativeNames(names)] : []))),
  );
  const signature = sign("sha256", unsigned, issuer.privateKey);
  const whole = sequence(unsigned, algorithm, der(0x03, Buffer.concat([Buffer.of(0), signature])));
  const lines = whole.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

const ECDSA_WITH_SHA256 = Buffer.from("06082a8648ce3d040302", "hex");
const COMMON_NAME = Buffer.from("0603550403", "hex");
const BASIC_CONSTRAINTS = Buffer.from("0603551d13", "hex");
const SUBJECT_ALT_NAME = Buffer.from("0603551d11", "hex");

const sequence = (...content: Buffer[]) => der(0x30, ...content);
const nameOf = (text: string) => sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(text)))));
/** Returns a GeneralizedTime, which OpenSSL accepts for every year. */
const time = (iso: string) => der(0x18, Buffer.from(`${iso.replaceAll("-", "")}000000Z`));
const basicConstraints = (isAuthority: boolean) =>
  sequence(
    BASIC_CONSTRAINTS,
    Buffer.from("0101ff", "hex"),
    der(0x04, sequence(...(isAuthority ? [Buffer.from("0101ff", "hex")] : []))),
  );

function alternativeNames(names: readonly string[]): Buffer {
  const each = names.map((name) => (isIP(name) === 0 ? der(0x82, Buffer.from(name)) : der(0x87, bytesOf(name))));
  return sequence(SUBJECT_ALT_NAME, der(0x04, sequence(...each)));
}

/** Returns the bytes of 127.0.0.1 or of ::1. */
const bytesOf = (address: string) =>
  address === "::1" ? Buffer.from(`${"00".repeat(15)}01`, "hex") : Buffer.from(address.split(".").map(Number));

function der(type: number, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const size = body.length;
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.of(type, ...length), body]);
}
