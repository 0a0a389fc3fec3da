import { z } from 'zod';

export const Settings = z.object({
  requireSignIn: z.boolean().default(false).meta({
    title: 'Require sign-in',
    description:
      'Only accounts with a grant may send; only administrators may change keys. Wrong credentials are refused either way.',
  }),
  answerMs: z.int().min(0).max(30_000).default(2000).meta({
    title: 'Wait for delivery (ms)',
    description: 'How long a caller waits for the first attempt at each destination before it is told "queued".',
  }),
  configurationLock: z.boolean().default(false).meta({
    title: 'Lock keys',
    description: 'Refuses reading and changing keys over the API; sending goes on.',
  }),
  recursionLimit: z.int().min(0).max(100).default(1).meta({
    title: 'Forwarding limit',
    description:
      'How often a notification may have been passed on by other aggregators before it is refused as a loop.',
  }),
  statelessUrls: z.string().max(16_384).default('').meta({
    title: 'Destinations without a key',
    description: 'Addresses, separated by commas, where POST /notify goes when it names neither a key nor urls.',
    secret: true,
  }),
  resultsUrl: z.string().max(2048).default('').meta({
    title: 'Report results to',
    description: 'A web address that gets the outcome of each call as JSON (source, status, output). Empty: nobody.',
    secret: true,
  }),
  maxAttachments: z.int().min(0).max(100).default(6).meta({
    title: 'Files a notification',
    description: 'A call with more files is refused. 0: any number.',
  }),
  attachmentBytes: z
    .int()
    .min(1)
    .default(200 * 1024 * 1024)
    .meta({ title: 'Largest file (bytes)', description: 'A call with a larger file is refused.' }),
  attachmentHosts: z.array(z.string().max(255)).max(100).default([]).meta({
    title: 'Own hosts to fetch files from',
    description:
      'Files named by their web address are fetched from public hosts only, and from these: cameras and such in your network.',
  }),
  emojis: z.enum(['asked', 'yes', 'no']).default('asked').meta({
    title: 'Emojis by name',
    description:
      'Whether :rocket: becomes a picture. asked: where the address of a destination says emojis=yes; yes: unless it says no; no: nowhere.',
  }),
  apiOnly: z.boolean().default(false).meta({
    title: 'API only',
    description: 'Answers browsers at the root of the port with 421 instead of leading them to the app.',
  }),
  maxWaiting: z.int().min(1).default(100_000).meta({
    title: 'Largest outbox',
    description: 'Deliveries that may wait at once; beyond it new notifications are refused with 503.',
  }),
  historyDays: z.int().min(1).max(3650).default(30).meta({
    title: 'Keep history (days)',
    description: 'Notices whose deliveries are finished are forgotten after this time. The inbox keeps its own.',
  }),
});
export type Settings = z.infer<typeof Settings>;
