import * as m from '#messages/engine-texts';
import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { createSizeError } from './size-limit.ts';
import { SourceUnavailable } from './source-unavailable.ts';

/** Short, since the internet may be unavailable. */
const answerTimeoutMs = 5000;
/** Maximum time without data. A slow connection may take long as a whole. */
const stallTimeoutMs = 60_000;
const maxDownloadBytes = 400 * 1024 * 1024;
const maxListBytes = 1024 * 1024;

/** Answer of a server whose body is being received. */
export interface ReleaseResponse {
  readonly host: string;
  /** Name of the file, the last segment of its address. */
  readonly file: string;
  /** Length in bytes; 0 when unknown. */
  readonly length: number;
  /**
   * Returns the body.
   * @throws SourceUnavailable when the connection is interrupted or sends nothing for a minute.
   */
  read(this: void): AsyncIterable<Uint8Array>;
}

/**
 * Requests a file of a release.
 * @throws SourceUnavailable when the server cannot be reached or answers with an error status.
 */
export async function requestFile(url: string, stallMs = stallTimeoutMs): Promise<ReleaseResponse> {
  const { host, pathname } = new URL(url);
  const file = decodeURIComponent(pathname.slice(pathname.lastIndexOf('/') + 1));
  const abort = new AbortController();
  const unanswered = setTimeout(() => abort.abort(), answerTimeoutMs);
  try {
    const response = await fetch(url, { signal: abort.signal });
    if (!response.ok) throw new SourceUnavailable(() => m.httpStatus({ host, status: String(response.status) }));
    const length = Number(response.headers.get('content-length') ?? 0);
    return { host, file, length, read: () => readBody(response, { host, abort, stallMs }) };
  } catch (error) {
    if (error instanceof SourceUnavailable) throw error;
    throw new SourceUnavailable(() => m.unreachable({ host }), { cause: error });
  } finally {
    clearTimeout(unanswered);
  }
}

/**
 * Requests a small text, such as a list of checksums.
 * @throws SourceUnavailable as {@link requestFile}, and for a text of more than 1 MiB.
 */
export async function requestText(url: string): Promise<string> {
  const response = await requestFile(url);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.read()) {
    size += chunk.byteLength;
    if (size > maxListBytes) throw createSizeError(response.file, maxListBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

export interface SaveOptions {
  readonly reportPercent: (percent: number) => void;
  readonly maxBytes?: number;
}

/**
 * Writes the body to a new file and returns its SHA-256 in hex. Reports each whole per cent once when the length is
 * known.
 * @throws SourceUnavailable when the download is interrupted, or the file is larger than the limit.
 */
export async function saveFile(
  response: ReleaseResponse,
  path: string,
  { reportPercent, maxBytes = maxDownloadBytes }: SaveOptions,
): Promise<string> {
  if (response.length > maxBytes) throw createSizeError(response.file, maxBytes);
  const file = await open(path, 'wx', 0o700);
  try {
    const sum = await writeBody(response, file, { reportPercent, maxBytes });
    await file.sync();
    return sum;
  } finally {
    await file.close();
  }
}

async function writeBody(
  { file: name, length, read }: ReleaseResponse,
  file: FileHandle,
  { reportPercent, maxBytes }: Required<SaveOptions>,
): Promise<string> {
  const hash = createHash('sha256');
  let size = 0;
  let reportedPercent = -1;
  for await (const chunk of read()) {
    size += chunk.byteLength;
    if (size > maxBytes) throw createSizeError(name, maxBytes);
    const percent = length > 0 ? Math.min(100, Math.floor((100 * size) / length)) : reportedPercent;
    if (percent > reportedPercent) {
      reportedPercent = percent;
      reportPercent(percent);
    }
    hash.update(chunk);
    await file.write(chunk);
  }
  return hash.digest('hex');
}

interface BodyOptions {
  readonly host: string;
  readonly abort: AbortController;
  readonly stallMs: number;
}

async function* readBody(
  { body }: Response,
  { host, abort, stallMs }: BodyOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const stalled = setTimeout(() => abort.abort(), stallMs);
      const { done, value } = await reader
        .read()
        .catch((cause: unknown) => {
          throw new SourceUnavailable(() => m.interrupted({ host }), { cause });
        })
        .finally(() => clearTimeout(stalled));
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
