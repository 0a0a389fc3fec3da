import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { SourceUnavailable } from './source-unavailable.ts';

/** Short, since the internet may be unavailable. */
const answerWithinMs = 5000;
const downloadWithinMs = 15 * 60_000;
const maxDownloadBytes = 400 * 1024 * 1024;

/**
 * Requests a file of a release. The time limit is short for the headers and long for the body.
 * @throws SourceUnavailable when the server cannot be reached or answers with an error status.
 */
export async function requestFile(url: string): Promise<Response> {
  const abort = new AbortController();
  const unanswered = setTimeout(() => abort.abort(), answerWithinMs);
  try {
    const response = await fetch(url, {
      signal: AbortSignal.any([abort.signal, AbortSignal.timeout(downloadWithinMs)]),
    });
    if (!response.ok) throw new SourceUnavailable(`${new URL(url).host} answered ${response.status}`);
    return response;
  } catch (error) {
    if (error instanceof SourceUnavailable) throw error;
    throw new SourceUnavailable(`${new URL(url).host} cannot be reached`, { cause: error });
  } finally {
    clearTimeout(unanswered);
  }
}

/**
 * Writes the body to a new file and returns its SHA-256 in hex. Reports each whole per cent once when the length is
 * known.
 * @throws SourceUnavailable when the file is larger than any release.
 */
export async function saveFile(
  response: Response,
  path: string,
  reportPercent: (percent: number) => void,
): Promise<string> {
  const length = Number(response.headers.get('content-length') ?? 0);
  let reportedPercent = -1;
  const hash = createHash('sha256');
  const file = await open(path, 'wx', 0o700);
  try {
    let size = 0;
    for await (const chunk of response.body ?? []) {
      size += chunk.byteLength;
      if (size > maxDownloadBytes) throw new SourceUnavailable('the release file is larger than any release ever was');
      const percent = length > 0 ? Math.min(100, Math.floor((100 * size) / length)) : reportedPercent;
      if (percent > reportedPercent) {
        reportedPercent = percent;
        reportPercent(percent);
      }
      hash.update(chunk);
      await file.write(chunk);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return hash.digest('hex');
}
