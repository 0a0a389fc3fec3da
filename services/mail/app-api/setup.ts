import { X509Certificate } from 'node:crypto';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { mailApi, type MailAccess } from '../../contracts/mail/api.ts';
import { Problem } from '../../contracts/problem.ts';
import { deliveriesOf, topicEntry } from '../domain/deliveries.ts';
import { messageOfMail, noticeOfMail, plainTelling } from '../domain/notification.ts';
import { matchRecipient } from '../domain/recipients.ts';
import { ruleFor } from '../domain/rules.ts';
import { splitTargets } from '../domain/target.ts';
import { parseTopicAddress } from '../domain/topic-address.ts';
import type { Routing } from '../accept/routing.ts';
import type { Settings } from '../settings.ts';
import { readCertificate } from '../smtp/certificate.ts';
import { readMailrise } from '../import/mailrise.ts';

/** Characters of a text that a trial shows. */
const shownText = 500;

/** What a person needs while the gateway is being set up: a mail to try, how it is reached, what another program had. */
export function setUpHandlers(routing: Routing, settings: Settings): readonly ApiHandler[] {
  return [
    implement(mailApi.try, ({ body: { from, to, subject, text } }) => {
      const mappings = routing.mappings;
      const applied = ruleFor(routing.rules, { sender: addressIn(from), from, subject, recipients: [to] });
      const isTopic = parseTopicAddress(to, routing.topics) !== undefined;
      const accepted = isTopic || matchRecipient(mappings, to) !== undefined;
      const dropped = accepted && applied?.rule.drop === true;
      const deliveries = dropped ? [] : deliveriesOf(routing, [to], applied?.rule);
      const mail = { subject, from, text, html: undefined, attachments: [], urgent: false, source: text };
      return {
        ...{ accepted, dropped, rule: accepted ? (applied?.number ?? null) : null },
        deliveries: deliveries.map(({ target, type, to: recipient, entry, priority }) => {
          const wording = mappings.find(({ address }) => address === entry) ?? plainTelling.wording;
          if (entry === topicEntry) {
            const { title, message } = messageOfMail(mail);
            return { target, type, priority: priority ?? null, title, body: message.slice(0, shownText) };
          }
          const config = entry.split('@', 1)[0] ?? '';
          const notice = noticeOfMail(mail, { type, to: recipient, config, wording, recognise: settings.recognise });
          return {
            ...{ target, type: notice.type, priority: priority ?? null, title: notice.title },
            body: notice.body.slice(0, shownText),
          };
        }),
      };
    }),
    implement(mailApi.access, async () => ({
      ...{ hostName: settings.hostName, signIn: settings.signIn, logins: settings.logins.length, tls: settings.tls },
      certificate: settings.tls === 'off' ? null : await certificateOf(settings),
      ...{ clients: settings.clients, maxMegabytes: settings.maxMegabytes },
    })),
    implement(mailApi.takeover, async (request) => {
      // The answer repeats what was sent, secrets too.
      request.setHeader('Cache-Control', 'no-store');
      const source = { name: 'This file', folder: undefined, environment: {} };
      const { settings: taken, notes } = await readMailrise(request.body.text, source);
      const recipients = taken['recipients'];
      const logins = taken['logins'];
      return {
        recipients: (Array.isArray(recipients) ? recipients : []).map(
          ({ address, destinations, title, body }: Settings['recipients'][number]) => ({
            address,
            schemes: splitTargets(destinations).map((url) => url.split(':', 1)[0]?.toLowerCase() ?? ''),
            worded: title !== '' || body !== '',
          }),
        ),
        logins: Array.isArray(logins) ? logins.length : 0,
        // The first one counts what the page shows.
        notes: notes.slice(1),
        settings: taken,
      };
    }),
  ];
}

/** `NAS <nas@home>` has the address `nas@home`. */
function addressIn(from: string): string {
  return /<([^<>]*)>\s*$/.exec(from)?.[1] ?? from.trim();
}

async function certificateOf({
  certificateFile,
  keyFile,
}: Pick<Settings, 'certificateFile' | 'keyFile'>): Promise<MailAccess['certificate']> {
  try {
    const { cert } = await readCertificate(certificateFile, keyFile);
    const { subjectAltName = '', issuer, validTo } = new X509Certificate(cert);
    const names = [...subjectAltName.matchAll(/(?:DNS|IP Address):([^,\s]+)/g)].map(([, name = '']) => name);
    const signer = /^(?:O|CN)=(.*)$/m.exec(issuer)?.[1] ?? '';
    return { names, issuer: signer, until: Date.parse(validTo), trouble: '' };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { names: [], issuer: '', until: null, trouble: error.detail };
  }
}
