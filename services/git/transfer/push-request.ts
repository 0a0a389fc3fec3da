import type { Readable } from 'node:stream';
import { Problem } from '../../contracts/problem.ts';
import { isReferenceName } from '../domain/names.ts';
import type { RefChange } from '../domain/ref-change.ts';
import { PacketReader } from './pkt-line.ts';

/** Commands of a push, which precede the pack. */
export interface PushRequest {
  readonly changes: readonly RefChange[];
  readonly capabilities: ReadonlySet<string>;
  /** Push options of the client (`-o`). */
  readonly options: readonly string[];
  /** All bytes that were read, which must be sent to git first. */
  readonly bytes: Buffer;
}

/** Maximum number of references that one push may change. */
const maxChanges = 20_000;
/** Maximum size of the list of references. */
const maxBytes = 8 * 1024 * 1024;

/**
 * Reads the commands of a push and leaves the pack in the stream. Returns undefined if the client ended the stream
 * before a push.
 *
 * @throws Problem `git.bad_push` (400) for malformed input
 */
export async function readPushRequest(stream: Readable): Promise<PushRequest | undefined> {
  const reader = new PacketReader();
  const parts: Buffer[] = [];
  const changes: RefChange[] = [];
  const options: string[] = [];
  let capabilities: ReadonlySet<string> | undefined;
  let inOptions = false;
  let size = 0;
  for (;;) {
    const packet = readPacket(reader);
    if (packet === undefined) {
      const chunk = await readChunk(stream);
      if (chunk === undefined) {
        if (size === 0 && reader.remaining.length === 0) return undefined;
        throw buildInvalidPushProblem('it was cut off');
      }
      reader.add(chunk);
      continue;
    }
    parts.push(packet.bytes);
    size += packet.bytes.length;
    if (size > maxBytes) throw buildInvalidPushProblem('it changes too many references');
    if (packet.packet === 'flush') {
      if (inOptions || capabilities?.has('push-options') !== true) break;
      inOptions = true;
    } else if (typeof packet.packet === 'string') throw buildInvalidPushProblem('it has a separator where none may be');
    else if (inOptions) options.push(packet.packet.toString().replace(/\n$/, ''));
    else {
      const text = packet.packet.toString().replace(/\n$/, '');
      const [line = '', capabilityList] = text.split('\0', 2);
      capabilities ??= new Set((capabilityList ?? '').split(' ').filter((word) => word !== ''));
      if (/^(shallow) /.test(line)) continue;
      if (line.startsWith('push-cert')) throw buildInvalidPushProblem('signed pushes are not taken');
      changes.push(parseChange(line));
      if (changes.length > maxChanges) throw buildInvalidPushProblem('it changes too many references');
    }
  }
  if (reader.remaining.length > 0) stream.unshift(reader.remaining);
  return { changes, capabilities: capabilities ?? new Set(), options, bytes: Buffer.concat(parts) };
}

function parseChange(line: string): RefChange {
  const [, before, after, ref] = /^([0-9a-f]{40}) ([0-9a-f]{40}) (.+)$/.exec(line) ?? [];
  if (before === undefined || after === undefined || ref === undefined)
    throw buildInvalidPushProblem('its list of references is broken');
  if (!ref.startsWith('refs/') || !isReferenceName(ref))
    throw buildInvalidPushProblem('one of its references has a name that git refuses');
  return { ref, before, after };
}

function readPacket(reader: PacketReader): ReturnType<PacketReader['read']> {
  try {
    return reader.read();
  } catch (cause) {
    throw buildInvalidPushProblem('it is not in the protocol of git', cause);
  }
}

/** Reads the next chunk without closing the stream. Returns undefined at the end. */
async function readChunk(stream: Readable): Promise<Buffer | undefined> {
  for (;;) {
    const chunk = stream.read() as Buffer | null;
    if (chunk !== null) return chunk;
    if (stream.readableEnded || stream.destroyed) return undefined;
    await new Promise<void>((resolve, reject) => {
      const settle = (error?: Error): void => {
        stream.off('readable', onReadable).off('end', onReadable).off('close', onReadable).off('error', settle);
        if (error === undefined) resolve();
        else reject(buildInvalidPushProblem('it was cut off', error));
      };
      const onReadable = (): void => settle();
      stream.on('readable', onReadable).on('end', onReadable).on('close', onReadable).on('error', settle);
    });
  }
}

function buildInvalidPushProblem(reason: string, cause?: unknown): Problem {
  return new Problem('git.bad_push', 400, `Invalid push request: ${reason}.`, { cause });
}
