import { z } from 'zod';
import { findExplainedFailure, findFailureCode, findFailureKind, isConsequence } from './engine-messages.ts';
import type { DownloadFailure } from './failure.ts';
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
  | { readonly kind: 'result'; readonly path: string };

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

const stageLabels: Readonly<Record<string, string>> = {
  Merger: 'Joining video and audio',
  ExtractAudio: 'Making the audio file',
  VideoConvertor: 'Converting the video',
  VideoRemuxer: 'Changing the container',
  EmbedSubtitle: 'Adding the subtitles',
  Metadata: 'Writing the details into the file',
};

/** Describes a post-processing step to the user; null for steps that are not shown. */
export function getStageMessage(name: string): string | null {
  return stageLabels[name] ?? null;
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
    const message = `The disk is full: free some space, then retry. (${error ?? 'No space left on device'})`;
    return { message, failure: 'disk_full', kind: 'disk' };
  }
  return error === undefined ? describeExit(exit, stderr.at(-1) ?? '') : describeError(error);
}

/** Describes the failure that an error line of the extractor reports. */
export function describeError(error: string): DownloadFailure {
  const explained = findExplainedFailure(error);
  if (explained === 'work_folder') {
    const message = `The folder for unfinished files cannot be written. (${error})`;
    return { message, failure: 'folder_not_writable', kind: 'disk' };
  }
  const message =
    explained === 'address_refused'
      ? `The way there was refused: it leads into this machine or network, or a proxy of yours does not go there. (${error})`
      : error;
  return { message, failure: findFailureCode(error) ?? null, kind: findFailureKind(error) };
}

/** Describes the failure of a run without an error line. */
function describeExit(
  { code, signal }: { readonly code: number | null; readonly signal: string | null },
  lastLine: string,
): DownloadFailure {
  if (signal === 'SIGKILL') {
    const message =
      'The extractor was ended from outside, perhaps because memory ran out. A retry goes on from what is there.';
    return { message, failure: null, kind: 'engine' };
  }
  const exitText = signal === null ? `with code ${code}` : `on ${signal}`;
  const kind = findFailureKind(lastLine);
  return {
    message: `The extractor ended ${exitText}. ${lastLine}`.trim(),
    failure: findFailureCode(lastLine) ?? null,
    kind: kind === 'other' ? 'engine' : kind,
  };
}

/** Formats the progress of a recording: `Recording 1:02:03, 12.3 MB`. */
export function formatRecorded(seconds: number, bytes: number): string {
  const totalSeconds = Math.floor(seconds);
  const padTwo = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(totalSeconds / 3600), Math.floor(totalSeconds / 60) % 60];
  const time =
    hours > 0 ? `${hours}:${padTwo(minutes)}:${padTwo(totalSeconds % 60)}` : `${minutes}:${padTwo(totalSeconds % 60)}`;
  return `Recording ${time}, ${(bytes / 1_000_000).toFixed(1)} MB`;
}
