import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { basicAuthorization, postForm } from '../http.ts';
import { requiredField, passwordField, secretField, textField } from '../fields.ts';
import { withPath } from '../url-fields.ts';
import { defineScheme } from '../scheme.ts';

/** Normalizes a number to E.164, also after `w:` for WhatsApp; short codes are unchanged. */
function normalizePhone(text: string): string {
  const [, whatsapp = '', number = ''] = /^\s*(w:)?(.*)$/.exec(text) ?? [];
  const digits = number.replace(/[\s().-]/g, '').replace(/^\+/, '');
  return `${whatsapp}${/^\d{7,15}$/.test(digits) ? '+' : ''}${digits}`;
}

/** `twilio://account_sid:auth_token@from/to[/to]`: text messages, and WhatsApp with `w:` before a number. */
export const twilioKind = defineScheme({
  service: 'Twilio',
  label: 'twilio',
  handlesLink: true,
  protocols: [],
  secureProtocols: ['twilio'],
  templates: [
    '{schema}://{account_sid}:{auth_token}@{from_phone}',
    '{schema}://{account_sid}:{auth_token}@{from_phone}/{targets}',
  ],
  args: ['apikey'],
  partArguments: { from: 'host', source: 'host', sid: 'user', token: 'password' },
  titleLimit: 0,
  bodyLimit: 1600,
  perTarget: true,
  form: {
    about: m.twilioAbout,
    fields: [
      requiredField(secretField('sid', m.accountSid, 'user', m.accountSidHelp)),
      requiredField({ ...passwordField, label: m.authToken }),
      requiredField(textField('from', m.sender, 'host', m.twilioSenderHelp)),
      requiredField(textField('to', m.recipients, 'targets', m.phoneNumbersHelp)),
    ],
  },
  normalize: (url) =>
    withPath({ ...url, host: normalizePhone(url.host), port: undefined }, url.path.map(normalizePhone)),
  open({ url, targets, argument }) {
    if (!url.user || !url.password)
      return problems.addressIncomplete({ example: 'twilio://account_sid:auth_token@from/to' });
    const to = targets[0] ?? url.host;
    const from = url.host;
    if (!/^\+?\d{5,15}$/.test(from) || !/^(w:)?\+?\d{5,15}$/.test(to)) return problems.phoneNumberInvalid();
    const channel = to.startsWith('w:') ? 'whatsapp:' : '';
    const address = `https://api.twilio.com/2010-04-01/Accounts/${encodeURIComponent(url.user)}/Messages.json`;
    const authorization = basicAuthorization({ ...url, user: argument('apikey') ?? url.user }) ?? '';
    return ({ body }, { request }) =>
      request(
        postForm(
          address,
          { Body: body, From: `${channel}${from}`, To: `${channel}${to.replace(/^w:/, '')}` },
          { authorization },
        ),
      );
  },
});
