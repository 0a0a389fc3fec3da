import { z } from 'zod';
import { defineRoute } from './api.ts';
import { defineTopic } from './bus.ts';
import { NoticeType, TextFormat } from './notice.ts';

const state = z.enum(['delivered', 'waiting', 'dead']);

/** A mail in the spool. */
export const SpooledMail = z
  .object({
    id: z.string(),
    /** Of the envelope; empty for a bounce. */
    sender: z.string(),
    recipients: z.array(z.string()),
    subject: z.string(),
    /** Bytes. */
    size: z.int(),
    time: z.number().describe('ms since the epoch'),
    /** The worst of its deliveries. */
    state,
  })
  .meta({ id: 'SpooledMail' });
export type SpooledMail = z.infer<typeof SpooledMail>;

/** A mail as it is read, and what became of it. */
export const ReadMail = SpooledMail.extend({
  from: z.string(),
  body: z.string(),
  format: TextFormat,
  attachments: z.array(z.object({ name: z.string(), type: z.string() })),
  /** The beginning of its source, as it came; null when the source is no longer kept. */
  source: z.string().nullable(),
  /** The source goes on. */
  cut: z.boolean(),
  deliveries: z.array(
    z.object({
      /** `notify://KEY` or `push://TOPIC`. */
      target: z.string(),
      type: NoticeType,
      state,
      /** Why it waits or was given up. */
      reason: z.string().nullable(),
      /** Of work that can be tried again. */
      job: z.string().nullable(),
    }),
  ),
}).meta({ id: 'ReadMail' });
export type ReadMail = z.infer<typeof ReadMail>;

const ok = z.object({ ok: z.literal(true) });

/** Our own API around the SMTP gateway. Administrators alone: mail is private. */
export const mailApi = {
  messages: defineRoute({
    method: 'GET',
    path: '/api/mail/messages',
    summary: 'Accepted mails whose source is kept, newest first; page on with `before` set to the last `time`.',
    access: 'admin',
    query: z.object({
      before: z.coerce.number().int().optional(),
      limit: z.coerce.number().int().min(1).max(100).default(50),
      /** In sender or recipients. */
      q: z.string().max(200).default(''),
    }),
    reply: z.object({ messages: z.array(SpooledMail), more: z.boolean() }),
  }),
  message: defineRoute({
    method: 'GET',
    path: '/api/mail/messages/:id',
    summary: 'A mail with its text, its source and its deliveries.',
    access: 'admin',
    reply: ReadMail,
  }),
  resend: defineRoute({
    method: 'POST',
    path: '/api/mail/messages/:id/resend',
    summary: 'Hands a mail over once more, to where its recipients lead now.',
    access: 'admin',
    reply: z.object({ deliveries: z.int() }),
  }),
  remove: defineRoute({
    method: 'DELETE',
    path: '/api/mail/messages/:id',
    summary: 'Removes a mail and its source from the spool.',
    access: 'admin',
    reply: ok,
  }),
  check: defineRoute({
    method: 'GET',
    path: '/api/mail/check',
    summary: 'Where mail to an address would go; null where it is refused with 550.',
    access: 'admin',
    query: z.object({ address: z.string().trim().min(1).max(320) }),
    reply: z.object({
      match: z.object({ targets: z.array(z.string()), type: NoticeType }).nullable(),
    }),
  }),
};

/** Mails came, or were handed over, since the last of these; at most two a second. */
export const mailWorked = defineTopic('mail.worked', z.object({ time: z.number().describe('ms since the epoch') }));
