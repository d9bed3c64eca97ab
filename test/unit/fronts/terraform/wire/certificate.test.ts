import { createPrivateKey, X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { selfSigned } from "../../../../../src/fronts/terraform/wire/certificate.ts";

const NOW = Date.parse("2026-11-21T10:00:00Z");

describe("selfSigned", () => {
  const identity = selfSigned(NOW);
  const certificate = new X509Certificate(identity.der);

  it("is a certificate for localhost that its own key has signed", () => {
    expect(certificate.checkHost("localhost")).toBe("localhost");
    expect(certificate.checkHost("example.com")).toBeUndefined();
    expect(certificate.checkIssued(certificate)).toBe(true);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(identity.key))).toBe(true);
    expect(certificate.ca).toBe(true);
    expect(certificate.subject).toBe("CN=localhost");
    expect(certificate.subjectAltName).toBe("DNS:localhost");
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"]); // serverAuth, clientAuth
  });

  it("is valid from a day before to a year after", () => {
    expect(certificate.validFromDate.toISOString()).toBe("2026-11-20T10:00:00.000Z");
    expect(certificate.validToDate.toISOString()).toBe("2027-11-21T10:00:00.000Z");
  });

  it("is valid beyond 2049 too, where dates are written in another way", () => {
    const late = new X509Certificate(selfSigned(Date.parse("2049-11-21T10:00:00Z")).der);
    expect(late.validFromDate.getUTCFullYear()).toBe(2049);
    expect(late.validToDate.toISOString()).toBe("2050-11-21T10:00:00.000Z");
  });

  it("is another each time, with a positive number of 16 bytes", () => {
    const numbers = Array.from({ length: 20 }, () => new X509Certificate(selfSigned(NOW).der).serialNumber);
    expect(new Set(numbers).size).toBe(20);
    for (const number of numbers) expect(number).toMatch(/^[4-7][0-9A-F]{31}$/);
  });
});
