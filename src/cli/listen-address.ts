import { InvalidArgumentError } from "commander";
import { wholeNumber } from "./options.ts";

/** Parses a port number; 0 selects a free port. */
export const port = wholeNumber(0, 65_535);

export interface ListenAddress {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
}

const LOOPBACK = "127.0.0.1";

/** Parses `8787`, `0.0.0.0:8787` or `[::1]:8787`. The default host is loopback. */
export function listenAddress(text: string): ListenAddress {
  const [, bracketed, name, digits] = /^(?:(?:\[([^[\]]+)\]|([^\s:[\]/]+)):)?(\d{1,5})$/.exec(text.trim()) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65535)
    throw new InvalidArgumentError("Expected a port, or HOST:PORT such as 0.0.0.0:8787.");
  return { host: bracketed ?? name ?? LOOPBACK, port };
}
