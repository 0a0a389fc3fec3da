import { z } from 'zod';
import { NotificationType } from '../../contracts/notify/notification.ts';
import { isPattern } from '../domain/recipients.ts';
import { parseTarget, splitTargets } from '../domain/target.ts';

const targetFormats =
  'notify://KEY, notify://KEY?tag=TAG, push://TOPIC, inbox:// or http://HOST/notify/KEY?tag=TAG. ' +
  'Separate several with spaces.';

const areTargets = (text: string): boolean =>
  splitTargets(text).every((target) => !target.includes('#') && parseTarget(target) !== undefined);

/** Returns true for text in the form of a destination URL; notify decides which schemes are supported. */
export const isDestination = (text: string): boolean => /^[a-z][a-z0-9+.-]{1,31}:\/\/[^\s]{1,4000}$/i.test(text);

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
          'A name without a domain matches every domain. * matches any characters, ? any single character, ' +
          '[a-z] one of a set.',
      }),
    to: z
      .string()
      .default('notify://aggregator')
      .refine(areTargets, `Use ${targetFormats}`)
      .meta({ title: 'Destination', description: targetFormats }),
    destinations: z
      .string()
      .default('')
      .refine(
        (text) => splitTargets(text).every(isDestination),
        'Use addresses such as discord://…, separated by spaces.',
      )
      .meta({
        title: 'Additional destinations',
        description:
          'Destination URLs as in a notification key, separated by spaces. They can contain passwords, so ' +
          'they are not shown again.',
        secret: true,
      }),
    title: z.string().max(1000).default('').meta({
      title: 'Title',
      description:
        'Template with $subject, $from, $to, $config and $type. Leave empty to use the subject and the sender.',
    }),
    body: z.string().max(10_000).default('').meta({
      title: 'Text',
      description: 'Template with the variables above and $body. Leave empty to use the text of the email.',
    }),
    format: z.enum(['as it comes', 'text', 'markdown', 'html']).default('as it comes').meta({
      title: 'Text format',
      description: '"As it comes" uses HTML if the email contains it, otherwise plain text.',
    }),
  })
  .refine(({ to, destinations }) => splitTargets(to + destinations).length > 0, {
    path: ['to'],
    message: 'Enter a destination.',
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
      'Mail to other addresses is refused. The first match applies. A suffix such as .warning or ' +
      '.failure sets the type.',
  });

const Rule = z.object({
  from: pattern.meta({
    title: 'Sender',
    description:
      'Words in the sender, or a pattern with * and ? that matches the complete sender. Leave empty to ' +
      'match any sender.',
  }),
  subject: pattern.meta({
    title: 'Subject',
    description: 'Words in the subject, or a pattern. Leave empty to match any subject.',
  }),
  to: pattern.meta({
    title: 'Recipient',
    description: 'Words in a recipient, or a pattern. Leave empty to match any recipient.',
  }),
  drop: z
    .boolean()
    .default(false)
    .meta({ title: 'Drop', description: 'Matching emails are accepted and listed, but no notification is sent.' }),
  type: z
    .enum(['as it is', ...NotificationType.options])
    .default('as it is')
    .meta({ title: 'Type', description: 'Type of the notification.' }),
  priority: z.int().min(0).max(5).default(0).meta({
    title: 'Priority',
    description: 'Priority of push messages and inbox messages, from 1 to 5. Set to 0 to derive it from the type.',
  }),
  tag: z
    .string()
    .trim()
    .max(200)
    .regex(/^[\w\s:|,+&-]*$/, 'Use letters, digits, - and _, with commas or spaces between tags.')
    .default('')
    .meta({ title: 'Tag', description: 'Tag for notification keys, instead of the tag of the recipient.' }),
  goesTo: z
    .string()
    .trim()
    .default('')
    .refine(areTargets, `Use ${targetFormats}`)
    .meta({ title: 'Destination', description: `Destination instead of the one of the recipient: ${targetFormats}` }),
});

export const rules = z.array(Rule).max(200).default([]).meta({
  live: true,
  title: 'Rules',
  description: 'Rules by sender, subject and recipient. The first matching rule applies.',
});
