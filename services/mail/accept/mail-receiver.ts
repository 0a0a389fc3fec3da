import { hash } from 'node:crypto';
import type { SMTPServerDataStream } from 'smtp-server';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Counter } from '../../contracts/metrics.ts';
import { createSortableId } from '../../kit/sortable-id.ts';
import type { Activity } from '../../kit/activity.ts';
import { deliver, deliveryJobs } from '../deliver/delivery-worker.ts';
import { deliveriesOf } from '../domain/deliveries.ts';
import { matchRecipient } from '../domain/recipients.ts';
import { ruleFor, type Rule } from '../domain/rules.ts';
import type { Routing } from './routing.ts';
import { parseMail } from '../mime/parse.ts';
import { subjectIn } from '../mime/subject.ts';
import type { Admission } from './delivery-backoff.ts';
import type { Sender, SignIn } from './sign-in.ts';
import type { Envelope, Reception } from '../smtp/listener.ts';
import { Refusal } from '../smtp/refusal.ts';
import { readSource, smallSource, type Incoming } from '../store/incoming.ts';
import type { Message, MessageStore } from '../store/messages.ts';
import type { Sources } from '../store/sources.ts';
import type { TopicMail } from './topic-mail.ts';

/** More hops than this and a mail is going round in circles (RFC 5321, 6.3 asks for a large threshold). */
const maxServers = 25;
/** A mail that as many aggregators passed on comes back to where it began. */
const maxAggregators = 3;
/** The header is looked at in so many bytes. */
const headerBytes = 256 * 1024;
/** Characters of subject and sender that rules look at. */
const wordsLength = 1000;
/** 96 bits: more than enough to tell mails apart, and the index of them is a good part of what a commit writes. */
const fingerprintLength = 16;

interface Parts {
  readonly context: Context;
  readonly routing: Routing;
  readonly messages: MessageStore;
  readonly sources: Sources;
  readonly processed: Counter;
  readonly activity: Activity;
  readonly admission: Admission;
  readonly topicMail: TopicMail;
  readonly signIn: SignIn;
  /** Nobody may send without a sign-in, but for addresses that hold a token. */
  readonly needsSignIn: boolean;
}

/** Takes mails: checks recipients, then one commit for the row, its jobs and a source that is small; a large one comes before. */
export class Gateway implements Reception {
  readonly #parts: Parts;
  /** When the newest mail came, in ms since the epoch. */
  lastAt: number | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async admit(address: string, sender: Sender | undefined, remoteAddress: string): Promise<string> {
    const { topicMail, signIn, needsSignIn, processed } = this.#parts;
    try {
      const topic = await topicMail.admit(address, sender, remoteAddress);
      if (topic !== undefined) return topic;
    } catch (error) {
      if (error instanceof Refusal && error.responseCode >= 500) processed.inc({ result: 'rejected' });
      throw error;
    }
    if (needsSignIn && sender === undefined) throw new Refusal(530, '5.7.0 Sign in first');
    this.#checkRecipient(address);
    if (sender !== undefined && !signIn.may(sender, address))
      throw new Refusal(550, '5.7.1 This account may not send to this recipient');
    return address;
  }

  #checkRecipient(address: string): void {
    if (matchRecipient(this.#parts.routing.mappings, address) !== undefined) return;
    this.#parts.processed.inc({ result: 'rejected' });
    throw new Refusal(550, 'Recipient unknown; add it to the recipients of the mail gateway');
  }

  async receive(envelope: Envelope, stream: SMTPServerDataStream): Promise<string> {
    const { context, sources, processed } = this.#parts;
    const id = createSortableId(context.random, context.clock.now());
    const exceeded = (): boolean => stream.sizeExceeded;
    try {
      await using source = await readSource(stream, headerBytes, exceeded, () => sources.create(id));
      if (exceeded()) throw new Refusal(552, 'The mail is larger than this server takes');
      return await this.#accept(id, envelope, source);
    } catch (error) {
      const refusal = toRefusal(error);
      processed.inc({ result: (refusal?.responseCode ?? 0) < 500 ? 'failed' : 'rejected' });
      if (refusal === undefined) throw error;
      if (!(error instanceof Refusal)) context.log.warn('mail turned away for now', { error });
      throw refusal;
    }
  }

  /** Takes a small mail of this app's own, as if it had come. @throws Refusal */
  async take(envelope: Envelope, source: Buffer): Promise<string> {
    for (const recipient of envelope.recipients) this.#checkRecipient(recipient);
    const { clock, random } = this.#parts.context;
    return await this.#accept(createSortableId(random, clock.now()), envelope, smallSource(source));
  }

  async #accept(id: string, envelope: Envelope, source: Incoming): Promise<string> {
    const { context, processed, activity, admission } = this.#parts;
    const header = headerOf(source.head);
    const hops = Number(/^x-notify-hop:[ \t]*(\d{1,9})/im.exec(header)?.[1] ?? 0);
    if (count(header, /^received:/gim) > maxServers || hops > maxAggregators)
      throw new Refusal(554, '5.4.6 The mail goes round in circles');

    using _coming = admission.enter();
    const message = await this.#messageOf(id, envelope, header, source);
    const kept = await this.#commit(message, source.bytes);
    const fields = { id: kept, size: source.size, from: envelope.remoteAddress };
    // The page lists each mail; a line of the log for each would cost as much as its rows.
    if (kept === id) context.log.debug('mail accepted', fields);
    else context.log.info('mail accepted before', fields);
    processed.inc({ result: 'accepted' });
    this.lastAt = message.receivedAt;
    activity.touch();
    return kept;
  }

