import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { decode, encode, type Packet } from 'dns-packet';
import { SerialQueue } from '../../kit/serial-queue.ts';

export const multicastGroup = '224.0.0.251';

interface SocketOptions {
  readonly port: number;
  /** Local addresses of the networks to use. */
  readonly addresses: readonly string[];
  readonly onPacket: (packet: Packet, from: RemoteInfo) => void;
  readonly onError: (error: Error) => void;
}

/** Multicast DNS socket for several networks. */
export class MulticastSocket implements AsyncDisposable {
  readonly #options: SocketOptions;
  readonly #socket: Socket;
  readonly #sends = new SerialQueue();
  #isClosed = false;

  private constructor(options: SocketOptions, socket: Socket) {
    this.#options = options;
    this.#socket = socket;
  }

  /** @throws Error when multicast is not available on these addresses */
  static async open(options: SocketOptions): Promise<MulticastSocket> {
    const socket = createSocket({ type: 'udp4', reuseAddr: true });
    const multicastSocket = new MulticastSocket(options, socket);
    try {
      socket.bind(options.port, '0.0.0.0');
      await once(socket, 'listening');
      for (const address of options.addresses) socket.addMembership(multicastGroup, address);
      socket.setMulticastTTL(255);
      socket.setMulticastLoopback(true);
    } catch (error) {
      socket.close();
      throw error;
    }
    socket.on('error', options.onError);
    socket.on('message', (bytes, from) => {
      const packet = decodePacket(bytes);
      if (packet !== undefined) options.onPacket(packet, from);
    });
    socket.unref();
    return multicastSocket;
  }

  /** Sends to the multicast group. */
  multicast(packet: Packet): Promise<void> {
    return this.#enqueue(async () => {
      for (const address of this.#options.addresses) {
        this.#socket.setMulticastInterface(address);
        await this.#send(packet, this.#options.port, multicastGroup);
      }
    });
  }

  /** Sends to a single address. */
  reply(packet: Packet, { port, address }: Pick<RemoteInfo, 'port' | 'address'>): Promise<void> {
    // Port 0 only occurs in forged packets.
    if (port === 0) return Promise.resolve();
    return this.#enqueue(() => this.#send(packet, port, address));
  }

  /** Sends are serialized, because the multicast interface is a property of the socket. */
  #enqueue(send: () => Promise<void>): Promise<void> {
    return this.#sends.run(async () => {
      // Errors of a network that disappeared are ignored.
      if (!this.#isClosed) await send().catch((error: unknown) => this.#options.onError(error as Error));
    });
  }

  #send(packet: Packet, port: number, address: string): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.send(encode(packet), port, address, (error) => {
        if (error !== null) this.#options.onError(error);
        resolve();
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sends.settled();
    this.#isClosed = true;
    this.#socket.close();
    await once(this.#socket, 'close');
  }
}

/** Returns undefined for malformed packets. */
function decodePacket(bytes: Buffer): Packet | undefined {
  try {
    return decode(bytes);
  } catch {
    return undefined;
  }
}
