import { hash } from 'node:crypto';
import type { SMTPServerDataStream } from 'smtp-server';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Counter } from '../../contracts/metrics.ts';
import { createSortableId } from '../../kit/sortable-id.ts';
import type { Activity } from '../../kit/activity.ts';
import { deliver, buildDeliveryJobs } from '../deliver/delivery-worker.ts';
import { buildDeliveries } from '../domain/deliveries.ts';
import { matchRecipient } from '../domain/recipients.ts';
import { findRule, type Rule } from '../domain/rules.ts';
import type { Routing } from '../routing/routing.ts';
import { parseMail } from '../mime/parse.ts';
import { parseSubject } from '../mime/subject.ts';
import type { DeliveryBackoff } from '../deliver/delivery-backoff.ts';
import type { Envelope } from './envelope.ts';
import type { Sender, SignIn } from './sign-in.ts';
import { toDropNote } from '../domain/drop-note.ts';
import { Refusal } from './refusal.ts';
import { readSource, toSmallSource, type Incoming } from '../store/incoming.ts';
import type { Message, MessageStore } from '../store/messages.ts';
import type { Sources } from '../store/sources.ts';
import type { TopicMail } from './topic-mail.ts';

/**
 * Maximum number of Received fields before a mail is considered a loop (RFC 5321, section 6.3 requires a large
 * threshold).
 */
const maxReceivedFields = 25;
/** Maximum number of notify services that may have forwarded a mail before it is considered a loop. */
const maxHops = 3;
/** Number of bytes searched for the header. */
const headerBytes = 256 * 1024;
/** Maximum number of characters of subject and sender that rules compare. */
const maxComparedLength = 1000;
/** 96 bits distinguish mails, and keep the index small, which is a large part of each commit. */
const fingerprintLength = 16;

/** Sign-in of senders. */
export interface SenderAuthorization {
  readonly signIn: SignIn;
  /** Requires a sign-in, except for topic addresses with a token. */
  readonly requiresSignIn: () => boolean;
}

/** Records accepted and refused messages. */
export interface ReceiverJournal {
  readonly processed: Counter;
  readonly activity: Activity;
}

interface ReceiverDependencies {
  readonly context: Context;
  readonly routing: Routing;
  readonly messages: MessageStore;
  readonly sources: Sources;
  readonly journal: ReceiverJournal;
  readonly deliveryBackoff: DeliveryBackoff;
  readonly topicMail: TopicMail;
  readonly authorization: SenderAuthorization;
}

/**
 * Accepts mails: checks recipients, then writes the row, its jobs and a small source in one commit; a large source is
 * written before.
 */
export class MailReceiver {
  readonly #dependencies: ReceiverDependencies;
  /** Time of the newest mail in ms since the epoch. */
  lastReceivedAt: number | undefined;

  constructor(dependencies: ReceiverDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Returns the address to be stored, without parts used for authorization.
   *
   * @throws Refusal for an unknown recipient, or one that the sender may not use
   */
  async admit(address: string, sender: Sender | undefined, remoteAddress: string): Promise<string> {
    const { topicMail } = this.#dependencies;
    const { signIn, requiresSignIn } = this.#dependencies.authorization;
    const { processed } = this.#dependencies.journal;
    try {
      const topic = await topicMail.admit(address, sender, remoteAddress);
      if (topic !== undefined) return topic;
    } catch (error) {
      if (error instanceof Refusal && error.responseCode >= 500) processed.inc({ result: 'rejected' });
      throw error;
    }
    if (requiresSignIn() && sender === undefined) throw new Refusal(530, '5.7.0 Sign in first');
    this.#checkRecipient(address);
    if (sender !== undefined && !signIn.may(sender, address))
      throw new Refusal(550, '5.7.1 This account may not send to this recipient');
    return address;
  }

  #checkRecipient(address: string): void {
    if (matchRecipient(this.#dependencies.routing.mappings, address) !== undefined) return;
    this.#dependencies.journal.processed.inc({ result: 'rejected' });
    throw new Refusal(550, 'Recipient unknown; add it to the recipients of the mail gateway');
  }

  /**
   * Receives a mail and resolves with its id once it is durable.
   *
   * @throws Refusal
   */
  async receive(envelope: Envelope, stream: SMTPServerDataStream): Promise<string> {
    const { context, sources } = this.#dependencies;
    const { processed } = this.#dependencies.journal;
    const id = createSortableId(context.random, context.clock.now());
    const isTooLarge = (): boolean => stream.sizeExceeded;
    try {
      await using source = await readSource(stream, headerBytes, isTooLarge, () => sources.create(id));
      if (isTooLarge()) throw new Refusal(552, 'The mail is larger than this server takes');
      return await this.#accept(id, envelope, source);
    } catch (error) {
      const refusal = toRefusal(error);
      processed.inc({ result: (refusal?.responseCode ?? 0) < 500 ? 'failed' : 'rejected' });
      if (refusal === undefined) throw error;
      if (!(error instanceof Refusal)) context.log.warn('mail temporarily rejected', { error });
      throw refusal;
    }
  }

  /**
   * Accepts a small mail created by this service.
   *
   * @throws Refusal
   */
  async receiveLocal(envelope: Envelope, source: Buffer): Promise<string> {
    for (const recipient of envelope.recipients) this.#checkRecipient(recipient);
    const { clock, random } = this.#dependencies.context;
    return await this.#accept(createSortableId(random, clock.now()), envelope, toSmallSource(source));
  }

  async #accept(id: string, envelope: Envelope, source: Incoming): Promise<string> {
    const { context, deliveryBackoff } = this.#dependencies;
    const { processed, activity } = this.#dependencies.journal;
    const header = getHeader(source.head);
    const hops = Number(/^x-notify-hop:[ \t]*(\d{1,9})/im.exec(header)?.[1] ?? 0);
    if (countMatches(header, /^received:/gim) > maxReceivedFields || hops > maxHops)
      throw new Refusal(554, '5.4.6 The mail goes round in circles');

    using _receiving = deliveryBackoff.enter();
    const message = await this.#toMessage(id, envelope, header, source);
    const storedId = await this.#commit(message, source.bytes);
    const fields = { id: storedId, size: source.size, from: envelope.remoteAddress };
    // Logged at debug level, because a log record would cost as much as the rows.
    if (storedId === id) context.log.debug('mail accepted', fields);
    else context.log.info('duplicate mail accepted', fields);
    processed.inc({ result: 'accepted' });
    this.lastReceivedAt = message.receivedAt;
    activity.touch();
    return storedId;
  }

  async #toMessage(id: string, { sender, recipients }: Envelope, header: string, source: Incoming): Promise<Message> {
    const { context, routing } = this.#dependencies;
    const appliedRule = await this.#findRule({ sender, recipients }, header);
    const isDropped = appliedRule?.rule.drop === true;
    const note = isDropped ? toDropNote(appliedRule.number) : '';
    const deliveries = isDropped ? [] : buildDeliveries(routing, recipients, appliedRule?.rule);
    const digest = await source.keep();
    const targets = deliveries.map(({ target, type }) => `${target} ${type}`).sort();
    const fingerprint = /^message-id:/im.test(header)
      ? hash('sha256', JSON.stringify([digest, targets]), 'base64url').slice(0, fingerprintLength)
      : undefined;
    const metadata = { sender, recipients, subject: parseSubject(header), size: source.size };
    return { id, ...metadata, fingerprint, deliveries, note, receivedAt: context.clock.now() };
  }

