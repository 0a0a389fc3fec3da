import { DownloadActivity } from './activity.ts';
import { z } from 'zod';
import { defineRoute, fileReply } from '../api.ts';
import { defineTopic } from '../bus.ts';
import { mayRead, mayWrite } from '../route-access.ts';
import { DownloadLimits, CurrentLimits } from './limits.ts';
import { MediaDetails } from './media-details.ts';
import { DownloadPreview } from './preview.ts';
import { FailureCode, FailureParameters } from './causes.ts';

/** State of a download in the queue or the history. */
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

/** Kind of file that a download produces. */
export const DownloadKind = z.enum(['video', 'audio', 'captions', 'thumbnail']);
export type DownloadKind = z.infer<typeof DownloadKind>;

/** Download as the app's page shows it; the peer's record is defined in the service's `wire`. */
export const Download = z
  .object({
    uid: z.string(),
    url: z.string(),
    title: z.string(),
    state: DownloadState,
    /** Requested kind of file. */
    kind: DownloadKind.optional(),
    quality: z.string(),
    format: z.string(),
    /** Progress of the current stream, 0 to 100; null while unknown. */
    percent: z.number().nullable(),
    /** Current stream when there are two: first the video, then the audio. */
    stream: z.enum(['video', 'audio']).nullable(),
    /** Bytes per second; null while unknown. */
    speed: z.number().nullable(),
    /** Remaining seconds; null while unknown. */
    eta: z.number().nullable(),
    /** Size of the finished file in bytes. */
    size: z.number().nullable(),
    /** Channel, length, height and codecs, as far as they are known. */
    media: MediaDetails.optional(),
    /** Path below the download folder, once finished. */
    filename: z.string().nullable(),
    /** Reason for the failure, or the current activity, for display. */
    message: z.string().nullable(),
    /** Current activity of a running download, for a text in the language of the reader. */
    activity: DownloadActivity.optional(),
    /** Known cause of the failure. */
    failure: FailureCode.optional(),
    failureParameters: FailureParameters.optional(),
    /** A thumbnail exists at its route. */
    thumbnail: z.boolean(),
    /** Runs outside of the scheduled hours as well. */
    anyway: z.boolean().optional(),
    /** Live stream that is recorded: pausing ends the recording, which is preserved. */
    live: z.boolean().optional(),
    /** Start of a live stream that has not begun, ms since the epoch. */
    startsAt: z.number().optional(),
    createdAt: z.number().describe('ms since the epoch'),
    finishedAt: z.number().nullable(),
  })
  .meta({ id: 'Download' });
export type Download = z.infer<typeof Download>;

/** Published when a download is added or changed; at most four times a second per download. */
export const downloadChanged = defineTopic('downloads.changed', Download, { shared: true });

/** Published when a download was removed from the queue or the history. */
export const downloadRemoved = defineTopic('downloads.removed', z.object({ uid: z.string() }), { shared: true });
/** Published when queue entries moved, in this order, before another entry; null: to the end. */
export const downloadsMoved = defineTopic(
  'downloads.moved',
  z.object({ uids: z.array(z.string()), before: z.string().nullable() }),
  { shared: true },
);
/** Published when the whole queue is paused or resumed. */
export const downloadsPaused = defineTopic('downloads.paused', z.object({ paused: z.boolean() }), { shared: true });

/** Position in a video: seconds, `1:02:03` or `14m45s`. */
const VideoTime = z.union([z.number().min(0), z.string().max(40)]);

/**
 * Options of a new download. Fields and values are those of `POST /add` of MeTube on the service's own port, with the
 * same defaults. Without `download_type`, the older of its two schemas applies.
 */
