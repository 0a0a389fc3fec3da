import type { Duplex } from 'node:stream';

/** Longer heads are passed on unchanged; the parser rejects them. */
const maxHeadBytes = 80 * 1024;

const protocol = 'HTTP/1.';

/** Repairs the response heads of one connection, with one expected response at a time. */
export interface ResponseRepair {
  /** Expects the next response head. */
  expectHead(): void;
}

/**
 * Repairs response heads before they are parsed, as RFC 9112 permits for proxies: white space before the colon of a
 * field is removed (5.1), equal `Content-Length` fields are merged (6.3), and the former coding `identity`, which
 * means no coding, is removed. Everything else is unchanged.
 */
export function repairResponses(socket: Duplex): ResponseRepair {
  const push = socket.push.bind(socket);
  let buffered: Buffer | undefined = Buffer.alloc(0);
  const handleChunk = (chunk: Buffer): boolean => {
    if (buffered === undefined) return push(chunk);
    buffered = Buffer.concat([buffered, chunk]);
    // Other data is not HTTP, which the parser reports.
    const prefix = buffered.toString('latin1', 0, protocol.length);
    if (!protocol.startsWith(prefix)) return stopRepair(buffered);
    const end = findHeadEnd(buffered);
    if (end < 0) {
      if (buffered.length <= maxHeadBytes) return true;
      return stopRepair(buffered);
    }
    const head = buffered.toString('latin1', 0, end);
    const rest = buffered.subarray(end);
    const isInterim = /^HTTP\/1\.[01] 1(?!01)/.test(head);
    const canPushMore = push(Buffer.from(repairHead(head), 'latin1'));
    if (!isInterim) return rest.length === 0 ? stopRepair(undefined, canPushMore) : stopRepair(rest);
    buffered = Buffer.alloc(0);
    return rest.length === 0 ? canPushMore : handleChunk(rest);
  };
  const stopRepair = (bytes: Buffer | undefined, canPushMore = true): boolean => {
    buffered = undefined;
    return bytes === undefined ? canPushMore : push(bytes);
  };
  socket.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
    if (Buffer.isBuffer(chunk)) return handleChunk(chunk);
    if (buffered !== undefined && buffered.length > 0) stopRepair(buffered);
    return push(chunk, encoding);
  };
  return { expectHead: () => void (buffered ??= Buffer.alloc(0)) };
}

/** Returns the end of a head after its empty line; -1 while it is incomplete. */
function findHeadEnd(bytes: Buffer): number {
  const ends = ['\r\n\r\n', '\n\n', '\n\r\n'].flatMap((terminator) => {
    const index = bytes.indexOf(terminator);
    return index < 0 ? [] : [index + terminator.length];
  });
  return ends.length === 0 ? -1 : Math.min(...ends);
}

function repairHead(head: string): string {
  const lines = head
    .split('\n')
    .map((line) => line.replace(/^([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]+:/, '$1:'))
    .filter((line) => !/^transfer-encoding:[ \t]*identity[ \t]*\r?$/i.test(line));
  const isLength = (line: string): boolean => /^content-length:/i.test(line);
  const lengths = lines.filter(isLength).flatMap((line) => line.slice(line.indexOf(':') + 1).split(','));
  const [first = '', ...others] = lengths.map((length) => length.trim());
  if (others.length === 0 || !/^\d+$/.test(first) || others.some((length) => length !== first)) return lines.join('\n');
  const lengthIndex = lines.findIndex(isLength);
  const deduplicated = lines.filter((line, index) => index === lengthIndex || !isLength(line));
  const lineEnd = (lines[lengthIndex] ?? '').endsWith('\r') ? '\r' : '';
  return deduplicated.map((line) => (isLength(line) ? `Content-Length: ${first}${lineEnd}` : line)).join('\n');
}
