import { untypedParts } from '../files.ts';
import { choiceField, needed, secretField, textField } from '../fields.ts';
import { postForm, postParts } from '../http.ts';
import { appTitle } from '../colors.ts';
import { defineScheme } from '../scheme.ts';

/** https://pushover.net/api#priority */
const priorities: Readonly<Record<string, number>> = { low: -2, moderate: -1, normal: 0, high: 1, emergency: 2 };

function parsePriority(text: string): number | undefined {
  if (/^-?[0-2]$/.test(text)) return Number(text);
  const word = text.toLowerCase();
  return Object.entries(priorities).find(([name]) => name.startsWith(word))?.[1];
}

function within(text: string | undefined, otherwise: number, least: number, most: number): number {
  const value = Number(text ?? otherwise);
  return Number.isFinite(value) ? Math.min(Math.max(Math.round(value), least), most) : otherwise;
}

/** `pover://user_key@token[/device]`: all devices, or those that are named. */
export const pushoverKind = defineScheme({
  service: 'Pushover',
  label: 'pover',
  ownLink: true,
  protocols: [],
  secureProtocols: ['pover'],
  templates: ['{schema}://{user_key}@{token}', '{schema}://{user_key}@{token}/{targets}'],
  // The common `retry` means something else: how often we try.
  args: ['priority', 'sound', 'url', 'url_title', 'interval', 'expire'],
  files: true,
  dialect: { html: 'telegram' },
  titleLimit: 250,
  bodyLimit: 1024,
  form: {
    about: 'Phones and desktops with Pushover.',
    fields: [
      needed(secretField('user', 'User or group key', 'user', 'Shown on the start page of your Pushover account.')),
      needed(secretField('token', 'Application token', 'host', 'Made under Your Applications.')),
      textField('devices', 'Devices', 'targets', 'Their names, commas between several. Empty: all.'),
      choiceField('priority', 'Priority', 'query:priority', [
        ['', 'Normal'],
        ['low', 'Lowest: no alert at all'],
        ['moderate', 'Low: no sound'],
        ['high', 'High: passes quiet hours'],
        ['emergency', 'Emergency: until it is acknowledged'],
      ]),
      textField('sound', 'Sound', 'query:sound', 'Such as pushover, siren or none.'),
    ],
  },
  open({ url, targets, options, argument }) {
    const token = url.host;
    if (url.user === undefined || url.user === '' || token === '') return 'a key is missing: pover://user_key@token';
    const priority = parsePriority(argument('priority') ?? 'normal');
    if (priority === undefined) return `priority must be one of ${Object.keys(priorities).join(', ')}`;
    const authorization = `Basic ${Buffer.from(`${token}:`).toString('base64')}`;
    const api = 'https://api.pushover.net/1/messages.json';
    const urgent = priority === 2;
    return async ({ title, body, link, attachments = [] }, { ask, boundary, once }) => {
      const common = {
        token,
        priority,
        title: title === '' ? appTitle : title,
        message: body === '' ? title : body,
        sound: argument('sound') ?? 'pushover',
        html: options.format === 'html' ? 1 : undefined,
        url: argument('url') ?? link,
        url_title: argument('url_title'),
        // Seconds between repetitions and until they end; the service's own bounds.
        retry: urgent ? within(argument('interval'), 900, 30, 10_800) : undefined,
        expire: urgent ? within(argument('expire'), 3600, 30, 10_800) : undefined,
        user: url.user,
        device: targets.length === 0 ? 'ALL_DEVICES' : targets.join(','),
      };
      const [first, ...more] = await untypedParts(attachments, () => 'attachment');
      await once('text', () =>
        first === undefined
          ? ask(postForm(api, common, { authorization }))
          : ask(postParts(api, common, [first], boundary(), { authorization })),
      );
      // A message has one file; each further one is a message of its own.
      for (const [at, file] of more.entries()) {
        const { url: _url, url_title: _title, ...rest } = { ...common, message: file.name };
        await once(`file ${String(at)}`, () => ask(postParts(api, rest, [file], boundary(), { authorization })));
      }
    };
  },
});
