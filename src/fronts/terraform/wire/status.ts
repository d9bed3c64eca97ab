/** The numbers that gRPC gives to the outcomes of a call; those that occur here. */
export const STATUS = {
  ok: 0,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
} as const;

export type Status = (typeof STATUS)[keyof typeof STATUS];

/** A call that ends without an answer. What the user should know of a call that was understood is a diagnostic in its answer. */
export class GrpcError extends Error {
  override readonly name = "GrpcError";
  readonly status: Status;

  constructor(status: Status, message: string) {
    super(message);
    this.status = status;
  }
}

/** `grpc-message`: UTF-8, with everything but printable ASCII percent-encoded; "%" too. */
export function encodeStatusMessage(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) =>
    byte >= 0x20 && byte <= 0x7e && byte !== 0x25
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
  ).join("");
}
