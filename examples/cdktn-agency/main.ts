import { App } from "cdktn";
import { agency } from "./agency.ts";

// A password is write-only, which Terraform and OpenTofu know since these versions; cdktn needs them declared as targets.
const app = new App({ context: { targetVersions: { terraform: ">=1.11.0", opentofu: ">=1.11.0" } } });
agency(app);
app.synth();
