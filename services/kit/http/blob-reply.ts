import { Readable } from 'node:stream';
import { FileReply, StreamReply, type OpenedStream } from '../../contracts/api.ts';
import type { Blobs } from '../../contracts/blobs.ts';
import { parseByteRange } from './byte-range.ts';

/** Presentation of a blob in a browser. */
export interface BlobReplyOptions {
  /** Media type. Scripts in the content are never executed. */
  readonly type: string;
  /** File name of a download; undefined displays the content instead. */
  readonly saveAs?: string | undefined;
  /** Cache lifetime in the browser, in seconds. */
  readonly maxAge?: number;
}

/** Builds a reply of the app API with the content of a blob, which also answers range requests. */
export function buildBlobReply(blobs: Blobs, key: string, options: BlobReplyOptions): FileReply | StreamReply {
  const path = blobs.getPath(key);
  if (path !== undefined) return new FileReply({ ...options, path });
  return new StreamReply({ ...options, open: (range) => openBlob(blobs, key, range) });
}

async function openBlob(blobs: Blobs, key: string, header: string | undefined): Promise<OpenedStream> {
  // An empty content has no range, and a missing blob is refused by the read.
  const size = (await blobs.find(key))?.size;
  const range = size === undefined ? undefined : parseByteRange(header, size);
  if (range === 'unsatisfiable')
    return { status: 416, headers: { 'Content-Range': `bytes */${String(size)}` }, body: Readable.from([]) };
  const body = await blobs.read(key, { range });
  if (range === undefined)
    return { status: 200, headers: { 'Accept-Ranges': 'bytes', 'Content-Length': String(size) }, body };
  const { start, end } = range;
  const headers = {
    'Accept-Ranges': 'bytes',
    'Content-Length': String(end - start + 1),
    'Content-Range': `bytes ${String(start)}-${String(end)}/${String(size)}`,
  };
  return { status: 206, headers, body };
}
