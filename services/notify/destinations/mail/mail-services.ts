import type { Attachment } from '../../domain/message.ts';
import { encodeFiles, untypedParts } from '../files.ts';
import { choiceField, needed, secretField, textField } from '../fields.ts';
import { postForm, postJson, postParts } from '../http.ts';
import { appTitle } from '../colors.ts';
import { defineScheme, type Address, type Scheme } from '../scheme.ts';

const address = /^[^\s@<>,;"]+@[^\s@<>,;"]+$/;

/** What the services share whose URL is `scheme://key:from@domain/to`: the sender's address ends the part before the path. */
const keyed = {
  protocols: [],
  templates: ['{schema}://{apikey}:{from_email}', '{schema}://{apikey}:{from_email}/{targets}'],
  args: ['cc', 'bcc', 'reply', 'name'],
  files: true,
  format: 'html',
  titleLimit: 250,
  bodyLimit: 1_000_000,
  each: true,
} as const satisfies Partial<Scheme>;

function keyedForm(about: string): Scheme['form'] {
  return {
    about,
    secretAt: () => ['user'],
    fields: [
      needed(secretField('key', 'API key', 'user')),
      needed(textField('from', 'From, before the @', 'password')),
      needed(textField('domain', 'From, after the @', 'host')),
      textField('to', 'To', 'targets', 'Commas between several. Empty: the sender.'),
      textField('cc', 'Copy to', 'query:cc'),
    ],
  };
}

interface Letter {
  readonly key: string;
  readonly from: string;
  readonly to: string;
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  /** Where answers go; empty: to the sender. */
  readonly reply: readonly string[];
  /** The sender's name, as people read it. */
  readonly name: string | undefined;
}

function letterOf({ url, targets, argument }: Address): Letter | string {
  if (!url.user || !url.password) return `a key or a sender is missing: ${url.scheme}://key:from@domain/to`;
  const from = `${url.password}@${url.host}`;
  const list = (name: string) => (argument(name) ?? '').split(/[\s,]+/).filter((each) => each !== '');
  const letter = {
    key: url.user,
    from,
    to: targets[0] ?? from,
    cc: list('cc'),
    bcc: list('bcc'),
    reply: list('reply'),
  };
  const all = [from, letter.to, ...letter.cc, ...letter.bcc, ...letter.reply];
  return all.every((each) => address.test(each))
    ? { ...letter, name: argument('name') }
    : 'one of its mail addresses is not valid';
}

/** The sender with its name, which cannot end the quotes it stands in. */
function senderOf({ from, name }: Pick<Letter, 'from' | 'name'>): string {
  return name === undefined ? from : `"${name.replaceAll(/["\\\r\n]/g, ' ')}" <${from}>`;
}

/** Files as SendGrid and Resend take them. */
async function filesOf(attachments: readonly Attachment[] | undefined) {
  const files = await encodeFiles(attachments);
  const list = files.map(({ filename, base64, mimetype }) => ({
    ...{ content: base64, filename, type: mimetype, disposition: 'attachment' },
  }));
  return list.length === 0 ? {} : { attachments: list };
}

/** `sendgrid://key:from@domain/to`. */
export const sendGridKind = defineScheme({
  ...keyed,
  service: 'SendGrid',
  label: 'sendgrid',
  secureProtocols: ['sendgrid'],
  form: keyedForm('Mail, through SendGrid.'),
  open(given) {
    const letter = letterOf(given);
    if (typeof letter === 'string') return letter;
    const { key, from, to, cc, bcc, reply, name } = letter;
    const people = (list: readonly string[]) => list.map((email) => ({ email }));
    const copies = {
      ...(cc.length === 0 ? {} : { cc: people(cc) }),
      ...(bcc.length === 0 ? {} : { bcc: people(bcc) }),
    };
    const type = given.options.format === 'html' ? 'text/html' : 'text/plain';
    return async ({ title, body, attachments }, { ask }) => {
      const mail = {
        personalizations: [{ to: people([to]), ...copies }],
        from: { email: from, ...(name === undefined ? {} : { name }) },
        ...(reply.length === 0 ? {} : { reply_to_list: people(reply) }),
        // An empty subject is refused.
        subject: title === '' ? appTitle : title,
        content: [{ type, value: body }],
        ...(await filesOf(attachments)),
      };
      return ask(postJson('https://api.sendgrid.com/v3/mail/send', mail, { authorization: `Bearer ${key}` }));
    };
  },
});