export const DownloadOptions = z
  .object({
    download_type: DownloadKind,
    quality: z.string().describe('`best`, `worst`, a height such as `1080`, or the kbit/s of audio.'),
    format: z.string().describe('Container, audio format or subtitle format.'),
    codec: z.string().describe('Preferred video codec.'),
    folder: z.string().max(500).describe('Below the download folder.'),
    custom_name_prefix: z.string().max(500),
    playlist_item_limit: z.int().min(0).describe('Most entries of a playlist, 0: all.'),
    auto_start: z.boolean().describe('false: it waits for its start.'),
    split_by_chapters: z.boolean(),
    sponsorblock: z.boolean().describe('Cuts out what the SponsorBlock community has marked.'),
    subtitle_language: z.string().max(35),
    subtitle_mode: z.enum(['prefer_manual', 'manual_only', 'auto_only', 'prefer_auto']),
    ytdl_options_presets: z.array(z.string().max(200)).max(50),
    clip_start: VideoTime,
    clip_end: VideoTime,
  })
  .partial()
  .meta({ id: 'DownloadOptions' });
export type DownloadOptions = z.infer<typeof DownloadOptions>;

/** Subtitle text between two positions, in seconds. */
const Cue = z.object({ from: z.number(), to: z.number(), text: z.string() });
/** Subtitles in one language. */
const Captions = z.object({ language: z.string(), cues: z.array(Cue) });
export type Captions = z.infer<typeof Captions>;

const DownloadIds = z.object({
  uids: z.array(z.string()).min(1).max(10_000).optional().describe('Left out: the whole queue.'),
});
const QueueChange = z.object({
  uids: z.array(z.string()).describe('What was changed; what was so already is not among them.'),
  unknown: z.array(z.string()).describe('Ids of no download; they were passed over.'),
  over: z.array(z.string()).describe('What had finished or failed before.'),
  paused: z.boolean().describe('Whether the whole queue is paused.'),
});
export type QueueChange = z.infer<typeof QueueChange>;

