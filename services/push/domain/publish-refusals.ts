const docsUrl = 'https://ntfy.sh/docs';
const delays = `${docsUrl}/publish/#scheduled-delivery`;
const templates = `${docsUrl}/publish/#message-templating`;

/** Refusals of ntfy about delays, templates, attachments and the Matrix gateway. */
export const publishRefusals = {
  delay_invalid: { code: 40004, text: 'invalid delay parameter: unable to parse delay', link: delays },
  delay_too_small: { code: 40005, text: 'invalid delay parameter: too small, please refer to the docs', link: delays },
  delay_too_large: { code: 40006, text: 'invalid delay parameter: too large, please refer to the docs', link: delays },
  attachment_expires_first: {
    code: 40015,
    text: 'invalid request: attachment expiry before delayed delivery date',
    link: delays,
  },
  matrix_invalid: {
    code: 40019,
    text: 'invalid request: Matrix JSON invalid',
    link: `${docsUrl}/publish/#matrix-gateway`,
  },
  rendered_too_large: {
    code: 40041,
    text: 'invalid request: message or title is too large after replacing template',
    link: templates,
  },
  template_not_json: {
    code: 40042,
    text: 'invalid request: message body must be JSON if templating is enabled',
    link: templates,
  },
  template_unparsable: { code: 40043, text: 'invalid request: could not parse template', link: templates },
  template_disallowed: {
    code: 40044,
    text: 'invalid request: template contains disallowed function calls, e.g. template, call, define, or block',
    link: templates,
  },
  template_failed: { code: 40045, text: 'invalid request: template execution failed', link: templates },
  template_unknown: { code: 40047, text: 'invalid request: template file not found', link: templates },
  template_file_invalid: { code: 40048, text: 'invalid request: template file invalid', link: templates },
  template_timeout: { code: 40055, text: 'invalid request: template took too long', link: templates },
  template_too_large: { code: 40056, text: 'invalid request: template or its output is too large', link: templates },
  matrix_too_large: { code: 41302, text: 'Matrix request is larger than the max allowed length' },
  unified_push_unheard: {
    code: 50701,
    text: 'cannot publish to UnifiedPush topic without previously active subscriber',
    link: `${docsUrl}/publish/#unifiedpush`,
  },
  base_url_missing: {
    code: 50003,
    text: 'internal server error: base-url must be configured for this feature',
    link: `${docsUrl}/config/`,
  },
} as const;
