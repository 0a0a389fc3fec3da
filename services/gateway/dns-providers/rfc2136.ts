import type { Connect } from '../../contracts/outgoing.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Clock, Random } from '../../contracts/service.ts';
import { readBytes } from './read-bytes.ts';
import { DnsProviderError, listZoneNames, type DnsProvider, type TxtRecord } from './provider.ts';
import { getTsigError, signRequest, verifyReply, type TsigKey } from './tsig.ts';
import { encodeName, encodeNumbers, encodeRecord, recordClass, recordType } from './wire-format.ts';

const ttlSeconds = 60;
const timeoutMs = 15_000;
const updateOpcode = 5;
/** Reply codes (RFC 1035, 4.1.1; RFC 2136, 2.2). */
const replyCode = { ok: 0, formatError: 1, refused: 5, notAuthoritative: 9, notZone: 10 } as const;
/** Reply codes for a server that is not responsible for the zone. */
const otherZoneCodes: readonly number[] = [replyCode.notAuthoritative, replyCode.notZone];

interface UpdateServer {
  readonly connect: Connect;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Pick<Random, 'bytes'>;
  /** Host and port of the server. */
  readonly host: string;
  readonly port: number;
  /** Undefined for servers that authenticate by address. */
  readonly key: TsigKey | undefined;
}

/** Dynamic updates (RFC 2136) over TCP, signed with TSIG (RFC 8945), as BIND, Knot DNS and PowerDNS accept them. */
export function createRfc2136(server: UpdateServer): DnsProvider {
  return {
    create: (record, signal) => update(server, record, signal, false),
    remove: (record, signal) => update(server, record, signal, true),
  };
}

/** Sends the update for each zone that can contain the name, until the server is responsible for one. */
async function update(server: UpdateServer, record: TxtRecord, signal: AbortSignal, isRemoval: boolean): Promise<void> {
  for (const zone of listZoneNames(record.name)) {
    const code = await sendUpdate(server, buildUpdate(server, zone, record, isRemoval), signal);
    if (code === replyCode.ok) return;
    if (!otherZoneCodes.includes(code) && code !== replyCode.refused)
      throw new DnsProviderError('failed', `RCODE ${String(code)}`);
    // Some servers refuse updates for zones that they do not serve, others for keys that may not change the zone.
    if (code === replyCode.refused && zone.split('.').length === 2) throw new DnsProviderError('token', 'REFUSED');
  }
  throw new DnsProviderError('zone', record.name);
}

function buildUpdate({ random }: UpdateServer, zone: string, { name, value }: TxtRecord, isRemoval: boolean): Buffer {
  const id = Buffer.from(random.bytes(2)).readUInt16BE(0);
  // Counts: one zone, no prerequisites, one update, no additional records.
  const header = encodeNumbers(id, updateOpcode << 11, 1, 0, 1, 0);
  const zoneSection = Buffer.concat([encodeName(zone), encodeNumbers(recordType.soa, recordClass.in)]);
  const text = Buffer.from(value, 'latin1');
  const change = encodeRecord({
    name,
    type: recordType.txt,
    class: isRemoval ? recordClass.none : recordClass.in,
    ttl: isRemoval ? 0 : ttlSeconds,
    data: Buffer.concat([Buffer.from([text.length]), text]),
  });
  return Buffer.concat([header, zoneSection, change]);
}

/** Sends an update and returns the reply code. */
async function sendUpdate(server: UpdateServer, message: Buffer, signal: AbortSignal): Promise<number> {
  const { key, clock } = server;
  const { signed, mac } =
    key === undefined ? { signed: message, mac: undefined } : signRequest(message, key, clock.now());
  const reply = await exchange(server, signed, signal);
  try {
    if (reply.readUInt16BE(0) !== message.readUInt16BE(0)) throw new DnsProviderError('failed', 'Unexpected reply');
    const code = reply.readUInt16BE(2) & 0xf;
    if (key === undefined || mac === undefined || verifyReply(reply, key, mac)) return code;
    const error = getTsigError(reply);
    if (error !== 0 || otherZoneCodes.includes(code) || code === replyCode.refused)
      throw new DnsProviderError('token', `TSIG ${String(error === 0 ? code : error)}`);
  } catch (cause) {
    if (cause instanceof DnsProviderError) throw cause;
    throw new DnsProviderError('failed', 'Unexpected reply', { cause });
  }
  throw new DnsProviderError('failed', 'Unsigned reply');
}

/** Sends a message over TCP, with its length in front (RFC 1035, 4.2.2). */
async function exchange({ connect, host, port }: UpdateServer, message: Buffer, signal: AbortSignal): Promise<Buffer> {
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const { socket } = await connect({ host, port, trust: 'owner', signal: limit });
    try {
      socket.write(Buffer.concat([encodeNumbers(message.length), message]));
      const length = (await readBytes(socket, 2, limit)).readUInt16BE(0);
      return await readBytes(socket, length, limit);
    } finally {
      socket.destroy();
    }
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw new DnsProviderError('failed', cause instanceof Problem ? cause.detail : String(cause), { cause });
  }
}
