import { codes } from "../core/model/codes.ts";

/**
 * Keys and words of the documents in JSON that are hostform's own and that programs decide by: what is hidden in such a document
 * leaves them as they are. Shorter ones hold no secret that is long enough to be hidden.
 */
export const JSON_WORDS: ReadonlySet<string> = new Set([
  ...Object.keys(codes),
  ..."action_reason actions address addresses after_sensitive after_unknown amount apply_complete apply_errored apply_progress apply_start".split(
    " ",
  ),
  ..."applyable attribute auto_approve awaiting before before_sensitive billed cannot_update change_summary changes column complete config".split(
    " ",
  ),
  ..."create creating currency default deferred delete delete_because_no_resource_config destroy destroying detail diagnostic diagnostics".split(
    " ",
  ),
  ..."effect effects elapsed_seconds endColumn endLine error_count errored events failed filename forget format_version".split(
    " ",
  ),
  ..."held_seconds highlight_end_offset highlight_start_offset hostform id_key id_value implied_provider import importing index".split(
    " ",
  ),
  ..."interrupted interval_seconds lineage listing managed max_runs message messages module modifying next_seconds not-started not_started".split(
    " ",
  ),
  ..."operation orders outcome outcomes output_changes outputs payment pending planned_change planned_values previous_address prior_state".split(
    " ",
  ),
  ..."private progress project provider provider_name provisioning reason reasons reorder remedies removal remove replace replace_because_cannot_update".split(
    " ",
  ),
  ..."replace_paths requests resource resource_addr resource_changes resource_drift resource_key resource_name resource_type resources result".split(
    " ",
  ),
  ..."root_module schema_version seconds secret secret_to sensitive sensitive_values serial service severity snippet start_line status".split(
    " ",
  ),
  ..."summary suspend suspend-and-forget suspending target targets terraform terraform_version timestamp unfulfilled unknown unlisted unread".split(
    " ",
  ),
  ..."unrecorded unsuspend unsuspending update values version waits_for warning warning_count".split(" "),
  ..."action change context declared elapsed hosting queued removed skipped waiting @level @message @module @timestamp hostform.ui".split(
    " ",
  ),
]);
