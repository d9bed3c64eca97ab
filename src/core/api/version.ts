/** The version of the package, for User-Agent. A test holds it to package.json. */
export const VERSION = "0.1.0";
