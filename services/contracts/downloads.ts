import { z } from 'zod';
import { defineRoute, fileReply } from './api.ts';
import { defineTopic } from './bus.ts';

export const DownloadState = z.enum([
  'pending',
  'waiting',
  'preparing',
  'downloading',
  'postprocessing',
  'paused',
  'finished',
  'failed',
]);
export type DownloadState = z.infer<typeof DownloadState>;

/** A download as our own page sees it; the peer's record has its own shape in the service's `wire`. */
export const Download = z
  .object({
    uid: z.string(),
    url: z.string(),
    title: z.string(),
    state: DownloadState,
    quality: z.string(),
    format: z.string(),
    /** 0 to 100 of the stream that is being fetched, null while unknown. */
    percent: z.number().nullable(),
    /** Which of two streams is being fetched, where there are two: first the video, then the audio. */
    stream: z.enum(['video', 'audio']).nullable(),
    /** Bytes a second, null while unknown. */
    speed: z.number().nullable(),
    /** Seconds left, null while unknown. */
    eta: z.number().nullable(),
    /** Bytes of the finished file. */
    size: z.number().nullable(),
    /** Path below the download folder, once finished. */
    filename: z.string().nullable(),
    /** Why it failed, or what is going on, for a person. */
    message: z.string().nullable(),
    /** There is a picture of it at its route. */
    thumbnail: z.boolean(),
    createdAt: z.number().describe('ms since the epoch'),
    finishedAt: z.number().nullable(),
  })
  .meta({ id: 'Download' });
export type Download = z.infer<typeof Download>;

/** Added, or any field changed; at most four a second for one download. */
export const downloadChanged = defineTopic('downloads.changed', Download);
export const downloadRemoved = defineTopic('downloads.removed', z.object({ uid: z.string() }));
/** Rows of the queue went, in this order, to stand before another one; null: to the end. */
export const downloadsMoved = defineTopic(
  'downloads.moved',
  z.object({ uids: z.array(z.string()), before: z.string().nullable() }),
);
/** The whole queue was paused or goes on. */
export const downloadsPaused = defineTopic('downloads.paused', z.object({ paused: z.boolean() }));

const Chosen = z.object({
  uids: z.array(z.string()).min(1).max(10_000).optional().describe('Left out: the whole queue.'),
});
const Steered = z.object({
  uids: z.array(z.string()).describe('What was changed; what was so already is not among them.'),
  unknown: z.array(z.string()).describe('Ids of no download; they were passed over.'),
  over: z.array(z.string()).describe('What had finished or failed before.'),
  paused: z.boolean().describe('Whether the whole queue is paused.'),
});
export type Steered = z.infer<typeof Steered>;

export const downloadsApi = {
  list: defineRoute({
    method: 'GET',
    path: '/api/downloads',
    summary: 'The queue in its order, then the history, newest first.',
    access: 'user',
    query: z.object({
      limit: z.coerce.number().int().min(1).max(1000).default(200),
      offset: z.coerce.number().int().min(0).default(0),
      q: z.string().optional(),
    }),
    reply: z.object({
      queue: z.array(Download),
      history: z.array(Download),
      total: z.int(),
      paused: z.boolean().describe('The whole queue is paused.'),
    }),
  }),
  add: defineRoute({
    method: 'POST',
    path: '/api/downloads',
    summary: 'Queues the video behind an address.',
    access: 'user',
    body: z.object({ url: z.string().min(1).max(4096), quality: z.string().optional(), format: z.string().optional() }),
    reply: z.object({ uids: z.array(z.string()), message: z.string().optional() }),
  }),
  remove: defineRoute({
    method: 'POST',
    path: '/api/downloads/remove',
    summary: 'Cancels queued downloads and forgets finished ones; their files stay.',
    access: 'user',
    body: z.object({ uids: z.array(z.string()).min(1).max(1000) }),
    reply: z.object({ removed: z.int() }),
  }),
  retry: defineRoute({
    method: 'POST',
    path: '/api/downloads/retry',
    summary: 'Puts a failed download back into the queue; what was fetched is kept.',
    access: 'user',
    body: z.object({ uid: z.string() }),
    reply: z.object({ uid: z.string() }),
  }),
  thumbnail: defineRoute({
    method: 'GET',
    path: '/api/downloads/:uid/thumbnail',
    summary: 'The small picture that the site has for it, fetched once and kept.',
    access: 'user',
    reply: fileReply,
  }),
  file: defineRoute({
    method: 'GET',
    path: '/api/downloads/:uid/file',
    summary: 'The finished file, to be played or saved.',
    access: 'user',
    query: z.object({ save: z.enum(['yes']).optional() }),
    reply: fileReply,
  }),
  pause: defineRoute({
    method: 'POST',
    path: '/api/downloads/pause',
    summary: 'Pauses downloads, or the whole queue. Places and parts are kept, also over a restart.',
    access: 'user',
    body: Chosen,
    reply: Steered,
  }),
  resume: defineRoute({
    method: 'POST',
    path: '/api/downloads/resume',
    summary: 'Lets paused downloads go on at their places, or all of them and the queue itself.',
    access: 'user',
    body: Chosen,
    reply: Steered,
  }),
  reorder: defineRoute({
    method: 'POST',
    path: '/api/downloads/reorder',
    summary: 'Moves queued downloads, in the order they are named, to a place in the queue.',
    access: 'user',
    body: z.object({
      uids: z.array(z.string()).min(1).max(10_000),
      before: z.string().optional(),
      after: z.string().optional(),
      position: z
        .union([z.int().min(0), z.enum(['top', 'bottom'])])
        .optional()
        .describe('Counted from 0 among the others. Without any place: the top.'),
    }),
    reply: z.object({ uids: z.array(z.string()), unknown: z.array(z.string()) }),
  }),
};
