import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

export interface Published {
  readonly topic: string;
  readonly text: string;
  readonly qos: number;
  readonly retain: boolean;
}

/** Opens an MQTT 3.1.1 broker for one publisher at a time; a `reason` other than 0 refuses the connection (3.2.2.3). */
export async function openBroker(reason = 0) {
  const published: Published[] = [];
  const connected: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let waiting: Buffer = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      waiting = Buffer.concat([waiting, chunk]);
      for (let packet = take(waiting); packet !== undefined; packet = take(waiting)) {
        waiting = packet.rest;
        answer(socket, packet.first, packet.body);
      }
    });
  });
  const answer = (socket: Socket, first: number, body: Buffer): void => {
    if (first >> 4 === 1) {
      connected.push(body.toString('latin1'));
      socket.write(Buffer.from([0x20, 2, 0, reason]));
    } else if (first >> 4 === 3) {
      const length = body.readUInt16BE(0);
      const qos = (first >> 1) & 3;
      const topic = body.subarray(2, 2 + length).toString();
      const id = body.subarray(2 + length, 4 + length);
      const text = body.subarray(2 + length + (qos > 0 ? 2 : 0)).toString();
      published.push({ topic, text, qos, retain: (first & 1) === 1 });
      if (qos === 1) socket.write(Buffer.from([0x40, 2, ...id]));
    }
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    published,
    connected,
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Parses the first complete packet (2.2): a byte of type and flags, the length in groups of seven bits, the rest. */
function take(bytes: Buffer): { readonly first: number; readonly body: Buffer; readonly rest: Buffer } | undefined {
  let length = 0;
  for (let index = 1; index < Math.min(bytes.length, 5); index += 1) {
    const byte = bytes[index] ?? 0;
    length += (byte & 127) << (7 * (index - 1));
    if ((byte & 128) !== 0) continue;
    const end = index + 1 + length;
    return bytes.length < end
      ? undefined
      : { first: bytes[0] ?? 0, body: bytes.subarray(index + 1, end), rest: bytes.subarray(end) };
  }
  return undefined;
}
