import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { defineTopic } from '../bus.ts';
import { fileReply } from '../api.ts';
import { DownloadKind, DownloadOptions } from './api.ts';
import { FailureCode, FailureParameters } from './causes.ts';
import { mayRead, mayWrite } from '../route-access.ts';

/** Channel, playlist or feed that is checked regularly; the peer's record is defined in the service's `wire`. */
export const Subscription = z
  .object({
    id: z.string(),
    url: z.string(),
    name: z.string(),
    /** False while paused. */
    enabled: z.boolean(),
    intervalMinutes: z.int(),
    /** Regular expression that titles must match; empty for all. */
    titleRegex: z.string(),
    /** Skips videos for paying members. */
    skipMembersOnly: z.boolean(),
    /** Folder below the download folder; empty for the download folder. */
    folder: z.string(),
    /** Requested kind of file for each video. */
    kind: DownloadKind,
    quality: z.string(),
    format: z.string(),
    /** A picture exists at `/picture`. */
    picture: z.boolean(),
    /** Number of processed videos, which are not downloaded again. */
    seen: z.int(),
    /** A check is running. */
    checking: z.boolean(),
    lastChecked: z.number().nullable().describe('ms since the epoch'),
    nextCheck: z.number().nullable().describe('ms since the epoch; null while the subscription is paused.'),
    /** Time of the last new video, ms since the epoch. */
    lastFound: z.number().nullable(),
    /** Total number of videos that were added to the queue. */
    found: z.int(),
    /** Reason for the failure of the last check, for display. */
    error: z.string().nullable(),
    /** Known cause of the failure. */
    failure: FailureCode.optional(),
    failureParameters: FailureParameters.optional(),
    /** Number of consecutive failed checks. */
    failures: z.int(),
  })
  .meta({ id: 'Subscription' });
export type Subscription = z.infer<typeof Subscription>;

/** Published when a subscription was added or changed. */
export const subscriptionChanged = defineTopic('downloads.subscription-changed', Subscription, { shared: true });

/** Published when a subscription was removed. */
export const subscriptionRemoved = defineTopic('downloads.subscription-removed', z.object({ id: z.string() }), {
  shared: true,
});

const address = z.string().min(1).max(4096);
const titleRegex = z.string().max(500);
const interval = z
  .int()
  .min(1)
  .max(60 * 24 * 31);
const Ids = z.object({ ids: z.array(z.string()).min(1).max(1000) });

/** Videos that a filter would accept. */
export const SubscriptionPreview = z.object({
  name: z.string(),
  entries: z.array(z.object({ title: z.string(), wanted: z.boolean() })).describe('Up to the first 200 entries.'),
  total: z.int(),
  wanted: z.int(),
});
export type SubscriptionPreview = z.infer<typeof SubscriptionPreview>;

/** Routes for subscriptions to channels and playlists. */
export const subscriptionsApi = {
  list: defineRoute({
    method: 'GET',
    path: '/api/downloads/subscriptions',
    summary: 'Lists the subscribed channels, playlists and feeds.',
    access: mayRead('downloads'),
    reply: z.object({ subscriptions: z.array(Subscription) }),
  }),
  add: defineRoute({
    method: 'POST',
    path: '/api/downloads/subscriptions',
    summary: 'Adds a subscription. Existing entries count as seen; only later entries are downloaded.',
    access: mayWrite('downloads'),
    body: DownloadOptions.extend({
      url: address,
      intervalMinutes: interval.optional(),
      titleRegex: titleRegex.optional(),
      skipMembersOnly: z.boolean().optional(),
    }),
    reply: Subscription,
  }),
  update: defineRoute({
    method: 'POST',
    path: '/api/downloads/subscriptions/update',
    summary:
      'Changes the fields in the request; `enabled: false` pauses the subscription. If the address changes, ' +
      'known videos stay known; if the new address lists none of them, its existing entries count as seen.',
    access: mayWrite('downloads'),
    body: z.object({
      id: z.string(),
      url: address.optional(),
      name: z.string().min(1).max(200).optional(),
      enabled: z.boolean().optional(),
      intervalMinutes: interval.optional(),
      titleRegex: titleRegex.optional(),
      skipMembersOnly: z.boolean().optional(),
      folder: z.string().max(500).optional(),
    }),
    reply: Subscription,
  }),
  check: defineRoute({
    method: 'POST',
    path: '/api/downloads/subscriptions/check',
    summary: 'Checks for new videos now. The response is sent after the check.',
    access: mayWrite('downloads'),
    body: z.object({
      ids: z
        .array(z.string())
        .max(1000)
        .optional()
        .describe('If missing, all subscriptions that are not paused are checked.'),
    }),
    reply: z.object({ queued: z.int() }),
  }),
  remove: defineRoute({
    method: 'POST',
    path: '/api/downloads/subscriptions/remove',
    summary: 'Removes subscriptions. Downloaded files are kept, and the removal can be undone for ten minutes.',
    access: mayWrite('downloads'),
    body: Ids,
    reply: z.object({ removed: z.array(z.string()) }),
  }),
  restore: defineRoute({
    method: 'POST',
    path: '/api/downloads/subscriptions/restore',
    summary: 'Undoes a removal, including the list of seen entries.',
    access: mayWrite('downloads'),
    body: Ids,
    reply: z.object({ restored: z.array(z.string()) }),
  }),
  picture: defineRoute({
    method: 'GET',
    path: '/api/downloads/subscriptions/:id/picture',
    summary: 'Returns a small image of the channel or, if it has none, of one of its videos.',
    access: mayRead('downloads'),
    reply: fileReply,
  }),
  preview: defineRoute({
    method: 'POST',
    path: '/api/downloads/subscriptions/preview',
    summary: 'Returns the current entries at an address, and which of them match a filter.',
    access: mayWrite('downloads'),
    body: z.object({ url: address, titleRegex: titleRegex.default('') }),
    reply: SubscriptionPreview,
  }),
};
