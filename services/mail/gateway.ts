import { createHash } from 'node:crypto';
import type { SMTPServerDataStream } from 'smtp-server';
import { Problem } from '../contracts/problem.ts';
import type { Context, Counter } from '../contracts/service.ts';
import { timelyId } from '../contracts/timely-id.ts';
import type { Activity } from './activity.ts';
import { deliver, deliveryJobs } from './deliveries.ts';
import { deliveriesOf } from './domain/deliveries.ts';
import { matchRecipient } from './domain/recipients.ts';
import { ruleFor, type Rule } from './domain/rules.ts';
import type { Routing } from './mappings.ts';
import { parseMail } from './mime/parse.ts';
import { subjectIn } from './mime/subject.ts';
import type { Envelope, Reception } from './smtp/listener.ts';
import { Refusal } from './smtp/refusal.ts';
import type { MessageStore } from './store/messages.ts';
import type { Spool } from './store/spool.ts';

/** More hops than this and a mail is going round in circles (RFC 5321, 6.3 asks for a large threshold). */
const maxServers = 25;
/** A mail that as many aggregators passed on comes back to where it began. */
const maxAggregators = 3;
/** The header is looked at in so many bytes. */
const headerBytes = 256 * 1024;
/** Characters of subject and sender that rules look at. */
const wordsLength = 1000;
/** A client that saw no answer sends again within minutes. */
const twinMs = 10 * 60_000;

/** Takes mails: checks recipients, writes the source to the spool, then the row and its jobs in one commit. */
export class Gateway implements Reception {
  readonly #context: Context;
  readonly #routing: Routing;
  readonly #messages: MessageStore;
  readonly #spool: Spool;
  readonly #processed: Counter;
  readonly #activity: Activity;
  /** When the newest mail came, in ms since the epoch. */
  lastAt: number | undefined;

  constructor(
    context: Context,
    routing: Routing,
    messages: MessageStore,
    spool: Spool,
    processed: Counter,
    activity: Activity,
  ) {
    this.#context = context;
    this.#routing = routing;
    this.#messages = messages;
    this.#spool = spool;
    this.#processed = processed;
    this.#activity = activity;
  }

  checkRecipient(address: string): void {
    if (matchRecipient(this.#routing.mappings, address) !== undefined) return;
    this.#processed.inc({ result: 'rejected' });
    throw new Refusal(550, 'Recipient unknown; add it to the recipients of the mail gateway');
  }

  async receive(envelope: Envelope, stream: SMTPServerDataStream): Promise<string> {
    try {
      const id = await this.#store(envelope, stream, () => stream.sizeExceeded);
      this.#processed.inc({ result: 'accepted' });
      this.lastAt = this.#context.clock.now();
      this.#activity.note();
      return id;
    } catch (error) {
      const refusal = toRefusal(error);
      this.#processed.inc({ result: (refusal?.responseCode ?? 0) < 500 ? 'failed' : 'rejected' });
      if (refusal === undefined) throw error;
      if (!(error instanceof Refusal)) this.#context.log.warn('mail turned away for now', { error });
      throw refusal;
    }
  }

  /** Takes a mail of this app's own, as if it had come. @throws Refusal */
  async take(envelope: Envelope, source: Buffer): Promise<string> {
    for (const recipient of envelope.recipients) this.checkRecipient(recipient);
    const id = await this.#store(envelope, chunksOf(source), () => false);
    this.#processed.inc({ result: 'accepted' });
    this.#activity.note();
    return id;
  }

  async #store(
    { sender, recipients, remoteAddress }: Envelope,
    chunks: AsyncIterable<Buffer>,
    exceeded: () => boolean,
  ): Promise<string> {
    const { clock, commit, jobs, log, random } = this.#context;
    const id = timelyId(random, clock.now());
    await using file = await this.#spool.create(id);
    const head: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of chunks) {
      // The rest is read only so that the client gets to see the refusal.
      if (exceeded()) continue;
      if (size < headerBytes) head.push(chunk);
      size += chunk.length;
      await file.write(chunk);
    }
    if (exceeded()) throw new Refusal(552, 'The mail is larger than this server takes');
    const header = headerOf(Buffer.concat(head));
    const hops = Number(/^x-notify-hop:[ \t]*(\d{1,9})/im.exec(header)?.[1] ?? 0);
    if (count(header, /^received:/gim) > maxServers || hops > maxAggregators)
      throw new Refusal(554, '5.4.6 The mail goes round in circles');

    const applied = await this.#ruleFor({ sender, recipients }, header);
    const dropped = applied?.rule.drop === true;
    const note = dropped ? `Dropped by rule ${String(applied.number)}.` : '';
    const deliveries = dropped ? [] : deliveriesOf(this.#routing.mappings, recipients, applied?.rule);
    const hash = await file.keep();
    const targets = deliveries.map(({ target, type }) => `${target} ${type}`).sort();
    const fingerprint = /^message-id:/im.test(header)
      ? createHash('sha256')
          .update(JSON.stringify([hash, targets]))
          .digest('hex')
      : undefined;
    const now = clock.now();
    let twin: string | undefined;
    try {
      twin = await commit(async (transaction) => {
        const known = fingerprint && (await this.#messages.findTwin(transaction, fingerprint, now - twinMs));
        if (known !== undefined && known !== '') return known;
        const about = { sender, recipients, subject: subjectIn(header) };
        const message = { id, ...about, size, fingerprint, deliveries, note, receivedAt: now };
        await this.#messages.add(transaction, message);
        await jobs.enqueueAll(transaction, deliver, deliveryJobs(id, deliveries));
        return undefined;
      });
    } catch (error) {
      // A commit may succeed and its answer be lost: then the source is needed, and the sender gets this id when it comes again.
      const isKept = await this.#messages.find(id).then(
        (row) => row !== undefined,
        () => true,
      );
      if (!isKept) await this.#spool.remove(id);
      throw error;
    }
    if (twin !== undefined) await this.#spool.remove(id);
    log.info(twin === undefined ? 'mail accepted' : 'mail accepted before', {
      id: twin ?? id,
      size,
      from: remoteAddress,
    });
    return twin ?? id;
  }

  /** Rules look at words as a person reads them, so the header is decoded where there are any. */
  async #ruleFor(
    envelope: { readonly sender: string; readonly recipients: readonly string[] },
    header: string,
  ): Promise<{ readonly rule: Rule; readonly number: number } | undefined> {
    const { rules } = this.#routing;
    if (rules.length === 0) return undefined;
    const { subject = '', from = '' } = await parseMail(Buffer.from(`${header}\r\n\r\n`, 'latin1'));
    // What they look for stands at the beginning, and each pattern is compared with each text.
    const words = { subject: subject.slice(0, wordsLength), from: from.slice(0, wordsLength) };
    return ruleFor(rules, { ...envelope, ...words });
  }
}

async function* chunksOf(source: Buffer): AsyncGenerator<Buffer> {
  yield await Promise.resolve(source);
}

function headerOf(bytes: Buffer): string {
  const text = bytes.toString('latin1');
  const end = /\r?\n\r?\n/.exec(text)?.index;
  return end === undefined ? text : text.slice(0, end);
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
