import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import type { NotificationType } from '../../../contracts/notify/notification.ts';
import { choiceField, requiredField, secretField, serverFields, textField } from '../fields.ts';
import { postJson } from '../http.ts';
import { defineScheme } from '../scheme.ts';

const icons: Readonly<Record<NotificationType, string>> = {
  info: 'i620',
  success: 'i9182',
  warning: 'i9183',
  failure: 'i9184',
};

/** `lametric://api_key@host`: a clock in the local network. */
export const laMetricKind = defineScheme({
  service: 'LaMetric',
  label: 'lametric',
  handlesLink: true,
  protocols: ['lametric'],
  secureProtocols: ['lametrics'],
  templates: ['{schema}://{apikey}@{host}', '{schema}://{apikey}@{host}:{port}'],
  args: ['mode', 'sound', 'priority', 'icon', 'cycles'],
  titleLimit: 0,
  bodyLimit: 2000,
  form: {
    about: m.laMetricAbout,
    fields: [
      ...serverFields,
      requiredField(secretField('key', m.deviceApiKey, 'user')),
      choiceField('priority', m.priority, 'query:priority', [
        ['', m.normal],
        ['warning', m.shownFirst],
        ['critical', m.shownImmediately],
      ]),
      textField('sound', m.sound, 'query:sound', m.laMetricSoundHelp),
    ],
  },
  // Default ports of the clock.
  normalize: (url) => ({ ...url, port: url.port ?? (url.scheme === 'lametrics' ? 4343 : 8080) }),
  open({ url, origin, argument }) {
    if (argument('mode')?.toLowerCase() === 'cloud') return problems.cloudAppsUnsupported();
    if (!url.user) return problems.addressIncomplete({ example: 'lametric://api_key@host' });
    const priority = argument('priority')?.toLowerCase() ?? 'info';
    if (!['info', 'warning', 'critical'].includes(priority))
      return problems.argumentInvalid({ name: 'priority', values: 'info, warning, critical' });
    const authorization = `Basic ${Buffer.from(`dev:${url.user}`).toString('base64')}`;
    const sound = argument('sound');
    const cycles = Number(argument('cycles') ?? 1);
    return ({ body, type }, { request }) => {
      const frames = [{ icon: argument('icon') ?? icons[type], text: body }];
      const soundField = sound === undefined ? {} : { sound: { category: 'notifications', id: sound, repeat: 1 } };
      const model = { cycles: Number.isInteger(cycles) && cycles >= 0 ? cycles : 1, frames, ...soundField };
      const notification = { priority, icon_type: 'none', lifetime: 120_000, model };
      const headers = { authorization, 'cache-control': 'no-cache' };
      return request(postJson(`${origin}/api/v2/device/notifications`, notification, headers));
    };
  },
});
