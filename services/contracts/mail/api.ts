import { z } from 'zod';
import { defineRoute, fileReply } from '../api.ts';
import { defineTopic } from '../bus.ts';
import { NotificationType, TextFormat } from '../notify/notification.ts';

/** Mails came or their deliveries changed since the last of these; at most two a second. It names none of them. */
export const mailActivity = defineTopic('mail.worked', z.object({ time: z.number().describe('ms since the epoch') }));

/** `unknown`: nothing is noted of it any more, since it was dropped or is long done. */
const DeliveryState = z.enum(['waiting', 'done', 'dead', 'unknown']);

/** What became of a mail at one of its targets. */
export const MailDelivery = z.object({
  part: z.int(),
  /** `notify://KEY?tag=TAG`, `push://TOPIC`, `inbox://`, or the scheme and fingerprint of another destination. */
  target: z.string(),
  type: NotificationType,
  state: DeliveryState,
  attempts: z.int(),
  /** Why it waits or was given up; else empty. */
  reason: z.string(),
  /** When it is tried next, in ms since the epoch; null when it does not wait. */
  nextAt: z.number().nullable(),
  /** Of a given-up one, so that it can be tried again. */
  job: z.string().nullable(),
});
export type MailDelivery = z.infer<typeof MailDelivery>;

/** A mail of the spool. */
export const SpooledMail = z
  .object({
    id: z.string(),
    /** Envelope sender; empty for bounces. */
    sender: z.string(),
    recipients: z.array(z.string()),
    /** Decoded; empty without one, or when the source is gone. */
    subject: z.string(),
    /** Bytes. */
    size: z.int(),
    receivedAt: z.number().describe('ms since the epoch'),
    /** The worst of its deliveries; `dropped` when a rule wanted it told to nobody. */
    state: z.enum([...DeliveryState.options, 'dropped']),
    /** Where it went, as in its deliveries. */
    targets: z.array(z.string()),
    /** What the gateway did with it besides, as a sentence; else empty. */
    note: z.string(),
  })
  .meta({ id: 'SpooledMail' });
export type SpooledMail = z.infer<typeof SpooledMail>;

/** One mail with its content. */
export const MailDetail = SpooledMail.extend({
  /** The header's From; empty without one. */
  from: z.string(),
  body: z.string(),
  /** A stranger's: to be sanitised before it is shown. */
  format: TextFormat,
  attachments: z.array(z.object({ name: z.string(), type: z.string(), size: z.int() })),
  /** The beginning of the source; null when it is no longer kept. */
  source: z.string().nullable(),
  /** There is more of it than `source` holds. */
  sourceCut: z.boolean(),
  deliveries: z.array(MailDelivery),
}).meta({ id: 'MailDetail' });
export type MailDetail = z.infer<typeof MailDetail>;

/** What the gateway answers to a recipient, and where its mail goes. */
export const MailCheck = z.object({
  accepted: z.boolean(),
  /** Reply code at RCPT. */
  code: z.int(),
  /** The entry of the recipients that fits; null when it is refused. */
  pattern: z.string().nullable(),
  type: NotificationType.nullable(),
  targets: z.array(z.string()),
});
export type MailCheck = z.infer<typeof MailCheck>;

/** What a mail would become, before any is sent. */
export const MailTestResult = z.object({
  /** Whether any of its recipients is known; else it is refused with 550. */
  accepted: z.boolean(),
  /** Number of the rule that fits, from 1; null when none does. */
  rule: z.int().nullable(),
  dropped: z.boolean(),
  deliveries: z.array(
    z.object({
      target: z.string(),
      type: NotificationType,
      priority: z.int().nullable(),
      title: z.string(),
      body: z.string(),
    }),
  ),
});
export type MailTestResult = z.infer<typeof MailTestResult>;

/** How the gateway can be reached, and what it asks of a sender. */
export const MailAccess = z.object({
  hostName: z.string(),
  signIn: z.enum(['off', 'optional', 'required']),
  /** Logins for devices. */
  logins: z.int(),
  tls: z.enum(['off', 'starttls', 'required', 'implicit']),
  /** Null without encryption. */
  certificate: z
    .object({
      /** Names it is for. */
      names: z.array(z.string()),
      /** Empty where it cannot be read. */
      issuer: z.string(),
      until: z.number().nullable().describe('ms since the epoch'),
      /** Why it cannot be used; else empty. */
      trouble: z.string(),
    })
    .nullable(),
  /** Networks that may send; empty: this machine and private networks, and everywhere when a sign-in is required. */
  clients: z.array(z.string()),
  maxMegabytes: z.int(),
});
export type MailAccess = z.infer<typeof MailAccess>;

