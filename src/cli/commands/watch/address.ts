import { InvalidArgumentError } from "commander";

/** Where to listen. */
export interface ListenAddress {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
}

const LOOPBACK = "127.0.0.1";

/** `8787`, `0.0.0.0:8787`, `[::1]:8787`. Without a host: loopback, so that to be reached from elsewhere is said on purpose. */
export function listenAddress(text: string): ListenAddress {
  const [, bracketed, name, digits] = /^(?:(?:\[([^[\]]+)\]|([^\s:[\]/]+)):)?(\d{1,5})$/.exec(text.trim()) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65535)
    throw new InvalidArgumentError("expected a port, or HOST:PORT such as 0.0.0.0:8787");
  return { host: bracketed ?? name ?? LOOPBACK, port };
}
