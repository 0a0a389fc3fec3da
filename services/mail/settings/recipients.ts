import * as m from '#messages/mail-settings';
import { z } from 'zod';
import { NotificationType } from '../../contracts/notify/notification.ts';
import { isPattern } from '../domain/recipients.ts';
import { parseTarget, splitTargets } from '../domain/target.ts';

const targetFormats = 'notify://KEY, notify://KEY?tag=TAG, push://TOPIC, inbox://, http://HOST/notify/KEY?tag=TAG';

const areTargets = (text: string): boolean =>
  splitTargets(text).every((target) => !target.includes('#') && parseTarget(target) !== undefined);

/** Returns true for text in the form of a destination URL; notify decides which schemes are supported. */
export const isDestination = (text: string): boolean =>
  /^[a-z][a-z0-9+.-]{1,31}:\/\/[^\s]{1,4000}$/i.test(text) ||
  /^(?:dbus|glib|gnome|kde|macosx|qt|syslog|windows):\/\/$/i.test(text);

const pattern = z.string().trim().max(200).default('');

const Recipient = z
  .object({
    address: z.string().default('aggregator').refine(isPattern, { error: m.addressInvalid }).meta({
      label: m.address,
      help: m.addressHelp,
    }),
    to: z
      .string()
      .default('notify://aggregator')
      .refine(areTargets, { error: () => m.targetInvalid({ formats: targetFormats }) })
      .meta({ label: m.to, help: () => m.targetHelp({ formats: targetFormats }) }),
    destinations: z
      .string()
      .default('')
      .refine((text) => splitTargets(text).every(isDestination), { error: m.destinationsInvalid })
      .meta({
        label: m.destinations,
        help: m.destinationsHelp,
        secret: true,
      }),
    title: z.string().max(1000).default('').meta({
      label: m.title,
      help: m.titleHelp,
    }),
    body: z.string().max(10_000).default('').meta({
      label: m.body,
      help: m.bodyHelp,
    }),
    format: z.enum(['as it comes', 'text', 'markdown', 'html']).default('as it comes').meta({
      label: m.format,
      help: m.formatHelp,
    }),
  })
  .refine(({ to, destinations }) => splitTargets(to + destinations).length > 0, {
    path: ['to'],
    error: m.recipientInvalid,
  });

export const recipients = z
  .array(Recipient)
  .default([
    { address: 'aggregator', to: 'notify://aggregator', destinations: '', title: '', body: '', format: 'as it comes' },
    { address: 'alerts', to: 'notify://aggregator', destinations: '', title: '', body: '', format: 'as it comes' },
  ])
  .meta({
    live: true,
    label: m.recipients,
    help: m.recipientsHelp,
  });

const Rule = z.object({
  from: pattern.meta({
    label: m.from,
    help: m.fromHelp,
  }),
  subject: pattern.meta({
    label: m.subject,
    help: m.subjectHelp,
  }),
  to: pattern.meta({
    label: m.ruleRecipient,
    help: m.toHelp,
  }),
  drop: z.boolean().default(false).meta({ label: m.drop, help: m.dropHelp }),
  type: z
    .enum(['as it is', ...NotificationType.options])
    .default('as it is')
    .meta({ label: m.type, help: m.typeHelp }),
  priority: z.int().min(0).max(5).default(0).meta({
    label: m.priority,
    help: m.priorityHelp,
  }),
  tag: z
    .string()
    .trim()
    .max(200)
    .regex(/^[\w\s:|,+&-]*$/, { error: m.tagInvalid })
    .default('')
    .meta({ label: m.tag, help: m.tagHelp }),
  goesTo: z
    .string()
    .trim()
    .default('')
    .refine(areTargets, { error: () => m.targetInvalid({ formats: targetFormats }) })
    .meta({ label: m.goesTo, help: () => m.otherTargetHelp({ formats: targetFormats }) }),
});

export const rules = z.array(Rule).max(200).default([]).meta({
  live: true,
  label: m.rules,
  help: m.rulesHelp,
});
