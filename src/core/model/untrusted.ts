/** Whether HOSTFORM_UNTRUSTED says that declarations may come from strangers: anything but nothing, `0` and `false`. */
export function untrustedByEnvironment({
  HOSTFORM_UNTRUSTED: text = "",
}: Readonly<Record<string, string | undefined>>): boolean {
  return !["", "0", "false"].includes(text.trim().toLowerCase());
}
