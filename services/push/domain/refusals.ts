import { Problem, type ProblemOptions } from '../../contracts/problem.ts';
import { accessRefusals } from './access-refusals.ts';
import { publishRefusals } from './publish-refusals.ts';

/** Refusal in ntfy's format: a five-digit code that begins with the HTTP status, a text and a link. */
export interface Refusal {
  readonly code: number;
  readonly text: string;
  readonly link?: string;
}

const docsUrl = 'https://ntfy.sh/docs';

const refusals = {
  ...accessRefusals,
  ...publishRefusals,
  invalid: { code: 40000, text: 'invalid request' },
  email_off: {
    code: 40001,
    text: 'e-mail notifications are not enabled',
    link: `${docsUrl}/config/#e-mail-notifications`,
  },
  delay_with_email: { code: 40003, text: 'delayed e-mail notifications are not supported' },
  email_invalid: {
    code: 40050,
    text: 'invalid request: e-mail address invalid',
    link: `${docsUrl}/publish/#e-mail-notifications`,
  },
  email_unverified: {
    code: 40052,
    text: 'invalid request: e-mail address not verified',
    link: `${docsUrl}/publish/#e-mail-notifications`,
  },
  email_anonymous: {
    code: 40053,
    text: 'invalid request: anonymous e-mail sending is not allowed',
    link: `${docsUrl}/publish/#e-mail-notifications`,
  },
  delay_without_cache: { code: 40002, text: 'cannot disable cache for delayed message' },
  priority_invalid: {
    code: 40007,
    text: 'invalid priority parameter',
    link: `${docsUrl}/publish/#message-priority`,
  },
  since_invalid: {
    code: 40008,
    text: 'invalid since parameter',
    link: `${docsUrl}/subscribe/api/#fetch-cached-messages`,
  },
  topic_invalid: { code: 40009, text: 'invalid request: topic invalid' },
  topic_reserved: { code: 40010, text: 'invalid request: topic name is not allowed' },
  not_text: { code: 40011, text: 'invalid message: message must be UTF-8 encoded' },
  attachment_url_invalid: {
    code: 40013,
    text: 'invalid request: attachment URL is invalid',
    link: `${docsUrl}/publish/#attachments`,
  },
  attachments_off: {
    code: 40014,
    text: 'invalid request: attachments not allowed',
    link: `${docsUrl}/config/#attachments`,
  },
  no_websocket: {
    code: 40016,
    text: 'invalid request: client not using the websocket protocol',
    link: `${docsUrl}/subscribe/api/#websockets`,
  },
  actions_invalid: {
    code: 40018,
    text: 'invalid request: actions invalid',
    link: `${docsUrl}/publish/#action-buttons`,
  },
  icon_invalid: { code: 40021, text: 'invalid request: icon URL is invalid', link: `${docsUrl}/publish/#icons` },
  json_invalid: { code: 40024, text: 'invalid request: request body must be valid JSON' },
  calls_off: { code: 40032, text: 'invalid request: calling is disabled', link: `${docsUrl}/config/#phone-calls` },
  sequence_invalid: {
    code: 40049,
    text: 'invalid request: sequence ID invalid',
    link: `${docsUrl}/publish/#updating-deleting-notifications`,
  },
  unauthorized: { code: 40101, text: 'unauthorized', link: `${docsUrl}/publish/#authentication` },
  forbidden: { code: 40301, text: 'forbidden', link: `${docsUrl}/publish/#authentication` },
  not_found: { code: 40401, text: 'page not found' },
  too_large: {
    code: 41301,
    text: 'attachment too large, or bandwidth limit reached',
    link: `${docsUrl}/publish/#limitations`,
  },
  json_too_large: { code: 41303, text: 'JSON body too large' },
  too_many_subscribers: {
    code: 42903,
    text: 'limit reached: too many active subscriptions',
    link: `${docsUrl}/publish/#limitations`,
  },
  too_many_attempts: {
    code: 42909,
    text: 'limit reached: too many auth failures',
    link: `${docsUrl}/publish/#limitations`,
  },
  internal: { code: 50001, text: 'internal server error' },
} as const satisfies Record<string, Refusal>;

export type RefusalName = keyof typeof refusals;

/** Creates the problem of a refusal. `reason` is appended to the text: `actions invalid; <reason>`. */
export function refuse(name: RefusalName, reason?: string, options?: ProblemOptions): Problem {
  const { code, text } = refusals[name];
  return new Problem(
    `push.${name}`,
    Math.floor(code / 100),
    reason === undefined ? text : `${text}; ${reason}`,
    options,
  );
}

/** Codes of host problems with a corresponding refusal in ntfy. */
const hostProblemAliases: Readonly<Record<string, RefusalName>> = {
  'accounts.bad_credentials': 'unauthorized',
  'accounts.too_many_attempts': 'too_many_attempts',
  'accounts.exists': 'user_exists',
};

/** Returns ntfy's refusal for a problem; undefined without one. */
export function findRefusal(problem: Problem): Refusal | undefined {
  const alias = hostProblemAliases[problem.code];
  if (alias !== undefined) return refusals[alias];
  const name = problem.code.slice('push.'.length);
  if (!problem.code.startsWith('push.') || !isName(name)) return undefined;
  return { ...refusals[name], text: problem.detail };
}

function isName(name: string): name is RefusalName {
  return Object.hasOwn(refusals, name);
}
