import { z } from 'zod';
import { codecs, downloadTypes, formats, subtitleModes, videoQualities } from '../domain/order.ts';
import { maxIds, maxRetries } from './fields.ts';

/**
 * MeTube's bodies and responses as schemas for the OpenAPI document. Additional accepted forms (numbers as text, former
 * names) are handled by the other files of this folder, with MeTube's error messages.
 */

const text = z.string();
const seconds = z
  .union([z.number(), text])
  .describe('A number of seconds, or text such as `885`, `14m45s` or `1:02:03`.');

export const AddBody = z
  .object({
    url: text.max(8192).describe('A URL with http or https.'),
    quality: text
      .optional()
      .describe(
        `For video: ${videoQualities.join(', ')}, optionally followed by p. For audio: best, or a bit rate in kbit/s. Also: \`audio\`.`,
      ),
    format: z
      .enum([...new Set(Object.values(formats).flat()), 'thumbnail', 'captions'])
      .optional()
      .describe('Without `download_type`, it also determines the type of download.'),
    download_type: z.enum(downloadTypes).optional().describe('Older MeTube clients do not send this field.'),
    codec: z.enum(codecs).optional(),
    folder: text.max(500).nullable().optional().describe('Subfolder of the download folder.'),
    custom_name_prefix: text.max(500).optional(),
    playlist_item_limit: z.int().optional().describe('Maximum number of entries; 0 for no limit.'),
    playlist_strict_mode: z
      .boolean()
      .optional()
      .describe(
        'Ignored, as in MeTube. A link to a video in a playlist is treated as a single video. To download the playlist, use its own address.',
      ),
    auto_start: z.boolean().optional().describe('Unless this is true, the download waits in `pending`.'),
    split_by_chapters: z.boolean().optional(),
    chapter_template: text.optional(),
    sponsorblock: z.boolean().optional(),
    subtitle_language: text.optional(),
    subtitle_mode: z.enum(subtitleModes).optional(),
    ytdl_options_presets: z.array(text).optional(),
    ytdl_options_overrides: z.record(text, z.unknown()).optional(),
    clip_start: seconds.optional(),
    clip_end: seconds.optional(),
  })
  .meta({ id: 'Add' });

export const SubscribeBody = AddBody.extend({
  check_interval_minutes: z.int().min(1).max(44_640).optional(),
  title_regex: text
    .max(500)
    .optional()
    .describe('Regular expression in Python’s syntax, matched anywhere in each title.'),
  skip_subscriber_only: z.boolean().optional(),
}).meta({ id: 'Subscribe' });

export const UpdateBody = z
  .object({
    id: text,
    enabled: z.boolean().optional(),
    check_interval_minutes: z.int().min(1).max(44_640).optional(),
    name: text.max(200).optional(),
    folder: text.nullable().optional(),
    title_regex: text.max(500).nullable().optional(),
    skip_subscriber_only: z.boolean().optional(),
  })
  .meta({ id: 'SubscriptionUpdate' });

const ids = (max: number) => z.array(text).min(1).max(max);

export const Ids = z.object({ ids: ids(maxIds).describe('UIDs or addresses.') }).meta({ id: 'Ids' });
export const SelectionBody = z
  .object({
    ids: ids(maxIds).optional().describe('UIDs or addresses. If missing, the request applies to the whole queue.'),
  })
  .meta({ id: 'Chosen' });
export const SubscriptionSelection = z
  .object({ ids: ids(maxIds).optional().describe('If missing, all subscriptions that are not paused are checked.') })
  .meta({ id: 'SomeSubscriptions' });
export const DeleteBody = Ids.extend({
  where: z.enum(['queue', 'done']).describe('`queue` cancels downloads; `done` removes them from the history.'),
}).meta({ id: 'Delete' });
export const RetryBody = z
  .union([z.object({ id: text.describe('A UID or an address.') }), z.object({ ids: ids(maxRetries) })])
  .meta({ id: 'Retry' });
export const ReorderBody = z
  .object({
    ids: ids(maxIds).optional(),
    id: text.optional(),
    before: text.optional(),
    after: text.optional(),
    position: z.union([z.int().min(0), z.enum(['top', 'bottom'])]).optional(),
  })
  .meta({ id: 'Reorder' });

export const Outcome = z
  .object({
    status: z.enum(['ok', 'error']),
    msg: text.optional(),
    uid: text.optional(),
    uids: z.array(text).optional(),
    count: z.int().optional(),
    unknown: z.array(text).optional(),
    paused: z.boolean().optional(),
  })
  .meta({ id: 'Outcome' });

export const DownloadRecord = z
  .looseObject({
    id: text.describe('The extractor’s ID for the video; not unique.'),
    uid: text.describe('Unique ID assigned by Homeport.'),
    title: text,
    url: text,
    status: z.enum([
      'pending',
      'preparing',
      'downloading',
      'postprocessing',
      'paused',
      'scheduled',
      'finished',
      'error',
    ]),
    quality: text,
    download_type: z.enum(downloadTypes),
    format: text,
    folder: text.nullable(),
    msg: text.nullable(),
    error: text.nullable(),
    percent: z.number().nullable(),
    speed: z.number().nullable().describe('In bytes per second.'),
    eta: z.number().nullable().describe('In seconds.'),
    size: z.number().nullable().describe('In bytes.'),
    filename: text.optional(),
    timestamp: z
      .number()
      .describe('In nanoseconds since the epoch. The value has more digits than a double can represent exactly.'),
  })
  .meta({ id: 'Record' });

export const SubscriptionRecord = z
  .object({
    id: text,
    name: text,
    url: text,
    enabled: z.boolean(),
    check_interval_minutes: z.int(),
    download_type: z.enum(downloadTypes),
    codec: text,
    format: text,
    quality: text,
    folder: text,
    title_regex: text,
    skip_subscriber_only: z.boolean(),
    clip_start: z.number().nullable(),
    clip_end: z.number().nullable(),
    last_checked: z.number().nullable().describe('In seconds since the epoch.'),
    seen_count: z.int(),
    error: text.nullable(),
  })
  .meta({ id: 'SubscriptionRecord' });
