import { z } from 'zod';
import { isPattern } from './domain/recipients.ts';
import { parseTarget } from './domain/target.ts';

const Recipient = z.object({
  address: z
    .string()
    .default('aggregator')
    .refine(isPattern, 'Use name, name@domain or a pattern with * and ?, such as backup-*@nas.lan.')
    .meta({
      title: 'Address',
      description: 'A name stands for that name at any domain. * is any run of characters, ? any one.',
    }),
  to: z
    .string()
    .default('notify://aggregator')
    .refine(
      (text) =>
        splitTargets(text).length > 0 && splitTargets(text).every((target) => parseTarget(target) !== undefined),
      'Use notify://KEY, notify://KEY?tag=TAG, push://TOPIC or http://HOST/notify/KEY?tag=TAG, several separated by spaces.',
    )
    .meta({
      title: 'Goes to',
      description:
        'notify://KEY, notify://KEY?tag=TAG, push://TOPIC or http://HOST/notify/KEY?tag=TAG; several separated by spaces.',
    }),
});

export const Settings = z.object({
  recipients: z
    .array(Recipient)
    .default([
      { address: 'aggregator', to: 'notify://aggregator' },
      { address: 'alerts', to: 'notify://aggregator' },
    ])
    .meta({
      title: 'Recipients',
      description:
        'Mail to any other address is refused. The first entry that fits counts; .warning, .failure … behind the name sets the type.',
    }),
  hostName: z
    .string()
    .regex(/^[A-Za-z0-9.-]{1,253}$/, 'Use letters, digits, dots and hyphens only.')
    .default('localhost')
    .meta({ title: 'Host name', description: 'How the server introduces itself to mail programs.' }),
  maxMegabytes: z.int().min(1).max(256).default(32).meta({
    title: 'Largest mail (MiB)',
    description: 'Larger ones are refused with 552.',
  }),
  maxRecipients: z.int().min(1).max(1000).default(100).meta({
    title: 'Recipients per mail',
    description: 'Further ones are answered with 452, so that the sender tries them again by themselves.',
  }),
  maxClients: z.int().min(1).max(1000).default(50).meta({
    title: 'Connections',
    description: 'Mail programs that may be connected at once; further ones are asked to come again.',
  }),
  idleSeconds: z.int().min(5).max(600).default(60).meta({
    title: 'Idle time (s)',
    description: 'A connection on which nothing arrives for this time is closed.',
  }),
  spoolDays: z.int().min(2).max(3650).default(7).meta({
    title: 'Keep sources (days)',
    description: 'The source of each mail, attachments included, stays in the spool for this time.',
  }),
});
export type Settings = z.infer<typeof Settings>;

/** The destinations of one recipient's `to`. */
export function splitTargets(text: string): readonly string[] {
  return text.split(/\s+/).filter((part) => part !== '');
}
