import { createWriteStream, existsSync, statSync } from 'node:fs';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';

/** Failure that yt-dlp reports as a line `ERROR: …`. */
export class ExtractorError extends Error {}

/** Progress of a transfer in yt-dlp's names. */
export interface Progress {
  readonly status: 'downloading' | 'finished';
  readonly downloaded_bytes: number;
  readonly total_bytes: number;
  readonly speed: number;
  readonly eta?: number;
}

/** Minimum time between two reports, the `--progress-delta` of the service. */
const reportIntervalMs = 500;

/**
 * Downloads a file, continuing a partial one by a range request, and reports the progress.
 * @throws ExtractorError when the server refuses the request or closes the connection early
 */
export async function download(url: string, file: string, report: (progress: Progress) => void): Promise<void> {
  const start = existsSync(file) ? statSync(file).size : 0;
  const response = await fetch(url, start === 0 ? {} : { headers: { range: `bytes=${start}-` } });
  if (response.status === 416) return;
  if (!response.ok || response.body === null)
    throw new ExtractorError(`unable to download video data: HTTP Error ${response.status}: ${response.statusText}`);
  const from = response.status === 206 ? start : 0;
  const total = from + Number(response.headers.get('content-length'));
  const startedAt = performance.now();
  let received = from;
  let reportedAt = 0;
  const getProgress = () => {
    const speed = (received - from) / Math.max(0.001, (performance.now() - startedAt) / 1000);
    return { downloaded_bytes: received, total_bytes: total, speed, eta: Math.round((total - received) / speed) };
  };
  const output = createWriteStream(file, { flags: from === 0 ? 'w' : 'a' });
  await once(output, 'open');
  try {
    for await (const part of response.body) {
      received += part.length;
      if (!output.write(part)) await once(output, 'drain');
      if (performance.now() - reportedAt < reportIntervalMs) continue;
      reportedAt = performance.now();
      report({ status: 'downloading', ...getProgress() });
    }
  } catch {
    throw new ExtractorError(`[download] Got error: ${received - from} bytes read, ${total - received} more expected`);
  } finally {
    output.end();
    await once(output, 'close');
  }
  report({ status: 'downloading', ...getProgress() });
  const { eta: _eta, ...end } = getProgress();
  report({ status: 'finished', ...end });
}
