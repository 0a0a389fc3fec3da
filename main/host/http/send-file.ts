import * as m from '#messages/host-problems';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { BytesReply, FileReply, StreamReply } from '../../../services/contracts/api.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import { formatAttachment } from '../../../services/kit/http/content-disposition.ts';
import { sendReply, startResponse } from '../../../services/kit/http/respond.ts';
import { sendStoredFile } from '../../../services/kit/http/send-file.ts';

/** Headers that prevent scripts of a file from running in the app's origin. */
const sandboxHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Content-Security-Policy': "sandbox; default-src 'none'",
};

/**
 * Sends a file, or the requested range of it.
 * @throws Problem `api.no_file` (404) when it was deleted in the meantime.
 */
export async function sendFile(request: IncomingMessage, response: ServerResponse, reply: FileReply): Promise<void> {
  const isSent = await sendStoredFile(request, response, reply.path, {
    always: { ...sandboxHeaders, 'Cache-Control': `private, max-age=${reply.maxAge}` },
    content: buildContentHeaders(reply),
  });
  if (!isSent) throw new Problem('api.no_file', 404, m.fileMissing());
}

/** Sends bytes with the same headers. They are small, so ranges are not supported. */
export function sendBytes(response: ServerResponse, reply: BytesReply): void {
  const headers = { ...sandboxHeaders, 'Cache-Control': 'private, max-age=0', ...buildContentHeaders(reply) };
  sendReply(response, { status: 200, headers, body: reply.bytes });
}

/** Sends the content of a stream, or the requested range of it, with the same headers. */
export async function sendStream(
  request: IncomingMessage,
  response: ServerResponse,
  reply: StreamReply,
): Promise<void> {
  const { status, headers, body } = await reply.open(request.headers.range);
  startResponse(response, status, {
    ...sandboxHeaders,
    'Cache-Control': 'private, max-age=0',
    ...headers,
    ...buildContentHeaders(reply),
  });
  if (request.method === 'HEAD') {
    body.destroy();
    response.end();
    return;
  }
  try {
    await pipeline(body, response);
  } catch {
    // Media players disconnect when the user seeks, and a partial response cannot become an error.
    response.destroy();
  }
}

function buildContentHeaders({ type, saveAs }: Pick<FileReply, 'type' | 'saveAs'>): Record<string, string> {
  return { 'Content-Type': type, ...(saveAs === undefined ? {} : { 'Content-Disposition': formatAttachment(saveAs) }) };
}
