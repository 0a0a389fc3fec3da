import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import * as dnsPacket from 'dns-packet';
import type { TestAuthority } from './authority.ts';

const { decode } = dnsPacket;
/** Coder of names, which the package exports without a type. */
const { name: dnsName } = dnsPacket as unknown as {
  readonly name: {
    readonly encode: (name: string) => Buffer;
    readonly decode: ((data: Buffer, offset: number) => string) & { readonly bytes: number };
    readonly encodingLength: (name: string) => number;
  };
};

/** Key that the server accepts. */
export interface UpdateKey {
  readonly name: string;
  readonly secret: string;
}

/** DNS server that accepts dynamic updates (RFC 2136) with TSIG (RFC 8945), and writes them to the authority's DNS. */
export interface UpdateServer extends AsyncDisposable {
  readonly address: string;
  /** Values that exist, in the order of their creation. */
  readonly values: readonly string[];
  /** All values that were created. */
  readonly history: readonly string[];
  /** Stops writing to the authority's DNS, like a provider whose name servers are not those of the domain. */
  isDetached: boolean;
  /** The only key that is accepted; replaceable, like the token of a provider. */
  key: UpdateKey;
}

/** Opens a server for one zone. */
export async function openUpdateServer(
  authority: Pick<TestAuthority, 'setTxt' | 'clearTxt'>,
  zone: string,
  key: UpdateKey,
): Promise<UpdateServer> {
  const values: string[] = [];
  const history: string[] = [];
  const state = { values, history, isDetached: false, key };
  const apply = async (message: Buffer): Promise<number> => {
    const { questions, authorities } = decode(message) as any;
    if (questions[0].name !== zone) return 9;
    const [{ name, class: kind, data }] = authorities;
    const value = Buffer.concat(data).toString();
    if (kind === 'IN') {
      values.push(value);
      history.push(value);
      if (!state.isDetached) await authority.setTxt(name, value);
      return 0;
    }
    values.splice(values.indexOf(value), 1);
    if (values.length === 0) await authority.clearTxt(name);
    return 0;
  };
  const answer = async (socket: Socket, message: Buffer): Promise<void> => {
    const { unsigned, tsig } = splitTsig(message);
    const { key: accepted } = state;
    const isRight =
      tsig !== undefined && tsig.mac.equals(computeMac(accepted, [unsigned, variables(accepted, tsig.time)]));
    const code = isRight ? await apply(unsigned) : 9;
    const reply = Buffer.alloc(12);
    message.copy(reply, 0, 0, 2);
    reply.writeUInt16BE(0xa800 | code, 2);
    const signed = tsig === undefined ? reply : sign(reply, accepted, tsig, isRight);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(signed.length);
    socket.end(Buffer.concat([length, signed]));
  };
  const server = createServer((socket) => {
    let received = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      answer(socket, received.subarray(2)).catch(() => socket.destroy());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(state, {
    address: `127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, 'close');
    },
  });
}

interface Tsig {
  readonly mac: Buffer;
  readonly time: Buffer;
}

/** Separates the last record of a message, which is the signature. */
function splitTsig(message: Buffer): { unsigned: Buffer; tsig: Tsig | undefined } {
  const packet = decode(message) as any;
  const record = packet.additionals.at(-1);
  if (record?.type !== 'TSIG') return { unsigned: message, tsig: undefined };
  const data = record.data as Buffer;
  dnsName.decode(data, 0);
  const at = dnsName.decode.bytes;
  const macLength = data.readUInt16BE(at + 8);
  const tsig = { time: data.subarray(at, at + 6), mac: data.subarray(at + 10, at + 10 + macLength) };
  const length = dnsName.encodingLength(record.name) + 10 + data.length;
  const unsigned = Buffer.from(message.subarray(0, message.length - length));
  unsigned.writeUInt16BE(packet.additionals.length - 1, 10);
  return { unsigned, tsig };
}

function computeMac({ secret }: UpdateKey, parts: readonly Buffer[]): Buffer {
  return createHmac('sha256', Buffer.from(secret, 'base64')).update(Buffer.concat(parts)).digest();
}

/** Variables of the signature (RFC 8945, 4.3.3): name, class, TTL, algorithm, time, fudge, error and other length. */
function variables({ name }: UpdateKey, time: Buffer): Buffer {
  const [owner, algorithm] = [dnsName.encode(name), dnsName.encode('hmac-sha256')];
  return Buffer.concat([
    owner,
    Buffer.from('00ff00000000', 'hex'),
    algorithm,
    time,
    Buffer.from('012c00000000', 'hex'),
  ]);
}

function sign(reply: Buffer, key: UpdateKey, { mac: requestMac, time }: Tsig, isRight: boolean): Buffer {
  const prefix = Buffer.alloc(2);
  prefix.writeUInt16BE(requestMac.length);
  const mac = isRight ? computeMac(key, [prefix, requestMac, reply, variables(key, time)]) : Buffer.alloc(0);
  const fields = Buffer.alloc(10);
  fields.writeUInt16BE(300, 0);
  fields.writeUInt16BE(mac.length, 2);
  const end = Buffer.alloc(6);
  reply.copy(end, 0, 0, 2);
  end.writeUInt16BE(isRight ? 0 : 16, 2);
  const data = Buffer.concat([dnsName.encode('hmac-sha256'), time, fields.subarray(0, 4), mac, end]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(data.length);
  const head = Buffer.from('00fa00ff00000000', 'hex');
  const message = Buffer.concat([reply, dnsName.encode(key.name), head, length, data]);
  message.writeUInt16BE(1, 10);
  return message;
}
