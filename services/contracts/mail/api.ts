import * as m from '#messages/mail-problems';
import { z } from 'zod';
import { defineRoute, fileReply } from '../api.ts';
import { defineTopic } from '../bus.ts';
import { NotificationType, TextFormat } from '../notify/notification.ts';

/** Published when mails arrived or their deliveries changed; at most twice a second, without naming them. */
export const mailActivity = defineTopic('mail.worked', z.object({ time: z.number().describe('ms since the epoch') }), {
  shared: true,
});

/** `unknown`: no job exists any more, since it was dropped or completed long ago. */
const DeliveryState = z.enum(['waiting', 'done', 'dead', 'unknown']);

/** Delivery of a mail to one target. */
export const MailDelivery = z.object({
  part: z.int(),
  /** `notify://KEY?tag=TAG`, `push://TOPIC`, `inbox://`, or the scheme and fingerprint of another destination. */
  target: z.string(),
  type: NotificationType,
  state: DeliveryState,
  attempts: z.int(),
  /** Reason for waiting or for the final failure; else empty. */
  reason: z.string(),
  /** Time of the next attempt, ms since the epoch; null when the delivery is not waiting. */
  nextAt: z.number().nullable(),
  /** Id of the dead job, for a retry. */
  job: z.string().nullable(),
});
export type MailDelivery = z.infer<typeof MailDelivery>;

/** Mail in the spool. */
export const SpooledMail = z
  .object({
    id: z.string(),
    /** Envelope sender; empty for bounces. */
    sender: z.string(),
    recipients: z.array(z.string()),
    /** Decoded subject; empty without one, or when the source is no longer stored. */
    subject: z.string(),
    /** Size in bytes. */
    size: z.int(),
    receivedAt: z.number().describe('ms since the epoch'),
    /** Worst state of its deliveries; `dropped` when a rule discarded the mail. */
    state: z.enum([...DeliveryState.options, 'dropped']),
    /** Targets of its deliveries. */
    targets: z.array(z.string()),
    /** Further processing by the gateway, as a sentence; else empty. */
    note: z.string(),
  })
  .meta({ id: 'SpooledMail' });
export type SpooledMail = z.infer<typeof SpooledMail>;

/** Mail with its content. */
export const MailDetail = SpooledMail.extend({
  /** From header; empty without one. */
  from: z.string(),
  body: z.string(),
  /** Untrusted content: sanitise it before display. */
  format: TextFormat,
  attachments: z.array(z.object({ name: z.string(), type: z.string(), size: z.int() })),
  /** Beginning of the source; null when it is no longer stored. */
  source: z.string().nullable(),
  /** `source` was truncated. */
  sourceCut: z.boolean(),
  deliveries: z.array(MailDelivery),
}).meta({ id: 'MailDetail' });
export type MailDetail = z.infer<typeof MailDetail>;

/** Response of the gateway to a recipient, with the targets of its mail. */
export const MailCheck = z.object({
  accepted: z.boolean(),
  /** Reply code to RCPT. */
  code: z.int(),
  /** Matching entry of the recipients; null when refused. */
  pattern: z.string().nullable(),
  type: NotificationType.nullable(),
  targets: z.array(z.string()),
});
export type MailCheck = z.infer<typeof MailCheck>;

