import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** A private key with its self-signed certificate. */
export interface Identity {
  /** PKCS #8, PEM. */
  readonly key: string;
  /** X.509, PEM. */
  readonly certificate: string;
  /** The certificate as DER. */
  readonly der: Buffer;
}

// The DER types (X.690) of a certificate.
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const OBJECT_IDENTIFIER = 0x06;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
const GENERALIZED_TIME = 0x18;
const SEQUENCE = 0x30;
const SET = 0x31;
const TRUE = Buffer.of(0x01, 0x01, 0xff);
/** Returns the primitive tag `[n]`. `contextOf` returns the constructed tag. */
const context = (number: number) => 0x80 | number;
const contextOf = (number: number) => 0xa0 | number;

const DAY = 24 * 60 * 60 * 1000;

/**
 * Creates a P-256 key with a self-signed certificate for `localhost`, the name that Terraform checks. Terraform receives the certificate
 * in the handshake and trusts no other. The certificate is valid for a year, beginning a day ago, because clocks of containers differ.
 *
 * @param now milliseconds since 1970. @param host another name than `localhost`.
 */
export function selfSigned(now: number, host = "localhost"): Identity {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = value(SEQUENCE, oid("1.2.840.10045.4.3.2")); // ecdsa-with-SHA256
  const name = value(SEQUENCE, value(SET, value(SEQUENCE, oid("2.5.4.3"), value(UTF8_STRING, Buffer.from(host)))));
  const unsigned = value(
    SEQUENCE,
    value(contextOf(0), value(INTEGER, Buffer.of(2))), // X.509 version 3
    value(INTEGER, serialNumber()),
    algorithm,
    name,
    value(SEQUENCE, time(now - DAY), time(now + 365 * DAY)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    value(contextOf(3), value(SEQUENCE, ...extensions(host))),
  );
  const signature = sign("sha256", unsigned, privateKey);
  const der = value(SEQUENCE, unsigned, algorithm, value(BIT_STRING, Buffer.of(0), signature));
  const base64 = (der.toString("base64").match(/.{1,64}/g) ?? []).join("\n");
  return {
    key: String(privateKey.export({ type: "pkcs8", format: "pem" })),
    certificate: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
    der,
  };
}

/** Usage of the key (RFC 5280, 4.2.1). The key is its own authority, so it may sign certificates. */
function extensions(host: string): Buffer[] {
  const extension = (id: string, critical: boolean, content: Buffer) =>
    value(SEQUENCE, oid(id), ...(critical ? [TRUE] : []), value(OCTET_STRING, content));
  return [
    extension("2.5.29.19", true, value(SEQUENCE, TRUE)), // basicConstraints: an authority
    extension("2.5.29.15", true, value(BIT_STRING, Buffer.of(2, 0x84))), // keyUsage: digitalSignature, keyCertSign
    extension("2.5.29.37", false, value(SEQUENCE, oid("1.3.6.1.5.5.7.3.1"), oid("1.3.6.1.5.5.7.3.2"))), // extKeyUsage: serverAuth, clientAuth
    extension("2.5.29.17", false, value(SEQUENCE, value(context(2), Buffer.from(host)))), // subjectAltName: DNS
  ];
}

function value(type: number, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.of(type), length(body.length), body]);
}

/** Encodes a length: one byte below 128; otherwise the number of bytes, then the bytes. */
function length(bytes: number): Buffer {
  if (bytes < 0x80) return Buffer.of(bytes);
  const digits: number[] = [];
  for (let rest = bytes; rest > 0; rest >>>= 8) digits.unshift(rest & 0xff);
  return Buffer.of(0x80 | digits.length, ...digits);
}

/** Encodes an object identifier such as `1.2.840`. Its first two numbers become one number. Each number has groups of seven bits. */
function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const groups = [first * 40 + second, ...rest].flatMap((arc) => {
    const bytes = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) bytes.unshift(0x80 | (left & 0x7f));
    return bytes;
  });
  return value(OBJECT_IDENTIFIER, Buffer.from(groups));
}

/** Encodes a time (RFC 5280, 4.1.2.5): with a two-digit year until 2049, with a four-digit year from 2050. */
function time(at: number): Buffer {
  const digits = new Date(at).toISOString().replace(/[-:T]|\.\d+/g, ""); // 20260131235959Z
  const short = new Date(at).getUTCFullYear() < 2050;
  return value(short ? UTC_TIME : GENERALIZED_TIME, Buffer.from(short ? digits.slice(2) : digits));
}

/** Returns a positive number of 16 bytes without a leading zero byte. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x3f) | 0x40, 0);
  return bytes;
}
