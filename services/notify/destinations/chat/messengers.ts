import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { markdownHeading } from '../../domain/fit-message.ts';
import { requiredField, secretField, textField } from '../fields.ts';
import { postJson } from '../http.ts';
import { appTitle, getColor } from '../colors.ts';
import { withPath } from '../url-fields.ts';
import { defineScheme } from '../scheme.ts';

/** `line://token/user_or_group`: a LINE bot. Its tokens may contain slashes and end with `=`. */
export const lineKind = defineScheme({
  service: 'Line',
  label: 'line',
  protocols: [],
  secureProtocols: ['line'],
  templates: ['{schema}://{token}/{targets}'],
  titleLimit: 0,
  bodyLimit: 5000,
  unit: 'utf16',
  overflow: 'split',
  perTarget: true,
  normalize(url) {
    const tokenEnd = url.path.findLastIndex((segment) => segment.endsWith('='));
    if (tokenEnd === -1) return url;
    const token = [url.host, ...url.path.slice(0, tokenEnd + 1)].join('/');
    return withPath({ ...url, host: token }, url.path.slice(tokenEnd + 1));
  },
  form: {
    about: m.lineAbout,
    secretLocations: () => ['host', 'targets'],
    fields: [
      requiredField(secretField('token', m.channelAccessToken, 'host')),
      requiredField(textField('to', m.recipients, 'targets', m.lineRecipientsHelp)),
    ],
  },
  open({ url, targets }) {
    const [to] = targets;
    if (url.host === '' || to === undefined) return problems.addressIncomplete({ example: 'line://token/user' });
    return ({ body }, { request }) => {
      const messages = [{ type: 'text', text: body, sender: { name: appTitle } }];
      const headers = { authorization: `Bearer ${url.host}` };
      return request(postJson('https://api.line.me/v2/bot/message/push', { to, messages }, headers));
    };
  },
});

/** `whatsapp://[template:]token@phone_id/+to`: the WhatsApp business API. */
export const whatsAppKind = defineScheme({
  service: 'WhatsApp',
  label: 'whatsapp',
  protocols: [],
  secureProtocols: ['whatsapp'],
  templates: [
    '{schema}://{token}@{from_phone_id}/{targets}',
    '{schema}://{template}:{token}@{from_phone_id}/{targets}',
  ],
  args: ['lang'],
  titleLimit: 0,
  bodyLimit: 1024,
  overflow: 'split',
  perTarget: true,
  normalize: (url) =>
    withPath(
      url,
      url.path.map((each) => (/^\d{7,15}$/.test(each) ? `+${each}` : each)),
    ),
  form: {
    about: m.whatsAppAbout,
    secretLocations: (url) => (url.password === undefined ? ['user', 'host'] : ['password', 'host']),
    fields: [
      requiredField(secretField('token', m.accessToken, 'user')),
      requiredField(secretField('phone', m.phoneNumberId, 'host')),
      requiredField(textField('to', m.recipients, 'targets', m.phoneNumbersHelp)),
    ],
  },
  open({ url, targets, argument }) {
    const token = url.password ?? url.user;
    const [to] = targets;
    if (!token || !/^\d+$/.test(url.host))
      return problems.addressIncomplete({ example: 'whatsapp://token@phone_id/+to' });
    if (to === undefined || !/^\+\d{7,15}$/.test(to))
      return problems.addressIncomplete({ example: 'whatsapp://token@phone_id/+to' });
    const address = `https://graph.facebook.com/v21.0/${url.host}/messages`;
    const template = { name: url.user, language: { code: argument('lang') ?? 'en_US' } };
    return ({ body }, { request }) => {
      const base = { messaging_product: 'whatsapp', to, recipient_type: 'individual' };
      const text = { type: 'text', text: { body } };
      const message = url.password === undefined ? text : { type: 'template', template };
      return request(postJson(address, { ...base, ...message }, { authorization: `Bearer ${token}` }));
    };
  },
});

/** `wxteams://webhook_token`, or `wxteams://access_token/room` for a bot. */
export const webexKind = defineScheme({
  service: 'Cisco Webex Teams',
  label: 'wxteams',
  protocols: [],
  secureProtocols: ['wxteams', 'webex'],
  templates: ['{schema}://{token}', '{schema}://{access_token}/{targets}'],
  partArguments: { token: 'host' },
  format: 'markdown',
  titleLimit: 0,
  // A message is limited to 7439 bytes (https://developer.webex.com/docs/api/v1/messages/create-a-message).
  bodyLimit: 7000,
  unit: 'bytes',
  overflow: 'split',
  heading: markdownHeading,
  perTarget: true,
  form: {
    about: m.webexAbout,
    fields: [
      requiredField(secretField('token', m.token, 'host', m.webexTokenHelp)),
      textField('rooms', m.rooms, 'targets', m.webexRoomsHelp),
    ],
  },
  open({ url, targets, options }) {
    if (url.host === '') return problems.addressIncomplete({ example: 'wxteams://token' });
    const [roomId] = targets;
    const field = options.format === 'text' ? 'text' : 'markdown';
    const hook = `https://api.ciscospark.com/v1/webhooks/incoming/${encodeURIComponent(url.host)}`;
    const headers = { authorization: `Bearer ${url.host}` };
    return ({ body }, { request }) =>
      request(
        roomId === undefined
          ? postJson(hook, { [field]: body })
          : postJson('https://webexapis.com/v1/messages', { roomId, [field]: body }, headers),
      );
  },
});

/** `notifiarr://api_key/channel`: a Discord channel, through Notifiarr. */
export const notifiarrKind = defineScheme({
  service: 'Notifiarr',
  label: 'notifiarr',
  protocols: [],
  secureProtocols: ['notifiarr'],
  templates: ['{schema}://{apikey}/{targets}'],
  args: ['event', 'source'],
  titleLimit: 250,
  bodyLimit: 4000,
  perTarget: true,
  normalize: (url) =>
    withPath(
      url,
      url.path.map((each) => (/^\d+$/.test(each) ? `#${each}` : each)),
    ),
  form: {
    about: m.notifiarrAbout,
    fields: [
      requiredField(secretField('key', m.apiKey, 'host')),
      requiredField(textField('channels', m.channels, 'targets', m.notifiarrChannelsHelp)),
    ],
  },
  open({ url, targets, argument }) {
    const channel = Number(targets[0]?.replace(/^#/, ''));
    if (url.host === '' || !(channel > 0))
      return problems.addressIncomplete({ example: 'notifiarr://api_key/channel' });
    return ({ title, body, type }, { request }) => {
      const text = { title, content: '', description: body, footer: appTitle };
      const message = {
        source: argument('source') ?? appTitle,
        type,
        notification: { update: argument('event') !== undefined, name: appTitle, event: argument('event') ?? '' },
        discord: { color: getColor(type), ping: { pingUser: 0, pingRole: 0 }, text, ids: { channel } },
      };
      const address = 'https://notifiarr.com/api/v1/notification/apprise';
      return request(postJson(address, message, { 'x-api-key': url.host }));
    };
  },
});
