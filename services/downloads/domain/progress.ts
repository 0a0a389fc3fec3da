import { z } from 'zod';
import { keptText, noProgress, type Progress } from './item.ts';

// Absent numbers are left out of the JSON; some come as floats where one expects whole numbers.
const number = z.number().nullish();
const Transfer = z.object({
  status: z.string().nullish(),
  downloaded_bytes: number,
  total_bytes: number,
  total_bytes_estimate: number,
  speed: number,
  eta: number,
  fragment_index: number,
  fragment_count: number,
});
const Stage = z.object({ status: z.string().nullish(), postprocessor: z.string().nullish() });
const Beginning = z.object({
  id: z.string().nullish(),
  title: z.string().nullish(),
  format_id: z.string().nullish(),
  live_status: z.string().nullish(),
});
const Result = z.object({ id: z.string().nullish(), title: z.string().nullish(), filepath: z.string() });

/** What one line of a running extractor says. */
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
      /** Streams that are fetched one after another. */
      readonly streams: number;
    }
  | { readonly kind: 'result'; readonly path: string };

/** Reads a line that our templates of the command line produce; undefined for any other. */
export function readEvent(line: string): EngineEvent | undefined {
  const letter = line.slice(0, 2);
  if (letter === 'P ') return transfer(parse(Transfer, line));
  if (letter === 'Q ') return stage(parse(Stage, line));
  if (letter === 'B ') {
    const beginning = parse(Beginning, line);
    if (beginning === undefined) return undefined;
    const { id = null, title = null, live_status: liveStatus = null } = beginning;
    // `137+140`: a video and an audio stream.
    const streams = (beginning.format_id ?? '').split('+').length;
    return { kind: 'beginning', id: keptText(id), title: keptText(title), liveStatus, streams };
  }
  if (letter === 'A ') {
    const result = parse(Result, line);
    return result === undefined ? undefined : { kind: 'result', path: result.filepath };
  }
  return undefined;
}

function transfer(line: z.infer<typeof Transfer> | undefined): EngineEvent | undefined {
  if (line === undefined) return undefined;
  const done = line.downloaded_bytes ?? null;
  const total = line.total_bytes ?? line.total_bytes_estimate ?? null;
  let percent: number | null = null;
  if (done !== null && total !== null && total > 0) percent = Math.min(100, (done * 100) / total);
  else if (line.fragment_index && line.fragment_count)
    percent = Math.min(100, (line.fragment_index * 100) / line.fragment_count);
  if (line.status === 'finished') percent = 100;
  const progress = { ...noProgress, percent, speed: line.speed ?? null, eta: line.eta ?? null };
  // A fragment that is fetched anew takes back what was counted of it.
  const bytes = line.fragment_count || line.fragment_index ? null : done;
  return { kind: 'transfer', progress, complete: line.status === 'finished', bytes };
}

function stage(line: z.infer<typeof Stage> | undefined): EngineEvent | undefined {
  if (line === undefined) return undefined;
  return { kind: 'stage', started: line.status === 'started', name: line.postprocessor ?? '' };
}

function parse<T>(schema: z.core.$ZodType<T>, line: string): T | undefined {
  try {
    return z.safeParse(schema, JSON.parse(line.slice(2))).data;
  } catch {
    return undefined; // A title may make another line look like ours.
  }
}

const stageWords: Readonly<Record<string, string>> = {
  Merger: 'Joining video and audio',
  ExtractAudio: 'Making the audio file',
  VideoConvertor: 'Converting the video',
  VideoRemuxer: 'Changing the container',
  EmbedSubtitle: 'Adding the subtitles',
  Metadata: 'Writing the details into the file',
};

/** What a step after the transfer does, for a person; null for what has no name worth telling. */
export function stageMessage(name: string): string | null {
  return stageWords[name] ?? null;
}

/** Characters; whoever writes more than this in a line says no more by it. */
const longestMessage = 2000;
/** Says nothing of why; the line before it does. */
const consequence = /^ERROR: fragment \d+ not found, unable to continue$/;

/**
 * The message of a failed run: its last ERROR line that names a reason, without the mark by which a terminal writes over
 * a line of progress; the disk's own trouble in plain words.
 */
export function failureMessage(
  stderr: readonly string[],
  exit: { readonly code: number | null; readonly signal: string | null },
): string {
  const errors = stderr
    .filter((line) => line.startsWith('ERROR:'))
    .map((line) => line.replace(/\r(\[download\] )?/g, '').slice(0, longestMessage));
  const error = errors.findLast((line) => !consequence.test(line)) ?? errors.at(-1);
  const full = stderr.some((line) => /Errno 28|No space left on device/.test(line));
  if (full) return `The disk is full: free some space, then retry. (${error ?? 'No space left on device'})`;
  if (error !== undefined && /\[Errno (2|13|17|20|30)\]/.test(error))
    return `The folder for unfinished files cannot be written. (${error})`;
  if (error !== undefined && /CONNECT tunnel failed, response 403/.test(error))
    return `The way there was refused: it leads into this machine or network, or a proxy of yours does not go there. (${error})`;
  if (error !== undefined) return error;
  if (exit.signal === 'SIGKILL') {
    return 'The extractor was ended from outside, perhaps because memory ran out. A retry goes on from what is there.';
  }
  const end = exit.signal === null ? `with code ${exit.code}` : `on ${exit.signal}`;
  return `The extractor ended ${end}. ${stderr.at(-1) ?? ''}`.trim();
}

/** How far the recording of a live stream is: `Recording 1:02:03, 12.3 MB`. */
export function recordedMessage(seconds: number, bytes: number): string {
  const whole = Math.floor(seconds);
  const two = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const time = hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
  return `Recording ${time}, ${(bytes / 1_000_000).toFixed(1)} MB`;
}
