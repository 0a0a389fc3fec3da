import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { untypedParts } from '../files.ts';
import { choiceField, requiredField, secretField, textField } from '../fields.ts';
import { postForm, postParts } from '../http.ts';
import { appTitle } from '../colors.ts';
import { defineScheme } from '../scheme.ts';

/** https://pushover.net/api#priority */
const priorities: Readonly<Record<string, number>> = { low: -2, moderate: -1, normal: 0, high: 1, emergency: 2 };

function parsePriority(text: string): number | undefined {
  if (/^-?[0-2]$/.test(text)) return Number(text);
  const priorityText = text.toLowerCase();
  return Object.entries(priorities).find(([name]) => name.startsWith(priorityText))?.[1];
}

function clampInteger(text: string | undefined, fallback: number, minimum: number, maximum: number): number {
  const value = Number(text ?? fallback);
  return Number.isFinite(value) ? Math.min(Math.max(Math.round(value), minimum), maximum) : fallback;
}

/** `pover://user_key@token[/device]`: all devices, or the named ones. */
export const pushoverKind = defineScheme({
  service: 'Pushover',
  label: 'pover',
  handlesLink: true,
  protocols: [],
  secureProtocols: ['pover'],
  templates: ['{schema}://{user_key}@{token}', '{schema}://{user_key}@{token}/{targets}'],
  // The common argument `retry` has another meaning: the number of retries.
  args: ['priority', 'sound', 'url', 'url_title', 'interval', 'expire'],
  files: true,
  dialect: { html: 'telegram' },
  titleLimit: 250,
  bodyLimit: 1024,
  form: {
    about: m.pushoverAbout,
    fields: [
      requiredField(secretField('user', m.userOrGroupKey, 'user', m.pushoverKeyHelp)),
      requiredField(secretField('token', m.applicationToken, 'host', m.pushoverTokenHelp)),
      textField('devices', m.devices, 'targets', m.pushoverDevicesHelp),
      choiceField('priority', m.priority, 'query:priority', [
        ['', m.normal],
        ['low', m.lowestWithoutAlert],
        ['moderate', m.lowWithoutSound],
        ['high', m.highInQuietHours],
        ['emergency', m.emergencyUntilAcknowledged],
      ]),
      textField('sound', m.sound, 'query:sound', m.pushoverSoundHelp),
    ],
  },
  open({ url, targets, options, argument }) {
    const token = url.host;
    if (url.user === undefined || url.user === '' || token === '')
      return problems.addressIncomplete({ example: 'pover://user_key@token' });
    const priority = parsePriority(argument('priority') ?? 'normal');
    if (priority === undefined)
      return problems.argumentInvalid({ name: 'priority', values: Object.keys(priorities).join(', ') });
    const authorization = `Basic ${Buffer.from(`${token}:`).toString('base64')}`;
    const api = 'https://api.pushover.net/1/messages.json';
    const isEmergency = priority === 2;
    return async ({ title, body, link, attachments = [] }, { request, boundary, once }) => {
      const common = {
        token,
        priority,
        title: title === '' ? appTitle : title,
        message: body === '' ? title : body,
        sound: argument('sound') ?? 'pushover',
        html: options.format === 'html' ? 1 : undefined,
        url: argument('url') ?? link,
        url_title: argument('url_title'),
        // Interval and duration of the repetitions in seconds; the limits are those of Pushover.
        retry: isEmergency ? clampInteger(argument('interval'), 900, 30, 10_800) : undefined,
        expire: isEmergency ? clampInteger(argument('expire'), 3600, 30, 10_800) : undefined,
        user: url.user,
        device: targets.length === 0 ? 'ALL_DEVICES' : targets.join(','),
      };
      const [first, ...otherFiles] = await untypedParts(attachments, () => 'attachment');
      await once('text', () =>
        first === undefined
          ? request(postForm(api, common, { authorization }))
          : request(postParts(api, common, [first], boundary(), { authorization })),
      );
      // A message has one file; additional files are sent as separate messages.
      for (const [index, file] of otherFiles.entries()) {
        const { url: _url, url_title: _title, ...rest } = { ...common, message: file.name };
        await once(`file ${String(index)}`, () => request(postParts(api, rest, [file], boundary(), { authorization })));
      }
    };
  },
});
