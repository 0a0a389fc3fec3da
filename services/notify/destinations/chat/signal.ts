import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { encodeFiles } from '../files.ts';
import { basicAuthorization, postJson } from '../http.ts';
import { requiredField, passwordField, serverFields, textField, userField } from '../fields.ts';
import { withPath } from '../url-fields.ts';
import { defineScheme } from '../scheme.ts';

/** Adds the plus that the server requires to a phone number; other text is unchanged. */
function toInternational<T extends string | undefined>(text: T): T | string {
  return text !== undefined && /^\d{7,15}$/.test(text) ? `+${text}` : text;
}

/** `signal://host[:port]/+from/+to`: a signal-cli-rest-api server; without `to`, the message goes to the sender. */
export const signalKind = defineScheme({
  service: 'Signal API',
  label: 'signal',
  protocols: ['signal'],
  secureProtocols: ['signals'],
  templates: ['{schema}://{host}/{from_phone}', '{schema}://{host}:{port}/{from_phone}/{targets}'],
  movedArguments: ['from'],
  files: true,
  filesOnly: true,
  titleLimit: 0,
  bodyLimit: 32_768,
  perTarget: true,
  form: {
    about: m.signalAbout,
    fixedSegments: 1,
    fields: [
      ...serverFields,
      requiredField(textField('from', m.ownNumber, 'segment:0', m.signalNumberHelp)),
      textField('to', m.recipients, 'targets', m.signalRecipientsHelp),
      userField,
      passwordField,
    ],
  },
  normalize(url) {
    const from = url.query.get('from') ?? '';
    const query = new Map(url.query);
    query.delete('from');
    return withPath({ ...url, query }, from === '' ? url.path : [from, ...url.path]);
  },
  open({ url, origin, targets, options }) {
    const number = toInternational(url.path[0]?.replace(/[\s()-]/g, ''));
    if (number === undefined || !/^\+?\d{5,15}$/.test(number))
      return problems.addressIncomplete({ example: 'signal://host/+from/+to' });
    const target = toInternational(targets[0]) ?? number;
    const recipient = /^[@#]/.test(target) ? `group.${target.slice(1).replace(/^group\./, '')}` : target;
    const authorization = basicAuthorization(url);
    const textMode = options.format === 'markdown' ? 'styled' : 'normal';
    return async ({ body, attachments }, { request }) => {
      const files = (await encodeFiles(attachments)).map(({ base64 }) => base64);
      const message = { message: body, number, text_mode: textMode, recipients: [recipient] };
      const payload = { ...message, ...(files.length === 0 ? {} : { base64_attachments: files }) };
      return request(postJson(`${origin}/v2/send`, payload, authorization === undefined ? {} : { authorization }));
    };
  },
});
