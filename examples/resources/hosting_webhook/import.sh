# By the subscription's id.
terraform import hosting_webhook.billing 201
