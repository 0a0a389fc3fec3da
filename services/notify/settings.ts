import { z } from 'zod';

export const Settings = z.object({
  requireSignIn: z.boolean().default(false).meta({
    live: true,
    title: 'Require sign-in',
    description:
      'Only accounts with a grant may send; only administrators may change keys. Wrong credentials are refused either way.',
  }),
  trustLocalPrograms: z
    .boolean()
    .default(true)
    .meta({
      live: true,
      title: 'Trust programs on this computer',
      description:
        'Programs on this computer can use this service without signing in, as they can with the program it ' +
        'replaces. When off, they sign in like all others.',
    }),
  answerMs: z
    .int()
    .min(0)
    .max(30_000)
    .default(2000)
    .meta({
      live: true,
      unit: 'ms',
      title: 'Wait for delivery',
      description:
        'How long a caller waits for the first attempt at each destination before it is told "queued". Behind ' +
        'others to the same destination it does not wait.',
    }),
  configurationLock: z.boolean().default(false).meta({
    live: true,
    title: 'Lock keys',
    description: 'Refuses reading and changing keys over the API; sending goes on.',
  }),
  closeKeys: z
    .boolean()
    .default(false)
    .meta({
      live: true,
      title: 'Close keys to programs',
      description:
        'Off: any program of this machine can read all keys with their passwords, and change them, as programs ' +
        'made for Apprise API expect. On: only administrators can, also over the API; sending goes on. A key can ' +
        'be closed by itself, too.',
    }),
  recursionLimit: z.int().min(0).max(100).default(1).meta({
    live: true,
    title: 'Forwarding limit',
    description: 'How often a notification may have been passed on by other servers before it is refused as a loop.',
  }),
  statelessUrls: z.string().max(16_384).default('').meta({
    live: true,
    title: 'Destinations without a key',
    description: 'Addresses, separated by commas, where POST /notify goes when it names neither a key nor urls.',
    secret: true,
  }),
  resultsUrl: z.string().max(2048).default('').meta({
    live: true,
    title: 'Report results to',
    description: 'A web address that gets the outcome of each call as JSON (source, status, output). Empty: nobody.',
    secret: true,
  }),
  maxAttachments: z.int().min(0).max(100).default(6).meta({
    live: true,
    title: 'Files per notification',
    description: 'A notification with more files is refused. 0: any number.',
  }),
  attachmentBytes: z
    .int()
    .min(1)
    .default(200 * 1024 * 1024)
    .meta({
      live: true,
      unit: 'bytes',
      smallUnit: 1024 * 1024,
      title: 'Largest file',
      description:
        'A call with a larger file is refused. In the file and the environment a number below 10,000 counts as MiB.',
    }),
  keptFilesBytes: z
    .int()
    .min(0)
    .default(100 * 1024 * 1024)
    .meta({
      live: true,
      unit: 'bytes',
      title: 'Files kept for the history',
      description:
        'Files of delivered notifications stay as long as their notification and until newer ones need the room, ' +
        'so that it can be sent again with them. 0: they go with the last delivery.',
    }),
  attachmentHosts: z.array(z.string().max(255)).max(100).default([]).meta({
    live: true,
    title: 'Own hosts to fetch files from',
    description:
      'Files named by their web address are fetched from public hosts only, and from these: cameras and such in your network.',
  }),
  attachmentAllow: z
    .array(z.string().max(2048))
    .max(200)
    .default(['*'])
    .meta({
      live: true,
      emptyIsSet: true,
      title: 'Fetch files from',
      description:
        'Hosts or addresses with * and ?, such as cam.example.org or https://*.example.org/pics/*. A private host ' +
        'that is named here without a wildcard may be fetched from. Empty: no file is fetched.',
    }),
  attachmentDeny: z.array(z.string().max(2048)).max(200).default([]).meta({
    live: true,
    title: 'Never fetch files from',
    description: 'The same kind of list; it wins over the other one. Private addresses are refused anyway.',
  }),
  allowServices: z.array(z.string().max(255)).max(500).default([]).meta({
    live: true,
    title: 'Only these kinds of destinations',
    description: 'Schemes such as discord or mailto; one of a kind stands for all of it. Empty: all.',
  }),
  denyServices: z.array(z.string().max(255)).max(500).default([]).meta({
    live: true,
    title: 'Not these kinds of destinations',
    description: 'Schemes that are not used, where no list says which alone are.',
  }),
  redirects: z.boolean().default(true).meta({
    live: true,
    title: 'Follow redirects',
    description: 'Off: a destination that sends elsewhere is a failure, whatever its address says.',
  }),
  mappingDepth: z.int().min(1).max(50).default(5).meta({
    live: true,
    title: 'Depth of field mappings',
    description: 'Names and indexes a path such as :event.title=title may have.',
  }),
  configurationBytes: z
    .int()
    .min(1)
    .max(16 * 1024 * 1024)
    .default(512 * 1024)
    .meta({
      live: true,
      unit: 'bytes',
      smallUnit: 1024,
      title: 'Largest configuration',
      description:
        'A longer one is refused. In the file and the environment a number below 10,000 counts as KiB, as Apprise API has it.',
    }),
  statefulMode: z
    .enum(['hash', 'simple', 'disabled'])
    .default('hash')
    .meta({
      live: true,
      title: 'Keys over the API',
      description:
        'Without them programs can neither use, read nor change keys and name their destinations themselves; the ' +
        'app goes on using its keys.',
      choices: { hash: 'Yes', simple: 'Yes (“simple” of Apprise API, the same here)', disabled: 'No' },
    }),
  listKeys: z.boolean().default(false).meta({
    live: true,
    title: 'List keys over the API',
    description: 'GET /cfg answers the names of all keys; with sign-in to administrators alone.',
  }),
  emojis: z
    .enum(['asked', 'yes', 'no'])
    .default('asked')
    .meta({
      live: true,
      title: 'Emojis by name',
      description: 'Whether :rocket: becomes a picture. The address of a destination asks for it with emojis=yes.',
      choices: {
        asked: 'At destinations that ask for it',
        yes: 'At all but those with emojis=no',
        no: 'Nowhere',
      },
    }),
  apiOnly: z.boolean().default(false).meta({
    live: true,
    title: 'API only',
    description: 'Answers browsers at the root of the port with 421 instead of leading them to the app.',
  }),
  maxWaiting: z.int().min(1).default(100_000).meta({
    live: true,
    title: 'Largest outbox',
    description: 'Deliveries that may wait at once; beyond it new notifications are refused with 503.',
  }),
  historyDays: z.int().min(1).max(3650).default(30).meta({
    live: true,
    unit: 'days',
    title: 'Keep history for',
    description: 'Notifications whose deliveries are finished are forgotten after this time. The inbox keeps its own.',
  }),
});
export type Settings = z.infer<typeof Settings>;

/** Returns the maximum size of a file in bytes. */
export function getMaxFileBytes({ attachmentBytes }: Pick<Settings, 'attachmentBytes'>): number {
  return attachmentBytes < 10_000 ? attachmentBytes * 1024 * 1024 : attachmentBytes;
}

/** Returns the maximum size of a configuration in bytes. */
export function getMaxConfigurationBytes({ configurationBytes }: Pick<Settings, 'configurationBytes'>): number {
  return configurationBytes < 10_000 ? configurationBytes * 1024 : configurationBytes;
}
