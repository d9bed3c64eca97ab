/** Codes of what concerns stacks of cdktf and cdktn; a part of `codes`. */
export const stackCodes = {
  "stack.app": [
    "The app that synthesizes stacks has failed",
    "Run it by itself and mend what it complains of; it has to end with `app.synth()` and to leave `outdir` to CDKTF_OUTDIR.",
  ],
  "stack.manifest": [
    "The manifest of the stacks cannot be used",
    "Synthesize again with cdktf or cdktn; stacks must not depend on each other in a circle.",
  ],
  "stack.files": [
    "The files of a stack cannot be read, or not all of them",
    "Name a folder with `*.tf.json` and no other files of Terraform's; use Terraform itself for those.",
  ],
  "stack.annotation": [
    "A construct of the app complains",
    "Mend what the message says, in the app, and synthesize again; warnings do not hinder.",
  ],
  "stack.variables": [
    "A variable of a stack is given in a way that cannot be used",
    "Give it with `--var NAME=VALUE`, TF_VAR_NAME, or in a JSON file (`--var-file`, `terraform.tfvars.json`).",
  ],
  "stack.workspace": [
    "A workspace of Terraform's other than `default` is selected",
    "Unset TF_WORKSPACE or select `default`; make a stack for each environment.",
  ],
  "stack.remote_state": [
    "The outputs of another stack cannot be read",
    "Apply that stack first; its state must be in a file or in the backend `http` or `pg`.",
  ],
} as const;
