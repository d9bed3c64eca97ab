/** A site with its orders, for the journeys of services in Terraform. */
import { startTerraform, type Terraform, type TerraformOptions } from "./terraform.ts";

export const SITE = "hosting_service.site";
export const PASSWORD = "correct horse battery";

/** Returns a shared service with further attributes. */
export const site = (more = "") => `
variable "password" {
  type      = string
  default   = null
  sensitive = true
  ephemeral = true
}
resource "hosting_service" "site" {
  plan_id  = 11
  currency = "USD"
  domain   = "site.example"
${more}
}
`;

export async function startSite(more = "", options: TerraformOptions = {}): Promise<Terraform> {
  const terraform = await startTerraform({
    install: "running",
    ...options,
    env: { TF_VAR_password: PASSWORD, ...options.env },
  });
  await terraform.write(site(more));
  return terraform;
}

/** Returns the orders of the agency, oldest first. */
export const orders = ({ control }: Terraform) =>
  control.list("services").filter(({ customer_id }) => customer_id === 1);
