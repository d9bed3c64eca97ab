import { GrpcError, STATUS } from "./status.ts";

/** What stands before each message: one byte (1: compressed) and the length in four, the highest first. */
const PREFIX = 5;

/** Terraform refuses messages of more than 64 MiB itself; what is beyond this is no message. */
const LARGEST = 256 * 1024 * 1024;

/** A message as it stands in the body of a request or an answer. */
export function framed(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX + message.length);
  frame.writeUInt8(0, 0);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, PREFIX);
  return frame;
}

/** Collects the body of a unary request, in whatever pieces it comes. */
export class Body {
  readonly #chunks: Buffer[] = [];
  #length = 0;
  #checked = false;

  /** @throws GrpcError as soon as the message is known to be compressed or too large. */
  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (!this.#checked && this.#length >= PREFIX) this.#check();
    if (this.#length > PREFIX + LARGEST) throw tooLarge();
  }

  /** @returns the one message of the body. @throws GrpcError when it is not there, not whole, or not alone. */
  message(): Uint8Array {
    const body = Buffer.concat(this.#chunks, this.#length);
    if (body.length < PREFIX) throw new GrpcError(STATUS.internal, "the request ended before its message began");
    const announced = body.readUInt32BE(1);
    const came = body.length - PREFIX;
    if (came < announced)
      throw new GrpcError(STATUS.internal, `the request ended after ${came} of ${announced} bytes of its message`);
    if (came > announced) throw new GrpcError(STATUS.internal, "the request holds more than one message");
    return body.subarray(PREFIX);
  }

  #check(): void {
    this.#checked = true;
    const prefix = Buffer.concat(this.#chunks, this.#length);
    if (prefix.readUInt8(0) !== 0) throw new GrpcError(STATUS.unimplemented, "compressed messages are not understood");
    if (prefix.readUInt32BE(1) > LARGEST) throw tooLarge();
  }
}

const tooLarge = () => new GrpcError(STATUS.resourceExhausted, `a message has more than ${LARGEST} bytes`);
