import { z } from 'zod';
import { NotificationType } from '../../contracts/notify/notification.ts';
import { isPattern } from '../domain/recipients.ts';
import { parseTarget, splitTargets } from '../domain/target.ts';

const targetFormats =
  'notify://KEY, notify://KEY?tag=TAG, push://TOPIC, inbox:// or http://HOST/notify/KEY?tag=TAG; several separated by spaces.';

const areTargets = (text: string): boolean =>
  splitTargets(text).every((target) => !target.includes('#') && parseTarget(target) !== undefined);

/** Returns true for text in the form of a destination URL; notify decides which schemes are supported. */
export const isDestination = (text: string): boolean =>
  /^[a-z][a-z0-9+.-]{1,31}:\/\/[^\s]{1,4000}$/i.test(text) ||
  /^(?:dbus|glib|gnome|kde|macosx|qt|syslog|windows):\/\/$/i.test(text);

const pattern = z.string().trim().max(200).default('');

const Recipient = z
  .object({
    address: z
      .string()
      .default('aggregator')
      .refine(isPattern, 'Use name, name@domain or a pattern with * and ?, such as backup-*@nas.lan.')
      .meta({
        title: 'Address',
        description:
          'A name stands for that name at any domain. * is any run of characters, ? any one, [a-z] one of a set.',
      }),
    to: z
      .string()
      .default('notify://aggregator')
      .refine(areTargets, `Use ${targetFormats}`)
      .meta({ title: 'Goes to', description: targetFormats }),
    destinations: z
      .string()
      .default('')
      .refine(
        (text) => splitTargets(text).every(isDestination),
        'Use addresses such as discord://…, separated by spaces.',
      )
      .meta({
        title: 'And to these destinations',
        description:
          'Addresses as a notification key would have them, separated by spaces. They may hold passwords, so they are never shown again.',
        secret: true,
      }),
    title: z.string().max(1000).default('').meta({
      title: 'Title',
      description: 'A template with $subject, $from, $to, $config and $type. Empty: the subject and its sender.',
    }),
    body: z
      .string()
      .max(10_000)
      .default('')
      .meta({ title: 'Text', description: 'A template that may also name $body. Empty: the text of the mail.' }),
    format: z
      .enum(['as it comes', 'text', 'markdown', 'html'])
      .default('as it comes')
      .meta({ title: 'Text is read as', description: 'As it comes: HTML where the mail has it, else plain text.' }),
  })
  .refine(({ to, destinations }) => splitTargets(to + destinations).length > 0, {
    path: ['to'],
    message: 'Say where its mail goes.',
  });

export const recipients = z
  .array(Recipient)
  .default([
    { address: 'aggregator', to: 'notify://aggregator', destinations: '', title: '', body: '', format: 'as it comes' },
    { address: 'alerts', to: 'notify://aggregator', destinations: '', title: '', body: '', format: 'as it comes' },
  ])
  .meta({
    live: true,
    title: 'Recipients',
    description:
      'Mail to any other address is refused. The first entry that fits counts; .warning, .failure … behind the name sets the type.',
  });

const Rule = z.object({
  from: pattern.meta({
    title: 'Sender',
    description: 'Words in the sender, or a pattern with * and ? for all of it. Empty: any.',
  }),
  subject: pattern.meta({ title: 'Subject', description: 'Words in the subject, or a pattern. Empty: any.' }),
  to: pattern.meta({ title: 'Recipient', description: 'Words in a recipient, or a pattern. Empty: any.' }),
  drop: z
    .boolean()
    .default(false)
    .meta({ title: 'Drop', description: 'Such mails are taken and kept in the list of mails, but nobody is told.' }),
  type: z
    .enum(['as it is', ...NotificationType.options])
    .default('as it is')
    .meta({ title: 'Type', description: 'What kind of notification it becomes.' }),
  priority: z
    .int()
    .min(0)
    .max(5)
    .default(0)
    .meta({ title: 'Priority', description: 'Of push messages and in the inbox, from 1 to 5. 0: by its type.' }),
  tag: z
    .string()
    .trim()
    .max(200)
    .regex(/^[\w\s:|,+&-]*$/, 'Use letters, digits, - and _, with commas or spaces between tags.')
    .default('')
    .meta({ title: 'Tag', description: 'For notification keys, in place of the recipient’s.' }),
  goesTo: z
    .string()
    .trim()
    .default('')
    .refine(areTargets, `Use ${targetFormats}`)
    .meta({ title: 'Goes to', description: `In place of where the recipient’s mail goes: ${targetFormats}` }),
});

export const rules = z.array(Rule).max(200).default([]).meta({
  live: true,
  title: 'Rules',
  description: 'By sender and subject; the first one that fits a mail is applied to it.',
});
