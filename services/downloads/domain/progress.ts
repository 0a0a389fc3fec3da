import type { DownloadActivity } from '../../contracts/downloads/activity.ts';
import type { FailureParameters } from '../../contracts/downloads/causes.ts';
import type { MediaDetails } from '../../contracts/downloads/media-details.ts';
import { z } from 'zod';
import { findExplainedFailure, findFailureCode, findFailureKind, isConsequence } from './engine-messages.ts';
import { createServiceFailure, type DownloadFailure } from './failure.ts';
import { truncateText, noProgress, type Progress } from './item.ts';
import { parseJson } from '../../contracts/parse-json.ts';

// Missing numbers are omitted from the JSON; some integers are written as floats.
const number = z.number().nullish();
const TransferLine = z.object({
  status: z.string().nullish(),
  downloaded_bytes: number,
  total_bytes: number,
  total_bytes_estimate: number,
  speed: number,
  eta: number,
  fragment_index: number,
  fragment_count: number,
});
const StageLine = z.object({ status: z.string().nullish(), postprocessor: z.string().nullish() });
const StartLine = z.object({
  id: z.string().nullish(),
  title: z.string().nullish(),
  format_id: z.string().nullish(),
  live_status: z.string().nullish(),
});
const ResultLine = z.object({ id: z.string().nullish(), title: z.string().nullish(), filepath: z.string() });

/** Event from a line of the extractor's output. */
export type EngineEvent =
  | {
      readonly kind: 'transfer';
      readonly progress: Progress;
      readonly complete: boolean;
      readonly bytes: number | null;
    }
  | { readonly kind: 'stage'; readonly started: boolean; readonly name: string }
  | {
      readonly kind: 'beginning';
      readonly id: string | null;
      readonly title: string | null;
      readonly liveStatus: string | null;
      /** Number of streams that are fetched one after another. */
      readonly streams: number;
    }
  | { readonly kind: 'result'; readonly path: string }
  | { readonly kind: 'details'; readonly media: MediaDetails };

/** Parses a line in the format of the templates on the command line; undefined for any other line. */
export function readEvent(line: string): EngineEvent | undefined {
  const prefix = line.slice(0, 2);
  if (prefix === 'P ') return toTransferEvent(parseLine(TransferLine, line));
  if (prefix === 'Q ') return toStageEvent(parseLine(StageLine, line));
  if (prefix === 'B ') {
    const start = parseLine(StartLine, line);
    if (start === undefined) return undefined;
    const { id = null, title = null, live_status: liveStatus = null } = start;
    // `137+140` means a video and an audio stream.
    const streams = (start.format_id ?? '').split('+').length;
    return { kind: 'beginning', id: truncateText(id), title: truncateText(title), liveStatus, streams };
  }
  if (prefix === 'A ') {
    const result = parseLine(ResultLine, line);
    return result === undefined ? undefined : { kind: 'result', path: result.filepath };
  }
  return undefined;
}

function toTransferEvent(line: z.infer<typeof TransferLine> | undefined): EngineEvent | undefined {
  if (line === undefined) return undefined;
  const downloaded = line.downloaded_bytes ?? null;
  const total = line.total_bytes ?? line.total_bytes_estimate ?? null;
  let percent: number | null = null;
  if (downloaded !== null && total !== null && total > 0) percent = Math.min(100, (downloaded * 100) / total);
  else if (line.fragment_index && line.fragment_count)
    percent = Math.min(100, (line.fragment_index * 100) / line.fragment_count);
  if (line.status === 'finished') percent = 100;
  const progress = { ...noProgress, percent, speed: line.speed ?? null, eta: line.eta ?? null };
  // A fragment that is fetched again resets the count.
  const bytes = line.fragment_count || line.fragment_index ? null : downloaded;
  return { kind: 'transfer', progress, complete: line.status === 'finished', bytes };
}

function toStageEvent(line: z.infer<typeof StageLine> | undefined): EngineEvent | undefined {
  if (line === undefined) return undefined;
  return { kind: 'stage', started: line.status === 'started', name: line.postprocessor ?? '' };
}

function parseLine<T>(schema: z.core.$ZodType<T>, line: string): T | undefined {
  // Another line may look similar because of a title.
  return z.safeParse(schema, parseJson(line.slice(2))).data;
}

const stageActivities: Readonly<Record<string, DownloadActivity>> = {
  Merger: { kind: 'merging' },
  ExtractAudio: { kind: 'extracting_audio' },
  VideoConvertor: { kind: 'converting_video' },
  VideoRemuxer: { kind: 'changing_container' },
  EmbedSubtitle: { kind: 'embedding_subtitles' },
  Metadata: { kind: 'writing_details' },
};

/** Returns the activity of a post-processing step; null for steps that are not shown. */
export function getStageActivity(name: string): DownloadActivity | null {
  return stageActivities[name] ?? null;
}

/** Maximum length of a message in characters. */
const maxMessageLength = 2000;

/**
 * Describes the failure of a run: its last ERROR line with a reason, without the control characters of the terminal, or
 * an explanation of a disk error.
 */
export function describeFailure(
  stderr: readonly string[],
  exit: { readonly code: number | null; readonly signal: string | null },
): DownloadFailure {
  const errors = stderr
    .filter((line) => line.startsWith('ERROR:'))
    .map((line) => line.replace(/\r(\[download\] )?/g, '').slice(0, maxMessageLength));
  const error = errors.findLast((line) => !isConsequence(line)) ?? errors.at(-1);
  if (stderr.some((line) => findExplainedFailure(line) === 'disk_full')) {
    return createServiceFailure('disk_full', 'disk', { error: error ?? 'No space left on device' });
  }
  return error === undefined ? describeExit(exit, stderr.at(-1) ?? '') : describeError(error);
}

/** Describes the failure that an error line of the extractor reports. */
export function describeError(error: string): DownloadFailure {
  const explained = findExplainedFailure(error);
  if (explained === 'work_folder') return createServiceFailure('folder_not_writable', 'disk', { error });
  const [failure, kind] = [findFailureCode(error) ?? null, findFailureKind(error)];
  if (explained === 'address_refused') return createServiceFailure('connection_refused', kind, { error });
  return { message: error, failure, kind };
}

/** Describes the failure of a run without an error line. */
function describeExit(
  { code, signal }: { readonly code: number | null; readonly signal: string | null },
  lastLine: string,
): DownloadFailure {
  if (signal === 'SIGKILL') {
    return createServiceFailure('engine_killed', 'engine');
  }
  const lineKind = findFailureKind(lastLine);
  const kind = lineKind === 'other' ? 'engine' : lineKind;
  const line: FailureParameters = lastLine === '' ? {} : { line: lastLine };
  const failure =
    signal === null
      ? createServiceFailure('engine_exited', kind, { code: String(code), ...line })
      : createServiceFailure('engine_ended', kind, { signal, ...line });
  // A cause that the line names has a better explanation and a remedy.
  const cause = findFailureCode(lastLine);
  return cause === undefined ? failure : { message: failure.message, failure: cause, kind };
}
