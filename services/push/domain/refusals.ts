import { Problem, type ProblemOptions } from '../../contracts/problem.ts';
import { accessRefusals } from './access-refusals.ts';
import { publishRefusals } from './publish-refusals.ts';

/** What the peer answers when it refuses: a five-digit code whose first three are the HTTP status, a sentence, a link. */
export interface Refusal {
  readonly code: number;
  readonly text: string;
  readonly link?: string;
}

const manual = 'https://ntfy.sh/docs';

const refusals = {
  ...accessRefusals,
  ...publishRefusals,
  invalid: { code: 40000, text: 'invalid request' },
  email_off: {
    code: 40001,
    text: 'e-mail notifications are not enabled',
    link: `${manual}/config/#e-mail-notifications`,
  },
  delay_with_email: { code: 40003, text: 'delayed e-mail notifications are not supported' },
  email_invalid: {
    code: 40050,
    text: 'invalid request: e-mail address invalid',
    link: `${manual}/publish/#e-mail-notifications`,
  },
  email_unverified: {
    code: 40052,
    text: 'invalid request: e-mail address not verified',
    link: `${manual}/publish/#e-mail-notifications`,
  },
  email_anonymous: {
    code: 40053,
    text: 'invalid request: anonymous e-mail sending is not allowed',
    link: `${manual}/publish/#e-mail-notifications`,
  },
  delay_without_cache: { code: 40002, text: 'cannot disable cache for delayed message' },
  priority_invalid: {
    code: 40007,
    text: 'invalid priority parameter',
    link: `${manual}/publish/#message-priority`,
  },
  since_invalid: {
    code: 40008,
    text: 'invalid since parameter',
    link: `${manual}/subscribe/api/#fetch-cached-messages`,
  },
  topic_invalid: { code: 40009, text: 'invalid request: topic invalid' },
  topic_reserved: { code: 40010, text: 'invalid request: topic name is not allowed' },
  not_text: { code: 40011, text: 'invalid message: message must be UTF-8 encoded' },
  attachment_url_invalid: {
    code: 40013,
    text: 'invalid request: attachment URL is invalid',
    link: `${manual}/publish/#attachments`,
  },
  attachments_off: {
    code: 40014,
    text: 'invalid request: attachments not allowed',
    link: `${manual}/config/#attachments`,
  },
  no_websocket: {
    code: 40016,
    text: 'invalid request: client not using the websocket protocol',
    link: `${manual}/subscribe/api/#websockets`,
  },
  actions_invalid: {
    code: 40018,
    text: 'invalid request: actions invalid',
    link: `${manual}/publish/#action-buttons`,
  },
  icon_invalid: { code: 40021, text: 'invalid request: icon URL is invalid', link: `${manual}/publish/#icons` },
  json_invalid: { code: 40024, text: 'invalid request: request body must be valid JSON' },
  calls_off: { code: 40032, text: 'invalid request: calling is disabled', link: `${manual}/config/#phone-calls` },
  sequence_invalid: {
    code: 40049,
    text: 'invalid request: sequence ID invalid',
    link: `${manual}/publish/#updating-deleting-notifications`,
  },
  unauthorized: { code: 40101, text: 'unauthorized', link: `${manual}/publish/#authentication` },
  forbidden: { code: 40301, text: 'forbidden', link: `${manual}/publish/#authentication` },
  not_found: { code: 40401, text: 'page not found' },
  too_large: {
    code: 41301,
    text: 'attachment too large, or bandwidth limit reached',
    link: `${manual}/publish/#limitations`,
  },
  json_too_large: { code: 41303, text: 'JSON body too large' },
  too_many_subscribers: {
    code: 42903,
    text: 'limit reached: too many active subscriptions',
    link: `${manual}/publish/#limitations`,
  },
  too_many_attempts: {
    code: 42909,
    text: 'limit reached: too many auth failures',
    link: `${manual}/publish/#limitations`,
  },
  internal: { code: 50001, text: 'internal server error' },
} as const satisfies Record<string, Refusal>;

export type RefusalName = keyof typeof refusals;

/** The problem of that name. `reason` is appended to the sentence as the peer does: `actions invalid; <reason>`. */
export function refuse(name: RefusalName, reason?: string, options?: ProblemOptions): Problem {
  const { code, text } = refusals[name];
  return new Problem(
    `push.${name}`,
    Math.floor(code / 100),
    reason === undefined ? text : `${text}; ${reason}`,
    options,
  );
}

/** Codes of the host's problems that have a word of their own at the peer. */
const foreign: Readonly<Record<string, RefusalName>> = {
  'accounts.bad_credentials': 'unauthorized',
  'accounts.too_many_attempts': 'too_many_attempts',
  'accounts.exists': 'user_exists',
};

/** How the peer would put a problem; undefined when it has no word for it. */
export function refusalOf(problem: Problem): Refusal | undefined {
  const alias = foreign[problem.code];
  if (alias !== undefined) return refusals[alias];
  const name = problem.code.slice('push.'.length);
  if (!problem.code.startsWith('push.') || !isName(name)) return undefined;
  return { ...refusals[name], text: problem.detail };
}

function isName(name: string): name is RefusalName {
  return Object.hasOwn(refusals, name);
}