/** What a configuration of Mailrise amounts to. `settings` are to be saved as they are; they hold the secrets of the file that was sent. */
export const MailriseImport = z.object({
  recipients: z.array(
    z.object({
      address: z.string(),
      /** Schemes of its destinations. */
      schemes: z.array(z.string()),
      worded: z.boolean(),
    }),
  ),
  logins: z.int(),
  notes: z.array(z.string()),
  settings: z.record(z.string(), z.unknown()),
});
export type MailriseImport = z.infer<typeof MailriseImport>;

const address = z
  .string()
  .trim()
  .regex(/^[^\s<>]{1,320}$/, 'Write one address, such as alerts@nas.lan.');

const ok = z.object({ ok: z.literal(true) });

/** Our own API around the mails that came. Administrators alone: mails are private. */
export const mailApi = {
  check: defineRoute({
    method: 'GET',
    path: '/api/mail/check',
    summary: 'Where mail to an address goes, or that it is refused.',
    access: 'admin',
    query: z.object({ address }),
    reply: MailCheck,
  }),
  try: defineRoute({
    method: 'POST',
    path: '/api/mail/try',
    summary: 'What recipients and rules would make of a mail; nothing is sent or kept.',
    access: 'admin',
    body: z.object({
      from: z.string().max(1000),
      to: address,
      subject: z.string().max(2000),
      text: z.string().max(20_000).default(''),
    }),
    reply: MailTestResult,
  }),
  access: defineRoute({
    method: 'GET',
    path: '/api/mail/access',
    summary: 'How the gateway can be reached: encryption with its certificate, sign-in, networks.',
    access: 'admin',
    reply: MailAccess,
  }),
  takeover: defineRoute({
    method: 'POST',
    path: '/api/mail/takeover',
    summary: 'What a mailrise.conf amounts to; nothing is saved, and no file of this machine is read.',
    access: 'admin',
    body: z.object({ text: z.string().max(512 * 1024) }),
    reply: MailriseImport,
  }),
  messages: defineRoute({
    method: 'GET',
    path: '/api/mail/messages',
    summary: 'Mails of the spool, newest first; page on with `before` set to `receivedAt.id` of the last one.',
    access: 'admin',
    query: z.object({
      before: z
        .string()
        .regex(/^\d{1,15}\.[A-Za-z0-9]{1,64}$/)
        .optional(),
      limit: z.coerce.number().int().min(1).max(200).default(50),
      /** Is part of the sender, a recipient or the subject, in any case. */
      q: z.string().max(200).optional(),
      /** By the worst of its deliveries, as each mail's own `state` says. */
      state: z.enum(['dead', 'waiting', 'done', 'dropped']).optional(),
    }),
    reply: z.object({ messages: z.array(SpooledMail) }),
  }),
  outcomes: defineRoute({
    method: 'GET',
    path: '/api/mail/outcomes',
    summary: 'How many mails of the spool came each day, and what became of them.',
    access: 'admin',
    reply: z.object({
      /** Local days such as `2026-11-21`, today last; as many as the spool keeps, 30 at most. */
      days: z.array(z.string()),
      /** Mails of each day that were passed on, or of which nothing is noted any more. */
      told: z.array(z.int()),
      /** Of which a delivery is still to be made. */
      waiting: z.array(z.int()),
      /** Of which a delivery was given up, whatever became of the others. */
      failed: z.array(z.int()),
      /** Which a rule wanted told to nobody. */
      dropped: z.array(z.int()),
    }),
  }),
  message: defineRoute({
    method: 'GET',
    path: '/api/mail/messages/:id',
    summary: 'One mail with its text, its source and what became of it.',
    access: 'admin',
    reply: MailDetail,
  }),
  source: defineRoute({
    method: 'GET',
    path: '/api/mail/messages/:id/source',
    summary: 'The whole source of a mail, as a file.',
    access: 'admin',
    reply: fileReply,
  }),
  test: defineRoute({
    method: 'POST',
    path: '/api/mail/test',
    summary: 'Takes a mail to an address as if a program had sent it.',
    access: 'admin',
    body: z.object({ address }),
    reply: z.object({ id: z.string() }),
  }),
  resend: defineRoute({
    method: 'POST',
    path: '/api/mail/messages/:id/send',
    summary: 'Delivers a mail once more, to where its recipients lead now.',
    access: 'admin',
    reply: z.object({ deliveries: z.int() }),
  }),
  remove: defineRoute({
    method: 'DELETE',
    path: '/api/mail/messages/:id',
    summary: 'Removes a mail and its source for good; deliveries that wait are dropped.',
    access: 'admin',
    reply: ok,
  }),
};
