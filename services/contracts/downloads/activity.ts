import * as m from '#messages/downloads-texts';
import { z } from 'zod';
import { defineNumberFormat } from '../../../messages/format.ts';

/** Current activity of a running download, from which each reader gets a text in their language. */
export const DownloadActivity = z.discriminatedUnion('kind', [
  z.object({
    kind: z.enum([
      'merging',
      'extracting_audio',
      'converting_video',
      'changing_container',
      'embedding_subtitles',
      'writing_details',
      'restarted',
    ]),
  }),
  z.object({
    kind: z.literal('recording'),
    seconds: z.number(),
    /** Size of the recording in bytes. */
    bytes: z.number(),
  }),
]);
export type DownloadActivity = z.infer<typeof DownloadActivity>;

const formatMegabytes = defineNumberFormat({ minimumFractionDigits: 1, maximumFractionDigits: 1 });

const texts: Readonly<Record<Exclude<DownloadActivity['kind'], 'recording'>, () => string>> = {
  merging: m.merging,
  extracting_audio: m.extractingAudio,
  converting_video: m.convertingVideo,
  changing_container: m.changingContainer,
  embedding_subtitles: m.embeddingSubtitles,
  writing_details: m.writingDetails,
  restarted: m.transferRestarted,
};

/** Describes an activity in the current language, such as `Recording 1:02:03, 12.3 MB`. */
export function describeActivity(activity: DownloadActivity): string {
  if (activity.kind !== 'recording') return texts[activity.kind]();
  const { seconds, bytes } = activity;
  return m.recording({ time: formatSeconds(seconds), size: formatMegabytes(bytes / 1_000_000) });
}

function formatSeconds(seconds: number): string {
  const total = Math.floor(seconds);
  const padTwo = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(total / 3600), Math.floor(total / 60) % 60];
  const end = padTwo(total % 60);
  return hours > 0 ? `${hours}:${padTwo(minutes)}:${end}` : `${minutes}:${end}`;
}
