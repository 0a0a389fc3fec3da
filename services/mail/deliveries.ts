import { z } from 'zod';
import { defineJob, type Attempt } from '../contracts/jobs.ts';
import { noticeOffered, NoticeType } from '../contracts/notice.ts';
import { htmlToText } from '../contracts/plain-text.ts';
import { Problem } from '../contracts/problem.ts';
import { pushOffered } from '../contracts/push.ts';
import type { Context, Counter } from '../contracts/service.ts';
import type { Activity } from './activity.ts';
import { noticeOfMail, type ParsedMail } from './domain/mail.ts';
import { parseTarget } from './domain/target.ts';
import { readMail } from './mime/reader.ts';
import type { Spool } from './store/spool.ts';

/** One mail to one target. */
export const deliver = defineJob(
  'mail.deliver',
  z.object({
    message: z.string(),
    /** Which of the mail's deliveries: with the message's id it is the notice's identity. */
    part: z.int(),
    target: z.string(),
    type: NoticeType,
  }),
  { concurrency: 4, timeoutMs: 60_000 },
);
type Payload = z.infer<typeof deliver.schema>;

/** Hands accepted mails over to the aggregator or the push server. */
export class Deliveries {
  readonly #context: Context;
  readonly #spool: Spool;
  readonly #processed: Counter;
  readonly #activity: Activity;
  /** A mail with several targets is read once, as long as they follow each other. */
  #latest: { readonly id: string; readonly mail: Promise<ParsedMail> } | undefined;

  constructor(context: Context, spool: Spool, processed: Counter, activity: Activity) {
    this.#context = context;
    this.#spool = spool;
    this.#processed = processed;
    this.#activity = activity;
  }

  /** Begins to work; the disposal stops taking new deliveries. */
  start(): Disposable {
    const { jobs, log } = this.#context;
    return jobs.handle(deliver, (attempt) => this.#attempt(attempt).finally(() => this.#activity.note()), {
      onDead: ({ payload }, reason) => {
        this.#processed.inc({ result: 'failed' });
        log.error('mail could not be handed over', { id: payload.message, target: payload.target, reason });
      },
    });
  }

  async #attempt({ payload, signal }: Attempt<Payload>): Promise<void> {
    const target = parseTarget(payload.target);
    if (target === undefined) throw new Problem('mail.bad_target', 400, 'The destination of this mail is not valid.');
    const notice = noticeOfMail(await this.#read(payload.message), payload.type);
    signal.throwIfAborted();
    const key = `mail:${payload.message}:${payload.part}`;
    const { handovers } = this.#context;
    if (target.kind === 'notify') {
      const { configuration, tag } = target;
      await handovers.pass(noticeOffered, key, { configuration, ...(tag === undefined ? {} : { tag }), notice });
      return;
    }
    const { title, type, source } = notice;
    const text = notice.format === 'html' ? htmlToText(notice.body) : notice.body;
    await handovers.pass(pushOffered, key, {
      topic: target.topic,
      title,
      message: text === '' ? title : text,
      priority: type === 'warning' || type === 'failure' ? 4 : 3,
      tags: [],
      markdown: false,
      source,
      origin: key,
    });
  }

  #read(id: string): Promise<ParsedMail> {
    if (this.#latest?.id === id) return this.#latest.mail;
    const latest = { id, mail: this.#parse(id) };
    this.#latest = latest;
    // A failure must not stick to the next attempt; who waits for it gets it all the same.
    latest.mail.catch(() => {
      if (this.#latest === latest) this.#latest = undefined;
    });
    return latest.mail;
  }

  async #parse(id: string): Promise<ParsedMail> {
    const raw = await this.#spool.read(id);
    if (raw !== undefined) return readMail(raw, this.#context.clock);
    throw new Problem('mail.source_gone', 410, 'The source of this mail is no longer in the spool.');
  }
}
