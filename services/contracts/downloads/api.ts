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
    quality: z.string().describe('`best`, `worst`, a height such as `1080`, or the audio bit rate in kbit/s.'),
    format: z.string().describe('Container, audio format or subtitle format.'),
    codec: z.string().describe('Preferred video codec.'),
    folder: z.string().max(500).describe('Subfolder of the download folder.'),
    custom_name_prefix: z.string().max(500),
    playlist_item_limit: z.int().min(0).describe('Maximum number of entries from a playlist; 0 for no limit.'),
    auto_start: z.boolean().describe('If false, the download is added but not started.'),
    split_by_chapters: z.boolean(),
    sponsorblock: z.boolean().describe('Removes segments marked by the SponsorBlock community.'),
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
  uids: z
    .array(z.string())
    .min(1)
    .max(10_000)
    .optional()
    .describe('If missing, the request applies to the whole queue.'),
});
const QueueChange = z.object({
  uids: z
    .array(z.string())
    .describe('Downloads that were changed. Downloads that were already in the requested state are not listed.'),
  unknown: z.array(z.string()).describe('IDs that do not belong to any download; they were ignored.'),
  over: z.array(z.string()).describe('Downloads that had already finished or failed.'),
  paused: z.boolean().describe('Whether the whole queue is paused.'),
});
export type QueueChange = z.infer<typeof QueueChange>;

