import { createHash } from 'node:crypto';
import type { SMTPServerDataStream } from 'smtp-server';
import { Problem } from '../contracts/problem.ts';
import type { Context, Counter } from '../contracts/service.ts';
import type { Activity } from './activity.ts';
import { deliver } from './deliveries.ts';
import { deliveriesOf } from './domain/deliveries.ts';
import { matchRecipient, type Mapping } from './domain/recipients.ts';
import type { Target } from './domain/target.ts';
import { Refusal, type Envelope, type Reception } from './smtp/listener.ts';
import type { MessageStore } from './store/messages.ts';
import type { Spool } from './store/spool.ts';

/** More hops than this and a mail is going round in circles (RFC 5321, 6.3 asks for a large threshold). */
const maxHops = 25;
/** The header is looked at in so many bytes. */
const headerBytes = 256 * 1024;
/** A client that saw no answer sends again within minutes. */
const twinMs = 10 * 60_000;

/** Takes mails: checks recipients, writes the source to the spool, then the row and its jobs in one commit. */
export class Gateway implements Reception {
  readonly #context: Context;
  readonly #mappings: readonly Mapping<Target>[];
  readonly #messages: MessageStore;
  readonly #spool: Spool;
  readonly #processed: Counter;
  readonly #activity: Activity;
  /** When the newest mail came, in ms since the epoch. */
  lastAt: number | undefined;

  constructor(
    context: Context,
    mappings: readonly Mapping<Target>[],
    messages: MessageStore,
    spool: Spool,
    processed: Counter,
    activity: Activity,
  ) {
    this.#context = context;
    this.#mappings = mappings;
    this.#messages = messages;
    this.#spool = spool;
    this.#processed = processed;
    this.#activity = activity;
  }

  checkRecipient(address: string): void {
    if (matchRecipient(this.#mappings, address) !== undefined) return;
    this.#processed.inc({ result: 'rejected' });
    throw new Refusal(550, 'Recipient unknown; add it to the recipients of the mail gateway');
  }

  async receive(envelope: Envelope, stream: SMTPServerDataStream): Promise<string> {
    try {
      const id = await this.#store(envelope, stream);
      this.#processed.inc({ result: 'accepted' });
      this.lastAt = this.#context.clock.now();
      this.#activity.note();
      return id;
    } catch (error) {
      const refusal = toRefusal(error);
      this.#processed.inc({ result: refusal?.responseCode === 451 ? 'failed' : 'rejected' });
      if (refusal === undefined) throw error;
      if (!(error instanceof Refusal)) this.#context.log.warn('mail turned away for now', { error });
      throw refusal;
    }
  }

  async #store({ sender, recipients, remoteAddress }: Envelope, stream: SMTPServerDataStream): Promise<string> {
    const { clock, commit, jobs, log, random } = this.#context;
    const id = random.text(20);
    await using file = await this.#spool.create(id);
    const head: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      // The rest is read only so that the client gets to see the refusal.
      if (stream.sizeExceeded) continue;
      if (size < headerBytes) head.push(chunk);
      size += chunk.length;
      await file.write(chunk);
    }
    if (stream.sizeExceeded) throw new Refusal(552, 'The mail is larger than this server takes');
    const header = headerOf(Buffer.concat(head));
    if (count(header, /^received:/gim) > maxHops) throw new Refusal(554, 'The mail has come through too many servers');

    const deliveries = deliveriesOf(this.#mappings, recipients);
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
        await this.#messages.add(transaction, { id, sender, recipients, size, fingerprint, receivedAt: now });
        await jobs.enqueueAll(
          transaction,
          deliver,
          deliveries.map(({ target, type }, index) => ({
            payload: { message: id, part: index, target, type },
            key: `${id}:${index}`,
            orderKey: target,
          })),
        );
        return undefined;
      });
    } catch (error) {
      await this.#spool.remove(id);
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
    return new Refusal(451, error.status === 507 ? fullDisk : 'Temporary failure, try again later');
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const full = error.code === 'ENOSPC' || error.code === 'EDQUOT';
  return new Refusal(451, full ? fullDisk : 'Temporary failure, try again later');
}

const fullDisk = 'Not enough disk space, try again later';