  async #messageOf(id: string, { sender, recipients }: Envelope, header: string, source: Incoming): Promise<Message> {
    const { context, routing } = this.#parts;
    const applied = await this.#ruleFor({ sender, recipients }, header);
    const dropped = applied?.rule.drop === true;
    const note = dropped ? `Dropped by rule ${String(applied.number)}.` : '';
    const deliveries = dropped ? [] : deliveriesOf(routing, recipients, applied?.rule);
    const digest = await source.keep();
    const targets = deliveries.map(({ target, type }) => `${target} ${type}`).sort();
    const fingerprint = /^message-id:/im.test(header)
      ? hash('sha256', JSON.stringify([digest, targets]), 'base64url').slice(0, fingerprintLength)
      : undefined;
    const about = { sender, recipients, subject: subjectIn(header), size: source.size };
    return { id, ...about, fingerprint, deliveries, note, receivedAt: context.clock.now() };
  }

  /** The id of the mail, or of the same one that was accepted a moment before. */
  async #commit(message: Message, source: Buffer | undefined): Promise<string> {
    const { context, messages, sources } = this.#parts;
    const { id, fingerprint, deliveries, receivedAt } = message;
    let kept: string;
    try {
      kept = await context.commit(async (transaction) => {
        const duplicate = fingerprint && (await messages.findDuplicate(transaction, fingerprint, receivedAt));
        if (duplicate !== undefined && duplicate !== '') return duplicate;
        await messages.add(transaction, message);
        if (source !== undefined) await sources.add(transaction, id, source);
        await context.jobs.enqueueAll(transaction, deliver, deliveryJobs(id, deliveries));
        return id;
      });
    } catch (error) {
      // A commit may succeed and its answer be lost: then the source is needed, and the sender gets this id when it comes again.
      const isKept = await messages.find(id).then(
        (row) => row !== undefined,
        () => true,
      );
      if (!isKept) await sources.removeFiles([id]);
      throw error;
    }
    if (kept !== id) await sources.removeFiles([id]);
    return kept;
  }

  /** Rules look at words as a person reads them, so the header is decoded where there are any. */
  async #ruleFor(
    envelope: { readonly sender: string; readonly recipients: readonly string[] },
    header: string,
  ): Promise<{ readonly rule: Rule; readonly number: number } | undefined> {
    const { rules } = this.#parts.routing;
    if (rules.length === 0) return undefined;
    const { subject = '', from = '' } = await parseMail(Buffer.from(`${header}\r\n\r\n`, 'latin1'));
    // What they look for stands at the beginning, and each pattern is compared with each text.
    const words = { subject: subject.slice(0, wordsLength), from: from.slice(0, wordsLength) };
    return ruleFor(rules, { ...envelope, ...words });
  }
}

const emptyLines = [Buffer.from('\n\r\n'), Buffer.from('\n\n')];

/** All before the first empty line, its bytes as characters. */
function headerOf(source: Buffer): string {
  let header = source;
  for (const line of emptyLines) {
    const end = header.indexOf(line);
    if (end !== -1) header = header.subarray(0, end);
  }
  return header.toString('latin1', 0, header.at(-1) === 13 ? header.length - 1 : header.length);
}

function count(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].length;
}

/** What a sender is told: faults of this machine are temporary, so the sender keeps the mail. Undefined for a defect. */
function toRefusal(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if (error instanceof Problem)
    return error.status === 507 ? fullDisk() : new Refusal(451, 'Temporary failure, try again later');
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const full = error.code === 'ENOSPC' || error.code === 'EDQUOT';
  return full ? fullDisk() : new Refusal(451, 'Temporary failure, try again later');
}

/** RFC 5321, 4.2.3: insufficient system storage. */
function fullDisk(): Refusal {
  return new Refusal(452, '4.3.1 Not enough disk space, try again later');
}