/** `resend://key:from@domain/to`. */
export const resendKind = defineScheme({
  ...keyed,
  service: 'Resend',
  label: 'resend',
  secureProtocols: ['resend'],
  form: keyedForm('Mail, through Resend.'),
  open(given) {
    const letter = letterOf(given);
    if (typeof letter === 'string') return letter;
    const { key, to, cc, bcc, reply } = letter;
    const copies = {
      ...(cc.length === 0 ? {} : { cc }),
      ...(bcc.length === 0 ? {} : { bcc }),
      ...(reply.length === 0 ? {} : { reply_to: reply }),
    };
    const field = given.options.format === 'html' ? 'html' : 'text';
    return async ({ id, title, body, attachments }, { ask }) => {
      const mail = {
        from: senderOf(letter),
        subject: title === '' ? appTitle : title,
        [field]: body,
        ...(await filesOf(attachments)),
        to,
        ...copies,
      };
      // A repetition within a day is no second mail (https://resend.com/docs/dashboard/emails/idempotency-keys).
      const headers = { authorization: `Bearer ${key}`, 'idempotency-key': `${id}/${to}` };
      return ask(postJson('https://api.resend.com/emails', mail, headers));
    };
  },
});

/** `postmark://token:from@domain/to` (https://postmarkapp.com/developer/api/email-api). */
export const postmarkKind = defineScheme({
  ...keyed,
  service: 'Postmark',
  label: 'postmark',
  secureProtocols: ['postmark'],
  form: keyedForm('Mail, through Postmark.'),
  open(given) {
    const letter = letterOf(given);
    if (typeof letter === 'string') return letter;
    const { key, to, cc, bcc, reply } = letter;
    const field = given.options.format === 'html' ? 'HtmlBody' : 'TextBody';
    return async ({ title, body, attachments }, { ask }) => {
      const files = (await encodeFiles(attachments)).map(({ filename, base64, mimetype }) => {
        return { Name: filename, Content: base64, ContentType: mimetype };
      });
      const mail = {
        ...{
          From: senderOf(letter),
          To: to,
          Subject: title === '' ? appTitle : title,
          [field]: body,
          MessageStream: 'outbound',
        },
        ...(cc.length === 0 ? {} : { Cc: cc.join(',') }),
        ...(bcc.length === 0 ? {} : { Bcc: bcc.join(',') }),
        ...(reply.length === 0 ? {} : { ReplyTo: reply.join(',') }),
        ...(files.length === 0 ? {} : { Attachments: files }),
      };
      const headers = { 'x-postmark-server-token': key, accept: 'application/json' };
      return ask(postJson('https://api.postmarkapp.com/email', mail, headers));
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
  each: true,
  form: {
    about: 'Mail, through Mailgun.',
    fixed: 1,
    fields: [
      needed(textField('user', 'From, before the @', 'user')),
      needed(textField('domain', 'Domain', 'host', 'The sending domain at Mailgun.')),
      needed(secretField('key', 'API key', 'segment:0')),
      textField('to', 'To', 'targets', 'Commas between several. Empty: the sender.'),
      choiceField('region', 'Region', 'query:region', [
        ['', 'United States'],
        ['eu', 'Europe'],
      ]),
    ],
  },
  open({ url, targets, options, argument }) {
    const [key] = url.path;
    if (!url.user || key === undefined) return 'a key is missing: mailgun://user@domain/key/to';
    const sender = `${url.user}@${url.host}`;
    const to = targets[0] ?? sender;
    if (!address.test(to) || !address.test(sender)) return 'one of its mail addresses is not valid';
    const region = argument('region')?.toLowerCase() === 'eu' ? 'eu.' : '';
    const api = `https://api.${region}mailgun.net/v3/${encodeURIComponent(url.host)}/messages`;
    const authorization = `Basic ${Buffer.from(`api:${key}`).toString('base64')}`;
    return async ({ title, body, attachments = [] }, { ask, boundary }) => {
      const pairs = {
        'o:skip-verification': 'False',
        from: `${argument('name') ?? appTitle} <${sender}>`,
        subject: title,
        [options.format === 'html' ? 'html' : 'text']: body,
        to,
        cc: argument('cc'),
        bcc: argument('bcc'),
      };
      if (attachments.length === 0) return ask(postForm(api, pairs, { authorization }));
      const files = await untypedParts(attachments, (at) => `attachment[${at}]`);
      return ask(postParts(api, pairs, files, boundary(), { authorization }));
    };
  },
});
