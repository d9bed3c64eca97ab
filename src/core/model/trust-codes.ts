/** Codes of what a declaration of a stranger's may not do; a part of `codes`. */
export const trustCodes = {
  "trust.file": [
    "A file of the project lies outside it, or is no regular file",
    "Put a regular file there, inside the project; or name the file on the command line (`-f`, `--var-file`).",
  ],
  "trust.origin": [
    "An address is not among those that credentials may go to",
    "Correct the address, or add its origin to HOSTFORM_ALLOWED_ORIGINS.",
  ],
  "trust.override": [
    "The declaration sends the API token to another address than HOSTING_BASE_URL",
    "Remove `base_url`; or set HOSTFORM_ALLOWED_ORIGINS to the origins that are meant.",
  ],
  "trust.untrusted": [
    "An untrusted declaration asks for what only a trusted one may have",
    "Remove it from the declaration and set it outside: in the environment or on the command line. If you trust its author, leave `--untrusted` out.",
  ],
} as const;
