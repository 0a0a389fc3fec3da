import * as problems from '#messages/notify-problems';
import type { Text } from '../../../contracts/text.ts';
import * as m from '#messages/notify-forms';
import type { Attachment } from '../../domain/message.ts';
import { encodeFiles, untypedParts } from '../files.ts';
import { choiceField, requiredField, secretField, textField } from '../fields.ts';
import { postForm, postJson, postParts } from '../http.ts';
import { appTitle } from '../colors.ts';
import { defineScheme, type Address, type SchemeDefinition } from '../scheme.ts';

const addressPattern = /^[^\s@<>,;"]+@[^\s@<>,;"]+$/;

/**
 * Shared properties of services whose URL is `scheme://key:from@domain/to`: user and host form the sender's address.
 */
const keyedDefaults = {
  protocols: [],
  templates: ['{schema}://{apikey}:{from_email}', '{schema}://{apikey}:{from_email}/{targets}'],
  args: ['cc', 'bcc', 'reply', 'name'],
  files: true,
  format: 'html',
  titleLimit: 250,
  bodyLimit: 1_000_000,
  perTarget: true,
} as const satisfies Partial<SchemeDefinition>;

function buildKeyedForm(about: Text): SchemeDefinition['form'] {
  return {
    about,
    secretLocations: () => ['user'],
    fields: [
      requiredField(secretField('key', m.apiKey, 'user')),
      requiredField(textField('from', m.senderName, 'password')),
      requiredField(textField('domain', m.senderDomain, 'host')),
      textField('to', m.recipients, 'targets', m.senderRecipientsHelp),
      textField('cc', m.copyTo, 'query:cc'),
    ],
  };
}

interface MailRequest {
  readonly key: string;
  readonly from: string;
  readonly to: string;
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  /** Reply addresses; if empty, replies go to the sender. */
  readonly reply: readonly string[];
  /** Display name of the sender. */
  readonly name: string | undefined;
}

function parseMailRequest({ url, targets, argument }: Address): MailRequest | string {
  if (!url.user || !url.password) return problems.addressIncomplete({ example: `${url.scheme}://key:from@domain/to` });
  const from = `${url.password}@${url.host}`;
  const splitAddresses = (name: string) => (argument(name) ?? '').split(/[\s,]+/).filter((each) => each !== '');
  const mailRequest = {
    key: url.user,
    from,
    to: targets[0] ?? from,
    cc: splitAddresses('cc'),
    bcc: splitAddresses('bcc'),
    reply: splitAddresses('reply'),
  };
  const all = [from, mailRequest.to, ...mailRequest.cc, ...mailRequest.bcc, ...mailRequest.reply];
  return all.every((each) => addressPattern.test(each))
    ? { ...mailRequest, name: argument('name') }
    : problems.mailAddressInvalid();
}

/** Formats the sender with its name; quotes in the name are removed. */
function formatSender({ from, name }: Pick<MailRequest, 'from' | 'name'>): string {
  return name === undefined ? from : `"${name.replaceAll(/["\\\r\n]/g, ' ')}" <${from}>`;
}

/** Encodes files in the format of SendGrid and Resend. */
async function encodeAttachments(attachments: readonly Attachment[] | undefined) {
  const files = await encodeFiles(attachments);
  const list = files.map(({ filename, base64, mimetype }) => ({
    content: base64,
    filename,
    type: mimetype,
    disposition: 'attachment',
  }));
  return list.length === 0 ? {} : { attachments: list };
}

/** `sendgrid://key:from@domain/to`. */
export const sendGridKind = defineScheme({
  ...keyedDefaults,
  service: 'SendGrid',
  label: 'sendgrid',
  secureProtocols: ['sendgrid'],
  form: buildKeyedForm(m.sendGridAbout),
  open(parsedAddress) {
    const mailRequest = parseMailRequest(parsedAddress);
    if (typeof mailRequest === 'string') return mailRequest;
    const { key, from, to, cc, bcc, reply, name } = mailRequest;
    const toRecipients = (list: readonly string[]) => list.map((email) => ({ email }));
    const copies = {
      ...(cc.length === 0 ? {} : { cc: toRecipients(cc) }),
      ...(bcc.length === 0 ? {} : { bcc: toRecipients(bcc) }),
    };
    const type = parsedAddress.options.format === 'html' ? 'text/html' : 'text/plain';
    return async ({ title, body, attachments }, { request }) => {
      const mail = {
        personalizations: [{ to: toRecipients([to]), ...copies }],
        from: { email: from, ...(name === undefined ? {} : { name }) },
        ...(reply.length === 0 ? {} : { reply_to_list: toRecipients(reply) }),
        // An empty subject is rejected.
        subject: title === '' ? appTitle : title,
        content: [{ type, value: body }],
        ...(await encodeAttachments(attachments)),
      };
      return request(postJson('https://api.sendgrid.com/v3/mail/send', mail, { authorization: `Bearer ${key}` }));
    };
  },
});

