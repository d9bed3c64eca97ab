// Paths as text: nothing here looks at a disk.
import { isAbsolute, relative, sep } from "node:path";

/** Returns true if a path is a folder or lies in it. Both absolute. */
export function isInside(folder: string, file: string): boolean {
  const way = relative(folder, file);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Names that Windows takes for a device in any folder and with any ending: opening one opens a printer or a port. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])[ .]*(?:[.:]|$)/i;

/** Returns true for a name of a file that means the same on every system: Windows drops dots and spaces at the end, and `:` opens a stream. */
export function isPortableName(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Windows refuses control characters in a name
  return !DEVICE.test(name) && !/[ .]$|[<>:"|?*\\/\u0000-\u001f]/.test(name);
}

/**
 * Returns true for a path that Windows would look up at a server or hand to a device: the look alone signs on there.
 * @param platform `process.platform`.
 */
export function isForeignPath(file: string, platform: string = process.platform): boolean {
  if (platform !== "win32") return false;
  const [, rest = ""] = /^(?:[A-Za-z]:)?(.*)$/s.exec(file) ?? [];
  return (
    /^[\\/]{2}/.test(file) || rest.split(/[\\/]+/).some((name) => !/^\.{0,2}$/.test(name) && !isPortableName(name))
  );
}
