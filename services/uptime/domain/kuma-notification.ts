import * as m from '#messages/uptime-problems';
import { Problem } from '../../contracts/problem.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Notification types of Uptime Kuma that Delivery supports, with the builder of their URL. */
const builders: Readonly<Record<string, (fields: Fields) => string>> = {
  apprise: (fields) => getRequiredText(fields, 'appriseURL'),
  discord: (fields) => getRequiredText(fields, 'discordWebhookUrl'),
  slack: (fields) => getRequiredText(fields, 'slackwebhookURL'),
  gotify: (fields) =>
    buildUrl(getRequiredText(fields, 'gotifyserverurl'), 'gotify', [getRequiredText(fields, 'gotifyapplicationToken')]),
  ntfy(fields) {
    const topic = getRequiredText(fields, 'ntfytopic');
    const token = getText(fields, 'ntfyaccesstoken');
    const user = getText(fields, 'ntfyusername');
    const account = token === '' ? formatCredentials(user, getText(fields, 'ntfypassword')) : `${encode(token)}@`;
    const priority = getText(fields, 'ntfyPriority');
    const query = priority === '' ? '' : `?priority=${encode(priority)}`;
    return `${buildUrl(getRequiredText(fields, 'ntfyserverurl'), 'ntfy', [topic], account)}${query}`;
  },
  telegram: (fields) =>
    `tgram://${encode(getRequiredText(fields, 'telegramBotToken'))}/${encode(getRequiredText(fields, 'telegramChatID'))}`,
  pushover: (fields) =>
    `pover://${encode(getRequiredText(fields, 'pushoveruserkey'))}@${encode(getRequiredText(fields, 'pushoverapptoken'))}`,
  webhook(fields) {
    const url = parseWebAddress(getRequiredText(fields, 'webhookURL'));
    const path = url.pathname === '/' ? '' : url.pathname;
    const query = url.search === '' ? '' : `?${url.search.slice(1).replaceAll(/(^|&)/g, '$1-')}`;
    return `${url.protocol === 'https:' ? 'jsons' : 'json'}://${url.host}${path}${query}`;
  },
  smtp(fields) {
    const host = getRequiredText(fields, 'smtpHost');
    const port = getText(fields, 'smtpPort');
    const account = formatCredentials(getText(fields, 'smtpUsername'), getText(fields, 'smtpPassword'));
    const isSecure = fields['smtpSecure'] === true;
    const query = new URLSearchParams({
      from: getRequiredText(fields, 'smtpFrom'),
      to: getRequiredText(fields, 'smtpTo'),
      ...(isSecure ? { mode: 'ssl' } : {}),
    });
    const address = `${account}${host}${port === '' ? '' : `:${port}`}`;
    return `${isSecure ? 'mailtos' : 'mailto'}://${address}?${query.toString()}`;
  },
};

/**
 * Converts a notification of an Uptime Kuma client into URLs of Delivery.
 * @throws Problem `uptime.notification_type` (400) for an unsupported type
 */
export function toDeliveryUrls(config: Fields): readonly string[] {
  const type = getText(config, 'type');
  const build = Object.hasOwn(builders, type) ? builders[type] : undefined;
  if (build !== undefined) return [build(config)];
  const detail = m.notificationTypeUnsupported({ type: type.slice(0, 50) });
  throw new Problem('uptime.notification_type', 400, detail);
}

function buildUrl(server: string, scheme: string, path: readonly string[], account = ''): string {
  const url = parseWebAddress(server);
  const folder = url.pathname.replace(/\/$/, '');
  const secure = url.protocol === 'https:' ? 's' : '';
  return `${scheme}${secure}://${account}${url.host}${folder}/${path.map(encode).join('/')}`;
}

function parseWebAddress(address: string): URL {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new Problem('uptime.notification_type', 400, m.notificationAddressInvalid());
  }
  return url;
}

function getRequiredText(fields: Fields, name: string): string {
  const value = getText(fields, name);
  if (value === '') throw new Problem('uptime.notification_type', 400, m.notificationFieldMissing({ name }));
  return value;
}

function getText(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function formatCredentials(user: string, password: string): string {
  return user === '' ? '' : `${encode(user)}${password === '' ? '' : `:${encode(password)}`}@`;
}

function encode(value: string): string {
  return encodeURIComponent(value);
}