  /** Stores a mail and returns its id, or the id of a duplicate accepted shortly before. */
  async #commit(message: Message, source: Buffer | undefined): Promise<string> {
    const { context, messages, sources } = this.#dependencies;
    const { id, fingerprint, deliveries, receivedAt } = message;
    let storedId: string;
    try {
      storedId = await context.commit(async (transaction) => {
        const duplicate = fingerprint && (await messages.findDuplicate(transaction, fingerprint, receivedAt));
        if (duplicate !== undefined && duplicate !== '') return duplicate;
        await messages.add(transaction, message);
        if (source !== undefined) await sources.add(transaction, id, source);
        await context.jobs.enqueueAll(transaction, deliver, buildDeliveryJobs(id, deliveries));
        return id;
      });
    } catch (error) {
      // A commit may have succeeded although its response was lost: the source is then needed, and the client receives
      // this id when it sends again.
      const isStored = await messages.find(id).then(
        (row) => row !== undefined,
        () => true,
      );
      if (!isStored) await this.#discardFile(id);
      throw error;
    }
    if (storedId !== id) await this.#discardFile(id);
    return storedId;
  }

  /** Deletes a file without a row. The retention deletes it later if that is impossible now. */
  async #discardFile(id: string): Promise<void> {
    const { context, sources } = this.#dependencies;
    await sources
      .removeFiles([id])
      .catch((error: unknown) => context.log.warn('mail source deletion failed', { error }));
  }

  /** Finds the rule for a mail. The header is decoded only when rules exist. */
  async #findRule(
    envelope: { readonly sender: string; readonly recipients: readonly string[] },
    header: string,
  ): Promise<{ readonly rule: Rule; readonly number: number } | undefined> {
    const { rules } = this.#dependencies.routing;
    if (rules.length === 0) return undefined;
    const { subject = '', from = '' } = await parseMail(Buffer.from(`${header}\r\n\r\n`, 'latin1'));
    // Limited, because each pattern is compared with each text.
    const texts = { subject: subject.slice(0, maxComparedLength), from: from.slice(0, maxComparedLength) };
    return findRule(rules, { ...envelope, ...texts });
  }
}

const emptyLines = [Buffer.from('\n\r\n'), Buffer.from('\n\n')];

/** Returns everything before the first empty line as latin1. */
function getHeader(source: Buffer): string {
  let header = source;
  for (const line of emptyLines) {
    const end = header.indexOf(line);
    if (end !== -1) header = header.subarray(0, end);
  }
  return header.toString('latin1', 0, header.at(-1) === 13 ? header.length - 1 : header.length);
}

function countMatches(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].length;
}

/**
 * Converts an error to an SMTP reply: faults of this computer are temporary, so that the client keeps the mail. Returns
 * undefined for defects.
 */
function toRefusal(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if (error instanceof Problem)
    return error.status === 507 ? diskFullRefusal() : new Refusal(451, 'Temporary failure, try again later');
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const isDiskFull = error.code === 'ENOSPC' || error.code === 'EDQUOT';
  return isDiskFull ? diskFullRefusal() : new Refusal(451, 'Temporary failure, try again later');
}

/** RFC 5321, section 4.2.3: insufficient system storage. */
function diskFullRefusal(): Refusal {
  return new Refusal(452, '4.3.1 Not enough disk space, try again later');
}