/** Routes of the downloads page. */
export const downloadsApi = {
  list: defineRoute({
    method: 'GET',
    path: '/api/downloads',
    summary: 'The queue in its order, then the history, newest first.',
    access: mayRead('downloads'),
    query: z.object({
      limit: z.coerce.number().int().min(1).max(1000).default(200),
      offset: z.coerce.number().int().min(0).default(0),
      q: z.string().optional(),
      state: z.enum(['finished', 'failed']).optional().describe('Of the history, only these.'),
      kind: DownloadKind.optional().describe('Of the history, only these.'),
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
    access: mayWrite('downloads'),
    body: DownloadOptions.extend({ url: z.string().min(1).max(4096) }),
    reply: z.object({ uids: z.array(z.string()), message: z.string().optional() }),
  }),
  preview: defineRoute({
    method: 'POST',
    path: '/api/downloads/preview',
    summary: 'Asks the site what is behind an address, and queues nothing.',
    access: mayWrite('downloads'),
    body: z.object({ url: z.string().min(1).max(4096) }),
    reply: z.object({
      preview: DownloadPreview.nullable(),
      reason: z.string().describe('Why there is none, for a person; may be empty.'),
      failure: FailureCode.optional().describe('Known cause of the failure.'),
    }),
  }),
  choices: defineRoute({
    method: 'GET',
    path: '/api/downloads/choices',
    summary: 'What a download may name: folders that are there, and presets of options.',
    access: mayRead('downloads'),
    reply: z.object({
      folders: z.array(z.string()).describe('Below the download folder; without that itself.'),
      presets: z.array(z.string()),
    }),
  }),
  remove: defineRoute({
    method: 'POST',
    path: '/api/downloads/remove',
    summary: 'Cancels queued downloads and forgets finished ones; their files stay unless told otherwise.',
    access: mayWrite('downloads'),
    body: z.object({
      uids: z.array(z.string()).min(1).max(1000),
      files: z.boolean().optional().describe('Delete the finished files, too.'),
    }),
    reply: z.object({ removed: z.int() }),
  }),
  retry: defineRoute({
    method: 'POST',
    path: '/api/downloads/retry',
    summary: 'Puts a failed download back into the queue; what was fetched is kept.',
    access: mayWrite('downloads'),
    body: z.object({ uid: z.string() }),
    reply: z.object({ uid: z.string() }),
  }),
  retryAll: defineRoute({
    method: 'POST',
    path: '/api/downloads/retry-all',
    summary: 'Puts failed downloads back into the queue.',
    access: mayWrite('downloads'),
    body: z.object({ uids: z.array(z.string()).min(1).max(1000) }),
    reply: z.object({ retried: z.int() }),
  }),
  ended: defineRoute({
    method: 'GET',
    path: '/api/downloads/ended',
    summary: 'Identifiers and addresses of the history, newest first, for actions on all of it.',
    access: mayRead('downloads'),
    query: z.object({
      q: z.string().optional(),
      state: z.enum(['finished', 'failed']).optional().describe('Only downloads in this state.'),
      kind: DownloadKind.optional().describe('Only downloads of this kind.'),
    }),
    reply: z.object({ downloads: z.array(Download.pick({ uid: true, url: true })) }),
  }),
  archive: defineRoute({
    method: 'GET',
    path: '/api/downloads/archive',
    summary: 'The files of finished downloads as one ZIP archive.',
    access: mayRead('downloads'),
    query: z.object({ uids: z.string().describe('Identifiers, separated by commas; at most 300.') }),
    reply: fileReply,
  }),
  again: defineRoute({
    method: 'POST',
    path: '/api/downloads/again',
    summary: 'Downloads once more what has ended, as it was asked for; what is there stays.',
    access: mayWrite('downloads'),
    body: z.object({ uid: z.string() }),
    reply: z.object({ uids: z.array(z.string()), message: z.string().optional() }),
  }),
  one: defineRoute({
    method: 'GET',
    path: '/api/downloads/:uid/details',
    summary: 'One download, however far back in the history it is.',
    access: mayRead('downloads'),
    reply: Download,
  }),
  captions: defineRoute({
    method: 'GET',
    path: '/api/downloads/:uid/captions',
    summary: 'The subtitles that stand as files beside the finished one.',
    access: mayRead('downloads'),
    reply: z.object({ captions: z.array(Captions) }),
  }),
  start: defineRoute({
    method: 'POST',
    path: '/api/downloads/start',
    summary: 'Lets downloads go that wait for their start, or that wait for the hours at which downloads run.',
    access: mayWrite('downloads'),
    body: z.object({
      uids: z.array(z.string()).min(1).max(1000),
      anyway: z.boolean().optional().describe('Outside the hours for downloads, too.'),
    }),
    reply: z.object({ started: z.int() }),
  }),
  limits: defineRoute({
    method: 'GET',
    path: '/api/downloads/limits',
    summary: 'How fast downloads may be and when they run.',
    access: mayRead('downloads'),
    reply: CurrentLimits,
  }),
  setLimits: defineRoute({
    method: 'PUT',
    path: '/api/downloads/limits',
    summary: 'Limits the speed of all downloads and the hours at which they run, at once and for what runs already.',
    access: mayWrite('downloads'),
    body: DownloadLimits,
    reply: CurrentLimits,
  }),
  thumbnail: defineRoute({
    method: 'GET',
    path: '/api/downloads/:uid/thumbnail',
    summary: 'The small picture that the site has for it, fetched once and kept.',
    access: mayRead('downloads'),
    reply: fileReply,
  }),
  file: defineRoute({
    method: 'GET',
    path: '/api/downloads/:uid/file',
    summary: 'The finished file, to be played or saved.',
    access: mayRead('downloads'),
    query: z.object({ save: z.enum(['yes']).optional() }),
    reply: fileReply,
  }),
  pause: defineRoute({
    method: 'POST',
    path: '/api/downloads/pause',
    summary: 'Pauses downloads, or the whole queue. Places and parts are kept, also over a restart.',
    access: mayWrite('downloads'),
    body: DownloadIds,
    reply: QueueChange,
  }),
  resume: defineRoute({
    method: 'POST',
    path: '/api/downloads/resume',
    summary: 'Lets paused downloads go on at their places, or all of them and the queue itself.',
    access: mayWrite('downloads'),
    body: DownloadIds,
    reply: QueueChange,
  }),
  reorder: defineRoute({
    method: 'POST',
    path: '/api/downloads/reorder',
    summary: 'Moves queued downloads, in the order they are named, to a place in the queue.',
    access: mayWrite('downloads'),
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
