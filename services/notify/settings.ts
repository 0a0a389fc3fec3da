import { z } from 'zod';

export const Settings = z.object({
  requireSignIn: z
    .boolean()
    .default(false)
    .meta({
      live: true,
      title: 'Require sign-in',
      description:
        'Only accounts with a grant can send notifications, and only administrators can change keys. Wrong ' +
        'credentials are always refused.',
    }),
  trustLocalPrograms: z
    .boolean()
    .default(true)
    .meta({
      live: true,
      title: 'Trust programs on this computer',
      description:
        'Programs on this computer can use this service without signing in, as with Apprise API. When off, ' +
        'they must sign in.',
    }),
  answerMs: z
    .int()
    .min(0)
    .max(30_000)
    .default(2000)
    .meta({
      live: true,
      unit: 'ms',
      title: 'Delivery wait time',
      description:
        'How long a request waits for the first delivery attempts before it returns "queued". It does not ' +
        'wait for earlier deliveries to the same destination.',
    }),
  configurationLock: z.boolean().default(false).meta({
    live: true,
    title: 'Lock keys',
    description: 'Rejects requests that read or change keys over the API. Sending is not affected.',
  }),
  closeKeys: z
    .boolean()
    .default(false)
    .meta({
      live: true,
      title: 'Restrict keys to administrators',
      description:
        'Only administrators can read and change keys, also over the API. When off, any program on this ' +
        'computer can read all keys with their passwords and change them, as with Apprise API. You can ' +
        'also restrict a single key. Sending is not affected.',
    }),
  recursionLimit: z.int().min(0).max(100).default(1).meta({
    live: true,
    title: 'Forwarding limit',
    description: 'How many times a notification can be forwarded between servers before it is refused as a loop.',
  }),
  statelessUrls: z.string().max(16_384).default('').meta({
    live: true,
    title: 'Default destinations',
    description: 'Destination URLs for POST /notify requests that contain neither a key nor urls, separated by commas.',
    secret: true,
  }),
  resultsUrl: z.string().max(2048).default('').meta({
    live: true,
    title: 'Result webhook',
    description:
      'URL that receives the result of each request as JSON (source, status, output). Leave empty to disable.',
    secret: true,
  }),
  maxAttachments: z.int().min(0).max(100).default(6).meta({
    live: true,
    title: 'Files per notification',
    description: 'Notifications with more files are refused. Set to 0 for no limit.',
  }),
  attachmentBytes: z
    .int()
    .min(1)
    .default(200 * 1024 * 1024)
    .meta({
      live: true,
      unit: 'bytes',
      smallUnit: 1024 * 1024,
      title: 'Maximum file size',
      description:
        'Requests with a larger file are refused. In the configuration file and the environment, a number ' +
        'below 10,000 is a size in MiB.',
    }),
  keptFilesBytes: z
    .int()
    .min(0)
    .default(100 * 1024 * 1024)
    .meta({
      live: true,
      unit: 'bytes',
      title: 'History file storage',
      description:
        'Storage for files of delivered notifications, so that they can be sent again. The oldest files ' +
        'are deleted first. Set to 0 to delete files after the last delivery.',
    }),
  attachmentHosts: z
    .array(z.string().max(255))
    .max(100)
    .default([])
    .meta({
      live: true,
      title: 'Private hosts to fetch files from',
      description:
        'Files given as a URL are fetched from public hosts and from these private hosts, such as cameras ' +
        'in your network.',
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
        'Allowed hosts or URLs, with * and ? as wildcards, such as cam.example.org or ' +
        'https://*.example.org/pics/*. A private host is allowed if it is listed without a wildcard. Leave ' +
        'empty to fetch no files.',
    }),
  attachmentDeny: z
    .array(z.string().max(2048))
    .max(200)
    .default([])
    .meta({
      live: true,
      title: 'Never fetch files from',
      description:
        'Denied hosts or URLs, with * and ? as wildcards. They take precedence over the allowed ones. ' +
        'Other private addresses are always refused.',
    }),
  allowServices: z
    .array(z.string().max(255))
    .max(500)
    .default([])
    .meta({
      live: true,
      title: 'Allowed destination types',
      description:
        'URL schemes such as discord or mailto. One scheme of a type allows all of its schemes. Leave ' +
        'empty to allow all types.',
    }),
  denyServices: z.array(z.string().max(255)).max(500).default([]).meta({
    live: true,
    title: 'Denied destination types',
    description: 'URL schemes that are refused. Ignored when allowed types are set.',
  }),
  redirects: z.boolean().default(true).meta({
    live: true,
    title: 'Follow redirects',
    description: 'When off, a redirect from a destination is a failure, even if its URL allows redirects.',
  }),
  mappingDepth: z.int().min(1).max(50).default(5).meta({
    live: true,
    title: 'Field mapping depth',
    description: 'Maximum number of names and indexes in a path such as :event.title=title.',
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
      title: 'Maximum configuration size',
      description:
        'Larger configurations are refused. In the configuration file and the environment, a number below ' +
        '10,000 is a size in KiB, as in Apprise API.',
    }),
  statefulMode: z
    .enum(['hash', 'simple', 'disabled'])
    .default('hash')
    .meta({
      live: true,
      title: 'Keys over the API',
      description:
        'When off, programs cannot use, read or change keys and must specify destinations in each request. ' +
        'Keys still work in the app.',
      choices: { hash: 'Yes', simple: 'Yes (same as “simple” in Apprise API)', disabled: 'No' },
    }),
  listKeys: z.boolean().default(false).meta({
    live: true,
    title: 'List keys over the API',
    description: 'GET /cfg returns the names of all keys. With required sign-in, only administrators can use it.',
  }),
  emojis: z
    .enum(['asked', 'yes', 'no'])
    .default('asked')
    .meta({
      live: true,
      title: 'Emoji names',
      description: 'Replaces names such as :rocket: with emojis. A destination URL can enable it with emojis=yes.',
      choices: {
        asked: 'Only for destinations with emojis=yes',
        yes: 'For all destinations except those with emojis=no',
        no: 'Never',
      },
    }),
  apiOnly: z.boolean().default(false).meta({
    live: true,
    title: 'API only',
    description: 'Returns status 421 to browsers at the root path instead of redirecting them to the app.',
  }),
  maxWaiting: z.int().min(1).default(100_000).meta({
    live: true,
    title: 'Maximum queue length',
    description: 'Maximum number of waiting deliveries. Further notifications are refused with status 503.',
  }),
  historyDays: z.int().min(1).max(3650).default(30).meta({
    live: true,
    unit: 'days',
    title: 'Keep history for',
    description:
      'Notifications are deleted this long after their deliveries finished. Inbox messages are kept separately.',
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
