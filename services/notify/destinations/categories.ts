import type { DestinationForm } from '../../contracts/notify/forms.ts';

/** Categories of the destination kinds, by their first scheme. */
const categoryMembers: readonly (readonly [DestinationForm['category'], readonly string[]])[] = [
  ['here', ['inbox', 'push', 'popup', 'syslog']],
  [
    'chat',
    [
      ...['tgram', 'discord', 'slack', 'matrix', 'signal', 'workflow', 'msteams', 'gchat', 'mmost', 'rocket', 'zulip'],
      ...['nctalk', 'synology', 'line', 'notifiarr', 'wxteams', 'whatsapp', 'mastodon'],
      ...['dingtalk', 'feishu', 'lark', 'pushplus', 'schan', 'wecombot'],
    ],
  ],
  [
    'phone',
    [
      ...['ntfy', 'gotify', 'pover', 'pbul', 'bark', 'prowl', 'join', 'spush', 'psafer', 'notica'],
      ...['ncloud', 'twilio', 'sns'],
    ],
  ],
  ['home', ['hassio', 'kodi', 'lametric', 'ifttt', 'mqtt']],
  ['duty', ['pagerduty', 'opsgenie', 'splunk']],
  ['mail', ['mailto', 'mailgun', 'postmark', 'resend', 'sendgrid']],
  ['program', ['apprise', 'json', 'form', 'xml', 'rsyslog']],
];

const byScheme = new Map(
  categoryMembers.flatMap(([category, schemes]) => schemes.map((scheme) => [scheme, category] as const)),
);

/** Returns the category of a kind. */
export function getCategory(scheme: string): DestinationForm['category'] {
  return byScheme.get(scheme) ?? 'other';
}
