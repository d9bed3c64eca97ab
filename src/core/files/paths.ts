// Pure functions on paths. No function here reads a disk.
import { isAbsolute, relative, sep } from "node:path";

/** Returns true if `file` is `folder` or is inside the folder. Both paths are absolute. */
export function isInside(folder: string, file: string): boolean {
  const way = relative(folder, file);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Device names of Windows, in any folder and with any extension. Opening such a name opens a printer or a port. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])[ .]*(?:[.:]|$)/i;

/** Returns true if a file name is valid and unchanged on each system. Windows drops dots and spaces at its end, and `:` opens a stream. */
export function isPortableName(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Windows refuses control characters in a name
  return !DEVICE.test(name) && !/[ .]$|[<>:"|?*\\/\u0000-\u001f]/.test(name);
}

/**
 * Returns true if Windows would resolve the path at a server or a device. Already the lookup of such a path sends the user's credentials there.
 * @param platform `process.platform`.
 */
export function isForeignPath(file: string, platform: string = process.platform): boolean {
  if (platform !== "win32") return false;
  const [, rest = ""] = /^(?:[A-Za-z]:)?(.*)$/s.exec(file) ?? [];
  return (
    /^[\\/]{2}/.test(file) || rest.split(/[\\/]+/).some((name) => !/^\.{0,2}$/.test(name) && !isPortableName(name))
  );
}
