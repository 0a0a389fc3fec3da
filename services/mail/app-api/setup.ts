import { X509Certificate } from 'node:crypto';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { mailApi, type MailAccess } from '../../contracts/mail/api.ts';
import { Problem } from '../../contracts/problem.ts';
import { buildDeliveries, topicEntry, type Delivery } from '../domain/deliveries.ts';
import { toTopicMessage, toNotification, defaultOptions, type ParsedMail } from '../domain/notification.ts';
import { matchRecipient } from '../domain/recipients.ts';
import { findRule } from '../domain/rules.ts';
import { splitTargets } from '../domain/target.ts';
import { parseTopicAddress } from '../domain/topic-address.ts';
import type { Routing } from '../routing/routing.ts';
import type { Settings } from '../settings.ts';
import { readCertificate } from '../smtp/certificate.ts';
import { parseMailrise } from '../import/mailrise.ts';

/** Maximum number of characters of a text in a trial. */
const maxShownLength = 500;

/**
 * Handlers for setting up the mail service: a trial of the rules, connection details, and the import of another
 * program's configuration.
 */
export function setupHandlers(routing: Routing, settings: Settings): readonly ApiHandler[] {
  return [
    createTrialHandler(routing, settings),
    implement(mailApi.access, async () => ({
      hostName: settings.hostName,
      signIn: settings.signIn,
      logins: settings.logins.length,
      tls: settings.tls,
      certificate: settings.tls === 'off' ? null : await readCertificateInfo(settings),
      clients: settings.clients,
      maxMegabytes: settings.maxMegabytes,
    })),
    createImportHandler(),
  ];
}

/** Returns the notification for a mail, without delivering it. */
function createTrialHandler(routing: Routing, settings: Settings): ApiHandler {
  return implement(mailApi.try, ({ body: { from, to, subject, text } }) => {
    const appliedRule = findRule(routing.rules, { sender: getAddress(from), from, subject, recipients: [to] });
    const isTopic = parseTopicAddress(to, routing.topics) !== undefined;
    const isAccepted = isTopic || matchRecipient(routing.mappings, to) !== undefined;
    const isDropped = isAccepted && appliedRule?.rule.drop === true;
    const deliveries = isDropped ? [] : buildDeliveries(routing, [to], appliedRule?.rule);
    const mail = { subject, from, text, html: undefined, attachments: [], urgent: false, source: text };
    return {
      accepted: isAccepted,
      dropped: isDropped,
      rule: isAccepted ? (appliedRule?.number ?? null) : null,
      deliveries: deliveries.map((delivery) => describeDelivery(delivery, mail, routing, settings)),
    };
  });
}

/** Returns the text of a delivery as its target would show it. */
function describeDelivery(
  { target, type, to, entry, priority }: Delivery,
  mail: ParsedMail,
  { mappings }: Routing,
  { recognise }: Settings,
) {
  if (entry === topicEntry) {
    const { title, message } = toTopicMessage(mail);
    return { target, type, priority: priority ?? null, title, body: message.slice(0, maxShownLength) };
  }
  const templates = mappings.find(({ address }) => address === entry) ?? defaultOptions.templates;
  const config = entry.split('@', 1)[0] ?? '';
  const notification = toNotification(mail, { type, to, config, templates, recognize: recognise });
  return {
    target,
    type: notification.type,
    priority: priority ?? null,
    title: notification.title,
    body: notification.body.slice(0, maxShownLength),
  };
}

/** Converts the configuration of another program to settings, without storing them. */
function createImportHandler(): ApiHandler {
  return implement(mailApi.takeover, async (request) => {
    // The response repeats the request, including secrets.
    request.addHeader('Cache-Control', 'no-store');
    const source = { name: undefined, folder: undefined, environment: {} };
    const { settings: importedSettings, notes } = await parseMailrise(request.body.text, source);
    const recipients = importedSettings['recipients'];
    const logins = importedSettings['logins'];
    return {
      recipients: (Array.isArray(recipients) ? recipients : []).map(
        ({ address, destinations, title, body }: Settings['recipients'][number]) => ({
          address,
          schemes: splitTargets(destinations).map((url) => url.split(':', 1)[0]?.toLowerCase() ?? ''),
          worded: title !== '' || body !== '',
        }),
      ),
      logins: Array.isArray(logins) ? logins.length : 0,
      // The first note contains the counts, which the page shows itself.
      notes: notes.slice(1),
      settings: importedSettings,
    };
  });
}

/** Returns the address of a sender: `NAS <nas@home>` has the address `nas@home`. */
function getAddress(from: string): string {
  return /<([^<>]*)>\s*$/.exec(from)?.[1] ?? from.trim();
}

async function readCertificateInfo({
  certificateFile,
  keyFile,
}: Pick<Settings, 'certificateFile' | 'keyFile'>): Promise<MailAccess['certificate']> {
  try {
    const { cert } = await readCertificate(certificateFile, keyFile);
    const { subjectAltName = '', issuer, validTo } = new X509Certificate(cert);
    const names = [...subjectAltName.matchAll(/(?:DNS|IP Address):([^,\s]+)/g)].map(([, name = '']) => name);
    const signer = /^(?:O|CN)=(.*)$/m.exec(issuer)?.[1] ?? '';
    return { names, issuer: signer, until: Date.parse(validTo), error: '' };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { names: [], issuer: '', until: null, error: error.detail };
  }
}