/** Result of processing a mail, without sending it. */
export const MailTestResult = z.object({
  /** True when any recipient is configured; else the mail is refused with 550. */
  accepted: z.boolean(),
  /** Number of the matching rule, from 1; null for none. */
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

/** Addresses of the gateway and its requirements for senders. */
export const MailAccess = z.object({
  hostName: z.string(),
  signIn: z.enum(['off', 'optional', 'required']),
  /** Number of logins for devices. */
  logins: z.int(),
  tls: z.enum(['off', 'starttls', 'required', 'implicit']),
  /** Null without encryption. */
  certificate: z
    .object({
      /** Host names of the certificate. */
      names: z.array(z.string()),
      /** Empty when the certificate cannot be read. */
      issuer: z.string(),
      until: z.number().nullable().describe('ms since the epoch'),
      /** Reason why the certificate cannot be used; else empty. */
      error: z.string(),
    })
    .nullable(),
  /** Networks that can send mail. Empty for this computer and private networks, or for all networks if sign-in is required. */
  clients: z.array(z.string()),
  maxMegabytes: z.int(),
});
export type MailAccess = z.infer<typeof MailAccess>;

/**
 * Result of reading a Mailrise configuration. `settings` contain the secrets of the uploaded file and can be saved
 * unchanged.
 */
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
  .regex(/^[^\s<>]{1,320}$/, { error: m.addressInvalid });

const ok = z.object({ ok: z.literal(true) });

/** Routes for received mails, for administrators only: mails are private. */
export const mailApi = {
  check: defineRoute({
    method: 'GET',
    path: '/api/mail/check',
    summary: 'Returns the targets of mail to an address, or whether it is rejected.',
    access: 'admin',
    query: z.object({ address }),
    reply: MailCheck,
  }),
  try: defineRoute({
    method: 'POST',
    path: '/api/mail/try',
    summary: 'Returns how recipients and rules would handle an email, without sending or storing it.',
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
    summary: 'Returns how senders can connect to the gateway: encryption with its certificate, sign-in, and networks.',
    access: 'admin',
    reply: MailAccess,
  }),
  takeover: defineRoute({
    method: 'POST',
    path: '/api/mail/takeover',
    summary: 'Returns the result of importing a mailrise.conf, without saving it. No files on this computer are read.',
    access: 'admin',
    body: z.object({ text: z.string().max(512 * 1024) }),
    reply: MailriseImport,
  }),
  messages: defineRoute({
    method: 'GET',
    path: '/api/mail/messages',
    summary:
      'Lists the emails in the spool, newest first. For the next page, set `before` to `receivedAt.id` of the ' +
      'last one.',
    access: 'admin',
    query: z.object({
      before: z
        .string()
        .regex(/^\d{1,15}\.[A-Za-z0-9]{1,64}$/)
        .optional(),
      limit: z.coerce.number().int().min(1).max(200).default(50),
      /** Case-insensitive part of the sender, a recipient or the subject. */
      q: z.string().max(200).optional(),
      /** Worst state of the deliveries, as in each mail's `state`. */
      state: z.enum(['dead', 'waiting', 'done', 'dropped']).optional(),
    }),
    reply: z.object({ messages: z.array(SpooledMail) }),
  }),
  outcomes: defineRoute({
    method: 'GET',
    path: '/api/mail/outcomes',
    summary: 'Returns the number of emails in the spool by day and result.',
    access: 'admin',
    reply: z.object({
      /** Local days such as `2026-11-21`, today last; as many as the spool stores, at most 30. */
      days: z.array(z.string()),
      /** Mails of each day that were delivered, or whose jobs no longer exist. */
      told: z.array(z.int()),
      /** Mails with a waiting delivery. */
      waiting: z.array(z.int()),
      /** Mails with a failed delivery. */
      failed: z.array(z.int()),
      /** Mails that a rule discarded. */
      dropped: z.array(z.int()),
      /** All mails of the same number of days before; null when the spool does not store that many. */
      previous: z.array(z.int()).nullable(),
    }),
  }),
  message: defineRoute({
    method: 'GET',
    path: '/api/mail/messages/:id',
    summary: 'Returns an email with its text, its source and its result.',
    access: 'admin',
    reply: MailDetail,
  }),
  source: defineRoute({
    method: 'GET',
    path: '/api/mail/messages/:id/source',
    summary: 'Downloads the complete source of an email.',
    access: 'admin',
    reply: fileReply,
  }),
  test: defineRoute({
    method: 'POST',
    path: '/api/mail/test',
    summary: 'Sends a test email to an address, as if a program had sent it.',
    access: 'admin',
    body: z.object({ address }),
    reply: z.object({ id: z.string() }),
  }),
  resend: defineRoute({
    method: 'POST',
    path: '/api/mail/messages/:id/send',
    summary: 'Delivers an email again, according to the current recipients.',
    access: 'admin',
    reply: z.object({ deliveries: z.int() }),
  }),
  remove: defineRoute({
    method: 'DELETE',
    path: '/api/mail/messages/:id',
    summary: 'Permanently deletes an email and its source. Waiting deliveries are canceled.',
    access: 'admin',
    reply: ok,
  }),
};