/** `resend://key:from@domain/to`. */
export const resendKind = defineScheme({
  ...keyedDefaults,
  service: 'Resend',
  label: 'resend',
  secureProtocols: ['resend'],
  form: buildKeyedForm(m.resendAbout),
  open(parsedAddress) {
    const mailRequest = parseMailRequest(parsedAddress);
    if (typeof mailRequest === 'string') return mailRequest;
    const { key, to, cc, bcc, reply } = mailRequest;
    const copies = {
      ...(cc.length === 0 ? {} : { cc }),
      ...(bcc.length === 0 ? {} : { bcc }),
      ...(reply.length === 0 ? {} : { reply_to: reply }),
    };
    const field = parsedAddress.options.format === 'html' ? 'html' : 'text';
    return async ({ id, title, body, attachments }, { request }) => {
      const mail = {
        from: formatSender(mailRequest),
        subject: title === '' ? appTitle : title,
        [field]: body,
        ...(await encodeAttachments(attachments)),
        to,
        ...copies,
      };
      // A repetition within a day is ignored (https://resend.com/docs/dashboard/emails/idempotency-keys).
      const headers = { authorization: `Bearer ${key}`, 'idempotency-key': `${id}/${to}` };
      return request(postJson('https://api.resend.com/emails', mail, headers));
    };
  },
});

/** `postmark://token:from@domain/to` (https://postmarkapp.com/developer/api/email-api). */
export const postmarkKind = defineScheme({
  ...keyedDefaults,
  service: 'Postmark',
  label: 'postmark',
  secureProtocols: ['postmark'],
  form: buildKeyedForm(m.postmarkAbout),
  open(parsedAddress) {
    const mailRequest = parseMailRequest(parsedAddress);
    if (typeof mailRequest === 'string') return mailRequest;
    const { key, to, cc, bcc, reply } = mailRequest;
    const field = parsedAddress.options.format === 'html' ? 'HtmlBody' : 'TextBody';
    return async ({ title, body, attachments }, { request }) => {
      const files = (await encodeFiles(attachments)).map(({ filename, base64, mimetype }) => {
        return { Name: filename, Content: base64, ContentType: mimetype };
      });
      const mail = {
        From: formatSender(mailRequest),
        To: to,
        Subject: title === '' ? appTitle : title,
        [field]: body,
        MessageStream: 'outbound',
        ...(cc.length === 0 ? {} : { Cc: cc.join(',') }),
        ...(bcc.length === 0 ? {} : { Bcc: bcc.join(',') }),
        ...(reply.length === 0 ? {} : { ReplyTo: reply.join(',') }),
        ...(files.length === 0 ? {} : { Attachments: files }),
      };
      const headers = { 'x-postmark-server-token': key, accept: 'application/json' };
      return request(postJson('https://api.postmarkapp.com/email', mail, headers));
    };
  },
});

/** `mailgun://user@domain/key/to[?region=eu]`. */
export const mailgunKind = defineScheme({
  service: 'Mailgun',
  label: 'mailgun',
  protocols: [],
  secureProtocols: ['mailgun'],
  templates: ['{schema}://{user}@{host}:{apikey}/', '{schema}://{user}@{host}/{apikey}/{targets}'],
  args: ['region', 'name', 'cc', 'bcc'],
  files: true,
  format: 'html',
  titleLimit: 250,
  bodyLimit: 131_072,
  perTarget: true,
  form: {
    about: m.mailgunAbout,
    fixedSegments: 1,
    fields: [
      requiredField(textField('user', m.senderName, 'user')),
      requiredField(textField('domain', m.domain, 'host', m.mailgunDomainHelp)),
      requiredField(secretField('key', m.apiKey, 'segment:0')),
      textField('to', m.recipients, 'targets', m.senderRecipientsHelp),
      choiceField('region', m.region, 'query:region', [
        ['', m.unitedStates],
        ['eu', m.europe],
      ]),
    ],
  },
  open({ url, targets, options, argument }) {
    const [key] = url.path;
    if (!url.user || key === undefined) return problems.addressIncomplete({ example: 'mailgun://user@domain/key/to' });
    const sender = `${url.user}@${url.host}`;
    const to = targets[0] ?? sender;
    if (!addressPattern.test(to) || !addressPattern.test(sender)) return problems.mailAddressInvalid();
    const region = argument('region')?.toLowerCase() === 'eu' ? 'eu.' : '';
    const api = `https://api.${region}mailgun.net/v3/${encodeURIComponent(url.host)}/messages`;
    const authorization = `Basic ${Buffer.from(`api:${key}`).toString('base64')}`;
    return async ({ title, body, attachments = [] }, { request, boundary }) => {
      const pairs = {
        'o:skip-verification': 'False',
        from: `${argument('name') ?? appTitle} <${sender}>`,
        subject: title,
        [options.format === 'html' ? 'html' : 'text']: body,
        to,
        cc: argument('cc'),
        bcc: argument('bcc'),
      };
      if (attachments.length === 0) return request(postForm(api, pairs, { authorization }));
      const files = await untypedParts(attachments, (index) => `attachment[${index}]`);
      return request(postParts(api, pairs, files, boundary(), { authorization }));
    };
  },
});
