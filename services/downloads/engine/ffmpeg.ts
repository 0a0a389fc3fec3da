import type { Clock } from '../../contracts/service.ts';
import type { FailureParameters } from '../../contracts/downloads/causes.ts';
import { createServiceFailure, DownloadProblem } from '../domain/failure.ts';
import { runLines } from './process-runner.ts';

/** Context of a run of ffmpeg, which ends with the download. */
export interface FfmpegCall {
  readonly path: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onStart?: (identity: string) => Promise<void>;
}

/** Maximum number of characters of a line in a failure. */
const maxLineLength = 900;

/** A stream in a media file. */
export interface StreamKind {
  readonly kind: 'video' | 'audio' | 'subtitle';
  readonly codec: string;
  /** Remaining description: profile, tag, pixel format. */
  readonly details: string;
}

/**
 * Runs ffmpeg without prompts.
 * @throws Problem `downloads.not_converted` (502) with its last output line
 */
export async function ffmpeg(call: FfmpegCall, args: readonly string[]): Promise<void> {
  const { exit, lines } = await run(call, ['-loglevel', 'error', '-y', ...args]);
  if (exit === 0) return;
  const line = lines.at(-1);
  const parameters: FailureParameters = line === undefined ? {} : { line: line.slice(0, maxLineLength) };
  const failure = createServiceFailure('conversion_failed', 'format', parameters);
  throw new DownloadProblem('downloads.not_converted', 502, failure);
}

/** Returns what ffmpeg prints about a file: its length and its streams. */
export async function readInputLines(call: FfmpegCall, file: string): Promise<readonly string[]> {
  return (await run(call, ['-i', file])).lines;
}

/** Returns the streams of a file without covers. It uses only ffmpeg, since not every installation has ffprobe. */
export async function readStreams(call: FfmpegCall, file: string): Promise<readonly StreamKind[]> {
  const lines = await readInputLines(call, file);
  return lines.flatMap((line) => {
    const [, kind = '', codec = '', details = ''] =
      /^\s*Stream #.*?: (Video|Audio|Subtitle): (\w+)(.*)$/.exec(line) ?? [];
    if (kind === '' || details.includes('(attached pic)')) return [];
    return [{ kind: kind.toLowerCase() as StreamKind['kind'], codec, details }];
  });
}

async function run(
  call: FfmpegCall,
  args: readonly string[],
): Promise<{ exit: number | null; lines: readonly string[] }> {
  const lines: string[] = [];
  const { clock, signal, onStart } = call;
  const { code } = await runLines(call.path, ['-nostdin', '-hide_banner', ...args], {
    clock,
    signal,
    ...(onStart === undefined ? {} : { onStart }),
    onLine(line) {
      lines.push(line.slice(0, 2000));
      if (lines.length > 500) lines.shift();
    },
  });
  signal.throwIfAborted();
  return { exit: code, lines };
}
