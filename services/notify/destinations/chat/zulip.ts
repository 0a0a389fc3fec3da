import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { requiredField, secretField, textField } from '../fields.ts';
import { postForm } from '../http.ts';
import { defineScheme } from '../scheme.ts';

/** `zulip://bot@organisation/token/channel`: channels by name, people by mail address. */
export const zulipKind = defineScheme({
  service: 'Zulip',
  label: 'zulip',
  protocols: [],
  secureProtocols: ['zulip'],
  templates: ['{schema}://{botname}@{organization}/{token}', '{schema}://{botname}@{organization}/{token}/{targets}'],
  titleLimit: 60,
  bodyLimit: 10_000,
  overflow: 'split',
  perTarget: true,
  form: {
    about: m.zulipAbout,
    fixedSegments: 1,
    fields: [
      requiredField(textField('organisation', m.organization, 'host', m.zulipOrganizationHelp)),
      requiredField(textField('bot', m.bot, 'user', m.zulipBotHelp)),
      requiredField(secretField('token', m.botKey, 'segment:0')),
      textField('to', m.recipients, 'targets', m.zulipRecipientsHelp),
    ],
  },
  open({ url, targets }) {
    const [token] = url.path;
    if (!url.user || token === undefined)
      return problems.addressIncomplete({ example: 'zulip://bot@organisation/token/channel' });
    const host = url.host.includes('.') ? url.host : `${url.host}.zulipchat.com`;
    const bot = url.user.includes('@') ? url.user : `${url.user.replace(/-bot$/i, '')}-bot@${host}`;
    const authorization = `Basic ${Buffer.from(`${bot}:${token}`, 'utf8').toString('base64')}`;
    const to = targets[0] ?? 'general';
    const type = to.includes('@') ? 'private' : 'stream';
    const address = `https://${host}/api/v1/messages`;
    return ({ title, body }, { request }) =>
      request(postForm(address, { subject: title, content: body === '' ? title : body, type, to }, { authorization }));
  },
});
