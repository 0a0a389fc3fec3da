import { Problem } from '../../contracts/problem.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Notification types of Uptime Kuma that Delivery supports, with the builder of their URL. */
const builders: Readonly<Record<string, (fields: Fields) => string>> = {
  apprise: (fields) => needed(fields, 'appriseURL'),
  discord: (fields) => needed(fields, 'discordWebhookUrl'),
  slack: (fields) => needed(fields, 'slackwebhookURL'),
  gotify: (fields) => schemed(needed(fields, 'gotifyserverurl'), 'gotify', [needed(fields, 'gotifyapplicationToken')]),
  ntfy(fields) {
    const topic = needed(fields, 'ntfytopic');
    const token = text(fields, 'ntfyaccesstoken');
    const user = text(fields, 'ntfyusername');
    const account = token === '' ? pair(user, text(fields, 'ntfypassword')) : `${encode(token)}@`;
    const priority = text(fields, 'ntfyPriority');
    const query = priority === '' ? '' : `?priority=${encode(priority)}`;
    return `${schemed(needed(fields, 'ntfyserverurl'), 'ntfy', [topic], account)}${query}`;
  },
  telegram: (fields) =>
    `tgram://${encode(needed(fields, 'telegramBotToken'))}/${encode(needed(fields, 'telegramChatID'))}`,
  pushover: (fields) =>
    `pover://${encode(needed(fields, 'pushoveruserkey'))}@${encode(needed(fields, 'pushoverapptoken'))}`,
  webhook(fields) {
    const url = parsed(needed(fields, 'webhookURL'));
    const path = url.pathname === '/' ? '' : url.pathname;
    const query = url.search === '' ? '' : `?${url.search.slice(1).replaceAll(/(^|&)/g, '$1-')}`;
    return `${url.protocol === 'https:' ? 'jsons' : 'json'}://${url.host}${path}${query}`;
  },
  smtp(fields) {
    const host = needed(fields, 'smtpHost');
    const port = text(fields, 'smtpPort');
    const account = pair(text(fields, 'smtpUsername'), text(fields, 'smtpPassword'));
    const isSecure = fields['smtpSecure'] === true;
    const query = new URLSearchParams({
      from: needed(fields, 'smtpFrom'),
      to: needed(fields, 'smtpTo'),
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
  const type = text(config, 'type');
  const build = Object.hasOwn(builders, type) ? builders[type] : undefined;
  if (build !== undefined) return [build(config)];
  const detail = `Homeport cannot send to notifications of the type ${type.slice(0, 50)}. Use the type apprise, or a destination of Delivery.`;
  throw new Problem('uptime.notification_type', 400, detail);
}

function schemed(server: string, scheme: string, path: readonly string[], account = ''): string {
  const url = parsed(server);
  const folder = url.pathname.replace(/\/$/, '');
  const secure = url.protocol === 'https:' ? 's' : '';
  return `${scheme}${secure}://${account}${url.host}${folder}/${path.map(encode).join('/')}`;
}

function parsed(address: string): URL {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new Problem('uptime.notification_type', 400, 'The address of the notification is not a web address.');
  }
  return url;
}

function needed(fields: Fields, name: string): string {
  const value = text(fields, name);
  if (value === '') throw new Problem('uptime.notification_type', 400, `The notification needs ${name}.`);
  return value;
}

function text(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function pair(user: string, password: string): string {
  return user === '' ? '' : `${encode(user)}${password === '' ? '' : `:${encode(password)}`}@`;
}

function encode(value: string): string {
  return encodeURIComponent(value);
}