/** Routes of the downloads page. */
export const downloadsApi = {
  list: defineRoute({
    method: 'GET',
    path: '/api/downloads',
    summary: 'Lists the queue in order, followed by the history, newest first.',
    access: mayRead('downloads'),
    query: z.object({
      limit: z.coerce.number().int().min(1).max(1000).default(200),
      offset: z.coerce.number().int().min(0).default(0),
      q: z.string().optional(),
      state: z
        .enum(['finished', 'failed'])
        .optional()
        .describe('Returns only downloads in this state from the history.'),
      kind: DownloadKind.optional().describe('Returns only downloads of this kind from the history.'),
    }),
    reply: z.object({
      queue: z.array(Download),
      history: z.array(Download),
      total: z.int(),
      paused: z.boolean().describe('True if the whole queue is paused.'),
    }),
  }),
  add: defineRoute({
    method: 'POST',
    path: '/api/downloads',
    summary: 'Adds the video at an address to the queue.',
    access: mayWrite('downloads'),
    body: DownloadOptions.extend({ url: z.string().min(1).max(4096) }),
    reply: z.object({ uids: z.array(z.string()), message: z.string().optional() }),
  }),
  preview: defineRoute({
    method: 'POST',
    path: '/api/downloads/preview',
    summary: 'Requests information about an address from its site, without adding a download.',
    access: mayWrite('downloads'),
    body: z.object({ url: z.string().min(1).max(4096) }),
    reply: z.object({
      preview: DownloadPreview.nullable(),
      reason: z.string().describe('Reason why no preview is available, as a sentence; may be empty.'),
      failure: FailureCode.optional().describe('Known cause of the failure.'),
    }),
  }),
  choices: defineRoute({
    method: 'GET',
    path: '/api/downloads/choices',
    summary: 'Lists the existing folders and the option presets that a download can use.',
    access: mayRead('downloads'),
    reply: z.object({
      folders: z.array(z.string()).describe('Paths relative to the download folder, which is not listed itself.'),
      presets: z.array(z.string()),
    }),
  }),
  remove: defineRoute({
    method: 'POST',
    path: '/api/downloads/remove',
    summary:
      'Cancels queued downloads and removes finished ones from the history. Their files are kept unless `files` ' +
      'is set.',
    access: mayWrite('downloads'),
    body: z.object({
      uids: z.array(z.string()).min(1).max(1000),
      files: z.boolean().optional().describe('Also deletes the finished files.'),
    }),
    reply: z.object({ removed: z.int() }),
  }),
  retry: defineRoute({
    method: 'POST',
    path: '/api/downloads/retry',
    summary: 'Adds a failed download to the queue again. Partial files are kept.',
    access: mayWrite('downloads'),
    body: z.object({ uid: z.string() }),
    reply: z.object({ uid: z.string() }),
  }),
  retryAll: defineRoute({
    method: 'POST',
    path: '/api/downloads/retry-all',
    summary: 'Adds failed downloads to the queue again.',
    access: mayWrite('downloads'),
    body: z.object({ uids: z.array(z.string()).min(1).max(1000) }),
    reply: z.object({ retried: z.int() }),
  }),
  ended: defineRoute({
    method: 'GET',
    path: '/api/downloads/ended',
    summary: 'Lists the IDs and addresses of the history, newest first, for actions on the whole history.',
    access: mayRead('downloads'),
    query: z.object({
      q: z.string().optional(),
      state: z.enum(['finished', 'failed']).optional().describe('Returns only downloads in this state.'),
      kind: DownloadKind.optional().describe('Returns only downloads of this kind.'),
    }),
    reply: z.object({ downloads: z.array(Download.pick({ uid: true, url: true })) }),
  }),
  archive: defineRoute({
    method: 'GET',
    path: '/api/downloads/archive',
    summary: 'Returns the files of finished downloads as a ZIP archive.',
    access: mayRead('downloads'),
    query: z.object({ uids: z.string().describe('Up to 300 IDs, separated by commas.') }),
    reply: fileReply,
  }),
  again: defineRoute({
    method: 'POST',
    path: '/api/downloads/again',
    summary: 'Downloads a finished or failed entry again with the same options. Existing files are kept.',
    access: mayWrite('downloads'),
    body: z.object({ uid: z.string() }),
    reply: z.object({ uids: z.array(z.string()), message: z.string().optional() }),
  }),
  one: defineRoute({
    method: 'GET',
    path: '/api/downloads/:uid/details',
    summary: 'Returns a download, regardless of its age.',
    access: mayRead('downloads'),
    reply: Download,
  }),
  captions: defineRoute({
    method: 'GET',
    path: '/api/downloads/:uid/captions',
    summary: 'Returns the subtitle files saved next to a finished download.',
    access: mayRead('downloads'),
    reply: z.object({ captions: z.array(Captions) }),
  }),
  start: defineRoute({
    method: 'POST',
    path: '/api/downloads/start',
    summary: 'Starts downloads that have not been started yet, or that are waiting for the download hours.',
    access: mayWrite('downloads'),
    body: z.object({
      uids: z.array(z.string()).min(1).max(1000),
      anyway: z.boolean().optional().describe('Starts the downloads even outside the download hours.'),
    }),
    reply: z.object({ started: z.int() }),
  }),
  limits: defineRoute({
    method: 'GET',
    path: '/api/downloads/limits',
    summary: 'Returns the speed limit and the download hours.',
    access: mayRead('downloads'),
    reply: CurrentLimits,
  }),
  setLimits: defineRoute({
    method: 'PUT',
    path: '/api/downloads/limits',
    summary: 'Sets the total speed limit and the download hours. Changes also apply to running downloads immediately.',
    access: mayWrite('downloads'),
    body: DownloadLimits,
    reply: CurrentLimits,
  }),
  thumbnail: defineRoute({
    method: 'GET',
    path: '/api/downloads/:uid/thumbnail',
    summary: 'Returns the thumbnail that the site provides. It is fetched once and then stored.',
    access: mayRead('downloads'),
    reply: fileReply,
  }),
  file: defineRoute({
    method: 'GET',
    path: '/api/downloads/:uid/file',
    summary: 'Returns the finished file, for playback or saving.',
    access: mayRead('downloads'),
    query: z.object({ save: z.enum(['yes']).optional() }),
    reply: fileReply,
  }),
  pause: defineRoute({
    method: 'POST',
    path: '/api/downloads/pause',
    summary: 'Pauses downloads or the whole queue. Positions and partial files are kept, even after a restart.',
    access: mayWrite('downloads'),
    body: DownloadIds,
    reply: QueueChange,
  }),
  resume: defineRoute({
    method: 'POST',
    path: '/api/downloads/resume',
    summary: 'Resumes paused downloads at their positions, or the whole queue.',
    access: mayWrite('downloads'),
    body: DownloadIds,
    reply: QueueChange,
  }),
  reorder: defineRoute({
    method: 'POST',
    path: '/api/downloads/reorder',
    summary: 'Moves queued downloads, in the given order, to a position in the queue.',
    access: mayWrite('downloads'),
    body: z.object({
      uids: z.array(z.string()).min(1).max(10_000),
      before: z.string().optional(),
      after: z.string().optional(),
      position: z
        .union([z.int().min(0), z.enum(['top', 'bottom'])])
        .optional()
        .describe(
          'Position among the other downloads, counted from 0. If no position is given, the downloads move to the ' +
            'top.',
        ),
    }),
    reply: z.object({ uids: z.array(z.string()), unknown: z.array(z.string()) }),
  }),
};
